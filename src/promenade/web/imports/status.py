"""``GET /api/v1/jobs/{jobId}``: the status of an import (interface decisions, Import)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from odata_server.errors import ODataError, not_found
from odata_server.http import Response
from promenade.errors import Forbidden
from promenade.store.imports.jobs import JobStatus
from promenade.web.access.auth import SESSION_SCOPE, Authenticator, Caller
from promenade.web.odata.public import READ, WRITE
from promenade.web.odata.public_endpoint import PUBLIC_ROOT, Authenticate, Call, PublicEndpoint
from promenade.workflows.context import Context
from promenade.workflows.imports.ownership import find_job, find_started_job

ROUTE = f"{PUBLIC_ROOT}/jobs/{{job_id}}"
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_MASTER_DATA = frozenset({"MASTER_DATA_SOAP", "MASTER_DATA_REST"})


class ImportStatus:
    """The status of jobs, for bearer tokens: for callers who may read, and for those who started the job."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator

    def endpoint(self) -> PublicEndpoint:
        return PublicEndpoint(ROUTE, {"GET": self._status}, self._authenticator.authenticate)

    async def _status(self, call: Call) -> Response:
        caller = call.caller
        caller.require_scope(READ, WRITE)
        job_id = _job_id(call)
        job = await find_job(self._context, caller.tenant_id, job_id)
        if job is None and SESSION_SCOPE in caller.scopes:
            job = await find_started_job(self._context, caller.tenant_id, caller.user, job_id)
        if job is None or not _is_visible_to(caller, job):
            raise _no_job()
        return call.answer(_body(job))


def _is_visible_to(caller: Caller, job: JobStatus) -> bool:
    """Return True. Raises Forbidden for a caller who may not read and did not start the job."""
    if READ not in caller.scopes and job.created_by != caller.user:
        raise Forbidden(
            "MISSING_SCOPE", f"Reading the status of an import that another client started needs the scope {READ}."
        )
    return True


def certificate_status_endpoint(context: Context, authenticate: Authenticate) -> PublicEndpoint:
    """Return the endpoint for master-data jobs, whose callers ``authenticate`` finds.

    A caller sees its tenant's jobs, whatever its scopes.
    """

    async def status(call: Call) -> Response:
        job = await find_job(context, call.caller.tenant_id, _job_id(call))
        if job is None or job.source not in _MASTER_DATA:
            raise _no_job()
        return call.answer(_body(job))

    return PublicEndpoint(ROUTE, {"GET": status}, authenticate)


def _job_id(call: Call) -> str:
    """Return the job's ID. Raises ODataError 404 if it is malformed."""
    job_id = call.named["job_id"].lower()
    if _ID.fullmatch(job_id) is None:
        raise _no_job()
    return job_id


def _no_job() -> ODataError:
    return not_found("There is no import job with this ID.")


def _body(job: JobStatus) -> Mapping[str, Any]:
    return {
        "jobId": job.id,
        "entity": job.entity,
        "status": job.status,
        "totalRows": job.total_rows,
        "rowsSucceeded": job.rows_succeeded,
        "rowsFailed": job.rows_failed,
        "rowsSkipped": job.rows_skipped,
        "createdAt": job.created_at,
        "startedAt": job.started_at,
        "completedAt": job.completed_at,
        "message": job.message,
    }
