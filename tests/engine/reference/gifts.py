"""FREE_ITEM: units of the sale that become free, and items given in addition (section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import count as counting

from promenade.engine.definition import ActionRow
from tests.engine.reference.actions import Taking, Turn, claim
from tests.engine.reference.sale import Piece, half_up


@dataclass
class Gift:
    """Items given in addition to the sale; ``value`` is their total worth in minor units."""

    article_number: str
    quantity: int
    source: str
    value: int


def run_gifts(turn: Turn, action: ActionRow, most: int | None) -> tuple[list[Taking], Gift | None, int]:
    """Free units of the article first, then grant the rest; also return how often the conditions counted as met."""
    article = action.free_item_article_number
    assert article is not None
    if not turn.qualification.lines:
        return [], None, 0  # only returns: nothing was purchased
    whole, fact = turn.sale.without(()), turn.sale.facts.articles.get(article)
    never = any(line.never for line in whole.sale_lines if line.row.article_number == article)
    if never or (fact is not None and whole.is_never(fact, fact.article_group_id)):
        return [], None, 0
    each = (action.free_item_quantity_thousandths or 1000) // 1000
    lines = [line for line in turn.sale.sale_lines if line.row.article_number == article and not line.weighed]
    pieces = [piece for piece in turn.pieces(lines) if piece.left > 0]
    pieces.sort(key=lambda piece: (turn.qualification.weights(piece), -piece.price))
    freed = 0
    for tried in counting():
        if tried > len(pieces):
            break
        if due(turn, action, each, set(pieces[:tried]), most)[0] >= tried:
            freed = tried
    total, times = due(turn, action, each, set(pieces[:freed]), most)
    takings = make_free(turn, pieces[:freed])
    return takings, grant(turn, action, article, total - freed), times


def due(turn: Turn, action: ActionRow, each: int, freed: set[Piece], most: int | None) -> tuple[int, int]:
    """Return how many units are due, and for how many times, if these are free and so not triggers."""
    times = turn.qualification.times(freed)
    if action.restrict_to_one_per_basket:
        times = min(times, 1)
    if most is not None:
        times = min(times, most)
    units = times * each
    if action.max_free_units_thousandths is not None:
        units = min(units, action.max_free_units_thousandths // 1000)
    return units, times


def make_free(turn: Turn, pieces: list[Piece]) -> list[Taking]:
    takings = []
    for line in turn.sale.lines:
        own = [piece for piece in pieces if piece.line == line.index]
        if not own:
            continue
        amount = min(line.left, half_up(sum((piece.left for piece in own), Fraction(0))))
        takings.append(Taking(line.index, amount, {piece: piece.left for piece in own}, "PERCENTAGE"))
    for piece in pieces:
        piece.freed = True
        piece.free_for = turn.promotion.id
        claim(turn, piece)
    return takings


def grant(turn: Turn, action: ActionRow, article: str, quantity: int) -> Gift | None:
    if quantity <= 0:
        return None
    sale = turn.sale
    sold = [line for line in sale.sale_lines if line.row.article_number == article]
    fact = sale.facts.articles.get(article)
    price, source = Fraction(0), "UNKNOWN_ZERO"
    if sold:
        price, source = sale.minor(min(line.row.unit_price_hundredths for line in sold)), "BASKET_PRICE"
    elif action.free_item_reference_price_hundredths is not None:
        price, source = sale.minor(action.free_item_reference_price_hundredths), "REFERENCE_PRICE"
    elif (
        fact is not None
        and fact.base_price_hundredths is not None
        and fact.currency in (None, sale.basket.pos_group.currency)
    ):
        price, source = sale.minor(fact.base_price_hundredths), "MASTER_DATA"
    return Gift(article, quantity, source, half_up(price * quantity))
