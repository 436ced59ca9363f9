"""Requests and responses over ASGI: bodies with limits, headers by name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote

from odata_server.errors import ODataError, bad_request
from odata_server.hooks import Hooks
from odata_server.http import Request, Response

__all__ = ["Disconnected", "read_body", "request_of", "send_response"]

_DRAINED_FACTOR = 4
_HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[0-9a-fA-F:.]+\](:\d{1,5})?", re.ASCII)
_NO_BODY = frozenset({204, 304})


class Disconnected(Exception):
    """The client disconnected while sending."""


def request_of(scope: Mapping[str, Any], root: str) -> Request | None:
    """Return the request of an ASGI scope, without its body; None for a path that is not below ``root``.

    Links begin with ``scope["odata_server.origin"]``, where an outer layer has put the URL by which clients reach the
    service; without it they begin with the host that the request names.
    """
    headers: dict[str, str] = {}  # repeated headers form one list (RFC 9110, 5.3)
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    query = scope["query_string"].decode("latin-1")
    raw = (scope.get("raw_path") or b"").decode("latin-1").partition("?")[0]
    # for servers without raw paths, and for a root that contains a %
    plain = quote(scope["path"], safe="/:@!$&'()*+,;=~-._")
    for path in (raw, plain, f"{scope.get('root_path', '')}{plain}"):
        if path == root or path.startswith(f"{root}/"):
            relative = path[len(root) :].lstrip("/")
            return Request(scope["method"], relative, query, headers, origin=_origin(scope, headers))
    return None


def _origin(scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    if known := scope.get("odata_server.origin"):
        return str(known)
    host = headers.get("host", "")
    return f"{scope.get('scheme', 'http')}://{host}" if _HOST.fullmatch(host) else ""


async def read_body(
    hooks: Hooks, headers: Mapping[str, str], receive: Callable[[], Awaitable[MutableMapping[str, Any]]]
) -> bytes:
    """Read the whole body, counting its bytes independent of the declared length.

    Raise ODataError 413 (BODY_TOO_LARGE), 400 if it takes too long (BODY_TOO_SLOW), and `Disconnected`.
    """
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > _DRAINED_FACTOR * hooks.body_bytes_max:
        raise _too_large(hooks)
    try:
        async with asyncio.timeout(hooks.body_seconds_max):
            return await _collect(hooks, receive)
    except TimeoutError:
        raise bad_request("BODY_TOO_SLOW", f"The body did not arrive within {hooks.body_seconds_max:g} s.") from None


async def _collect(hooks: Hooks, receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> bytes:
    parts: list[bytes] = []
    total, more = 0, True
    # A body moderately above the limit is read to its end, so that the client gets the response and not a reset
    # connection.
    while more and total <= _DRAINED_FACTOR * hooks.body_bytes_max:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part: bytes = message.get("body", b"")
        total += len(part)
        more = message.get("more_body", False)
        if total <= hooks.body_bytes_max:
            parts.append(part)
        else:
            parts.clear()
    if total > hooks.body_bytes_max:
        raise _too_large(hooks)
    return b"".join(parts)


def _too_large(hooks: Hooks) -> ODataError:
    # The rest of the body is not read, so the connection cannot be reused.
    message = f"The body exceeds {hooks.body_bytes_max} bytes."
    return ODataError(413, "BODY_TOO_LARGE", message, headers={"Connection": "close"})


async def send_response(
    send: Callable[[MutableMapping[str, Any]], Awaitable[None]], request: Request, response: Response
) -> None:
    """Send a response; for HEAD only its headers."""
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.items()]
    if response.status not in _NO_BODY and "Content-Length" not in response.headers:
        headers.append((b"content-length", b"%d" % len(response.body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    body = b"" if request.method == "HEAD" or response.status in _NO_BODY else response.body
    await send({"type": "http.response.body", "body": body})
