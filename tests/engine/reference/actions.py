"""What each kind of action takes from which pieces (section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from promenade.engine.definition import ActionRow, ExclusionRow, LoyaltyRow, PromotionDefinition, TierRow
from tests.engine.reference.conditions import Qualification, in_list, same
from tests.engine.reference.sale import Line, Piece, Sale
from tests.engine.reference.splitting import proportional, rounded, split


@dataclass
class Taking:
    """``amount`` minor units off one line, split over the pieces in these shares."""

    line: int
    amount: int
    shares: dict[Piece, Fraction]
    shown: str


@dataclass
class Turn:
    """One promotion applied to the sale in its current state."""

    sale: Sale
    promotion: PromotionDefinition
    qualification: Qualification

    def base(self, piece: Piece) -> Fraction:
        """Return the value of a piece that percentages, tiers and distributions are based on."""
        return piece.left if self.promotion.calculation_mode == "MULTIPLICATIVE" else piece.price

    def open(self, piece: Piece) -> bool:
        """Return whether the promotion may discount the piece."""
        return self.may_use(piece) and not self.is_free(piece)

    def may_use(self, piece: Piece) -> bool:
        """Return whether exclusivity PROMOTION, of this promotion or of another, leaves it the piece."""
        if piece.owner not in (None, self.promotion.id):
            return False
        return self.promotion.exclusivity != "PROMOTION" or not piece.touched - {self.promotion.id}

    def is_free(self, piece: Piece) -> bool:
        """Return whether the piece is a gift, never discounted, or nothing is left of its price, or of its line's."""
        line = self.sale.lines[piece.line]
        return line.never or piece.freed or piece.left == 0 or line.left <= 0

    def targets(self, action: ActionRow) -> list[Line]:
        """Return the target lines of an action, before selection; lines without an available piece are left out."""
        lines = own_targets(self.sale, action)
        if lines is None:
            lines = self.qualification.lines
        return [
            line
            for line in lines
            if not any(excluded(self.sale, line, row) for row in action.exclusions)
            and any(self.open(piece) for piece in line.pieces)
        ]

    def pieces(self, lines: Iterable[Line]) -> list[Piece]:
        return [piece for line in lines for piece in line.pieces if self.open(piece)]


def own_targets(sale: Sale, action: ActionRow | LoyaltyRow) -> list[Line] | None:
    """Return the lines that the action itself names, or None if it names none."""
    if isinstance(action, LoyaltyRow):
        article, group = action.target_article_number, action.target_article_group_id
    else:
        article, group = action.target_article_number, action.target_article_group_id
    if action.articles:
        return [line for line in sale.sale_lines if in_list(line, action.articles)]
    if article is not None:
        return [line for line in sale.sale_lines if line.row.article_number == article]
    if group is not None:
        return [line for line in sale.sale_lines if sale.in_group(line, group, action.include_sub_groups)]
    return None


WITHOUT_GOODS = {"FREE_ITEM", "POST_PURCHASE_COUPON", "LOYALTY"}


def seen_by(sale: Sale, promotion: PromotionDefinition) -> Sale:
    """Return the sale as a promotion sees it: without the lines that do not count for it."""
    counts = promotion.counts_barred if promotion.counts_barred is not None else sale.settings.barred_counts
    hidden = set() if counts else {line.index for line in sale.lines if line.never}
    rows = [action.exclusions for action in promotion.actions if action.action_type not in WITHOUT_GOODS]
    counts_excluded = promotion.counts_excluded
    if counts_excluded is None:
        counts_excluded = sale.settings.excluded_counts
    if not counts_excluded and rows:
        hidden |= {
            line.index for line in sale.lines if all(any(excluded(sale, line, one) for one in each) for each in rows)
        }
    return sale.without(hidden)


def excluded(sale: Sale, line: Line, row: ExclusionRow) -> bool:
    if row.exclusion_type == "ARTICLE":
        return line.row.article_number == row.article_number
    if row.exclusion_type == "ARTICLE_GROUP":
        assert row.article_group_id is not None
        return sale.in_group(line, row.article_group_id, True)
    if row.exclusion_type == "ARTICLE_LIST":
        return in_list(line, row.articles) is not None
    if row.exclusion_type == "BETTER_REDUCED":
        return False  # `wish` compares
    if row.exclusion_type == "REDUCED":
        regular = line.row.regular_price_hundredths
        return regular is not None and line.row.unit_price_hundredths < regular
    if row.exclusion_type == "ADDITIONAL_FIELD":
        sent = dict(line.row.fields).get(row.field_name or "")
        return sent is not None and (not row.value or same(sent, row.value))
    return line.maker == row.manufacturer


def select_lines(turn: Turn, action: ActionRow, lines: list[Line]) -> list[Line]:
    """Apply selectionType: all lines, or one by unit price (ties: basket order)."""
    if action.selection_type in ("CHEAPEST", "MOST_EXPENSIVE") and lines:
        sign = 1 if action.selection_type == "CHEAPEST" else -1
        return [min(lines, key=lambda line: (sign * worth(line), line.index))]
    if action.selection_type == "RANDOM" and lines:
        assert len(lines) == 1, "the draw is the engine's own affair"
    return lines


def worth(line: Line) -> Fraction:
    """Return the unit price that ranks a line; a weighed line is one unit worth its total."""
    return line.pieces[0].price


def select_pieces(action: ActionRow, pieces: list[Piece]) -> list[Piece]:
    """Apply applicationQuantityMode: all pieces, the first, the cheapest or the most expensive ones."""
    mode = action.application_quantity_mode or "ALL"
    if mode == "ALL":
        return pieces
    thousandths = action.application_quantity_thousandths
    count = 1 if thousandths is None else thousandths // 1000
    if mode == "CHEAPEST":
        pieces = sorted(pieces, key=lambda piece: piece.price)
    if mode == "MOST_EXPENSIVE":
        pieces = sorted(pieces, key=lambda piece: -piece.price)
    return pieces[:count]


def run(turn: Turn, action: ActionRow) -> list[Taking]:
    """Return the capped discounts of the action; those in `APART` have their own functions."""
    targets = turn.targets(action)
    chosen = select_pieces(action, turn.pieces(select_lines(turn, action, targets)))
    return capped(turn, action, ACTIONS[action.action_type].take(turn, action, turn.pieces(targets), chosen))


def wish(turn: Turn, piece: Piece, action: ActionRow, kind: str | None, hundredths: int) -> Fraction:
    """Return what a per-piece discount would take from the piece, limited to what is left of it."""
    is_compared = any(row.exclusion_type == "BETTER_REDUCED" for row in action.exclusions)
    reduction = piece.reduction if is_compared else Fraction(0)
    if kind == "PERCENTAGE":
        want = (turn.base(piece) + reduction) * hundredths / 10_000 - reduction
    elif kind == "ABSOLUTE":
        want = turn.sale.minor(hundredths) - reduction
    else:
        want = piece.left - turn.sale.minor(hundredths) * piece.measure
    return max(Fraction(0), min(want, piece.left))


def per_piece(turn: Turn, action: ActionRow, pieces: list[Piece], kind: str | None, hundredths: int) -> list[Taking]:
    """Return a discount for each piece, exact, and rounded per line."""
    takings = []
    for line in turn.sale.sale_lines:
        shares: dict[Piece, Fraction] = {}
        shown = kind
        for piece in (each for each in pieces if each.line == line.index):
            row = in_list(line, action.articles)
            if row is not None and row.fixed_price_hundredths is not None:
                shown = "UNIT_PRICE"
                shares[piece] = wish(turn, piece, action, "UNIT_PRICE", row.fixed_price_hundredths)
            else:
                shares[piece] = wish(turn, piece, action, kind, hundredths)
        amount = rounded(turn.promotion, sum(shares.values(), Fraction(0)), turn.sale.exponent)
        takings.append(Taking(line.index, min(amount, room(line, shares)), shares, shown or ""))
    return takings


def room(line: Line, pieces: Iterable[Piece]) -> int:
    """Return the whole minor units that pieces of a line can still give."""
    return min(line.left, ceil(sum((piece.left for piece in pieces), Fraction(0))))


def reached_tier(tiers: tuple[TierRow, ...], reached: Fraction, goal: str, scale: int) -> TierRow | None:
    """Return the highest tier whose threshold is reached; of equal thresholds, the last one."""
    met = [
        tier
        for tier in sorted(tiers, key=lambda each: -each.sequence)
        if Fraction(getattr(tier, goal) or 0) / scale <= reached
    ]
    return max(met, key=lambda tier: getattr(tier, goal) or 0, default=None)


def discount(turn: Turn, action: ActionRow, targets: list[Piece], chosen: list[Piece]) -> list[Taking]:
    return per_piece(turn, action, chosen, action.discount_type, action.discount_value_hundredths or 0)


def receipt(turn: Turn, action: ActionRow, targets: list[Piece], chosen: list[Piece]) -> list[Taking]:
    return off_sum(turn, action, chosen, action.discount_type, action.discount_value_hundredths or 0)


def quantity_tier(turn: Turn, action: ActionRow, targets: list[Piece], chosen: list[Piece]) -> list[Taking]:
    quantity = sum((piece.measure for piece in targets), Fraction(0))
    tier = reached_tier(action.quantity_tiers, quantity, "min_quantity_thousandths", 1000)
    if tier is None:
        return []
    if tier.discount_type == "ABSOLUTE":
        return off_sum(turn, action, chosen, "ABSOLUTE", tier.discount_value_hundredths)
    return per_piece(turn, action, chosen, tier.discount_type, tier.discount_value_hundredths)


def scaled_receipt(turn: Turn, action: ActionRow, targets: list[Piece], chosen: list[Piece]) -> list[Taking]:
    reached = sum_of_lines(turn, chosen)
    scale = Fraction(100, 10**turn.sale.exponent)
    tier = reached_tier(action.scaled_tiers, reached * scale, "threshold_hundredths", 1)
    if tier is None:
        return []
    return off_sum(turn, action, chosen, tier.discount_type, tier.discount_value_hundredths)


def sum_of_lines(turn: Turn, pieces: list[Piece]) -> Fraction:
    return sum((turn.base(piece) for piece in pieces), Fraction(0))


def off_sum(turn: Turn, action: ActionRow, pieces: list[Piece], kind: str | None, hundredths: int) -> list[Taking]:
    """Return a discount off the sum of the pieces: rounded once, limited to what is left, split over the lines."""
    if kind == "PERCENTAGE":
        exact = sum_of_lines(turn, pieces) * hundredths / 10_000
    elif kind == "ABSOLUTE":
        exact = turn.sale.minor(hundredths)
    else:
        return []
    return distribute(turn, action, pieces, exact, {piece: turn.base(piece) for piece in pieces}, kind)


def distribute(
    turn: Turn, action: ActionRow, pieces: list[Piece], exact: Fraction, bases: dict[Piece, Fraction], shown: str
) -> list[Taking]:
    lines = [line for line in turn.sale.lines if any(piece.line == line.index for piece in pieces)]
    shares = [{piece: bases[piece] for piece in pieces if piece.line == line.index} for line in lines]
    rooms = [room(line, share) for line, share in zip(lines, shares, strict=True)]
    total = min(rounded(turn.promotion, exact, turn.sale.exponent), sum(rooms), cap_of(turn, action))
    parts = split(
        action.distribution_mode or "PROPORTIONAL",
        total,
        [sum(share.values(), Fraction(0)) for share in shares],
        rooms,
        [worth(line) for line in lines],
    )
    return [Taking(line.index, part, share, shown) for line, part, share in zip(lines, parts, shares, strict=True)]


def cap_of(turn: Turn, action: ActionRow) -> int:
    """Return maxDiscountAmount in whole minor units; without one, more than anything costs."""
    if action.max_discount_hundredths is None:
        return 10**15
    return floor(turn.sale.minor(action.max_discount_hundredths))


def capped(turn: Turn, action: ActionRow, takings: list[Taking]) -> list[Taking]:
    """Apply maxDiscountAmount to discounts rounded per line, in proportion; a split total is limited before."""
    cap = cap_of(turn, action)
    amounts = [taking.amount for taking in takings]
    if sum(amounts) <= cap:
        return takings
    parts = proportional(cap, [Fraction(amount) for amount in amounts], amounts)
    return [Taking(taking.line, part, taking.shares, taking.shown) for taking, part in zip(takings, parts, strict=True)]


def book(turn: Turn, takings: list[Taking], *, by_piece: bool = False) -> list[Taking]:
    """Take the discounts from the pieces; drop those of zero. Bundles and free items take ``by_piece``."""
    done = []
    for taking in takings:
        if taking.amount <= 0:
            continue
        line = turn.sale.lines[taking.line]
        pieces = list(taking.shares)
        line.even = line.even and not by_piece and len(pieces) == len(line.pieces)
        if line.even:  # pieces always treated alike share the whole discount, with odd minor units on the lowest first
            share, odd = divmod(line.taken + taking.amount, len(pieces))
            parts = [share + (piece.number < odd) - piece.taken for piece in pieces]
        else:
            parts = over_pieces(taking)
        for piece, part in zip(pieces, parts, strict=True):
            piece.taken += part
            if part > 0 or taking.shares[piece] > 0:  # even if no whole minor unit falls on it
                claim(turn, piece)
        done.append(taking)
    return done


def over_pieces(taking: Taking) -> list[int]:
    """Split a line's discount over its pieces: first over runs with equal discounts so far, then within each."""
    runs: list[list[Piece]] = []
    for piece in sorted(taking.shares, key=lambda each: each.number):
        last = runs[-1][-1] if runs else None
        if last is None or last.number + 1 != piece.number or last.taken != piece.taken:
            runs.append([])
        runs[-1].append(piece)
    parts = proportional(
        taking.amount,
        [sum((taking.shares[piece] for piece in run), Fraction(0)) for run in runs],
        [sum(ceil(piece.left) for piece in run) for run in runs],
    )
    found: dict[Piece, int] = {}
    for run, part in zip(runs, parts, strict=True):
        share, odd = divmod(part, len(run))
        found |= {piece: share + (index < odd) for index, piece in enumerate(run)}
    return [found[piece] for piece in taking.shares]


def claim(turn: Turn, piece: Piece) -> None:
    piece.touched.add(turn.promotion.id)
    if turn.promotion.exclusivity == "PROMOTION":
        piece.owner = turn.promotion.id


# ---- the types ---------------------------------------------------------------------------------------------------

Take = Callable[[Turn, ActionRow, list[Piece], list[Piece]], list[Taking]]
"""What an action takes of the pieces chosen among its targets."""


@dataclass(frozen=True)
class Known:
    """An action type: when it runs, what it takes, and rows of it for random sales beside those of `made_up`."""

    stage: int  # 0 on articles, 1 on the receipt
    take: Take
    made_up: tuple[dict[str, Any], ...] = ()


ACTIONS: dict[str, Known] = {
    "ARTICLE": Known(0, discount),
    "ARTICLE_GROUP": Known(0, discount),
    "ARTICLE_LIST": Known(0, discount),
    "QUANTITY_TIER": Known(0, quantity_tier),
    "RECEIPT": Known(1, receipt),
    "SCALED_RECEIPT": Known(1, scaled_receipt),
}
APART = {"BUNDLE": 0, "FREE_ITEM": 0, "POST_PURCHASE_COUPON": 2, "LOYALTY": 2}
"""Types that `pricing.apply` carries out by itself, and their stage."""
