"""Scheduled work on stores that price on their own: silent ones become OFFLINE, old exchanges are deleted."""

from __future__ import annotations

from datetime import timedelta

from promenade.store.sync.deployments import deployment_ids, fail_stale_exchanges, mark_offline, purge_history
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context
from promenade.workflows.sync.deployments import HEARTBEAT_SECONDS, OFFLINE_AFTER

HISTORY_DAYS = 30
UNIT_ROWS = 40  # deleted in one unit of work: 2 to 5 ms of CPU time on SQLite
_STALE_AFTER = timedelta(hours=1)  # without a request for the download's next page
_SILENCE_MAX = timedelta(seconds=HEARTBEAT_SECONDS * OFFLINE_AFTER)


@clock_job("deployments.offline", every=timedelta(seconds=15))
async def offline(context: Context, cursor: str | None) -> JobResult:
    """Make stores OFFLINE that have missed their heartbeats."""
    at = context.clock()
    since, ahead = at - _SILENCE_MAX, at + _SILENCE_MAX
    gone = await context.database.write(
        lambda session: mark_offline(session, since=since, ahead=ahead, at=at), system=True, durable=False
    )
    return JobResult(gone)


@clock_job("purge.sync_history", every=timedelta(hours=1))
async def history(context: Context, cursor: str | None) -> JobResult:
    """Delete exchanges after `HISTORY_DAYS`; mark downloads as FAILED that their store has not continued."""
    at, database = context.clock(), context.database
    before, given_up = at - timedelta(days=HISTORY_DAYS), at - _STALE_AFTER

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        stores = await database.read(deployment_ids, tenant=tenant_id)

        async def left() -> tuple[int, bool]:
            await database.write(
                lambda session: fail_stale_exchanges(session, stores, since=given_up, at=at),
                tenant=tenant_id,
                durable=False,
            )
            return 0, False

        async def old() -> tuple[int, bool]:
            gone = await database.write(
                lambda session: purge_history(session, stores, before=before, limit=UNIT_ROWS),
                tenant=tenant_id,
                durable=False,
            )
            return gone, gone == UNIT_ROWS

        return not stores or (await pace.while_more(left) and await pace.while_more(old))

    return await tenant_by_tenant(context, cursor, of_tenant)
