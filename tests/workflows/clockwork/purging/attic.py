"""A shop's old data, and the purges that process it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import find_iteration
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.clockwork.purges import CONDEMNED_FOR, iterations, jobs, notifications, old_events, secrets
from promenade.workflows.context import Context, Retention
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop

__all__ = ["PRICED", "Attic"]

PRICED = outcome(
    (line("1", 2000, 1000, discount("off", ((2, 100),))),),
    (applied("off", 200, budget_ids=("marketing",)),),
)
JOBS = {
    "iterations": iterations,
    "events": old_events,
    "notifications": notifications,
    "jobs": jobs,
    "secrets": secrets,
}


@dataclass
class Attic:
    """A shop and the cursors of its purges."""

    shop: Shop
    retention: Retention = field(default_factory=Retention)
    cursors: dict[str, str | None] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        return replace(self.shop.context, retention=self.retention)

    async def sell(self, transaction: str, *, priced: int = 1, shop: Shop | None = None) -> None:
        """Price a transaction several times and confirm the last iteration."""
        where = shop or self.shop
        for _ in range(priced):
            counter = await where.price(transaction, PRICED)
        await where.confirm(transaction, counter, "off")

    async def run(self, job: str = "iterations") -> JobResult:
        """Run a purge once, continuing after the previous run."""
        ran = await JOBS[job](self.context, self.cursors.get(job))
        self.cursors[job] = ran.cursor
        return ran

    async def purge(self, job: str = "iterations") -> int:
        """Run a purge until no work is left; return the total done."""
        done = 0
        for _ in range(5000):
            ran = await self.run(job)
            done += ran.done
            if not ran.more:
                return done
        raise AssertionError("a purge that never ends")

    async def purge_wholly(self) -> None:
        """Purge iterations, then the rows marked for deletion by that."""
        await self.purge()
        self.shop.later(seconds=CONDEMNED_FOR.total_seconds() + 1)
        await self.purge()

    async def every(self, name: str) -> list[Row[Any]]:
        """Return the rows of all tenants."""

        async def work(session: Session) -> list[Row[Any]]:
            return list(await session.execute(select(table(name)).order_by(*table(name).primary_key)))

        return await self.shop.context.database.read(work, system=True)

    async def kept(self) -> set[tuple[str, int]]:
        """Return the remaining iterations, by transaction and counter."""
        return {(row.transaction_id, row.transaction_counter) for row in await self.every("iterations")}

    async def can_be_read(self, transaction: str, counter: int) -> bool:
        """Return whether the shop's iteration can be decoded."""
        shop = self.shop
        found = await shop.context.database.read(
            lambda session: find_iteration(session, shop.context.origin, transaction, counter), tenant=shop.tenant
        )
        return found is not None

    async def counters(self) -> dict[str, int]:
        return {row.transaction_id: row.last_counter for row in await self.every("iteration_counters")}

    async def event(self, *, at: datetime, dispatched: bool = True) -> str:
        key = str(uuid.uuid4())
        planned = at + timedelta(seconds=1) if dispatched else None
        await self.shop.put(
            "outbox_events", id=key, kind="PROMOTION_ACTIVATED", payload=b"{}", created_at=at, dispatched_at=planned
        )
        return key

    async def delivery(self, event: str, *, at: datetime, status: str, subscription: str | None) -> str:
        key = str(uuid.uuid4())
        await self.shop.put(
            "NotificationLogs", id=key, event_id=event, event_type="PROMOTION_ACTIVATED", status=status, attempts=1,
            callback_url="https://example.com", created_at=at, subscription_id=subscription,
        )  # fmt: skip
        return key

    async def queued(self, delivery: str, event: str, at: datetime) -> None:
        await self.shop.put("webhook_queue", delivery_id=delivery, lane="lane", event_id=event, attempts=0, due_at=at)

    async def ids(self, name: str) -> set[str]:
        return {row.id for row in await self.every(name)}
