"""The common base of the product's OData services: ASGI adapter, authentication and refusals."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from datetime import datetime
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from odata_server.edm import Edm, EntitySet
from odata_server.errors import ODataError, bad_request
from odata_server.hooks import Access, Hooks
from odata_server.http import Request
from odata_server.negotiation import version_of
from odata_server.service import Service
from odata_server.source import Key, Source, Unit
from odata_server.transport import request_of, send_response
from promenade.errors import Forbidden, Invalid, PromenadeError
from promenade.log import Logger
from promenade.web.access.auth import AGENT_HEADER, CSRF_HEADER, CSRF_TOKEN_REQUIRED, Authentication, Caller
from promenade.web.http.body import Disconnected, header
from promenade.web.http.endpoint import URL_TOO_LONG, url_is_too_long
from promenade.web.http.problems import Headers, odata_error
from promenade.web.odata.source import AuthoredUnit
from promenade.workflows.context import Context

ADDED_HEADERS = "promenade.headers"
"""Where a scope has the headers that are added to its answer, whatever that will be."""

_log = Logger("promenade.web")


class ApiHooks(Hooks):
    """The authentication and the clock of every service of the product."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        self._context = context
        self._authenticator = authenticator

    async def authenticate(self, scope: Mapping[str, Any]) -> Caller:
        request = dict(scope)
        try:
            return await self.identify(request)
        except PromenadeError as error:
            raise odata_error(error, credential_was_sent=header(request, b"authorization") is not None) from error

    async def identify(self, scope: Scope) -> Caller:
        """Return the caller of a request. Raises Unauthorized, Forbidden or Unavailable."""
        return await self._authenticator.authenticate(scope)

    def permit(self, caller: Caller, access: Access, request: Request) -> None:
        """Refuse a part of a batch that names an agent of its own: whose the batch is was settled before its parts."""
        named = request.headers.get(AGENT_HEADER.decode()) if request.in_batch else None
        if named is not None and named.strip() != caller.agent:
            raise Invalid("BAD_AGENT", "Promenade-Agent is a header of the batch, and holds for all of its requests.")

    def translate(self, error: Exception) -> ODataError | None:
        return odata_error(error) if isinstance(error, PromenadeError) else None

    def tells_once(self, unit: Unit, entity_set: EntitySet, key: Key) -> bool:
        return isinstance(unit, AuthoredUnit) and unit.tells_once(entity_set, key)

    def now(self) -> datetime:
        return self._context.clock()


class BrowserHooks(ApiHooks):
    """The authentication of services that browsers use too: by token, or by session cookie."""

    async def identify(self, scope: Scope) -> Caller:
        """Return the caller; a CSRF token is returned on request, and a missing one is reported in the header."""
        try:
            caller = await self._authenticator.authenticate_browser(scope)
        except Forbidden as error:
            if error.code == CSRF_TOKEN_REQUIRED:
                scope[ADDED_HEADERS].append((CSRF_HEADER, b"Required"))
            raise
        wanted = header(scope, CSRF_HEADER)
        if wanted is not None and wanted.lower() == b"fetch" and scope["method"] in {"GET", "HEAD"}:
            token = self._authenticator.csrf_token(caller).encode("ascii")
            scope[ADDED_HEADERS] += [(CSRF_HEADER, token), (b"cache-control", b"no-store")]
        return caller


class ODataApi:
    """A service as an ASGI application for everything at and below ``root``."""

    def __init__(self, edm: Edm, source: Source, hooks: ApiHooks, *, root: str) -> None:
        self._root = root
        self._hooks = hooks
        self._service = Service(edm, source, hooks, root=root)
        # INVARIANT: metric labels are declared values, never request data.
        names = (*edm.entity_sets, *edm.action_imports, "$metadata", "$batch")
        self._labels = {name: f"{root}/{name}" for name in names} | {"": root}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with its correlation id. Raises `Disconnected` if the client is gone."""
        segment = _first_segment(scope["path"], self._root)
        scope["promenade.route"] = self._labels.get(segment, f"{self._root}/{{other}}")
        correlation_id: bytes = scope["promenade.correlation_id"]
        added: Headers = [(b"x-correlation-id", correlation_id)]
        scope[ADDED_HEADERS] = added
        has_begun = False

        async def with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message["headers"] = [*message["headers"], *added]
            await send(message)

        refusal = bad_request("URL_TOO_LONG", URL_TOO_LONG) if url_is_too_long(scope) else self.refusal(segment)
        if refusal is not None:
            await self._send_error(scope, refusal, with_headers)
            return
        try:
            await self.serve(scope, receive, with_headers)
        except Exception:
            if has_begun:
                raise
            # A 500 contains the reference to the log and nothing else.
            text = correlation_id.decode("ascii")
            _log.exception("request failed", correlation_id=text, path=scope["path"])
            error = ODataError(500, "INTERNAL_ERROR", f"Something went wrong; quote {text}.")
            await self._send_error(scope, error, with_headers)
        if not has_begun:
            raise Disconnected

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that `refusal` does not refuse."""
        await self._service(scope, receive, send)

    async def send_file(self, send: Send, request: Request, answering: Awaitable[None]) -> None:
        """Await what sends a file; what it raises before the first byte is answered as an error of the service."""
        try:
            await answering
        except Disconnected:
            return
        except (ODataError, PromenadeError) as error:
            known = error if isinstance(error, ODataError) else odata_error(error)
            version = version_of(request, self._hooks.default_version, strict=False)
            await send_response(send, request, self._hooks.render_error(request, known, version))

    def refusal(self, segment: str) -> ODataError | None:
        """Return the error for paths below the root that begin with ``segment``; None: they may exist."""
        return None

    async def _send_error(self, scope: Scope, error: ODataError, send: Send) -> None:
        request = request_of(scope, self._root) or Request(scope["method"], "")
        await send_response(send, request, self._hooks.render_error(request, error, self._hooks.default_version))


def _first_segment(path: str, root: str) -> str:
    """Return the first segment below the root, without a key: ``Campaigns`` of ``/api/v1/Campaigns(...)/posGroups``."""
    return path.removeprefix(root).strip("/").partition("/")[0].partition("(")[0]


# ---- what is not written ------------------------------------------------------------------------------------------

_FLAGS = {"create": "insertable", "update": "updatable", "delete": "deletable"}


def refuse_what_is_not_written(entity_set: EntitySet, kind: str, request: Request) -> None:
    """Raise for a write that a collection does not support (specification, generic pattern and Errors)."""
    if kind not in _FLAGS or getattr(entity_set, _FLAGS[kind]):
        return
    name = entity_set.name
    if entity_set.read_only:
        if is_odata_client(request):
            raise ODataError(403, "READ_ONLY", f"{name} can only be read.")
        raise ODataError(405, "READ_ONLY", f"{name} can only be read.", headers={"Allow": "GET"})
    if kind == "create":
        message = f"{name} cannot be created directly."
        raise ODataError(405, "NOT_INSERTABLE", message, headers={"Allow": "GET"})
    allow = {"Allow": "GET, PATCH"}
    if kind == "update":
        raise ODataError(405, "NOT_UPDATABLE", f"{name} cannot be changed directly.", headers=allow)
    raise ODataError(405, "NOT_DELETABLE", f"{name} cannot be deleted directly.", headers=allow)


def is_odata_client(request: Request) -> bool:
    """Return whether the client is an OData client, and not just one for HTTP and JSON."""
    return request.in_batch or "odata-version" in request.headers or "odata-maxversion" in request.headers
