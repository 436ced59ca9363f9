"""Delete the data of imports that is no longer needed, in small units like all purges."""

from __future__ import annotations

from datetime import timedelta

from promenade.store.imports.purging import purge_import_jobs, purge_import_keys, purge_import_parts, purge_raw_payloads
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context

EVERY = timedelta(hours=1)
UNIT_ROWS = 40  # in one unit of work: 2 to 5 ms of CPU time on SQLite
UNIT_BODIES = 4  # received rows, or messages, which may be large


@clock_job("purge.import_keys", every=EVERY)
async def keys(context: Context, cursor: str | None) -> JobResult:
    """Delete idempotency keys after 24 hours, and received rows without a job after a day."""
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
    return JobResult(pace.done, more=not all(finished))


@clock_job("purge.imports", every=EVERY)
async def ended_jobs(context: Context, cursor: str | None) -> JobResult:
    """Delete import jobs with their errors, and master data messages, after `Retention.imports` days."""
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
