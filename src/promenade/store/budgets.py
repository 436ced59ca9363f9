"""Money taken from budgets, exactly and never beyond their total (pricing semantics, section 8; reliability B1-B3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, select, update

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = [
    "Consumed",
    "Consumption",
    "Drawn",
    "consumed_by",
    "draw",
    "insert_consumptions",
    "move_status",
    "reach_thresholds",
]

_BUDGETS = table("Budgets")
_CONSUMPTIONS = table("BudgetConsumptions")
_NOTIFICATIONS = table("BudgetNotifications")

# Put together once: that takes longer than to run them.
_BY = bindparam("changed_by", type_=_BUDGETS.c.consumed_amount.type)
_CHANGE = (
    update(_BUDGETS)
    .where(_BUDGETS.c.id == bindparam("changed_id"))
    .values(consumed_amount=_BUDGETS.c.consumed_amount + _BY)
    .returning(
        _BUDGETS.c.name,
        _BUDGETS.c.status,
        _BUDGETS.c.currency,
        _BUDGETS.c.total_amount,
        _BUDGETS.c.consumed_amount,
        _BUDGETS.c.reserved_amount,
    )
)
_CHANGE_WHILE_COVERED = _CHANGE.where(
    _BUDGETS.c.total_amount - _BUDGETS.c.consumed_amount - _BUDGETS.c.reserved_amount >= _BY
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a draw did. ``taken`` is what the budget gave, at most what was asked; amounts in major units."""

    name: str
    status: str  # before the draw
    currency: str
    taken: Decimal
    consumed: Decimal
    left: Decimal  # outstanding store grants do not count as left
    total: Decimal
    given_back: Decimal

    def passes(self, percentage: Decimal) -> bool:
        """Whether this draw took the budget's use from below ``percentage`` of its total to it, or beyond."""
        threshold = self.total * percentage / 100
        return self.consumed - self.taken + self.given_back < threshold <= self.consumed


class Consumed(NamedTuple):
    """What a promotion of a confirmed iteration took from a budget, in major units."""

    budget_id: str
    promotion_id: str
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Consumption:
    """A row of BudgetConsumptions: net of what the same transaction gave back for the same promotion."""

    id: str
    budget_id: str
    promotion_id: str
    amount: Decimal
    uncovered: Decimal
    currency: str


async def draw(session: Session, budget_id: str, wanted: Decimal, given_back: Decimal) -> Drawn | None:
    """Take ``wanted`` from a budget, or all that is left of it, after putting ``given_back`` into it.

    None: there is no such budget any more. The budget's row is held until the unit of work ends.
    """
    # One conditional statement while the budget lasts: no read before the write, so nothing can come between.
    net = wanted - given_back
    covered = await _change(session, budget_id, net, while_covered=True)
    if covered is not None:
        return _drawn(covered, wanted, given_back)
    return await _draw_rest(session, budget_id, wanted, given_back)


async def _draw_rest(session: Session, budget_id: str, wanted: Decimal, given_back: Decimal) -> Drawn | None:
    """Take what is left. Giving back first takes hold of the row and says what that is.

    By then it may be more than was wanted: somebody recharged the budget, or brought something back.
    """
    held = await _change(session, budget_id, -given_back, while_covered=False)
    if held is None:
        return None
    rest = min(max(_left(held), Decimal(0)), wanted)
    taken = await _change(session, budget_id, rest, while_covered=False) if rest else None
    return _drawn(held if taken is None else taken, rest, given_back)


async def _change(session: Session, budget_id: str, by: Decimal, *, while_covered: bool) -> Any:
    statement = _CHANGE_WHILE_COVERED if while_covered else _CHANGE
    rows = await session.execute(statement, {"changed_id": budget_id, "changed_by": by})
    return rows[0] if rows else None


def _left(row: Any) -> Decimal:
    left: Decimal = row.total_amount - row.consumed_amount - row.reserved_amount
    return left


def _drawn(row: Any, taken: Decimal, given_back: Decimal) -> Drawn:
    return Drawn(
        name=row.name,
        status=row.status,
        currency=row.currency,
        taken=taken,
        consumed=row.consumed_amount,
        left=_left(row),
        total=row.total_amount,
        given_back=given_back,
    )


async def reach_thresholds(session: Session, budget_id: str, drawn: Drawn, at: datetime) -> list[Decimal]:
    """The notification thresholds (percent of the total) that a draw has passed; each is marked as told ``at``."""
    if not drawn.taken:
        return []
    rows = await session.execute(
        select(_NOTIFICATIONS.c.id, _NOTIFICATIONS.c.threshold_percentage)
        .where(_NOTIFICATIONS.c.budget_id == budget_id)
        .order_by(_NOTIFICATIONS.c.threshold_percentage)
    )
    passed = {row.id: row.threshold_percentage for row in rows if drawn.passes(row.threshold_percentage)}
    if passed:
        statement = update(_NOTIFICATIONS).where(_NOTIFICATIONS.c.id.in_(list(passed)))
        await session.rowcount(statement.values(last_notified_at=at))
    return list(passed.values())


async def move_status(session: Session, budget_id: str, before: str, after: str) -> bool:
    """Move a budget from one status to another; False: it was not in ``before``, somebody else moved it."""
    statement = update(_BUDGETS).where(_BUDGETS.c.id == budget_id, _BUDGETS.c.status == before)
    return await session.rowcount(statement.values(status=after)) == 1


async def insert_consumptions(
    session: Session,
    consumptions: list[Consumption],
    *,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    at: datetime,
) -> None:
    """Write the consumptions of one confirm."""
    await session.execute_many(
        insert(_CONSUMPTIONS),
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
                "created_at": at,
                "modified_at": at,
            }
            for one in consumptions
        ],
    )


async def consumed_by(session: Session, origin: str, transaction_id: str, transaction_counter: int) -> list[Consumed]:
    """What a confirmed iteration took, in the order of budget and promotion."""
    rows = await session.execute(
        select(
            _CONSUMPTIONS.c.budget_id, _CONSUMPTIONS.c.promotion_id, _CONSUMPTIONS.c.amount, _CONSUMPTIONS.c.currency
        )
        .where(
            _CONSUMPTIONS.c.origin == origin,
            _CONSUMPTIONS.c.transaction_id == transaction_id,
            _CONSUMPTIONS.c.transaction_counter == transaction_counter,
        )
        .order_by(_CONSUMPTIONS.c.budget_id, _CONSUMPTIONS.c.promotion_id)
    )
    return [Consumed(*tuple(row)) for row in rows]
