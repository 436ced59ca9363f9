"""The basket as it would be if gaps were closed in the cheapest way that their text names (section 10).

Pieces are more of the cheapest line that counts. An amount is one more line of that price: unspecific goods, or goods
like the cheapest line that counts where only named lines count; no article-level promotion touches them. Nothing that
is never discounted is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from promenade.engine.basket import BasketLine
from promenade.engine.money import POWERS_OF_TEN
from promenade.engine.outcome import Addition
from promenade.engine.verdict import Missed, Piece
from promenade.engine.view import BasketView


class Closing:
    """What is added to a basket so far. ``is_unspecific``: amounts on lines of tiers are unspecific goods too."""

    __slots__ = ("_amounts", "_is_unspecific", "_new", "_pieces", "_sale", "_view")

    def __init__(self, view: BasketView, sale: tuple[int, ...], is_unspecific: bool) -> None:
        """``sale``: the lines that count where no others are named."""
        self._view = view
        self._sale = sale
        self._is_unspecific = is_unspecific
        self._pieces: dict[int, int] = {}  # by line: thousandths
        self._new: dict[str, int] = {}  # by article that the basket does not hold: thousandths
        self._amounts: dict[int | None, int] = {}  # by the line that the goods are like: hundredths of their price

    @property
    def amount_hundredths(self) -> int:
        """The price of all goods of an amount."""
        return sum(self._amounts.values())

    @property
    def size(self) -> int:
        """How much is added where that is one addition: hundredths of a price, or thousandths of pieces."""
        return self.amount_hundredths + self.pieces_thousandths

    @property
    def step(self) -> int | None:
        """The smallest difference in `size`; None if there are several additions, or one that is weighed."""
        if len(self._amounts) + len(self._pieces) + len(self._new) != 1:
            return None
        if self._amounts:  # only a difference in money counts
            return POWERS_OF_TEN[2 - self._view.exponent] if self._view.exponent < 2 else 1
        return None if any(self._view.lines[position].weighed for position in self._pieces) else 1000

    @property
    def pieces_thousandths(self) -> int:
        """How many pieces are added."""
        return sum(self._pieces.values()) + sum(self._new.values())

    def close(self, shortfalls: Iterable[Missed]) -> bool:
        """Add what these lack together; False if nothing that could be added has a known price.

        What is added for one counts for the others too: pieces before amounts, few lines before many.
        """
        before = self.basket()
        pieces, amounts = dict(self._pieces), dict(self._amounts)
        for missed in sorted(shortfalls, key=_narrowness):
            if missed.pieces:
                for piece in missed.pieces:
                    if not self._add_piece(piece):
                        return False
            elif missed.is_quantity:
                position = self._cheapest(missed.lines or self._sale)
                if position is None:
                    return False
                counted = missed.lines or self._pieces
                lack = _lack(missed) - sum([self._pieces.get(one, 0) - pieces.get(one, 0) for one in counted])
                if lack > 0:
                    self._add_pieces(position, lack)
            elif not self._add_amount(missed, _lack(missed) - self._worth_since(missed, before, amounts)):
                return False
        return True

    def change(self, size: int) -> None:
        """Make the one addition so much."""
        for model in self._amounts:
            self._amounts[model] = size
        for position in self._pieces:
            self._pieces[position] = size
        for number in self._new:
            self._new[number] = size

    def _add_piece(self, piece: Piece) -> bool:
        position = self._cheapest(piece.lines)
        if position is not None:
            self._add_pieces(position, piece.count * 1000)
            return True
        number = piece.article_number
        article = None if number is None else self._view.article(number)
        if number is None or article is None or not article.base_price_hundredths:
            return False
        if article.currency not in (None, self._view.currency) or self._view.why_barred(article) is not None:
            return False
        self._new[number] = self._new.get(number, 0) + piece.count * 1000
        return True

    def _add_pieces(self, position: int, lack: int) -> None:
        """Only what is weighed can be bought in parts."""
        wanted = lack if self._view.lines[position].weighed else -(-lack // 1000) * 1000
        self._pieces[position] = self._pieces.get(position, 0) + wanted

    def _worth_since(self, missed: Missed, before: BasketView, amounts: Mapping[int | None, int]) -> int:
        """What has been added that counts for an amount, in minor units."""
        after = self.basket()
        if not missed.lines:
            return after.sale_total_minor - before.sale_total_minor
        mine = [place for place in missed.lines if place < len(self._view.lines)]
        more = sum([after.lines[place].total_minor - before.lines[place].total_minor for place in mine])
        goods = [price - amounts.get(model, 0) for model, price in self._amounts.items() if model in mine]
        return more + sum(goods) * POWERS_OF_TEN[self._view.exponent] // 100

    def _add_amount(self, missed: Missed, lack: int) -> bool:
        if lack <= 0:
            return True
        is_named = bool(missed.lines) and not (self._is_unspecific and missed.gap_type == "SCALED_RECEIPT")
        model = self._cheapest(missed.lines) if is_named else None
        if is_named and model is None:
            return False
        price = -(-lack * 100 // POWERS_OF_TEN[self._view.exponent])
        self._amounts[model] = self._amounts.get(model, 0) + price
        return True

    def _cheapest(self, positions: Sequence[int]) -> int | None:
        """The line with the lowest price, of equals the first; never one whose goods are never discounted."""
        lines, barred = self._view.lines, self._view.barred
        mine = [position for position in positions if position < len(lines) and position not in barred]
        return min(mine, key=lambda position: (lines[position].unit_price_hundredths, position), default=None)

    def basket(self) -> BasketView:
        """The basket with all of it."""
        lines = self._view.lines
        changed = {
            position: _like(
                lines[position].line, lines[position].reference, lines[position].quantity_thousandths + more
            )
            for position, more in self._pieces.items()
        }
        references = _references(self._view)
        added = [
            _line(next(references), addition, self._view, model)
            for addition, model in [*self._new_lines(), *self._amount_lines()]
        ]
        return self._view.with_lines(changed, added, len(self._amounts)) if changed or added else self._view

    def additions(self) -> tuple[Addition, ...]:
        """The same as data: pieces first, then new lines in their order."""
        lines = [self._view.lines[position] for position in self._pieces]
        found = [
            Addition(
                line.reference,
                line.article_number,
                line.article_group_id,
                more,
                line.unit_price_hundredths,
                False,
            )
            for line, more in zip(lines, self._pieces.values(), strict=True)
        ]
        return (*found, *[addition for addition, _ in [*self._new_lines(), *self._amount_lines()]])

    def _new_lines(self) -> list[tuple[Addition, int | None]]:
        found: list[tuple[Addition, int | None]] = []
        for number, count in self._new.items():
            article = self._view.article(number)
            price = 0 if article is None else article.base_price_hundredths or 0
            group = None if article is None else article.article_group_id
            found.append((Addition(None, number, group, count, price, False), None))
        return found

    def _amount_lines(self) -> list[tuple[Addition, int | None]]:
        found: list[tuple[Addition, int | None]] = []
        for model, price in self._amounts.items():
            like = None if model is None else self._view.lines[model]
            number, group = (None, None) if like is None else (like.article_number, like.article_group_id)
            found.append((Addition(None, number, group, 1000, price, True), model))
        return found


def _narrowness(missed: Missed) -> tuple[bool, bool, int]:
    return not missed.is_quantity, not missed.lines, len(missed.lines)


def _lack(missed: Missed) -> int:
    return (missed.threshold or 0) - (missed.current or 0)


def _references(view: BasketView) -> Iterator[str]:
    """References of new lines as the edge would assign them: their positions from 1."""
    taken = {line.reference for line in view.lines}
    number = len(view.lines) + 1
    while True:
        reference = str(number)
        if reference not in taken:
            yield reference
        number += 1


def _line(reference: str, addition: Addition, view: BasketView, model: int | None) -> BasketLine:
    price, quantity = addition.unit_price_hundredths, addition.quantity_thousandths
    if model is None:
        return BasketLine(reference, addition.article_number or "", quantity, price)
    return _like(view.lines[model].line, reference, quantity, price)


def _like(line: BasketLine, reference: str, quantity_thousandths: int, price: int | None = None) -> BasketLine:
    """The line with another quantity and price; `dataclasses.replace` takes three times as long."""
    has_own_price = price is not None and price != line.unit_price_hundredths
    return BasketLine(
        reference,
        line.article_number,
        quantity_thousandths,
        line.unit_price_hundredths if price is None else price,
        line.ean,
        line.article_group_id,
        line.manufacturer_id,
        line.fields,
        None if has_own_price else line.regular_price_hundredths,
    )
