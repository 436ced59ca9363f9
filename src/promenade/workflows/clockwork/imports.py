"""What is left of imports is deleted when nobody needs it any more, in small units as all purges."""

from __future__ import annotations

from datetime import timedelta

from promenade.store.import_purging import (
    purge_import_jobs,
    purge_import_keys,
    purge_import_parts,
    purge_raw_payloads,
)
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context

__all__ = ["ended_jobs", "keys"]

EVERY = timedelta(hours=1)
UNIT_ROWS = 40  # in one unit of work: 2 to 5 ms of processor time on SQLite
UNIT_BODIES = 4  # rows that were received, or messages, which may be large


@clock_job("purge.import_keys", every=EVERY)
async def keys(context: Context, cursor: str | None) -> Ran:
    """Forget keys of requests after 24 hours, and after a day rows that were received for jobs that are not there."""
    at, database = context.clock(), context.database

    async def old_keys() -> tuple[int, bool]:
        gone = await database.write(
            lambda session: purge_import_keys(session, at=at, limit=UNIT_ROWS), system=True, durable=False
        )
        return gone, gone == UNIT_ROWS

    async def orphans() -> tuple[int, bool]:
        gone = await database.write(
            lambda session: purge_import_parts(session, at=at, limit=UNIT_BODIES), system=True, durable=False
        )
        return gone, gone == UNIT_BODIES

    pace = Pace()
    finished = [await pace.while_more(part) for part in (old_keys, orphans)]
    return Ran(pace.done, more=not all(finished))


@clock_job("purge.imports", every=EVERY)
async def ended_jobs(context: Context, cursor: str | None) -> Ran:
    """Delete import jobs with their errors, and messages of master data, after `Retention.imports` days."""
    before = context.clock() - timedelta(days=context.retention.imports)

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        async def jobs() -> tuple[int, bool]:
            return await context.database.write(
                lambda session: purge_import_jobs(session, before=before, limit=UNIT_ROWS),
                tenant=tenant_id,
                durable=False,
            )

        async def messages() -> tuple[int, bool]:
            gone = await context.database.write(
                lambda session: purge_raw_payloads(session, before=before, limit=UNIT_BODIES),
                tenant=tenant_id,
                durable=False,
            )
            return gone, gone == UNIT_BODIES

        return await pace.while_more(jobs) and await pace.while_more(messages)

    return await tenant_by_tenant(context, cursor, of_tenant)
