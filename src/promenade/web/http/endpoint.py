"""Raw ASGI endpoints: one request, one answer, and uniform error responses.

The hot routes pay for nothing they do not use: no request object, no middleware that wraps bodies in tasks.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from promenade import metrics, tracing
from promenade.errors import Invalid, Misdirected, NotAllowed, NotFound, PromenadeError
from promenade.log import Logger, serve_request, stop_serving
from promenade.web.http.body import Disconnected, header
from promenade.web.http.problems import Headers, body_of, headers_of, internal_body, status_of
from promenade.web.http.protection import Protection
from promenade.web.http.refusals import REFUSED, Refusals, serve, stop

JSON = (b"content-type", b"application/json")
URL_BYTES_MAX = 8 * 1024
_UNKNOWN_HOST = (
    "This service does not answer to the host name of the request; an operator adds one with --allowed-host."
)
URL_TOO_LONG = "The address exceeds 8 KiB."
_UNTRACED = ("/health", "/metrics")  # what machines ask again and again
_log = Logger("promenade.web")


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response. ``headers`` besides content-type, content-length and the correlation id."""

    body: bytes
    status: int = 200
    content_type: tuple[bytes, bytes] = JSON
    headers: Headers = field(default_factory=list)


Handler = Callable[[Scope, Receive], Awaitable[Answer]]


class Reply(Protocol):
    """The error format of a family of routes; the default is the OData error body."""

    def __call__(self, error: PromenadeError) -> Answer: ...


class Endpoint:
    """The handlers of one route by method. HEAD is answered like GET without the body."""

    __slots__ = ("_allow", "_handlers", "_label", "_reply", "route")

    def __init__(self, route: str, handlers: Mapping[str, Handler], reply: Reply | None = None) -> None:
        self.route = route
        self._label = route.replace(":path}", "}")
        self._handlers = dict(handlers)
        if "GET" in self._handlers:
            self._handlers.setdefault("HEAD", self._handlers["GET"])
        self._allow = tuple(self._handlers)
        self._reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["promenade.route"] = self._label
        try:
            if url_is_too_long(scope):
                raise Invalid("URL_TOO_LONG", URL_TOO_LONG)
            handler = self._handlers.get(scope["method"])
            if handler is None:
                raise NotAllowed("METHOD_NOT_ALLOWED", f"{scope['method']} is not allowed here.", self._allow)
            answer = await handler(scope, receive)
        except PromenadeError as error:
            if self._reply is not None:
                answer = self._reply(error)
            else:
                answer = problem(error, credential_was_sent=header(scope, b"authorization") is not None)
        await _send(scope, send, answer)


def problem(error: PromenadeError, *, credential_was_sent: bool = False) -> Answer:
    """Return the answer to an error."""
    return Answer(body_of(error), status_of(error), headers=headers_of(error, credential_was_sent))


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that matches no route."""
    await send_problem(scope, send, NotFound("NOT_FOUND", "There is nothing at this address."))


async def send_problem(scope: Scope, send: Send, error: PromenadeError) -> None:
    """Answer a request with an error before it reaches an endpoint."""
    await _send(scope, send, problem(error, credential_was_sent=header(scope, b"authorization") is not None))


async def send_answer(scope: Scope, send: Send, answer: Answer) -> None:
    """Send a complete response."""
    await _send(scope, send, answer)


async def _send(scope: Scope, send: Send, answer: Answer) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": answer.status,
            "headers": [
                answer.content_type,
                (b"content-length", b"%d" % len(answer.body)),
                (b"x-correlation-id", scope["promenade.correlation_id"]),
                *answer.headers,
            ],
        }
    )
    body = b"" if scope["method"] == "HEAD" else answer.body
    await send({"type": "http.response.body", "body": body})


def url_is_too_long(scope: Scope) -> bool:
    """Return whether the URL exceeds `URL_BYTES_MAX`."""
    return len(scope["raw_path"]) + len(scope["query_string"]) > URL_BYTES_MAX


class Edge:
    """The outermost layer: correlation ids, HTTP metrics, protection, and the handler of unexpected errors."""

    def __init__(
        self,
        app: ASGIApp,
        new_id: Callable[[], str],
        protection: Protection | None = None,
        *,
        logs_requests: bool = False,
    ) -> None:
        self._app = app
        self._new_id = new_id
        self._protection = protection or Protection()
        self._logs_requests = logs_requests
        self._refusals = Refusals()
        self._observers: dict[tuple[str, str, int], Callable[[float], None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if not tracing.is_on() or scope["path"].startswith(_UNTRACED):
            await self._serve(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"traceparent"]
        with tracing.serve(_method(scope["method"]), given):
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        correlation_id = _correlation_id(scope) or self._new_id().encode("ascii")
        scope["promenade.correlation_id"] = correlation_id
        outside = serve_request(correlation_id.decode("ascii"))
        served, before = serve()
        protection = self._protection
        scope["promenade.leaving"] = protection.leaving.has_begun
        if protection.public_url is not None:
            scope["odata_server.origin"] = protection.public_url
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = protection.added(status, message.get("headers", ()))
            await send(message)

        metrics.http_requests_in_flight.inc()
        try:
            refusal = await self._refusal_of_host(scope)
            if refusal is None:
                await self._app(scope, receive, noting)
            else:
                await send_problem(scope, noting, refusal)
        except Disconnected:
            status = status or 499  # the client is gone; 499 is the conventional status for that in logs
        except Exception:
            _log.exception("request failed", path=scope["path"])
            if status:
                raise  # part of an answer was sent; the server closes the connection
            status = 500
            await _send(scope, noting, Answer(internal_body(correlation_id.decode("ascii")), 500))
        finally:
            metrics.http_requests_in_flight.dec()
            self._observe(scope, status or 500, time.perf_counter() - started)
            if status in REFUSED or served.missing:
                self._refusals.tell(served, status=status, address=_address(scope), **_labels(scope))
            stop(before)
            stop_serving(outside)

    async def _refusal_of_host(self, scope: Scope) -> PromenadeError | None:
        """Return why a request is not answered: a host that is not ours; in HTTP/1.1 none, or several; else None."""
        given = [value for name, value in scope["headers"] if name == b"host"]
        if len(given) > 1 or (not given and scope.get("http_version") == "1.1"):
            return Invalid("MALFORMED_HTTP", "A request names one host.")
        if given and not await self._protection.hosts.has(given[0]):
            return Misdirected("UNKNOWN_HOST", _UNKNOWN_HOST)
        return None

    def _observe(self, scope: Scope, status: int, seconds: float) -> None:
        # INVARIANT: labels are declared values, never request data, or a scan would create them without limit.
        method, route = _method(scope["method"]), scope.get("promenade.route", "unmatched")
        key = (method, route, status)
        observe = self._observers.get(key)
        if observe is None:
            count = metrics.http_requests.labels(method, route, str(status)).inc
            duration = metrics.http_request_duration.labels(method, route).observe

            def observe(elapsed: float) -> None:
                count()
                duration(elapsed)

            self._observers[key] = observe
        observe(seconds)
        tracing.note_response(*key)
        if self._logs_requests:
            _log.info(
                "request",
                method=method,
                route=route,
                status=status,
                ms=round(seconds * 1000, 3),
                address=_address(scope),
            )


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _method(method: str) -> str:
    return method if method in _METHODS else "OTHER"


def _labels(scope: Scope) -> dict[str, str]:
    return {"method": _method(scope["method"]), "route": scope.get("promenade.route", "unmatched")}


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("", 0))[0])


def _correlation_id(scope: Scope) -> bytes | None:
    """Return the caller's correlation id if it is valid: up to 64 letters, digits, dots, dashes and underscores."""
    given = header(scope, b"x-correlation-id") or header(scope, b"x-request-id")
    if given is None or len(given) > 64 or not given.translate(None, b".-_").isalnum():
        return None
    return given
