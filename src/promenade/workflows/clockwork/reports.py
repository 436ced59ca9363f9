"""Sales are added to the aggregates of reports, and what reports compute from them is computed anew.

A portion is as large as what may be written in a few milliseconds, for which tills wait on SQLite; after each the
aggregator rests, longer while tills ask. Tenants take turns: a tenant with much to count does not hold up the others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta

import structlog

from promenade.errors import Unavailable
from promenade.store.clockwork import LeaseLost
from promenade.store.report_queue import purge_runs, tenants_waiting, unreported
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context
from promenade.workflows.reporting.aggregating import Portion, Run, count_portion, note_failure, refresh
from promenade.workflows.reporting.rebuilding import rebuild_portion

__all__ = ["RUNS_KEPT", "forget", "sales"]

PORTION_FIRST = 16
PORTION_MIN = 8  # a portion costs something by itself
PORTION_MAX = 500
UNIT_SECONDS = {"sqlite": 0.02, "postgresql": 0.1}  # what writing a portion may take
REST_ALONE = {"sqlite": 1.0, "postgresql": 0.25}  # times as long as a portion took, while no till asks
REST_BEHIND = 2.0  # with tills that ask, and sales that wait for longer than `BEHIND`
REST_BESIDE = 5.0  # with tills that ask
REST_SECONDS_MAX = 0.5
BEHIND = timedelta(seconds=25)
REFRESHED_EVERY = timedelta(minutes=1)  # while there is always more to count
RUN_SECONDS = 2.0  # then the other jobs of the clock have their turn
LEFT_MAX = 20  # sales of a tenant that could not be counted; with more there is something else
TROUBLES_SHOWN = 5
RUNS_KEPT = timedelta(days=7)
PURGED = 200  # rows that one unit of work deletes

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Tenant:
    """How a run stands with one tenant: how much it takes at once, which sales it leaves."""

    tenant_id: str
    run: Run
    size: int = PORTION_FIRST
    left: list[str] = field(default_factory=list)
    is_alone: bool = False  # the next sale is looked at by itself, for one of its portion cannot be counted


@clock_job("reports.aggregate", every=timedelta(seconds=15))
async def sales(context: Context, cursor: str | None) -> Ran:
    """Count the sales that have come since, of all tenants; then compute what is derived."""
    now = asyncio.get_running_loop().time
    day = datetime.combine(context.clock().date(), time(), context.clock().tzinfo)
    waiting = await context.database.read(lambda session: tenants_waiting(session, day), system=True)
    turns = deque(_Tenant(tenant_id, Run(context.new_id)) for tenant_id in _after(waiting, cursor))
    done, ends, troubles, last = 0, now() + RUN_SECONDS, list[str](), cursor
    while turns:
        if now() >= ends:
            for tenant in turns:  # who has much to count sees in between what it comes to
                if tenant.run.ids:
                    await _refresh(context, tenant, troubles, every=REFRESHED_EVERY)
            return Ran(done, more=True, cursor=last, trouble=_told(troubles))
        began = now()
        tenant = turns.popleft()
        last = tenant.tenant_id
        portion = await _portion(context, tenant, troubles)
        done += portion.counted
        if portion.found:
            turns.append(tenant)
        else:
            await _refresh(context, tenant, troubles)
        await asyncio.sleep(min(_rest(context, portion) * (now() - began), REST_SECONDS_MAX))
    return Ran(done, trouble=_told(troubles))


def _after(tenants: list[str], cursor: str | None) -> list[str]:
    """Those after the one that the run before had in hand last, then the others."""
    last = cursor or ""
    return [*[one for one in tenants if one > last], *[one for one in tenants if one <= last]]


def _told(troubles: list[str]) -> str | None:
    return "; ".join(troubles[:TROUBLES_SHOWN]) or None


def _rest(context: Context, portion: Portion) -> float:
    """How many times as long to rest as it worked; reports are to be live, and tills come first all the same."""
    if not context.tills.are_there():
        return REST_ALONE[context.database.dialect]
    is_behind = portion.oldest is not None and context.clock() - portion.oldest > BEHIND
    return REST_BEHIND if is_behind else REST_BESIDE


async def _portion(context: Context, tenant: _Tenant, troubles: list[str]) -> Portion:
    """Count a portion of a tenant's sales; one that found nothing says that there are no more."""
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
        return Portion(int(await _set_aside(context, tenant, error, troubles)), 0, 0.0)
    _fit(tenant, portion, UNIT_SECONDS[context.database.dialect])
    return portion


async def _refresh(context: Context, tenant: _Tenant, troubles: list[str], every: timedelta = timedelta()) -> None:
    trouble = await refresh(context, tenant.tenant_id, every=every)
    if trouble is not None:
        troubles.append(trouble)


async def _set_aside(context: Context, tenant: _Tenant, error: Exception, troubles: list[str]) -> bool:
    """Look at sales one by one from now on, and leave the one that cannot be counted; False: leave the tenant."""
    if not tenant.is_alone:
        tenant.is_alone = True
        return True
    first = await context.database.read(lambda session: unreported(session, 1, tenant.left), tenant=tenant.tenant_id)
    tenant.left += [one.job_id for one in first]
    tenant.is_alone = False
    troubles.append(f"{tenant.run.at} of {tenant.tenant_id}: {type(error).__name__}")
    return bool(first) and len(tenant.left) <= LEFT_MAX


def _fit(tenant: _Tenant, portion: Portion, seconds: float) -> None:
    """Take as many sales the next time as can be written in ``seconds``, at most twice as many as now."""
    if portion.counted:
        fitting = int(portion.counted * seconds / max(portion.seconds, 1e-6))
        tenant.size = max(PORTION_MIN, min(2 * tenant.size, fitting, PORTION_MAX))


@clock_job("reports.forget_runs", every=timedelta(hours=1))
async def forget(context: Context, cursor: str | None) -> Ran:
    """Delete what AggregatorRuns tell of runs after `RUNS_KEPT`."""
    before = context.clock() - RUNS_KEPT

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        async def unit() -> tuple[int, bool]:
            gone = await context.database.write(
                lambda session: purge_runs(session, before, PURGED), tenant=tenant_id, durable=False
            )
            return gone, gone == PURGED

        return await pace.while_more(unit)

    return await tenant_by_tenant(context, cursor, of_tenant)
