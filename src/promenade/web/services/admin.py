"""Administration `/admin`: the OData service that a back office's user interface runs on.

``OPERATIONS`` has its bound actions by name: what carries out each of them (specification, Admin Service).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict

from odata_server.edm import Function
from odata_server.errors import ODataError
from odata_server.hooks import Access
from odata_server.http import Request, Response, error_response
from odata_server.source import OperationCall, Result
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.web.access.auth import Authentication, Caller
from promenade.web.access.roles import ROLES, scopes_for
from promenade.web.access.tls.trust_shown import Trust
from promenade.web.documents import actions as admin_documents
from promenade.web.drafts import actions as admin_drafts
from promenade.web.forecasts import actions as admin_forecast
from promenade.web.http.rate_limits import RateLimits
from promenade.web.odata.admin_unit import AdminOperations, AdminSource, AdminUnit, Examined
from promenade.web.odata.api import BrowserHooks, refuse_what_is_not_written
from promenade.web.odata.export import ExportingApi
from promenade.web.odata.preparing import Unprepared
from promenade.web.promotions import basket_tests as admin_tests
from promenade.web.promotions import budget_requests as admin_requests
from promenade.web.promotions import check as admin_check
from promenade.web.promotions import lifecycle as admin_lifecycle
from promenade.web.webhooks import replay as admin_webhooks
from promenade.workflows.access.claims import check_tenant
from promenade.workflows.access.enrolments import create_enrolment_codes
from promenade.workflows.authoring.access.clients import WITHDRAW
from promenade.workflows.context import Context


async def _withdraw(unit: AdminUnit, call: OperationCall) -> Result:
    await unit.authoring.perform(
        call.entity_set.name if call.entity_set else "Clients", str((call.binding or {})["ID"]), WITHDRAW
    )
    return Result(key=call.binding, entity_set=call.entity_set)


async def _enrol(unit: AdminUnit, call: OperationCall) -> Result:
    made = await create_enrolment_codes(unit.session, unit.authoring, call.parameters["codes"])
    return Result(value=[asdict(one) for one in made])


def _rate_limits(limits: RateLimits) -> Callable[[AdminUnit, OperationCall], Awaitable[Result]]:
    async def answer(unit: AdminUnit, call: OperationCall) -> Result:
        rows = [
            {"clientId": one.client_id, "perMinute": one.limit, "inUse": one.in_use, "refused": one.refused}
            for one in limits.use(unit.caller.tenant_id)
        ]
        return Result(value=rows)

    return answer


def _certificates(trust: Trust) -> Callable[[AdminUnit, OperationCall], Awaitable[Result]]:
    async def answer(unit: AdminUnit, call: OperationCall) -> Result:
        rows = unit.prepared.get("certificates")
        if rows is None:  # names and keys are read by the system, not by a tenant's unit
            tenant_id = unit.caller.tenant_id
            raise Unprepared("certificates", lambda context: trust.told(context.database, tenant_id, context.clock()))
        return Result(value=[asdict(one) for one in rows])

    return answer


OPERATIONS: AdminOperations = {
    **admin_drafts.OPERATIONS,
    **admin_documents.OPERATIONS,
    **admin_lifecycle.OPERATIONS,
    **admin_check.OPERATIONS,
    **admin_tests.OPERATIONS,
    **admin_requests.OPERATIONS,
    **admin_forecast.OPERATIONS,
    **admin_webhooks.OPERATIONS,
    WITHDRAW: _withdraw,
    "createEnrolmentCodes": _enrol,
}

EXAMINED: Examined = {"BasketTests": admin_tests.check_request}

ROOT = "/admin"


def no_own_tokens() -> ODataError:
    """Return the refusal of a service that has no clients."""
    return ODataError(409, "NO_OWN_TOKENS", "This service issues no tokens, so it has no clients.")


def _no_own_people() -> ODataError:
    return ODataError(409, "NO_OWN_PEOPLE", "People sign in elsewhere, where they get their scopes, too.")


def _no_outside_issuer() -> ODataError:
    message = "This service trusts no other token issuer, so it has no groups: invite People, who have scopes."
    return ODataError(409, "NO_OUTSIDE_ISSUER", message)


def _set_in_the_cloud() -> ODataError:
    message = "A store takes the settings of its tenant from the cloud: change them there."
    return ODataError(409, "SET_IN_THE_CLOUD", message)


class AdminApi(ExportingApi):
    """Administration as an ASGI application for everything at and below `ROOT`."""

    def __init__(
        self,
        context: Context,
        authenticator: Authentication,
        limits: RateLimits,
        trust: Trust,
        *,
        issues_tokens: bool,
        is_store: bool = False,
    ) -> None:
        """``issues_tokens``: callers have their tokens from this service, to whose clients it gives them.

        ``is_store``: the settings of the tenant come from the cloud.
        """
        operations = {**OPERATIONS, "rateLimits": _rate_limits(limits), "certificates": _certificates(trust)}
        source = AdminSource(context, operations, EXAMINED)
        closed = {} if issues_tokens else {"Clients": no_own_tokens, "People": _no_own_people}
        if issues_tokens or is_store:
            closed["GroupRoles"] = _no_outside_issuer
        closed |= {"TenantSettings": _set_in_the_cloud} if is_store else {}
        hooks = _AdminHooks(context, authenticator, closed)
        super().__init__(context, edm_for(Service.ADMIN), source, hooks, root=ROOT)


class _AdminHooks(BrowserHooks):
    """Authorization and error format of administration."""

    default_version = "4.0"
    patch_returns = "representation"

    def __init__(
        self, context: Context, authenticator: Authentication, closed: Mapping[str, Callable[[], ODataError]]
    ) -> None:
        """``closed``: the sets that are only read here, each with the refusal."""
        super().__init__(context, authenticator)
        self._closed = closed

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """Require one of the three roles, then check what the collections allow, the role, and this service."""
        super().permit(caller, access, request)
        caller.require_scope(*ROLES)
        if access.entity_set is not None:
            refuse_what_is_not_written(access.entity_set, access.kind, request)
        caller.require_scope(*scopes_for(access))
        is_read = access.kind == "read" or isinstance(access.operation, Function)
        if access.entity_set is not None and not is_read and access.entity_set.name in self._closed:
            raise self._closed[access.entity_set.name]()
        if access.kind in {"create", "update"}:
            check_tenant(caller.tenant_id, request.body)

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        return error_response(error, version)
