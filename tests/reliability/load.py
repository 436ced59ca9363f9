"""Histories: every call recorded as ok, refused or unknown, and the database contents they imply."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import func, select

from promenade.errors import PromenadeError, Unavailable
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.sales.confirm import ConfirmAnswer
from tests.workflows.shop import Shop, identity

__all__ = ["BudgetState", "Call", "at_once", "budget_state", "event_count"]


@dataclass(frozen=True)
class Call:
    """One call and how it ended: ok with a body, refused with a code, or unknown."""

    outcome: str
    body: bytes = b""
    code: str = ""


@dataclass(frozen=True)
class BudgetState:
    """A budget and the sum of its consumptions, read in one snapshot."""

    status: str
    total: Decimal
    consumed: Decimal
    reserved: Decimal
    booked: Decimal

    def check(self) -> None:
        """Check B1."""
        assert self.consumed == self.booked, self
        assert 0 <= self.consumed + self.reserved <= self.total, self


async def _recorded(call: Awaitable[ConfirmAnswer]) -> Call:
    try:
        answer = await call
    except Unavailable:
        return Call("unknown")
    except PromenadeError as refusal:
        return Call("refused", code=refusal.code)
    return Call("ok", answer.body)


async def at_once(calls: Iterable[Awaitable[ConfirmAnswer]]) -> list[Call]:
    """Make all calls concurrently; return their outcomes in the given order."""
    return list(await asyncio.gather(*(_recorded(call) for call in calls)))


async def budget_state(shop: Shop, name: str) -> BudgetState:
    budgets, consumptions = table("Budgets"), table("BudgetConsumptions")

    async def read(session: Session) -> BudgetState:
        (row,) = await session.execute(select(budgets).where(budgets.c.id == identity(name)))
        booked = await session.execute(select(consumptions.c.amount).where(consumptions.c.budget_id == identity(name)))
        return BudgetState(
            row.status,
            row.total_amount,
            row.consumed_amount,
            row.reserved_amount,
            sum((one.amount for one in booked), Decimal(0)),
        )

    return await shop.context.database.read(read, tenant=shop.tenant)


async def event_count(shop: Shop, kind: str) -> int:
    events = table("outbox_events")

    async def read(session: Session) -> int:
        rows = await session.execute(select(func.count()).select_from(events).where(events.c.kind == kind))
        return int(rows[0][0])

    return await shop.context.database.read(read, tenant=shop.tenant)
