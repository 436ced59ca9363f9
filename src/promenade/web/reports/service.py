"""Reporting `/reporting`: the results of promotions, budgets and coupons as a read-only OData service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import unquote

from starlette.types import Receive, Scope, Send

from odata_server.errors import ODataError, not_found
from odata_server.hooks import Access
from odata_server.http import Request, Response, error_response
from odata_server.source import OperationCall, Result, Unit
from odata_server.transport import request_of
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.model.reports.operations import EXPORT_CSV, PLAN_TRIAL
from promenade.web.access.auth import Authentication, Caller
from promenade.web.access.roles import REPORTS
from promenade.web.odata.api import BrowserHooks, refuse_what_is_not_written
from promenade.web.odata.export import ExportingApi
from promenade.web.odata.source import AuthoredSource, AuthoredUnit, Operations
from promenade.web.reports.export import CsvExports
from promenade.workflows.context import Context
from promenade.workflows.reports.arms_planning import plan_trial

T = TypeVar("T")

ROOT = "/reporting"
# Paths below the root that are not OData resources: they have endpoints of their own.
_NOT_ODATA = frozenset({"docs", "openapi.json", "openapi-all.json"})


class ReportingApi(ExportingApi):
    """Reporting as an ASGI application for everything at and below `ROOT`."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        hooks = _ReportingHooks(context, authenticator)
        source = _ReportingSource(context, Service.REPORTING, _OPERATIONS)
        super().__init__(context, edm_for(Service.REPORTING), source, hooks, root=ROOT)
        self._exports = CsvExports(context, hooks, root=ROOT)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream exports while they are read; answer everything else as OData."""
        request = request_of(scope, ROOT) if scope["method"] == "POST" else None
        if request is not None and _is_export(request):
            await self.send_file(send, request, self._exports.answer(scope, receive, send, request))
        else:
            await super().serve(scope, receive, send)

    def refusal(self, segment: str) -> ODataError | None:
        return not_found() if segment in _NOT_ODATA else None


def _is_export(request: Request) -> bool:
    return unquote(request.path).strip("/").removesuffix("()") == EXPORT_CSV


async def _export_csv(unit: AuthoredUnit, call: OperationCall) -> Result:
    raise ODataError(501, "NOT_IMPLEMENTED", "An export cannot be part of a $batch: send it as a separate request.")


async def _plan_trial(unit: AuthoredUnit, call: OperationCall) -> Result:
    promotion_id = str(call.parameters["promotionId"]).lower()
    plan = await plan_trial(unit.session, promotion_id, call.parameters["difference"], unit.at)
    return Result(value=plan.as_sent())


_OPERATIONS: Operations = {EXPORT_CSV: _export_csv, PLAN_TRIAL: _plan_trial}


class _ReportingSource(AuthoredSource):
    """The data of reporting, for the tenant of each caller; read-only, whatever the method."""

    async def transact(self, caller: Caller, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        return await super().transact(caller, work, writes=False)


class _ReportingHooks(BrowserHooks):
    """Authorization and error format of reporting."""

    default_version = "4.0"

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """Require a role of administration (specification, Roles and scopes), or the scope that only reads reports."""
        super().permit(caller, access, request)
        caller.require_scope(*REPORTS)
        if access.entity_set is not None:
            refuse_what_is_not_written(access.entity_set, access.kind, request)

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        return error_response(error, version)
