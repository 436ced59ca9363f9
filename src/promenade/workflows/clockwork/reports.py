"""Add sales to the report aggregates and recompute the reports derived from them.

A portion is limited to what can be written in a few milliseconds, because tills wait for that on SQLite. The
aggregator pauses after each portion while tills send requests to the same process, and not otherwise. Tenants take
turns, so that a tenant with a large backlog does not hold up the others.

One job counts all sales. On PostgreSQL others help with those that have waited for long, each in its own lane of the
queue, so that as many workers count for one tenant as there are lanes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from functools import partial

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.driver.leases import LeaseLost
from promenade.store.driver.unit import Session
from promenade.store.reports.queue import Lane, tenants_behind, tenants_waiting, unreported
from promenade.store.reports.sums import purge
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context
from promenade.workflows.pace import NO_REST, Pacer, Rest
from promenade.workflows.reports.aggregating import Portion, Run, count_portion, note_failure, refresh
from promenade.workflows.reports.rebuilding import rebuild_portion

PORTION_FIRST = 16
PORTION_MIN = 8  # each portion has a fixed cost
PORTION_MAX = 500
PORTION_MAX_ALONE = 2_000  # the more sales in a portion, the fewer rows are written for each
UNIT_SECONDS = {"sqlite": 0.02, "postgresql": 0.1}  # maximum time for writing a portion
UNIT_SECONDS_ALONE = {"sqlite": 0.02, "postgresql": 0.3}  # while no till sends requests
LANES = 4  # a power of two
IDLE = Rest(seconds_min=0.01, seconds_max=0.5)  # other workers have just counted what was found
CATCHING_UP = Rest(times=2.0, seconds_max=0.5)  # tills send requests, and sales have waited for longer than `BEHIND`
BESIDE_TILLS = Rest(times=5.0, seconds_max=0.5)
BEHIND = timedelta(seconds=25)
REFRESHED_EVERY = timedelta(minutes=1)  # during a continuous backlog
RUN_SECONDS = 2.0  # then the other clock jobs get their turn
# sales of one tenant that failed to count; above that the cause is more general, and the tenant is skipped
LEFT_MAX = 20
TROUBLES_SHOWN = 5
PURGED = 200  # rows deleted in one unit of work

_log = Logger(__name__)


@dataclass(slots=True)
class _Tenant:
    """Progress of a run for one tenant: its portion size and the sales it skips; ``lane`` None: counts them all."""

    tenant_id: str
    run: Run
    lane: Lane | None = None
    size: int = PORTION_FIRST
    left: list[str] = field(default_factory=list)
    is_behind: bool = False  # the last portion was full, and its sales had waited for long
    is_alone: bool = False  # the next sale is counted alone, because one of its portion cannot be counted


@clock_job("reports.aggregate", every=timedelta(seconds=15))
async def sales(context: Context, cursor: str | None) -> JobResult:
    """Count the new sales of all tenants, then compute the derived reports."""
    return await _count(context, cursor, None)


async def _count(context: Context, cursor: str | None, lane: Lane | None) -> JobResult:
    """Count new sales of all tenants until there are none, or the time is up; ``lane``: help with those in it."""
    pace = Pacer(BESIDE_TILLS, run_seconds=RUN_SECONDS)
    waiting = await context.database.read(partial(_waiting, at=context.clock(), lane=lane), system=True)
    turns = deque(_Tenant(tenant_id, Run(context.new_id), lane) for tenant_id in _after(waiting, cursor))
    troubles, last = list[str](), cursor
    while turns:
        if pace.is_over:
            for tenant in turns:  # so that tenants with a large backlog see intermediate results
                if tenant.run.ids and lane is None:
                    await _refresh(context, tenant, troubles, every=REFRESHED_EVERY)
            return JobResult(pace.done, more=True, cursor=last, trouble=_joined_troubles(troubles))
        began = pace.now()
        tenant = turns.popleft()
        last = tenant.tenant_id
        portion = await _portion(context, tenant, troubles)
        pace.done += portion.counted
        if portion.found:
            turns.append(tenant)
        elif lane is None:
            await _refresh(context, tenant, troubles)
        await pace.rest_after(began, rest=_rest(context, portion))
    return JobResult(pace.done, trouble=_joined_troubles(troubles))


def _helper(number: int) -> None:
    """Register the job of a lane; the one that counts all sales makes up for the lane without a helper."""

    @clock_job(f"reports.aggregate.{number + 1}", every=timedelta(seconds=15))
    async def help_counting(context: Context, cursor: str | None) -> JobResult:
        if context.database.dialect == "sqlite":  # one process writes
            return JobResult(0)
        return await _count(context, cursor, Lane(number, LANES))


for _number in range(1, LANES):
    _helper(_number)


async def _waiting(session: Session, at: datetime, lane: Lane | None) -> list[str]:
    """Return the tenants with work to do; for a lane, those whose sales have waited for longer than `BEHIND`."""
    if lane is not None:
        return await tenants_behind(session, at - BEHIND)
    return await tenants_waiting(session, datetime.combine(at.date(), time(), at.tzinfo))


def _after(tenants: list[str], cursor: str | None) -> list[str]:
    """Return the tenants after the last one that the previous run processed, then the others."""
    last = cursor or ""
    return [*[one for one in tenants if one > last], *[one for one in tenants if one <= last]]


def _joined_troubles(troubles: list[str]) -> str | None:
    return "; ".join(troubles[:TROUBLES_SHOWN]) or None


def _rest(context: Context, portion: Portion) -> Rest:
    """How long to pause after a portion: reports should be live, but tills come first."""
    if not context.tills.are_there():
        return NO_REST if portion.counted else IDLE
    return CATCHING_UP if _waited_long(context, portion.oldest) else BESIDE_TILLS


async def _portion(context: Context, tenant: _Tenant, troubles: list[str]) -> Portion:
    """Count a portion of a tenant's sales; if its ``found`` is 0, there are no more."""
    try:
        portion = None
        if tenant.lane is None:
            portion = await rebuild_portion(context, tenant.tenant_id, tenant.run, tenant.size)
        if portion is None:
            portion = await _count_portion(context, tenant)
    except (LeaseLost, Unavailable):
        raise
    except Exception as error:
        _log.exception("reports.portion_failed", tenant=tenant.tenant_id, fold=tenant.run.at)
        await note_failure(context, tenant.tenant_id, tenant.run)
        return Portion(int(await _skip_failing(context, tenant, error, troubles)), 0, 0.0)
    are_there = context.tills.are_there()
    seconds = (UNIT_SECONDS if are_there else UNIT_SECONDS_ALONE)[context.database.dialect]
    _adapt_size(tenant, portion, seconds, PORTION_MAX if are_there else PORTION_MAX_ALONE)
    return portion


async def _count_portion(context: Context, tenant: _Tenant) -> Portion:
    """Count a portion of the queue: of the tenant's lane, or of the first one while others can help, or of all."""
    size, lane = 1 if tenant.is_alone else tenant.size, tenant.lane
    if lane is None and tenant.is_behind and context.database.dialect == "postgresql":
        lane = Lane(0, LANES)
    portion = await count_portion(context, tenant.tenant_id, tenant.run, size, tenant.left, lane)
    if not portion.found and lane != tenant.lane:
        portion = await count_portion(context, tenant.tenant_id, tenant.run, size, tenant.left)
    tenant.is_behind = portion.found == size and _waited_long(context, portion.oldest)
    return portion


def _waited_long(context: Context, oldest: datetime | None) -> bool:
    return oldest is not None and context.clock() - oldest > BEHIND


async def _refresh(context: Context, tenant: _Tenant, troubles: list[str], every: timedelta = timedelta()) -> None:
    trouble = await refresh(context, tenant.tenant_id, every=every)
    if trouble is not None:
        troubles.append(trouble)


async def _skip_failing(context: Context, tenant: _Tenant, error: Exception, troubles: list[str]) -> bool:
    """Switch to one sale at a time, then skip the sale that cannot be counted; False: skip the tenant."""
    if not tenant.is_alone:
        tenant.is_alone = True
        return True
    first = await context.database.read(
        lambda session: unreported(session, 1, tenant.left, tenant.lane), tenant=tenant.tenant_id
    )
    tenant.left += [one.job_id for one in first]
    tenant.is_alone = False
    troubles.append(f"{tenant.run.at} of {tenant.tenant_id}: {type(error).__name__}")
    return bool(first) and len(tenant.left) <= LEFT_MAX


def _adapt_size(tenant: _Tenant, portion: Portion, seconds: float, most: int) -> None:
    """Set the next portion's size to what can be written in ``seconds``, at most double the current size."""
    if portion.counted:
        fitting = int(portion.counted * seconds / max(portion.seconds, 1e-6))
        tenant.size = max(PORTION_MIN, min(2 * tenant.size, fitting, most))


@clock_job("reports.forget_runs", every=timedelta(hours=1))
async def forget_runs(context: Context, cursor: str | None) -> JobResult:
    """Delete old rows of AggregatorRuns."""

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        return await pace.while_more(lambda: _purge(context, "AggregatorRuns", tenant=tenant_id))

    return await tenant_by_tenant(context, cursor, of_tenant)


@clock_job("reports.forget_advice", every=timedelta(hours=1))
async def forget_advice(context: Context, cursor: str | None) -> JobResult:
    """Delete open advice that is too old for a later visit of the customer to be related to it."""
    pace = Pace()
    is_whole = await pace.while_more(lambda: _purge(context, "advice_open", system=True))
    return JobResult(pace.done, more=not is_whole)


async def _purge(context: Context, name: str, *, tenant: str | None = None, system: bool = False) -> tuple[int, bool]:
    """Delete some rows that are older than their table declares; return how many, and whether there may be more."""
    at = context.clock()
    gone = await context.database.write(
        lambda session: purge(session, name, at, PURGED), tenant=tenant, system=system, durable=False
    )
    return gone, gone == PURGED
