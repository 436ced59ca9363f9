"""The public API `/api/v1`: OData V4 and REST on the same path, for integrators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

import structlog
from starlette.types import Message, Receive, Scope, Send

from odata_server.edm import EntitySet, Function
from odata_server.errors import ODataError, bad_request, not_found
from odata_server.hooks import Access, Hooks
from odata_server.http import Request, Response
from odata_server.responses import error_response
from odata_server.service import Service as ODataService
from odata_server.transport import request_of, send_response
from promenade.errors import PromenadeError
from promenade.model.declare import Service
from promenade.model.edm import MINOR_VERSION, edm_for
from promenade.web.auth import Authenticator, Caller
from promenade.web.body import Disconnected, header
from promenade.web.endpoint import URL_TOO_LONG, url_is_too_long
from promenade.web.odata import AuthoredSource
from promenade.web.problems import odata_error, problem_details
from promenade.web.public_claims import check_claims
from promenade.web.public_operations import OPERATIONS
from promenade.workflows.context import Context

__all__ = ["ROOT", "PublicApi"]

ROOT = "/api/v1"
READ = "PublicApi.Read"
WRITE = "PublicApi.Write"
# Addresses below the root that are no resources of OData; those that are served have endpoints of their own.
_NOT_ODATA = frozenset({"jobs", "master-data", "openapi.json"})
_log = structlog.get_logger("promenade.web")
_EXTRAS = {"minorVersion": MINOR_VERSION}


class PublicApi:
    """The public API as an ASGI application for everything at and below `ROOT`."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        edm = edm_for(Service.PUBLIC)
        source = AuthoredSource(context, Service.PUBLIC, OPERATIONS)
        self._hooks = _PublicHooks(context, authenticator)
        self._service = ODataService(edm, source, self._hooks, root=ROOT)
        # INVARIANT: labels of metrics come from what is declared, never from the request.
        names = (*edm.entity_sets, *edm.action_imports, "$metadata", "$batch")
        self._labels = {name: f"{ROOT}/{name}" for name in names} | {"": ROOT}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["promenade.route"] = self._label(scope["path"])
        correlation_id: bytes = scope["promenade.correlation_id"]
        has_begun = False

        async def with_correlation_id(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message["headers"] = [*message["headers"], (b"x-correlation-id", correlation_id)]
            await send(message)

        if url_is_too_long(scope):
            await self._tell(scope, bad_request("URL_TOO_LONG", URL_TOO_LONG), with_correlation_id)
            return
        segment = _first_segment(scope["path"])
        if segment in _NOT_ODATA or ":" in segment:
            await self._tell(scope, not_found(), with_correlation_id)
            return
        try:
            await self._service(scope, receive, with_correlation_id)
        except Exception:
            if has_begun:
                raise
            # A 500 says where to look in the log and nothing else.
            text = correlation_id.decode("ascii")
            _log.exception("request failed", correlation_id=text, path=scope["path"])
            error = ODataError(500, "INTERNAL_ERROR", f"Something went wrong; quote {text}.")
            await self._tell(scope, error, with_correlation_id)
        if not has_begun:
            raise Disconnected

    async def _tell(self, scope: Scope, error: ODataError, send: Send) -> None:
        request = request_of(scope, ROOT) or Request(scope["method"], "")
        await send_response(send, request, self._hooks.render_error(request, error, self._hooks.default_version))

    def _label(self, path: str) -> str:
        return self._labels.get(_first_segment(path), f"{ROOT}/{{other}}")


def _first_segment(path: str) -> str:
    """What stands first below the root, without a key: ``Campaigns`` of ``/api/v1/Campaigns(...)/posGroups``."""
    return path.removeprefix(ROOT).strip("/").partition("/")[0].partition("(")[0]


class _PublicHooks(Hooks):
    """Who may do what on the public API, and how its errors look."""

    default_version = "4.01"
    patch_returns = "minimal"

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator

    async def authenticate(self, scope: Mapping[str, Any]) -> Caller:
        try:
            return await self._authenticator.authenticate(dict(scope))
        except PromenadeError as error:
            was_sent = header(dict(scope), b"authorization") is not None
            raise odata_error(error, credential_was_sent=was_sent) from error

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """Reading needs one scope and writing another, neither implies the other; then what the collections admit."""
        caller.require_scope(*_scopes_for(access, request))
        if access.kind == "update" and _REPRESENTATION.search(request.headers.get("prefer", "")):
            caller.require_scope(READ)
        if access.entity_set is not None and access.kind in _FLAGS:
            _refuse_what_is_not_written(access.entity_set, access.kind, request)
        if access.kind in {"create", "update", "invoke"}:
            check_claims(caller.tenant_id, access, request)

    def translate(self, error: Exception) -> ODataError | None:
        return odata_error(error) if isinstance(error, PromenadeError) else None

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        if _is_odata_client(request):
            return error_response(error, version)
        body = problem_details(error, f"{ROOT}/{request.path}")
        headers = {"Content-Type": "application/problem+json", "OData-Version": version, **error.headers}
        return Response(error.status, headers, body)

    def now(self) -> datetime:
        return self._context.clock()

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

_FLAGS = {"create": "insertable", "update": "updatable", "delete": "deletable"}
_VERBS = {"create": "created", "update": "changed", "delete": "deleted"}


def _refuse_what_is_not_written(entity_set: EntitySet, kind: str, request: Request) -> None:
    """Raise for a write that a collection does not take (specification, generic pattern and Errors)."""
    if getattr(entity_set, _FLAGS[kind]):
        return
    if not entity_set.read_only:
        allow = "GET" if kind == "create" else "GET, PATCH"
        message = f"{entity_set.name} cannot be {_VERBS[kind]} directly."
        raise ODataError(405, f"NOT_{_FLAGS[kind].upper()}", message, headers={"Allow": allow})
    message = f"{entity_set.name} can only be read."
    if _is_odata_client(request):
        raise ODataError(403, "READ_ONLY", message)
    raise ODataError(405, "READ_ONLY", message, headers={"Allow": "GET"})


def _is_odata_client(request: Request) -> bool:
    """Whether the sender speaks OData, and not just HTTP and JSON."""
    return request.in_batch or "odata-version" in request.headers or "odata-maxversion" in request.headers
