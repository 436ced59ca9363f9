"""The public API `/api/v1`: OData V4 and REST on the same path, for integrators.

Each of its actions and functions is one workflow (specification, Public API actions). A body must not claim another
tenant, a lock, or changes of what is not changed here. OData lets a service ignore a value for what it computes itself,
and so the rest of the way never sees one; these are refused instead, as the specification wants them refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from odata_server.edm import Function
from odata_server.errors import ODataError, not_found
from odata_server.hooks import Access
from odata_server.http import Request, Response
from odata_server.source import OperationCall, Result
from promenade.errors import Detail, Invalid, NotAllowed
from promenade.interface import MINOR_VERSION
from promenade.model.declare import RW_RESTRICTED, EntityType, Service, declared
from promenade.model.edm import edm_for
from promenade.model.operations import BULK_IMPORT
from promenade.web.access.auth import Authentication, Caller
from promenade.web.odata.api import ApiHooks, refuse_what_is_not_written
from promenade.web.odata.export import ExportingApi
from promenade.web.odata.public_endpoint import PUBLIC_ROOT as ROOT
from promenade.web.odata.public_endpoint import VERSION, public_error
from promenade.web.odata.source import AuthoredSource, AuthoredUnit, Operations
from promenade.workflows.access.claims import check_tenant, decoded
from promenade.workflows.context import Context
from promenade.workflows.promotions.calendar_files import export_ics
from promenade.workflows.promotions.campaigns import add_promotions, remove_promotion
from promenade.workflows.promotions.templates import create_promotion_from_template

__all__ = ["OPERATIONS", "ROOT", "PublicApi"]


async def _add_promotions(unit: AuthoredUnit, call: OperationCall) -> Result:
    await add_promotions(unit.authoring, unit.session, _bound_to(call), call.parameters.get("promotionIds"))
    return _same_row(call)


async def _remove_promotion(unit: AuthoredUnit, call: OperationCall) -> Result:
    await remove_promotion(unit.authoring, unit.session, _bound_to(call), call.parameters.get("promotionId"))
    return _same_row(call)


async def _export_ics(unit: AuthoredUnit, call: OperationCall) -> Result:
    return Result(value=await export_ics(unit.session, _bound_to(call), unit.at))


async def _create_promotion_from_template(unit: AuthoredUnit, call: OperationCall) -> Result:
    template_id = call.parameters.get("templateId")
    return Result(value=await create_promotion_from_template(unit.authoring, unit.session, template_id))


def _bound_to(call: OperationCall) -> str:
    """Return the ID of the entity that the operation is called on."""
    return str((call.binding or {})["ID"])


def _same_row(call: OperationCall) -> Result:
    return Result(key=call.binding, entity_set=call.entity_set)


OPERATIONS: Operations = {
    "addPromotions": _add_promotions,
    "removePromotion": _remove_promotion,
    "exportICS": _export_ics,
    "createPromotionFromTemplate": _create_promotion_from_template,
}


READ = "PublicApi.Read"
WRITE = "PublicApi.Write"
# Paths below the root that are not OData resources; those that exist have endpoints of their own.
_NOT_ODATA = frozenset(
    {"customer-erasures", "customer-exports", "jobs", "master-data", "openapi.json", "openapi-all.json"}
)
_EXTRAS = {"minorVersion": MINOR_VERSION}


class PublicApi(ExportingApi):
    """The public API as an ASGI application for everything at and below `ROOT`."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        source = AuthoredSource(context, Service.PUBLIC, OPERATIONS)
        hooks = _PublicHooks(context, authenticator)
        super().__init__(context, edm_for(Service.PUBLIC), source, hooks, root=ROOT, takes_orders=False)

    def refusal(self, segment: str) -> ODataError | None:
        return not_found() if segment in _NOT_ODATA or ":" in segment else None


class _PublicHooks(ApiHooks):
    """Authorization and error format of the public API."""

    default_version = VERSION
    patch_returns = "minimal"

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """Check the scope (reading and writing need separate scopes), then what the collection allows."""
        super().permit(caller, access, request)
        caller.require_scope(*_scopes_for(access, request))
        if access.kind == "update" and _REPRESENTATION.search(request.headers.get("prefer", "")):
            caller.require_scope(READ)
        if access.operation is not None and access.operation.name == BULK_IMPORT:
            # A bulk import that is sent as a single request has an endpoint of its own.
            raise ODataError(
                501, "NOT_IMPLEMENTED", "A bulk import cannot be part of a $batch: send it as a separate request."
            )
        if access.entity_set is not None:
            refuse_what_is_not_written(access.entity_set, access.kind, request)
        if access.kind in {"create", "update", "invoke"}:
            check_claims(caller.tenant_id, access, request)

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        return public_error(request, error, version)

    def extras(self, caller: Caller) -> Mapping[str, Any]:
        return _EXTRAS


def _scopes_for(access: Access, request: Request) -> tuple[str, ...]:
    """Return the scopes of which one is required: by the method; a write that asks for data back also needs READ."""
    if access.kind == "metadata":
        return (READ, WRITE)
    if access.kind == "read":
        is_on_the_way = request.method in _WRITING and not _EXPANDS.search(unquote(request.query))
        return (READ, WRITE) if is_on_the_way else (READ,)
    if access.kind == "invoke" and isinstance(access.operation, Function):
        return (READ,)
    return (WRITE,)


_WRITING = frozenset({"POST", "PATCH", "PUT", "DELETE"})
_EXPANDS = re.compile(r"expand=", re.IGNORECASE)
# An update that returns the whole row discloses it; the row that a create returns is known to its creator.
_REPRESENTATION = re.compile(r"return\s*=\s*\"?representation", re.IGNORECASE)


_LOCKED = "locked"
_DETAILS_MAX = 50
_HARMLESS = frozenset({"ID", "tenantId", "minorVersion"})


def check_claims(tenant_id: str, access: Access, request: Request) -> None:
    """Check the body of a write before it is decoded.

    Raises Forbidden (FOREIGN_TENANT) when it names a tenant other than the caller's, at any depth, NotAllowed
    (LOCKED_IS_READ_ONLY) for a change of a campaign's ``locked``, and Invalid (NOT_CHANGEABLE) for a change of a
    property that is read-only in a restricted collection. A body that is not JSON is left to the decoder.
    """
    check_tenant(tenant_id, request.body)
    changed = _changed_entity(access)
    if changed is None:
        return
    names = _named_by_address(changed, request.path)
    body = None if names else decoded(request.body)
    _check_changes(changed, names or (tuple(body) if isinstance(body, dict) else ()))


def _changed_entity(access: Access) -> EntityType | None:
    """Return the entity type if its updates must be checked: campaigns and restricted collections."""
    if access.kind != "update" or access.entity_set is None:
        return None
    entity = declared().get(access.entity_set.name)
    if entity is None or (entity.set_name != "Campaigns" and entity.public is not RW_RESTRICTED):
        return None
    return entity


def _check_changes(entity: EntityType, names: Iterable[str]) -> None:
    if entity.public is not RW_RESTRICTED:
        if _LOCKED in names:
            message = "Only the administration's actions lock and unlock change locked."
            raise NotAllowed("LOCKED_IS_READ_ONLY", message, ("GET", "PATCH", "DELETE"), _LOCKED)
        return
    allowed = {entity.field(name).wire for name in entity.patchable}
    message = f"Of {entity.set_name} only {', '.join(sorted(allowed))} can be changed."
    kept = [name for name in names if name not in allowed and name not in _HARMLESS and "@" not in name]
    if kept:
        faults = [Detail("NOT_CHANGEABLE", message, name[:80]) for name in kept[:_DETAILS_MAX]]
        raise Invalid("NOT_CHANGEABLE", message, kept[0][:80], faults if len(faults) > 1 else ())


def _named_by_address(entity: EntityType, path: str) -> tuple[str, ...]:
    """Return the property that the path ends with (``$value`` aside); empty if the path ends with an entity."""
    last = unquote(path.removesuffix("/$value").rpartition("/")[2])
    return (last,) if any(field.wire == last for field in entity.fields) else ()
