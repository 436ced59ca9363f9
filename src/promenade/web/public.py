"""The public API `/api/v1`: OData V4 and REST on the same path, for integrators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from odata_server.edm import Function
from odata_server.errors import ODataError, not_found
from odata_server.hooks import Access
from odata_server.http import Request, Response
from promenade.model.declare import Service
from promenade.model.edm import MINOR_VERSION, edm_for
from promenade.model.operations import BULK_IMPORT
from promenade.web.auth import Authenticator, Caller
from promenade.web.odata import AuthoredSource
from promenade.web.odata_api import ApiHooks, ODataApi, refuse_what_is_not_written
from promenade.web.public_claims import check_claims
from promenade.web.public_endpoint import PUBLIC_ROOT as ROOT
from promenade.web.public_endpoint import VERSION, public_error
from promenade.web.public_operations import OPERATIONS
from promenade.workflows.context import Context

__all__ = ["ROOT", "PublicApi"]

READ = "PublicApi.Read"
WRITE = "PublicApi.Write"
# Addresses below the root that are no resources of OData; those that are served have endpoints of their own.
_NOT_ODATA = frozenset({"jobs", "master-data", "openapi.json"})
_EXTRAS = {"minorVersion": MINOR_VERSION}


class PublicApi(ODataApi):
    """The public API as an ASGI application for everything at and below `ROOT`."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        source = AuthoredSource(context, Service.PUBLIC, OPERATIONS)
        super().__init__(edm_for(Service.PUBLIC), source, _PublicHooks(context, authenticator), root=ROOT)

    def refusal(self, segment: str) -> ODataError | None:
        return not_found() if segment in _NOT_ODATA or ":" in segment else None


class _PublicHooks(ApiHooks):
    """Who may do what on the public API, and how its errors look."""

    default_version = VERSION
    patch_returns = "minimal"

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """Reading needs one scope and writing another, neither implies the other; then what the collections admit."""
        caller.require_scope(*_scopes_for(access, request))
        if access.kind == "update" and _REPRESENTATION.search(request.headers.get("prefer", "")):
            caller.require_scope(READ)
        if access.operation is not None and access.operation.name == BULK_IMPORT:
            # Alone, and at one of its addresses, it has an endpoint of its own.
            raise ODataError(501, "NOT_IMPLEMENTED", "A bulk import is a request of its own, not a part of a $batch.")
        if access.entity_set is not None:
            refuse_what_is_not_written(access.entity_set, access.kind, request)
        if access.kind in {"create", "update", "invoke"}:
            check_claims(caller.tenant_id, access, request)

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        return public_error(request, error, version)

    def extras(self, caller: Caller) -> Mapping[str, Any]:
        return _EXTRAS


def _scopes_for(access: Access, request: Request) -> tuple[str, ...]:
    """The scopes of which one is needed: as the method says, and reading also for what a write asks to be told."""
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
# A change that is answered by all of the row is a way to read it; what was just created is known to its creator.
_REPRESENTATION = re.compile(r"return\s*=\s*\"?representation", re.IGNORECASE)
