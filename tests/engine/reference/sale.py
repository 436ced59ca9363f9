"""The reference's model of a sale: lines, and one object for each piece of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor

from promenade.engine.basket import ArticleFact, Basket, BasketLine, Facts, Settings

EXPONENTS = {"EUR": 2, "JPY": 0, "KWD": 3}
MEASURES = {"KGM", "MTR", "LTR"}


def half_up(value: Fraction) -> int:
    """Round to the nearest integer, halves away from zero."""
    magnitude = floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


@dataclass(eq=False)
class Piece:
    """One unit of a sale line. A weighed line is one piece worth its line total."""

    line: int
    number: int
    price: Fraction  # minor units
    measure: Fraction  # what a UNIT_PRICE counts: 1, or the weight
    reduction: Fraction = Fraction(0)  # of the till, from the regular price
    taken: int = 0
    touched: set[str] = field(default_factory=set)  # promotions that discounted it
    owner: str | None = None  # the PROMOTION-exclusive promotion that took it
    free_for: str | None = None
    freed: bool = False

    @property
    def left(self) -> Fraction:
        return max(Fraction(0), self.price - self.taken)


@dataclass(eq=False)
class Line:
    index: int
    row: BasketLine
    total: int
    group: str | None
    maker: str | None
    weighed: bool
    pieces: list[Piece]
    never: bool = False  # discounted
    even: bool = True  # so far only discounted as a whole

    @property
    def is_sale(self) -> bool:
        return self.row.quantity_thousandths > 0

    @property
    def quantity(self) -> Fraction:
        return Fraction(self.row.quantity_thousandths, 1000)

    @property
    def taken(self) -> int:
        return sum(piece.taken for piece in self.pieces)

    @property
    def left(self) -> int:
        return self.total - self.taken


class Sale:
    """The basket with its master data, and the discounts taken from its pieces so far."""

    def __init__(
        self,
        basket: Basket,
        facts: Facts,
        settings: Settings,
        article_groups: Mapping[str, str | None],
        never: Mapping[str, str],
    ) -> None:
        self.basket, self.facts, self.settings, self.article_groups = basket, facts, settings, article_groups
        self.never = never
        self.hidden: frozenset[int] = frozenset()
        self.exponent = EXPONENTS[basket.pos_group.currency]
        self.lines = [self._line(index, row) for index, row in enumerate(basket.lines)]

    def copy(self) -> Sale:
        """Return a copy of the sale for trying something."""
        other = Sale(self.basket, self.facts, self.settings, self.article_groups, self.never)
        for mine, theirs in zip(self.lines, other.lines, strict=True):
            theirs.even = mine.even
            theirs.pieces = [replace(piece, touched=set(piece.touched)) for piece in mine.pieces]
        return other

    def minor(self, hundredths: int) -> Fraction:
        """Convert a stored amount to minor units of the sale's currency."""
        return Fraction(hundredths * 10**self.exponent, 100)

    @property
    def sale_lines(self) -> list[Line]:
        return [line for line in self.lines if line.is_sale and line.index not in self.hidden]

    def without(self, hidden: Iterable[int]) -> Sale:
        """Return the same sale, with the same pieces, as if these lines were not sold."""
        other = copy(self)
        other.hidden = frozenset(hidden)
        return other

    def is_never(self, fact: ArticleFact | None, group: str | None) -> bool:
        """Return whether an article, or a group or one above it, is never discounted."""
        return bool(fact and fact.never_discounted) or any(self.within(group, each) for each in self.never)

    def article_of(self, row: BasketLine) -> ArticleFact | None:
        found = self.facts.articles.get(row.article_number)
        if found is None and row.ean is not None:
            found = self.facts.articles_by_ean.get(row.ean)
        return found

    def in_group(self, line: Line, group: str, with_children: bool) -> bool:
        return self.within(line.group, group) if with_children else line.group == group

    def within(self, own: str | None, group: str) -> bool:
        """Return whether a group is another one, or below it."""
        while own is not None:
            if own == group:
                return True
            own = self.article_groups.get(own)
        return False

    def _line(self, index: int, row: BasketLine) -> Line:
        fact = self.article_of(row)
        price = self.minor(row.unit_price_hundredths)
        quantity = Fraction(row.quantity_thousandths, 1000)
        total = half_up(price * quantity)
        unit = fact.unit if fact else None
        weighed = unit in MEASURES or (unit is None and quantity.denominator != 1)
        line = Line(
            index,
            row,
            total,
            row.article_group_id or (fact.article_group_id if fact else None),
            row.manufacturer_id or (fact.manufacturer_id if fact else None),
            weighed,
            [],
        )
        line.never = self.is_never(fact, line.group)
        if quantity > 0:
            regular = max(price, self.minor(row.regular_price_hundredths or 0))
            if weighed:
                line.pieces = [
                    Piece(index, 0, Fraction(total), quantity, Fraction(half_up(regular * quantity) - total))
                ]
            else:
                pieces = range(ceil(quantity))
                line.pieces = [Piece(index, number, price, Fraction(1), regular - price) for number in pieces]
        return line
