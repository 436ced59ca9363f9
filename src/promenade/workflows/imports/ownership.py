"""Tenant of an import: the caller's, or one that an operator acts for; and who may see its job."""

from __future__ import annotations

from promenade.errors import Forbidden, NotFound
from promenade.store.access.tenants import read_tenants, tenant_is_known
from promenade.store.driver.unit import Session
from promenade.store.imports.jobs import JobStatus, read_job
from promenade.workflows.context import Context

_TENANT_ID_LENGTH_MAX = 36


async def tenant_of_import(context: Context, own: str, named: str | None, *, is_administrator: bool) -> str:
    """Return the tenant of an import: ``named``, which only an operator's administrator may choose freely.

    Raises Forbidden (FOREIGN_TENANT), and to operators NotFound (TENANT_NOT_FOUND).
    """
    if named is None or named == own:
        return own
    if not is_administrator or not await _is_operator(context, own):
        message = "Only administrators of an operator's tenant may import for another tenant."
        raise Forbidden("FOREIGN_TENANT", message, "header/tenantId")
    if not await _is_known(context, named):
        raise NotFound("TENANT_NOT_FOUND", "There is no such tenant.", "header/tenantId")
    return named


async def find_job(context: Context, tenant_id: str, job_id: str) -> JobStatus | None:
    """Find a job of a tenant; None: it has none with this ID."""

    async def work(session: Session) -> JobStatus | None:
        return await read_job(session, job_id)

    return await context.database.read(work, tenant=tenant_id)


async def find_started_job(context: Context, own: str, user: str, job_id: str) -> JobStatus | None:
    """Find a job of any tenant that ``user`` of the operator's tenant ``own`` started; None: there is none."""

    async def work(session: Session) -> JobStatus | None:
        return await read_job(session, job_id)

    if not await _is_operator(context, own):
        return None
    job = await context.database.read(work, system=True)
    return job if job is not None and job.created_by == user else None


async def _is_operator(context: Context, tenant_id: str) -> bool:
    async def work(session: Session) -> bool:
        return any(row.is_operator for row in await read_tenants(session) if row.tenant_id == tenant_id)

    return await context.database.read(work, system=True)


async def _is_known(context: Context, tenant_id: str) -> bool:
    async def work(session: Session) -> bool:
        return await tenant_is_known(session, tenant_id)

    if len(tenant_id) > _TENANT_ID_LENGTH_MAX or not tenant_id.isprintable():
        return False
    return await context.database.read(work, system=True)
