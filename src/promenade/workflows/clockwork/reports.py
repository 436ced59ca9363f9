"""Add sales to the report aggregates and recompute the reports derived from them.

A portion is limited to what can be written in a few milliseconds, because tills wait for that on SQLite. The
aggregator pauses after each portion, longer while tills send requests. Tenants take turns, so that a tenant with a
large backlog does not hold up the others.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.driver.leases import LeaseLost
from promenade.store.reports.queue import tenants_waiting, unreported
from promenade.store.reports.sums import purge
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context
from promenade.workflows.pace import Pacer, Rest
from promenade.workflows.reports.aggregating import Portion, Run, count_portion, note_failure, refresh
from promenade.workflows.reports.rebuilding import rebuild_portion

PORTION_FIRST = 16
PORTION_MIN = 8  # each portion has a fixed cost
PORTION_MAX = 500
UNIT_SECONDS = {"sqlite": 0.02, "postgresql": 0.1}  # maximum time for writing a portion
# while no till sends requests
ALONE = {"sqlite": Rest(seconds_max=0.5), "postgresql": Rest(times=0.25, seconds_max=0.5)}
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
    """Progress of a run for one tenant: its portion size and the sales it skips."""

    tenant_id: str
    run: Run
    size: int = PORTION_FIRST
    left: list[str] = field(default_factory=list)
    is_alone: bool = False  # the next sale is counted alone, because one of its portion cannot be counted


@clock_job("reports.aggregate", every=timedelta(seconds=15))
async def sales(context: Context, cursor: str | None) -> JobResult:
    """Count the new sales of all tenants, then compute the derived reports."""
    pace = Pacer(BESIDE_TILLS, run_seconds=RUN_SECONDS)
    day = datetime.combine(context.clock().date(), time(), context.clock().tzinfo)
    waiting = await context.database.read(lambda session: tenants_waiting(session, day), system=True)
    turns = deque(_Tenant(tenant_id, Run(context.new_id)) for tenant_id in _after(waiting, cursor))
    troubles, last = list[str](), cursor
    while turns:
        if pace.is_over:
            for tenant in turns:  # so that tenants with a large backlog see intermediate results
                if tenant.run.ids:
                    await _refresh(context, tenant, troubles, every=REFRESHED_EVERY)
            return JobResult(pace.done, more=True, cursor=last, trouble=_joined_troubles(troubles))
        began = pace.now()
        tenant = turns.popleft()
        last = tenant.tenant_id
        portion = await _portion(context, tenant, troubles)
        pace.done += portion.counted
        if portion.found:
            turns.append(tenant)
        else:
            await _refresh(context, tenant, troubles)
        await pace.rest_after(began, rest=_rest(context, portion))
    return JobResult(pace.done, trouble=_joined_troubles(troubles))


def _after(tenants: list[str], cursor: str | None) -> list[str]:
    """Return the tenants after the last one that the previous run processed, then the others."""
    last = cursor or ""
    return [*[one for one in tenants if one > last], *[one for one in tenants if one <= last]]


def _joined_troubles(troubles: list[str]) -> str | None:
    return "; ".join(troubles[:TROUBLES_SHOWN]) or None


def _rest(context: Context, portion: Portion) -> Rest:
    """How long to pause after a portion: reports should be live, but tills come first."""
    if not context.tills.are_there():
        return ALONE[context.database.dialect]
    is_behind = portion.oldest is not None and context.clock() - portion.oldest > BEHIND
    return CATCHING_UP if is_behind else BESIDE_TILLS


async def _portion(context: Context, tenant: _Tenant, troubles: list[str]) -> Portion:
    """Count a portion of a tenant's sales; if its ``found`` is 0, there are no more."""
    try:
        portion = await rebuild_portion(context, tenant.tenant_id, tenant.run, tenant.size)
        if portion is None:
            size = 1 if tenant.is_alone else tenant.size
            portion = await count_portion(context, tenant.tenant_id, tenant.run, size, tenant.left)
    except (LeaseLost, Unavailable):
        raise
    except Exception as error:
        _log.exception("reports.portion_failed", tenant=tenant.tenant_id, fold=tenant.run.at)
        await note_failure(context, tenant.tenant_id, tenant.run)
        return Portion(int(await _skip_failing(context, tenant, error, troubles)), 0, 0.0)
    _adapt_size(tenant, portion, UNIT_SECONDS[context.database.dialect])
    return portion


async def _refresh(context: Context, tenant: _Tenant, troubles: list[str], every: timedelta = timedelta()) -> None:
    trouble = await refresh(context, tenant.tenant_id, every=every)
    if trouble is not None:
        troubles.append(trouble)


async def _skip_failing(context: Context, tenant: _Tenant, error: Exception, troubles: list[str]) -> bool:
    """Switch to one sale at a time, then skip the sale that cannot be counted; False: skip the tenant."""
    if not tenant.is_alone:
        tenant.is_alone = True
        return True
    first = await context.database.read(lambda session: unreported(session, 1, tenant.left), tenant=tenant.tenant_id)
    tenant.left += [one.job_id for one in first]
    tenant.is_alone = False
    troubles.append(f"{tenant.run.at} of {tenant.tenant_id}: {type(error).__name__}")
    return bool(first) and len(tenant.left) <= LEFT_MAX


def _adapt_size(tenant: _Tenant, portion: Portion, seconds: float) -> None:
    """Set the next portion's size to what can be written in ``seconds``, at most double the current size."""
    if portion.counted:
        fitting = int(portion.counted * seconds / max(portion.seconds, 1e-6))
        tenant.size = max(PORTION_MIN, min(2 * tenant.size, fitting, PORTION_MAX))


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
