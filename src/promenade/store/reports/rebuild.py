"""Rebuild of a tenant's reports: delete the aggregates in portions, then walk the logs from the oldest sale on.

During a rebuild no other sale of the tenant is counted; sales that arrive meanwhile keep their mark until it is done.
So a sale belongs to the walk if its mark is set, or if its job is gone, and otherwise to the queue. A cancelled sale
is counted like any other; the walk takes it out again if that had been done before, else it leaves that to the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, false, or_, select, true, tuple_, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.reports.queue import SOLD, State

EMPTYING = "EMPTYING"
COUNTING = "COUNTING"

_STATE = table("report_state")
_LOGS = table("CalculationLogs")
_JOBS = table("side_effect_jobs")
_CANCELLED = table("cancellations")


@dataclass(frozen=True, slots=True)
class Walked:
    """A log that the walk has reached; ``is_due``: it must be counted, and ``is_taken``: taken out again."""

    confirmed_at: datetime
    log_id: str
    is_due: bool
    is_taken: bool


async def begin(session: Session) -> None:
    """Start a rebuild of all the tenant's reports; a rebuild that is running starts over."""
    anew = {"rebuild": EMPTYING, "cursor_at": None, "cursor_id": None}
    first = upsert(session.dialect, _STATE).on_conflict_do_update(index_elements=[_STATE.c.tenant_id], set_=anew)
    await session.rowcount(first, {"portions": 0, "refreshed_portions": 0, **anew})


async def empty(session: Session, tables: Sequence[str], limit: int) -> int:
    """Delete up to ``limit`` of the tenant's rows in ``tables`` and return the number deleted; 0: none are left."""
    left = limit
    for name in tables:
        of = table(name)
        key = list(of.primary_key)
        few = select(*key).limit(left)
        left -= await session.rowcount(delete(of).where(tuple_(*key).in_(few)))
        if left <= 0:
            break
    return limit - left


async def walk(session: Session, state: State, limit: int) -> list[Walked]:
    """Return the next logs of confirmed sales after the cursor, ordered by confirmation time."""
    waits = select(_JOBS.c.id).where(
        _JOBS.c.origin == _LOGS.c.origin,
        _JOBS.c.transaction_id == _LOGS.c.transaction_id,
        _JOBS.c.transaction_counter == _LOGS.c.transaction_counter,
        _JOBS.c.reported == false(),
    )
    taken = select(_CANCELLED.c.id).where(
        _CANCELLED.c.origin == _LOGS.c.origin,
        _CANCELLED.c.transaction_id == _LOGS.c.transaction_id,
        _CANCELLED.c.reported == true(),
    )
    marks = (~waits.exists()).label("is_due"), taken.exists().label("is_taken")
    logs = select(_LOGS.c.confirmed_at, _LOGS.c.id, *marks).where(_LOGS.c.status.in_(SOLD))
    if state.cursor_at is not None:
        later = or_(_LOGS.c.confirmed_at > state.cursor_at, _LOGS.c.id > state.cursor_id)
        logs = logs.where(and_(_LOGS.c.confirmed_at >= state.cursor_at, later))
    rows = await session.execute(logs.order_by(_LOGS.c.confirmed_at, _LOGS.c.id).limit(limit))
    return [Walked(row.confirmed_at, row.id, bool(row.is_due), bool(row.is_taken)) for row in rows]


async def advance(session: Session, after: Walked | None = None) -> None:
    """Move the cursor behind a log; None: the tables are empty and the walk begins."""
    cursor = {"cursor_at": after.confirmed_at, "cursor_id": after.log_id} if after is not None else {}
    await session.rowcount(update(_STATE).values(rebuild=COUNTING, **cursor))


async def end(session: Session) -> None:
    """Finish the rebuild: the queue continues with the sales that arrived meanwhile."""
    await session.rowcount(update(_STATE).values(rebuild=None, cursor_at=None, cursor_id=None))
