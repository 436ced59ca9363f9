"""Administration `/admin`: the OData service that a back office's user interface runs on.

``OPERATIONS`` has its bound actions by name: what carries out each of them (specification, Admin Service).
"""

from __future__ import annotations

from odata_server.errors import ODataError
from odata_server.hooks import Access
from odata_server.http import Request, Response, error_response
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.web.access.auth import Authentication, Caller
from promenade.web.access.roles import ROLES, scopes_for
from promenade.web.drafts import actions as admin_drafts
from promenade.web.forecasts import actions as admin_forecast
from promenade.web.odata.admin_unit import AdminOperations, AdminSource
from promenade.web.odata.api import BrowserHooks, ODataApi, refuse_what_is_not_written
from promenade.web.promotions import check as admin_check
from promenade.web.promotions import lifecycle as admin_lifecycle
from promenade.web.webhooks import replay as admin_webhooks
from promenade.workflows.access.claims import check_tenant
from promenade.workflows.context import Context

OPERATIONS: AdminOperations = {
    **admin_drafts.OPERATIONS,
    **admin_lifecycle.OPERATIONS,
    **admin_check.OPERATIONS,
    **admin_forecast.OPERATIONS,
    **admin_webhooks.OPERATIONS,
}


ROOT = "/admin"


class AdminApi(ODataApi):
    """Administration as an ASGI application for everything at and below `ROOT`."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        source = AdminSource(context, OPERATIONS)
        super().__init__(edm_for(Service.ADMIN), source, _AdminHooks(context, authenticator), root=ROOT)


class _AdminHooks(BrowserHooks):
    """Authorization and error format of administration."""

    default_version = "4.0"
    patch_returns = "representation"

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """Require one of the three roles, then check what the collections allow, then what the role allows."""
        caller.require_scope(*ROLES)
        if access.entity_set is not None:
            refuse_what_is_not_written(access.entity_set, access.kind, request)
        caller.require_scope(*scopes_for(access))
        if access.kind in {"create", "update"}:
            check_tenant(caller.tenant_id, request.body)

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        return error_response(error, version)
