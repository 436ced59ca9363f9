"""The tools over streamable HTTP, at `/mcp` of the service itself, as a resource server of OAuth (RFC 9728).

A request is authenticated like any other of the service. Its tools call the service within the process, with the same
header Authorization. Nothing is kept between requests, so that any process may answer any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import httpx2
import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from msgspec import UNSET, Meta, UnsetType
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from promenade.errors import Invalid, NotAllowed, PromenadeError, Unauthorized
from promenade.web.access.auth import Authentication, Caller
from promenade.web.access.oauth import require_own_page
from promenade.web.agents.server import make_server
from promenade.web.agents.service import Service
from promenade.web.http.body import header, read_body, require_json
from promenade.web.http.endpoint import Answer, Edge, Endpoint, problem, send_answer, send_problem
from promenade.web.http.protection import Hosts, Protection

__all__ = ["ROOT", "AgentsOverHttp", "resource_metadata"]

ROOT = "/mcp"
_METADATA = "/.well-known/oauth-protected-resource"
_BODY_BYTES_MAX = 1024 * 1024
_USUAL_AGENT = "mcp"


def resource_metadata(base_url: str, issuer_url: str) -> list[Endpoint]:
    """Return the endpoints that tell clients which issuer's tokens `ROOT` accepts (RFC 9728).

    No scopes are named: clients would ask for all of them, and have those that they were given anyway.
    """
    body = msgspec.json.encode(
        {
            "resource": f"{base_url}{ROOT}",
            "resource_name": "Promenade",
            "authorization_servers": [issuer_url],
            "bearer_methods_supported": ["header"],
        }
    )

    async def metadata(scope: Scope, receive: Receive) -> Answer:
        """Return which issuer's tokens are accepted."""
        return Answer(body, headers=[(b"cache-control", b"public, max-age=300")])

    return [Endpoint(path, {"GET": metadata}) for path in (f"{_METADATA}{ROOT}", _METADATA)]


class _Message(msgspec.Struct):
    """A request or a notification of JSON-RPC; what its method needs of it is the SDK's business."""

    jsonrpc: Literal["2.0"]
    method: Annotated[str, Meta(max_length=200)]
    id: Annotated[str, Meta(max_length=200)] | Annotated[int, Meta(ge=-(2**53), le=2**53)] | UnsetType = UNSET
    params: dict[str, Any] | UnsetType = UNSET


_MESSAGE = msgspec.json.Decoder(_Message)


def _require_message(body: bytes) -> None:
    """Raise Invalid (BAD_MESSAGE) unless a body is one message, before the SDK sees it, whose errors repeat it."""
    try:
        _MESSAGE.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        message = (
            "The body is one request of JSON-RPC 2.0: an object with a text `method`, with an `id` that is a text or a"
            " whole number unless no answer is wanted, and with an object `params`, if any."
        )
        raise Invalid("BAD_MESSAGE", message) from None


class _Passed:
    """The credential of the request that called a tool."""

    def __init__(self, authorization: str) -> None:
        self._authorization = authorization

    async def authorization(self, http: httpx2.AsyncClient, *, is_refused: bool) -> str | None:
        """Return the header; the caller has no other."""
        return None if is_refused else self._authorization


class AgentsOverHttp:
    """The tools as an ASGI application for `ROOT`."""

    def __init__(
        self, authenticator: Authentication, inside: ASGIApp, new_id: Callable[[], str], *, base_url: str
    ) -> None:
        """``inside``: the service's own application, which the tools call."""
        self._authenticator = authenticator
        self._inside = Edge(inside, new_id, Protection(Hosts(["*"])))  # the layer outside has looked at the host
        self._base_url = base_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, which is one message of the protocol."""
        scope["promenade.route"] = ROOT
        try:
            caller = await self._admitted(scope)
            require_json(scope)
            body = await read_body(scope, receive, _BODY_BYTES_MAX)
            _require_message(body)
        except Unauthorized as error:
            await send_answer(scope, send, self._challenge(error, scope))
            return
        except PromenadeError as error:
            await send_problem(scope, send, error)
            return
        await self._answer(scope, _again(body, receive), send, caller)

    async def _admitted(self, scope: Scope) -> Caller:
        """Return the caller. Raises Forbidden for another site's page, Unauthorized, NotAllowed and TooMany."""
        require_own_page(scope, self._base_url)
        if scope["path"] != ROOT:
            raise NotAllowed("METHOD_NOT_ALLOWED", f"Messages go to {ROOT}.", ())
        caller = await self._authenticator.authenticate(scope)
        if scope["method"] != "POST":  # there is no stream to listen to, and no session to end
            raise NotAllowed("METHOD_NOT_ALLOWED", f"{scope['method']} is not allowed here.", ("POST",))
        return caller

    def _challenge(self, error: Unauthorized, scope: Scope) -> Answer:
        """Return 401 with the address of the metadata (RFC 9728, 5.1)."""
        answer = problem(error, credential_was_sent=header(scope, b"authorization") is not None)
        place = f', resource_metadata="{self._base_url}{_METADATA}{ROOT}"'.encode("latin-1")
        headers = [(name, value + place if name == b"www-authenticate" else value) for name, value in answer.headers]
        return Answer(answer.body, answer.status, headers=headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, caller: Caller) -> None:
        correlation_id: bytes = scope["promenade.correlation_id"]

        async def with_reference(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-correlation-id", correlation_id)]
            await send(message)

        authorization = (header(scope, b"authorization") or b"").decode("latin-1")
        transport = httpx2.ASGITransport(app=self._inside, client=scope.get("client") or ("", 0))
        async with httpx2.AsyncClient(transport=transport, base_url=self._base_url) as http:
            service = Service(http, _Passed(authorization), caller.agent or _USUAL_AGENT)
            manager = StreamableHTTPSessionManager(
                make_server(service, tenant=caller.tenant_id, user=caller.user),
                stateless=True,
                json_response=True,
                max_request_body_size=_BODY_BYTES_MAX,
            )
            async with manager.run():
                await manager.handle_request(scope, receive, with_reference)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what receives a body that was read, and then whatever comes."""
    is_sent = False

    async def again() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
