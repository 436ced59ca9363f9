"""One promotion's turn at the ledger: what it may take, what it took, and how to undo that.

A turn is a proposal until the stacking books it: benefits write to the ledger through it, and `undo` restores the
ledger; `redo` books the same takes again as long as the ledger is in the state they were made against.
"""

from __future__ import annotations

from collections.abc import Iterable

from promenade.engine.ledger import EXCLUSIVE, FREE, Ledger, Pieces, Segment, State, merged, shares_of
from promenade.engine.outcome import UnitShare
from promenade.engine.verdict import Trigger
from promenade.engine.view import BasketView

Shown = tuple[str, int]
"""(discountType, discountValue in hundredths) as the response shows it"""

Take = tuple[int, Shown, int, Pieces | None, State, State]
"""(position, shown, amount, pieces or None for a whole even line, state before, state after)"""


class Grant:
    """Free units that are not in the basket."""

    __slots__ = ("article_number", "ean", "price_minor", "price_source", "quantity")

    def __init__(
        self, article_number: str, ean: str | None, quantity: int, price_minor: int, price_source: str
    ) -> None:
        self.article_number = article_number
        self.ean = ean
        self.quantity = quantity
        self.price_minor = price_minor
        self.price_source = price_source


class PointsReward:
    """An executed loyalty action: how it turns the points earned so far into new ones."""

    __slots__ = ("kind", "limit", "value")

    def __init__(self, kind: str, value: int, limit: int | None) -> None:
        self.kind = kind  # ADD, SUBTRACT (whole points), MULTIPLY (thousandths)
        self.value = value
        self.limit = limit  # at most this many points added


class Turn:
    """What benefits see and write while their promotion is being priced."""

    __slots__ = (
        "applications",
        "applications_max",
        "coupon_types",
        "discount_minor",
        "exclusive",
        "grants",
        "leaves",
        "ledger",
        "lines",
        "ordinal",
        "own",
        "promotion_id",
        "repeats",
        "rewards",
        "takes",
        "triggers",
        "used",
        "view",
    )

    def __init__(
        self,
        ledger: Ledger,
        promotion_id: str,
        ordinal: int,
        exclusive: bool,
        lines: tuple[int, ...],
        triggers: tuple[Trigger, ...],
        applications_max: int | None = None,
        view: BasketView | None = None,
    ) -> None:
        """``view``: the sale as the promotion sees it; None: all of it."""
        self.ledger = ledger
        self.view: BasketView = ledger.view if view is None else view
        self.promotion_id = promotion_id
        self.ordinal = ordinal
        self.exclusive = exclusive
        self.own = ordinal << 2 | (EXCLUSIVE if exclusive else 0)
        self.lines = lines  # the qualifying lines
        self.triggers = triggers
        self.applications_max = applications_max
        self.leaves = False  # while it is booked with units left to others
        self.applications = 1
        self.repeats = False
        self.takes: list[Take] = []
        self.discount_minor = 0
        self.grants: list[Grant] | None = None
        self.rewards: list[PointsReward] | None = None
        self.coupon_types: list[str] | None = None
        self.used: list[tuple[int, int, int]] | None = None  # (position, first unit, count) in its bundles

    @property
    def give_away_minor(self) -> int:
        """Value of the granted items, which the totals do not include."""
        grants = self.grants
        return 0 if grants is None else sum([grant.price_minor * grant.quantity for grant in grants])

    @property
    def gives(self) -> bool:
        """Whether it discounts or gives something away: then its exclusions take effect (section 5)."""
        return self.discount_minor > 0 or self.grants is not None

    @property
    def has_effect(self) -> bool:
        """Whether it gives something, or rewards."""
        return (
            self.discount_minor > 0
            or self.grants is not None
            or self.rewards is not None
            or self.coupon_types is not None
        )

    def open_units(self, position: int) -> list[Segment] | None:
        """The units of a line that may be taken; None = all of an evenly treated line."""
        return self.ledger.open_units(position, self.ordinal, self.exclusive)

    def counted(self, applications: int) -> None:
        """Record how many times a repeating benefit (bundle, free items) was carried out."""
        if not self.repeats or applications > self.applications:
            self.applications = applications
        self.repeats = True

    def take_line(self, position: int, amount: int, shown: Shown) -> None:
        """Take ``amount`` (at most what is left) from all units of an evenly treated, open line."""
        self.take_lines(((position, amount),), shown)

    def take_lines(self, parts: Iterable[tuple[int, int]], shown: Shown) -> None:
        """`take_line` for many lines, each with its amount; nothing is taken where that is 0."""
        states, takes, own = self.ledger.states, self.takes, self.own
        taken = 0
        for position, amount in parts:
            if amount > 0:
                before = states[position]
                after: State = (before[0] + amount, merged(before[1], own), None)
                states[position] = after
                takes.append((position, shown, amount, None, before, after))
                taken += amount
        self.ledger.taken_minor += taken
        self.discount_minor += taken

    def take_pieces(self, position: int, amount: int, pieces: Pieces, shown: Shown, *, free: bool = False) -> None:
        """Take single units' shares, which add up to ``amount``; ``free`` marks the units as free."""
        ledger = self.ledger
        before = ledger.states[position]
        after = ledger.after_pieces(position, amount, pieces, self.own, FREE if free else 0)
        ledger.states[position] = after
        ledger.taken_minor += amount
        self.discount_minor += amount
        self.takes.append((position, shown, amount, pieces, before, after))

    def undo(self) -> None:
        """Restore every line to its state before this turn; the takes stay for `redo`."""
        ledger = self.ledger
        states = ledger.states
        for take in reversed(self.takes):
            states[take[0]] = take[4]
        ledger.taken_minor -= self.discount_minor

    def redo(self) -> None:
        """Book the takes again, onto the state they were made against."""
        ledger = self.ledger
        states = ledger.states
        for take in self.takes:
            states[take[0]] = take[5]
        ledger.taken_minor += self.discount_minor

    def unit_shares(self, take: Take) -> tuple[UnitShare, ...]:
        """How a take is spread over the line's units, from the lowest one; units before a share carry an explicit 0."""
        position, _, _, pieces, before, after = take
        if pieces is None:
            return shares_of(self.ledger.units[position], before[0], after[0])
        shares: list[UnitShare] = []
        start = 0
        for first, count, each in pieces:
            if first > start:
                shares.append(UnitShare(first - start, 0))
            if shares and shares[-1].amount_minor == each:
                shares[-1] = UnitShare(shares[-1].count + count, each)
            else:
                shares.append(UnitShare(count, each))
            start = first + count
        return tuple(shares)
