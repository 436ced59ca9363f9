"""LOYALTY: points for the customer (section 6). Points are whole, rounded down once per action.

A reward depends on the points earned before it, and those depend on the tenant's base points for the net total; so a
benefit records the reward when its promotion is processed, and `points_of` adds them up in that order.
"""

from __future__ import annotations

from typing import ClassVar, Self

from promenade.engine.benefits.registry import (
    REWARDS_ONLY,
    IndexKey,
    Terms,
    benefit,
    loyalty_benefit,
)
from promenade.engine.benefits.targets import Targets, targets_of_loyalty
from promenade.engine.definition import ActionRow, DefinitionError, LoyaltyRow
from promenade.engine.forms import Form
from promenade.engine.turn import PointsReward, Turn
from promenade.engine.verdict import Missed

POINTS_MAX = 9_999_999_999  # per sale, whatever its multipliers: keeps sums of points within whole-number columns


def points_after(points: int, reward: PointsReward) -> int:
    """The points after applying a reward; never below zero nor above `POINTS_MAX`."""
    if reward.kind == "SUBTRACT":
        return max(0, points - reward.value)
    added = points * reward.value // 1000 - points if reward.kind == "MULTIPLY" else reward.value
    if reward.limit is not None and added > reward.limit:
        added = reward.limit
    return min(points + added, POINTS_MAX)


@benefit(LOYALTY=Form(family="rewards", icon="badge"))
class LoyaltyMarker:
    """A DiscountAction of type LOYALTY: the promotion's LoyaltyActions say what it does."""

    __slots__ = ()
    code: ClassVar[str] = "LOYALTY"
    stage: ClassVar[int] = REWARDS_ONLY

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        return cls()

    def keys(self) -> tuple[IndexKey, ...] | None:
        return None

    def targets(self, turn: Turn) -> tuple[int, ...]:
        return ()

    def gap(self, turn: Turn) -> Missed | None:
        return None

    def book(self, turn: Turn) -> None:
        """Do nothing itself."""


_TARGETS = ("targetScope", "targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "articleListItems")


class _Reward:
    """What loyalty actions have in common: a scope, and a limit on the points added."""

    __slots__ = ("limit", "target", "value")
    stage: ClassVar[int] = REWARDS_ONLY

    def __init__(self, target: Targets, value: int, limit: int | None) -> None:
        self.target = target
        self.value = value
        self.limit = limit

    @staticmethod
    def limit_of(row: LoyaltyRow) -> int | None:
        """maxPoints as whole points."""
        if row.max_points_hundredths is None:
            return None
        if row.max_points_hundredths < 0:
            raise DefinitionError("maxPoints", "OUT_OF_RANGE", "A maximum must not be below zero.")
        return row.max_points_hundredths // 100

    @staticmethod
    def points_field(row: LoyaltyRow) -> int:
        """points in hundredths."""
        if row.points_hundredths is None or row.points_hundredths <= 0:
            raise DefinitionError("points", "REQUIRED", "Points above zero are required.")
        return row.points_hundredths

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.target.keys()

    def targets(self, turn: Turn) -> tuple[int, ...]:
        return self.target.resolve(turn.view, turn.lines)

    def _rewarded(self, turn: Turn) -> tuple[int, ...]:
        """Its targets but for goods that are never discounted, which earn nothing either."""
        barred = turn.view.barred
        found = self.targets(turn)
        return tuple([position for position in found if position not in barred]) if barred else found

    def gap(self, turn: Turn) -> Missed | None:
        return None

    def note(self, turn: Turn, kind: str, value: int) -> None:
        """Record the reward for `points_after`, unless there is nothing to reward: a basket of returns earns
        nothing.
        """
        if not self._rewarded(turn) or not self._changes(kind, value):
            return
        turn.rewards = turn.rewards or []
        turn.rewards.append(PointsReward(kind, value, self.limit))

    def _changes(self, kind: str, value: int) -> bool:
        """Whether it can change any points: an action without effect uses up no coupon."""
        if kind == "MULTIPLY":
            return value < 1000 or (value > 1000 and self.limit != 0)
        return value > 0 and self.limit != 0


@loyalty_benefit(
    "ADD_FIXED",
    Form(family="rewards", icon="add", fields=("points", *_TARGETS, "maxPoints"), needs=(("points",),)),
)
class AddFixed(_Reward):
    """Add a fixed number of points."""

    __slots__ = ()
    code: ClassVar[str] = "ADD_FIXED"

    @classmethod
    def parse(cls, row: LoyaltyRow) -> Self:
        return cls(targets_of_loyalty(row), cls.points_field(row) // 100, cls.limit_of(row))

    def book(self, turn: Turn) -> None:
        self.note(turn, "ADD", self.value)


@loyalty_benefit(
    "SUBTRACT_POINTS",
    Form(family="rewards", icon="less", fields=("points", *_TARGETS), needs=(("points",),), place=80),
)
class SubtractPoints(_Reward):
    """Subtract points, never going below zero."""

    __slots__ = ()
    code: ClassVar[str] = "SUBTRACT_POINTS"

    @classmethod
    def parse(cls, row: LoyaltyRow) -> Self:
        return cls(targets_of_loyalty(row), cls.points_field(row) // 100, None)

    def book(self, turn: Turn) -> None:
        self.note(turn, "SUBTRACT", self.value)


@loyalty_benefit(
    "MULTIPLY_POINTS",
    Form(
        family="rewards",
        icon="decline",
        fields=("multiplier", *_TARGETS, "maxPoints"),
        needs=(("multiplier",),),
        place=70,
    ),
)
class MultiplyPoints(_Reward):
    """Multiply the points earned so far."""

    __slots__ = ()
    code: ClassVar[str] = "MULTIPLY_POINTS"

    @classmethod
    def parse(cls, row: LoyaltyRow) -> Self:
        if row.multiplier_thousandths is None or row.multiplier_thousandths < 0:
            raise DefinitionError("multiplier", "REQUIRED", "A multiplier of at least 0 is required.")
        return cls(targets_of_loyalty(row), row.multiplier_thousandths, cls.limit_of(row))

    def book(self, turn: Turn) -> None:
        self.note(turn, "MULTIPLY", self.value)


@loyalty_benefit(
    "CURRENCY_TO_POINTS",
    Form(
        family="rewards",
        icon="lead",
        fields=("points", "currencyAmount", *_TARGETS, "maxPoints"),
        needs=(("points",), ("currencyAmount",)),
        place=60,
    ),
)
class CurrencyToPoints(_Reward):
    """Points per full currencyAmount that remains payable on the targets when the action is processed."""

    __slots__ = ("currency_amount",)
    code: ClassVar[str] = "CURRENCY_TO_POINTS"

    def __init__(self, target: Targets, value: int, limit: int | None, currency_amount: int) -> None:
        super().__init__(target, value, limit)
        self.currency_amount = currency_amount

    @classmethod
    def parse(cls, row: LoyaltyRow) -> Self:
        amount = row.currency_amount_hundredths
        if amount is None or amount <= 0:
            raise DefinitionError("currencyAmount", "REQUIRED", "A currency amount above zero is required.")
        return cls(targets_of_loyalty(row), cls.points_field(row), cls.limit_of(row), amount)

    def book(self, turn: Turn) -> None:
        ledger = turn.ledger
        remaining = sum([ledger.totals[p] - ledger.states[p][0] for p in self._rewarded(turn)])
        times = remaining * ledger.scale // (self.currency_amount * ledger.factor)
        points = times * self.value // 100
        if points > 0:
            self.note(turn, "ADD", points)
