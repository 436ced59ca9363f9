"""Figures over all tenants that operators watch: queues, failures, stores, pools of coupon codes, budgets.

INVARIANT: the cost is bounded, whatever is stored: each figure stops counting at a limit, and none is asked tenant by
tenant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, func, select, text
from sqlalchemy.sql.elements import TextClause

from promenade.store.access.clients import count_overdue
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

COUNTED_MAX = 10_000
"""Rows of a queue that are counted; a longer one is shown with this length."""
EXAMINED_MAX = 100_000
"""Stores, budgets and pools that are looked at."""

_JOBS = table("side_effect_jobs")
_EVENTS = table("outbox_events")
_BATCHES = table("CouponCodeBatches")
_STORES = table("LocalDeployments")
_SCHEDULES = table("CouponRefillSchedules")
_COUNTS = table("coupon_type_counts")
_BUDGETS = table("Budgets")

_MOMENTS: Mapping[str, tuple[ColumnElement[datetime], ColumnElement[bool] | TextClause | None, bool]] = {
    # What waits since when, under which condition, and whether an index gives the oldest first.
    "side_effects": (_JOBS.c.due_at, _JOBS.c.status == "PENDING", True),
    "events": (_EVENTS.c.created_at, _EVENTS.c.dispatched_at.is_(None), True),
    "deliveries": (table("webhook_queue").c.due_at, None, False),
    "imports": (table("import_work").c.due_at, None, True),
    "forecasts": (table("forecast_jobs").c.due_at, None, False),
    # Sales that reports do not count yet, in the words of the index.
    "reports": (_JOBS.c.enqueued_at, text("NOT side_effect_jobs.reported"), False),
    "coupon_codes": (_BATCHES.c.modified_at, _BATCHES.c.status.in_(("QUEUED", "RUNNING")), False),
}
QUEUES = tuple(_MOMENTS)
_NEARLY = 90  # percent of a budget


@dataclass(frozen=True, slots=True)
class Figures:
    """What is in the database. ``queues``: how many wait, and since when the oldest could have been done (None: none).

    ``stores`` and ``budgets`` by their state; ``stores_pending``: sales that stores say they have not sent yet.
    ``pools_low``: pools with fewer codes than their refill schedule wants; ``pools_empty``: those of them without any.
    ``secrets_overdue``: active clients whose secret is older than their tenant allows.
    """

    queues: Mapping[str, tuple[int, datetime | None]]
    side_effects_failed: int
    stores: Mapping[str, int]
    stores_pending: int
    pools_low: int
    pools_empty: int
    budgets: Mapping[str, int]
    secrets_overdue: int


async def read_figures(session: Session, at: datetime) -> Figures:
    """Read all figures as of ``at``; needs a system session."""
    failed = select(_JOBS.c.id).where(_JOBS.c.status == "FAILED").limit(COUNTED_MAX).subquery()
    stores, pending = await _stores(session)
    pools_low, pools_empty = await _pools(session)
    return Figures(
        queues={name: await _queue(session, name) for name in QUEUES},
        side_effects_failed=int((await session.execute(select(func.count()).select_from(failed)))[0][0]),
        stores=stores,
        stores_pending=pending,
        pools_low=pools_low,
        pools_empty=pools_empty,
        budgets=await _budgets(session),
        secrets_overdue=await count_overdue(session, at, COUNTED_MAX),
    )


async def _queue(session: Session, name: str) -> tuple[int, datetime | None]:
    moment, condition, is_in_order = _MOMENTS[name]
    some = select(moment.label("since")).limit(COUNTED_MAX)
    if condition is not None:
        some = some.where(condition)
    rows = (some.order_by(moment) if is_in_order else some).subquery()
    number, since = tuple((await session.execute(select(func.count(), func.min(rows.c.since))))[0])
    return int(number), since


async def _stores(session: Session) -> tuple[dict[str, int], int]:
    rows = select(_STORES.c.status, _STORES.c.pending_transactions).limit(EXAMINED_MAX).subquery()
    asked = select(rows.c.status, func.count(), func.sum(rows.c.pending_transactions)).group_by(rows.c.status)
    counted = [tuple(row) for row in await session.execute(asked)]
    found = {status: (int(number), int(pending or 0)) for status, number, pending in counted}
    stores = {status.lower(): found.get(status, (0, 0))[0] for status in ("ONLINE", "OFFLINE")}
    return stores, sum(pending for _, pending in found.values())


async def _pools(session: Session) -> tuple[int, int]:
    schedules = (
        select(_SCHEDULES.c.tenant_id, _SCHEDULES.c.coupon_type_id, _SCHEDULES.c.minimum_pool_size)
        .where(_SCHEDULES.c.is_active.is_(True))
        .limit(EXAMINED_MAX)
        .subquery()
    )
    counted = and_(_COUNTS.c.tenant_id == schedules.c.tenant_id, _COUNTS.c.coupon_type_id == schedules.c.coupon_type_id)
    low = and_(counted, _COUNTS.c.pooled < schedules.c.minimum_pool_size)
    asked = select(func.count(), func.sum(case((_COUNTS.c.pooled == 0, 1), else_=0)))
    number, empty = tuple((await session.execute(asked.select_from(schedules.join(_COUNTS, low))))[0])
    return int(number), int(empty or 0)


async def _budgets(session: Session) -> dict[str, int]:
    columns = _BUDGETS.c
    used = columns.consumed_amount + columns.reserved_amount
    state = case(
        (used >= columns.total_amount, "used_up"), (used * 100 >= columns.total_amount * _NEARLY, "near_end"),
        else_="enough",
    )  # fmt: skip
    rows = select(state.label("state")).where(columns.status == "ACTIVE").limit(EXAMINED_MAX).subquery()
    asked = select(rows.c.state, func.count()).group_by(rows.c.state)
    found: dict[str, int] = dict(tuple(row) for row in await session.execute(asked))
    return {name: found.get(name, 0) for name in ("enough", "near_end", "used_up")}
