"""Paths of the public API that are not OData resources, answered in the same way as OData resources."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from starlette.types import Message, Receive, Scope, Send

from odata_server.errors import ODataError, bad_request
from odata_server.http import Request, Response, error_response
from odata_server.negotiation import Dialect, json_dialect, version_of
from odata_server.parse import parse_options
from odata_server.transport import request_of, send_response
from promenade.errors import NotAllowed, PromenadeError
from promenade.interface import MINOR_VERSION
from promenade.log import Logger
from promenade.web.access.auth import Caller
from promenade.web.http.body import Disconnected, header
from promenade.web.http.downloads import send_pieces
from promenade.web.http.endpoint import URL_TOO_LONG, Endpoint, url_is_too_long
from promenade.web.http.problems import odata_error, problem_details
from promenade.web.odata.api import is_odata_client

PUBLIC_ROOT = "/api/v1"
ADMIN_ROOT = "/admin"
VERSION = "4.01"
"""Of OData, for a client that does not say which one it takes."""

ADMIN_VERSION = "4.0"
_FORMAT = frozenset({"format"})
_log = Logger("promenade.web")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to such a path from an authenticated caller."""

    scope: Scope
    receive: Receive
    request: Request
    caller: Caller
    dialect: Dialect

    @property
    def named(self) -> Mapping[str, str]:
        """Return the path parameters of the route."""
        found: Mapping[str, str] = self.scope.get("path_params", {})
        return found

    def answer(self, body: Mapping[str, Any], *, status: int = 200, context: str | None = None) -> Response:
        """Return a success response in JSON with the minor version; ``context``: the context URL for OData clients."""
        members: dict[str, Any] = {}
        if context is not None and self.dialect.metadata != "none" and is_odata_client(self.request):
            members[f"{self.dialect.prefix}context"] = f"{self.request.origin}{PUBLIC_ROOT}/$metadata#{context}"
        members |= {**body, "minorVersion": MINOR_VERSION}
        headers = {"Content-Type": self.dialect.media_type, "OData-Version": self.dialect.version}
        return Response(status, headers, msgspec.json.encode(members))


@dataclass(frozen=True, slots=True)
class Streamed:
    """A success response that is sent piece by piece while it is read."""

    media_type: str
    pieces: AsyncGenerator[bytes, None]


Handler = Callable[[Call], Awaitable[Response | Streamed]]


class Authenticate(Protocol):
    """Finds the caller of a request, or raises Unauthorized, Forbidden or Unavailable."""

    async def __call__(self, scope: Scope) -> Caller: ...


class PublicEndpoint(Endpoint):
    """The handlers of one route by method; HEAD is answered as GET without its body."""

    __slots__ = ("_authenticate", "_by_method")

    root = PUBLIC_ROOT

    def __init__(self, route: str, handlers: Mapping[str, Handler], authenticate: Authenticate) -> None:
        super().__init__(route, {})
        self._authenticate = authenticate
        self._by_method = dict(handlers)
        if "GET" in self._by_method:
            self._by_method["HEAD"] = self._by_method["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with its correlation id. Raises `Disconnected` if the client is gone."""
        scope["promenade.route"] = self.route
        correlation_id: bytes = scope["promenade.correlation_id"]
        request = request_of(scope, self.root) or Request(scope["method"], "")
        has_begun = False

        async def with_id(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-correlation-id", correlation_id)]
            await send(message)

        try:
            response = await self._answered(scope, receive, request)
            if isinstance(response, Streamed):
                await self._stream(response, receive, with_id)
                return
        except Disconnected:
            raise
        except Exception as error:
            if has_begun:  # nothing but breaking it off says that it is not whole
                raise
            response = self.refusal(request, _odata_error(scope, error, correlation_id.decode("ascii")))
        await send_response(with_id, request, response)

    async def _stream(self, streamed: Streamed, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", streamed.media_type.encode()), (b"cache-control", b"no-store")]
        async with aclosing(streamed.pieces):
            await send_pieces(streamed.pieces, headers, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, request: Request) -> Response | Streamed:
        if url_is_too_long(scope):
            raise bad_request("URL_TOO_LONG", URL_TOO_LONG)
        caller = await self._authenticate(scope)
        version = version_of(request, VERSION)
        options = parse_options(request.query)
        for name in sorted(options.present - _FORMAT):
            raise bad_request("OPTION_NOT_APPLICABLE", f"${name} is not allowed here.", f"${name}")
        dialect = json_dialect(request, version, options.format)
        handler = self._by_method.get(scope["method"])
        if handler is None:
            raise NotAllowed("METHOD_NOT_ALLOWED", f"{scope['method']} is not allowed here.", tuple(self._by_method))
        return await handler(Call(scope, receive, request, caller, dialect))

    def refusal(self, request: Request, error: ODataError) -> Response:
        """Return the answer to an error."""
        return public_error(request, error, version_of(request, VERSION, strict=False))


class AdminEndpoint(PublicEndpoint):
    """The same in administration, whose errors always have OData's format."""

    __slots__ = ()

    root = ADMIN_ROOT

    def refusal(self, request: Request, error: ODataError) -> Response:
        """Return the answer to an error."""
        return error_response(error, version_of(request, ADMIN_VERSION, strict=False))


def _odata_error(scope: Scope, error: Exception, correlation_id: str) -> ODataError:
    if isinstance(error, PromenadeError):
        error = odata_error(error, credential_was_sent=header(scope, b"authorization") is not None)
    if not isinstance(error, ODataError):
        # A 500 contains the reference to the log and nothing else.
        _log.error("request failed", correlation_id=correlation_id, path=scope["path"], exc_info=error)
        return ODataError(500, "INTERNAL_ERROR", f"Something went wrong; quote {correlation_id}.")
    return error


def public_error(request: Request, error: ODataError, version: str) -> Response:
    """Return an error of the public API: in OData's format to OData clients, else as problem details (RFC 7807)."""
    if is_odata_client(request):
        return error_response(error, version)
    body = problem_details(error, f"{PUBLIC_ROOT}/{request.path}")
    headers = {"Content-Type": "application/problem+json", "OData-Version": version, **error.headers}
    return Response(error.status, headers, body)
