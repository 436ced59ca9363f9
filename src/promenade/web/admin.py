"""Administration `/admin`: the OData service that a back office's user interface runs on."""

from __future__ import annotations

from odata_server.errors import ODataError
from odata_server.hooks import Access
from odata_server.http import Request, Response
from odata_server.responses import error_response
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.web.admin_operations import OPERATIONS
from promenade.web.admin_roles import ROLES, scopes_for
from promenade.web.admin_unit import AdminSource
from promenade.web.auth import Authentication, Caller
from promenade.web.odata_api import BrowserHooks, ODataApi, refuse_what_is_not_written
from promenade.workflows.claims import check_tenant
from promenade.workflows.context import Context

__all__ = ["ROOT", "AdminApi"]

ROOT = "/admin"


class AdminApi(ODataApi):
    """Administration as an ASGI application for everything at and below `ROOT`."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        source = AdminSource(context, OPERATIONS)
        super().__init__(edm_for(Service.ADMIN), source, _AdminHooks(context, authenticator), root=ROOT)


class _AdminHooks(BrowserHooks):
    """Who may do what in administration, and how its errors look."""

    default_version = "4.0"
    patch_returns = "representation"

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """One of the three roles; then what the collections admit, and then what the role does."""
        caller.require_scope(*ROLES)
        if access.entity_set is not None:
            refuse_what_is_not_written(access.entity_set, access.kind, request)
        caller.require_scope(*scopes_for(access))
        if access.kind in {"create", "update"}:
            check_tenant(caller.tenant_id, request.body)

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        return error_response(error, version)
