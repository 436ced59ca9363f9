"""Money drawn from budgets, exactly and never beyond their total.

See pricing semantics, section 8; reliability B1-B3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

from sqlalchemy import false, insert, select, update

from odata_server.sql.connection import Kept
from promenade.engine.money import minor_digits
from promenade.store.driver.recurring import among, parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_BUDGETS = table("Budgets")
_CONSUMPTIONS = table("BudgetConsumptions")
_NOTIFICATIONS = table("BudgetNotifications")
_INSERT = insert(_CONSUMPTIONS)

DECIMALS = 3  # decimal places of a budget's amounts

# Compiled once: compiling takes longer than executing them.
_BY = parameter("changed_by", _BUDGETS.c.consumed_amount.type)
_CHANGING = (
    update(_BUDGETS)
    .where(
        _BUDGETS.c.id == parameter("changed_id", _BUDGETS.c.id.type),
        _BUDGETS.c.currency == parameter("changed_in", _BUDGETS.c.currency.type),
    )
    .values(consumed_amount=_BUDGETS.c.consumed_amount + _BY, version=_BUDGETS.c.version + 1)
    .returning(
        _BUDGETS.c.name,
        _BUDGETS.c.status,
        _BUDGETS.c.valid_from,
        _BUDGETS.c.total_amount,
        _BUDGETS.c.consumed_amount,
        _BUDGETS.c.reserved_amount,
    )
)
_CHANGE = Kept(_CHANGING)
_CHANGE_WHILE_COVERED = Kept(
    _CHANGING.where(_BUDGETS.c.total_amount - _BUDGETS.c.consumed_amount - _BUDGETS.c.reserved_amount >= _BY)
)
_THRESHOLDS = select(_NOTIFICATIONS.c.id, _NOTIFICATIONS.c.budget_id, _NOTIFICATIONS.c.threshold_percentage).order_by(
    _NOTIFICATIONS.c.threshold_percentage
)


def is_used_up(left: Decimal, currency: str) -> bool:
    """Return whether less than one minor unit is left, so that nothing can be spent."""
    return left < _unit(currency)


def spendable(left: Decimal, currency: str) -> Decimal:
    """Return the spendable part of an amount: its whole minor units."""
    return max(left, Decimal(0)).quantize(_unit(currency), ROUND_FLOOR)


def _unit(currency: str) -> Decimal:
    return Decimal(1).scaleb(-min(minor_digits(currency), DECIMALS))


@dataclass(frozen=True, slots=True)
class Use:
    """The total of a budget and how much of it is consumed, in major units."""

    total: Decimal
    consumed: Decimal

    def reaches(self, percentage: Decimal) -> bool:
        """Return whether this percentage of the total is consumed; never if nothing is consumed."""
        return self.consumed > 0 and self.consumed * 100 >= self.total * percentage

    def rises_from(self, before: Use) -> bool:
        """Return whether the consumed share has grown: more was consumed, or the total was lowered."""
        return self.consumed > 0 and self.consumed * before.total > before.consumed * self.total


@dataclass(frozen=True, slots=True)
class BudgetDraw:
    """The result of a draw. ``taken`` is what the budget provided, at most what was wanted; amounts in major units."""

    name: str
    status: str  # not changed by a draw
    valid_from: datetime | None
    taken: Decimal
    before: Use
    after: Use

    @property
    def unspent(self) -> Decimal:
        """The part of the total not yet consumed, including what is reserved for stores."""
        return self.after.total - self.after.consumed


class Consumed(NamedTuple):
    """What a promotion of a confirmed iteration drew from a budget, in major units."""

    budget_id: str
    promotion_id: str
    amount: Decimal
    currency: str
    uncovered: Decimal
    at: datetime


@dataclass(frozen=True, slots=True)
class Consumption:
    """A row of BudgetConsumptions: net of what the same transaction gave back for the same promotion.

    Negative if more is given back than taken.
    """

    id: str
    budget_id: str
    promotion_id: str
    amount: Decimal
    uncovered: Decimal
    currency: str


async def draw(
    session: Session, budget_id: str, currency: str, wanted: Decimal, given_back: Decimal
) -> BudgetDraw | None:
    """Draw ``wanted`` from a budget, or as much as can be spent, after putting ``given_back`` back into it.

    None: no such budget exists in that currency any more. The budget's row is locked until the unit of work ends.
    """
    # One conditional statement while the budget suffices: with no read before the write there is no race.
    key = {"changed_id": budget_id, "changed_in": currency}
    covered = await session.execute(_CHANGE_WHILE_COVERED, {**key, "changed_by": wanted - given_back})
    if covered:
        return _drawn(covered[0], wanted, given_back)
    # The budget does not suffice: give back first, which locks the row and returns what is left. This may now be more
    # than ``wanted``, if the budget was recharged or goods were returned in the meantime.
    held = await session.execute(_CHANGE, {**key, "changed_by": -given_back})
    if not held:
        return None
    rest = min(spendable(_left(held[0]), currency), wanted)
    taken = await session.execute(_CHANGE, {**key, "changed_by": rest}) if rest else held
    return _drawn(taken[0], rest, given_back)


async def draw_all(
    session: Session, budget_id: str, currency: str, wanted: Sequence[Decimal]
) -> list[BudgetDraw] | None:
    """Draw several amounts from a budget at once; None: it does not cover all of them, and nothing is drawn."""
    sum_wanted = sum(wanted, Decimal(0))
    key = {"changed_id": budget_id, "changed_in": currency}
    rows = await session.execute(_CHANGE_WHILE_COVERED, {**key, "changed_by": sum_wanted})
    if not rows:
        return None
    (row,) = rows
    consumed, drawn = row.consumed_amount - sum_wanted, []
    for one in wanted:
        before, consumed = consumed, consumed + one
        uses = Use(row.total_amount, before), Use(row.total_amount, consumed)
        drawn.append(BudgetDraw(row.name, row.status, row.valid_from, one, *uses))
    return drawn


def _left(row: Any) -> Decimal:
    left: Decimal = row.total_amount - row.consumed_amount - row.reserved_amount
    return left


def _drawn(row: Any, taken: Decimal, given_back: Decimal) -> BudgetDraw:
    return BudgetDraw(
        name=row.name,
        status=row.status,
        valid_from=row.valid_from,
        taken=taken,
        before=Use(row.total_amount, row.consumed_amount - taken + given_back),
        after=Use(row.total_amount, row.consumed_amount),
    )


async def reach_thresholds(
    session: Session, uses: Mapping[str, tuple[Use, Use]], at: datetime, *, new: Collection[str] = ()
) -> dict[str, list[Decimal]]:
    """Return, by budget, the notification thresholds (percent of the total) crossed between the two uses.

    Those of ``new``, IDs of BudgetNotifications, count as crossed if the second use reaches them. Each is marked as
    notified ``at``. The caller must hold the budgets' locks.
    """
    if not uses:
        return {}
    rows = await session.execute(*among((_NOTIFICATIONS.c.budget_id,), sorted(uses), _THRESHOLDS.where))
    reached: dict[str, list[Decimal]] = {}
    told: list[str] = []
    for row in rows:
        before, after = uses[row.budget_id]
        was_reached = row.id not in new and before.reaches(row.threshold_percentage)
        if after.reaches(row.threshold_percentage) and not was_reached:
            reached.setdefault(row.budget_id, []).append(row.threshold_percentage)
            told.append(row.id)
    if told:
        telling = update(_NOTIFICATIONS).where(_NOTIFICATIONS.c.id.in_(told))
        await session.rowcount(telling.values(last_notified_at=at, version=_NOTIFICATIONS.c.version + 1))
    return reached


async def move_status(session: Session, budget_id: str, after: str, *, at: datetime, by: str) -> None:
    """Change the status of a budget that this unit of work has locked."""
    moving = update(_BUDGETS).where(_BUDGETS.c.id == budget_id)
    values = {"status": after, "version": _BUDGETS.c.version + 1, "modified_at": at, "modified_by": by}
    await session.rowcount(moving.values(**values))


async def insert_consumptions(
    session: Session,
    consumptions: list[Consumption],
    *,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    at: datetime,
    is_cancellation: bool = False,
) -> None:
    """Insert the consumptions of one confirm, or what the cancellation of the sale gives back of them."""
    await session.execute_many(
        _INSERT,
        [
            {
                "id": one.id,
                "budget_id": one.budget_id,
                "promotion_id": one.promotion_id,
                "origin": origin,
                "transaction_id": transaction_id,
                "transaction_counter": transaction_counter,
                "amount": one.amount,
                "uncovered_amount": one.uncovered,
                "currency": one.currency,
                "consumed_at": at,
                "is_cancellation": is_cancellation,
                "created_at": at,
                "modified_at": at,
            }
            for one in consumptions
        ],
    )


Iteration = tuple[str, str, int]
"""Origin, transaction, counter."""


async def consumed_by(session: Session, iterations: Sequence[Iteration]) -> dict[Iteration, list[Consumed]]:
    """Return what each of these confirmed iterations consumed, ordered by budget and promotion.

    Cancellations are left out.
    """
    key = (_CONSUMPTIONS.c.origin, _CONSUMPTIONS.c.transaction_id, _CONSUMPTIONS.c.transaction_counter)
    rows = await read_among(session, key, iterations, _CONSUMED_ROWS.where)
    found: dict[Iteration, list[Consumed]] = {one: [] for one in iterations}
    for row in rows:
        found[row.origin, row.transaction_id, row.transaction_counter].append(Consumed(*tuple(row)[3:]))
    # Sorted here: SQLite without statistics would scan all consumptions rather than sort the result.
    return {
        one: sorted(charges, key=lambda charge: (charge.budget_id, charge.promotion_id))
        for one, charges in found.items()
    }


_CONSUMED_ROWS = select(
    *(
        _CONSUMPTIONS.c[name]
        for name in (
            "origin", "transaction_id", "transaction_counter", "budget_id", "promotion_id", "amount", "currency",
            "uncovered_amount", "consumed_at",
        )
    )
).where(_CONSUMPTIONS.c.is_cancellation == false())  # fmt: skip
