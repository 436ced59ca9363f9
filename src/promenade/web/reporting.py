"""Reporting `/reporting`: what came of promotions, budgets and coupons, as an OData service that is read alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from odata_server.errors import ODataError, not_found
from odata_server.hooks import Access
from odata_server.http import Request, Response
from odata_server.responses import error_response
from odata_server.source import Unit
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.web.admin_roles import ROLES
from promenade.web.auth import Authentication, Caller
from promenade.web.odata import AuthoredSource
from promenade.web.odata_api import BrowserHooks, ODataApi, refuse_what_is_not_written
from promenade.workflows.context import Context

__all__ = ["ROOT", "ReportingApi"]

T = TypeVar("T")

ROOT = "/reporting"
# Addresses below the root that are no resources of OData: they have endpoints of their own.
_NOT_ODATA = frozenset({"docs", "openapi.json"})


class ReportingApi(ODataApi):
    """Reporting as an ASGI application for everything at and below `ROOT`."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        source = _ReportingSource(context, Service.REPORTING, {})
        super().__init__(edm_for(Service.REPORTING), source, _ReportingHooks(context, authenticator), root=ROOT)

    def refusal(self, segment: str) -> ODataError | None:
        return not_found() if segment in _NOT_ODATA else None


class _ReportingSource(AuthoredSource):
    """The data of reporting, for the tenant of each caller; nothing is written, whatever the method."""

    async def transact(self, caller: Caller, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        return await super().transact(caller, work, writes=False)


class _ReportingHooks(BrowserHooks):
    """Who may read reports, and how errors look."""

    default_version = "4.0"

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """One of the three roles, each of which reads everything (specification, Roles and scopes)."""
        caller.require_scope(*ROLES)
        if access.entity_set is not None:
            refuse_what_is_not_written(access.entity_set, access.kind, request)

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        return error_response(error, version)
