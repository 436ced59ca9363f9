"""Sales that reports do not count yet: found, read with all their parts, and marked as counted.

The mark is on the job of the sale's asynchronous stage, which every confirmed sale has from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, false, func, or_, select, text, true, update

from odata_server.sql.connection import Kept
from promenade.store.driver.listed import LISTED, listed, one_of_listed
from promenade.store.driver.recurring import parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_JOBS = table("side_effect_jobs")
_CONFIRMATIONS = table("confirmations")
_CANCELLED = table("cancellations")
_LOGS = table("CalculationLogs")
_PARTS = table("calculation_log_parts")
_GROUPS = table("PosGroups")
_TENANTS = table("Tenants")
_STATE = table("report_state")
_RUNS = table("AggregatorRuns")

SOLD = ("CALCULATED", "CANCELLED")
"""The statuses of logs of sales; the cancelled ones are counted and taken out again."""


@dataclass(frozen=True, slots=True)
class State:
    """The progress of a tenant's reports; see the table's columns."""

    portions: int = 0
    refreshed_portions: int = 0
    refreshed_at: datetime | None = None
    rebuild: str | None = None
    cursor_at: datetime | None = None
    cursor_id: str | None = None


@dataclass(frozen=True, slots=True)
class Unreported:
    """A sale that reports do not count yet: its job, when it was enqueued, and its log (None: it has none)."""

    job_id: str
    enqueued_at: datetime
    log_id: str | None


@dataclass(frozen=True, slots=True)
class CancelledSale:
    """A counted sale that was cancelled and is still in the reports: its cancellation and its log (None: deleted)."""

    cancellation_id: str
    cancelled_at: datetime
    log_id: str | None


# --- How far reports are ---------------------------------------------------------------------------------------------

_STATE_COLUMNS = tuple(_STATE.c[one.name] for one in fields(State))


async def read_state(session: Session) -> State:
    """Return the progress of the tenant's reports."""
    rows = await session.execute(select(*_STATE_COLUMNS))
    return State(*tuple(rows[0])) if rows else State()


async def hold_state(session: Session) -> State:
    """Count a portion and lock the tenant's row until the unit of work ends: portions run one after the other."""
    return State(*tuple((await session.execute(_holding(session.dialect)))[0]))


@cache
def _holding(dialect: str) -> Kept:
    first = upsert(dialect, _STATE).values(portions=1, refreshed_portions=0)
    counted = first.on_conflict_do_update(index_elements=[_STATE.c.tenant_id], set_={"portions": _STATE.c.portions + 1})
    return Kept(counted.returning(*_STATE_COLUMNS))


async def note_refreshed(session: Session, portions: int, at: datetime) -> None:
    """Record that everything computed from aggregates includes this number of portions."""
    row = {"portions": portions, "refreshed_portions": portions, "refreshed_at": at}
    statement = upsert(session.dialect, _STATE).on_conflict_do_update(
        index_elements=[_STATE.c.tenant_id], set_={"refreshed_portions": portions, "refreshed_at": at}
    )
    await session.rowcount(statement, row)


async def tenants_waiting(session: Session, day: datetime) -> list[str]:
    """Return the tenants whose reports have work to do: new sales, a rebuild, or a refresh.

    A refresh is also due once after ``day``, the beginning of a UTC day. Needs a system session.
    """
    rows = await session.execute(_waiting(), {"day": day})
    return [row.tenant_id for row in rows]


@cache
def _waiting() -> Kept:
    sale = select(_JOBS.c.enqueued_at).where(_JOBS.c.tenant_id == _TENANTS.c.tenant_id, _UNREPORTED).exists()
    gone = select(_CANCELLED.c.id).where(_CANCELLED.c.tenant_id == _TENANTS.c.tenant_id, _NOT_TAKEN).exists()
    day = parameter("day", _STATE.c.refreshed_at.type)
    # A time in the future comes from a clock that has been set back since; it is in the past by tomorrow at the latest.
    behind = or_(
        _STATE.c.refreshed_at.is_(None),
        _STATE.c.refreshed_at < day,
        _STATE.c.portions != _STATE.c.refreshed_portions,
        _STATE.c.rebuild.is_not(None),
    )
    joined = _TENANTS.outerjoin(_STATE, _STATE.c.tenant_id == _TENANTS.c.tenant_id)
    return Kept(
        select(_TENANTS.c.tenant_id).select_from(joined).where(or_(behind, sale, gone)).order_by(_TENANTS.c.tenant_id)
    )


async def tenants_behind(session: Session, before: datetime) -> list[str]:
    """Return the tenants with a sale that has waited since ``before`` for no rebuild. Needs a system session."""
    rows = await session.execute(_behind(), {"before": before})
    return [row.tenant_id for row in rows]


@cache
def _behind() -> Kept:
    since = _JOBS.c.enqueued_at < parameter("before", _JOBS.c.enqueued_at.type)
    sale = select(_JOBS.c.enqueued_at).where(_JOBS.c.tenant_id == _TENANTS.c.tenant_id, _UNREPORTED, since).exists()
    joined = _TENANTS.outerjoin(_STATE, _STATE.c.tenant_id == _TENANTS.c.tenant_id)
    behind = select(_TENANTS.c.tenant_id).select_from(joined).where(_STATE.c.rebuild.is_(None), sale)
    return Kept(behind.order_by(_TENANTS.c.tenant_id))


# --- Sales -----------------------------------------------------------------------------------------------------------


_UNREPORTED = text("NOT side_effect_jobs.reported")
"""In the words of its index, which SQLite wants to hear before it takes one that has a condition."""


_NOT_TAKEN = text("NOT cancellations.reported")


@dataclass(frozen=True, slots=True)
class Lane:
    """A part of the queue, on PostgreSQL: ``number`` of ``lanes``, a power of two. A sale stays in its lane."""

    number: int
    lanes: int


async def unreported(
    session: Session, limit: int, leave: Sequence[str] = (), lane: Lane | None = None
) -> list[Unreported]:
    """Return up to ``limit`` sales that are not counted, the oldest first, except those of the jobs ``leave``.

    ``lane``: only those of a part of the queue.
    """
    few: Select[Any] = select(_JOBS.c.id, _JOBS.c.enqueued_at, _JOBS.c.origin, _JOBS.c.transaction_id)
    few = few.where(_UNREPORTED).order_by(_JOBS.c.enqueued_at).limit(limit)
    if leave:
        few = few.where(_JOBS.c.id.not_in(leave))
    if lane is not None:
        few = few.where(func.hashtext(_JOBS.c.id).op("&")(lane.lanes - 1) == lane.number)
    picked = few.cte("few")
    whole = select(picked.c.id, picked.c.enqueued_at, _CONFIRMATIONS.c.log_id).select_from(
        picked.outerjoin(
            _CONFIRMATIONS,
            and_(
                _CONFIRMATIONS.c.origin == picked.c.origin,
                _CONFIRMATIONS.c.transaction_id == picked.c.transaction_id,
            ),
        )
    )
    rows = await session.execute(whole.order_by(picked.c.enqueued_at, picked.c.id))
    return [Unreported(*tuple(row)) for row in rows]


async def mark_reported(session: Session, jobs: Sequence[str]) -> set[str]:
    """Mark sales as counted; return the jobs of those that were not marked before, nor are just being marked."""
    rows = await session.execute(_marking(session.dialect), {LISTED: listed([(one,) for one in jobs])})
    return {row.id for row in rows}


@cache
def _marking(dialect: str) -> Kept:
    its: tuple[ColumnElement[bool], ...] = (one_of_listed((_JOBS.c.id,), dialect), _JOBS.c.reported == false())
    if dialect == "postgresql":  # another worker that counts some of them is not waited for
        free = select(_JOBS.c.id).where(*its).order_by(_JOBS.c.id).with_for_update(skip_locked=True)
        its = (_JOBS.c.id.in_(free),)
    return Kept(update(_JOBS).where(*its).values(reported=true()).returning(_JOBS.c.id))


async def cancelled(session: Session, limit: int) -> list[CancelledSale]:
    """Return up to ``limit`` cancelled sales that reports have counted and not taken out again, the oldest first."""
    waits = select(_JOBS.c.id).where(
        _JOBS.c.origin == _CANCELLED.c.origin,
        _JOBS.c.transaction_id == _CANCELLED.c.transaction_id,
        _JOBS.c.transaction_counter == _CANCELLED.c.transaction_counter,
        _JOBS.c.reported == false(),
    )
    few = select(_CANCELLED.c.id, _CANCELLED.c.cancelled_at, _CANCELLED.c.log_id).where(_NOT_TAKEN, ~waits.exists())
    rows = await session.execute(few.order_by(_CANCELLED.c.cancelled_at, _CANCELLED.c.id).limit(limit))
    return [CancelledSale(*tuple(row)) for row in rows]


async def mark_taken(session: Session, cancellations: Sequence[str]) -> set[str]:
    """Mark cancelled sales as taken out of the reports; return the cancellations that were not marked before."""
    marking = update(_CANCELLED).where(_NOT_TAKEN, _CANCELLED.c.id.in_(cancellations))
    rows = await session.execute(marking.values(reported=true()).returning(_CANCELLED.c.id))
    return {row.id for row in rows}


async def read_logs(session: Session, log_ids: Sequence[str]) -> Sequence[Row[Any]]:
    """Read the logs of confirmed sales, each with its ``time_zone`` and the MessagePack in ``carried``.

    ``lines`` and ``promotions`` are packed as `store.sales.log_parts` says; None: there are none.
    """
    return await read_among(session, (_LOGS.c.id,), log_ids, _select_logs)


def _select_logs(condition: Any) -> Select[Any]:
    names = ("id", "origin", "transaction_id", "transaction_counter", "pos_group_id", "customer_id", "currency")
    amounts = ("subtotal", "discount", "grand_total", "evaluated_at", "confirmed_at")
    shown = (_LOGS.c[name] for name in (*names, *amounts))
    source = _LOGS.outerjoin(_GROUPS, _GROUPS.c.id == _LOGS.c.pos_group_id)
    source = source.outerjoin(_PARTS, _PARTS.c.log_id == _LOGS.c.id).outerjoin(
        _CONFIRMATIONS,
        and_(
            _CONFIRMATIONS.c.origin == _LOGS.c.origin,
            _CONFIRMATIONS.c.transaction_id == _LOGS.c.transaction_id,
            _CONFIRMATIONS.c.transaction_counter == _LOGS.c.transaction_counter,
        ),
    )
    zone = func.coalesce(_GROUPS.c.time_zone, "UTC").label("time_zone")
    packed = (_PARTS.c.lines, _PARTS.c.promotions)
    statement = select(*shown, zone, _CONFIRMATIONS.c.sale.label("carried"), *packed).select_from(source)
    return statement.where(condition, _LOGS.c.status.in_(SOLD))
