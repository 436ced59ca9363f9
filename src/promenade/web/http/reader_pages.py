"""The browsable API documentation: `<root>/docs` shows `<root>/openapi.json`.

It uses Swagger UI, which is shipped with the package, compressed, so that the page works offline.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import cache
from html import escape
from importlib.resources import files

from starlette.types import Receive, Scope

from promenade.web.http.body import header
from promenade.web.http.endpoint import Answer, Endpoint, Handler

_TYPES = {".js": b"text/javascript; charset=utf-8", ".css": b"text/css; charset=utf-8"}
_SHIPPED = ("swagger-ui-bundle.js", "swagger-ui.css", "start.js")
# Swagger UI sets style attributes; scripts are loaded from this host only, and "try it out" calls this host only.
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SAFE = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
_JSON = (b"content-type", b"application/json")
_NONE = re.compile(rb"q=0(\.0*)?")


@cache
def _shipped(name: str) -> bytes:
    return files("promenade.web.http").joinpath("reader", name).read_bytes()


@cache
def _compressed(name: str) -> bytes:
    return _shipped(f"{name}.gz") if name != "start.js" else gzip.compress(_shipped(name), mtime=0)


def reader_endpoints(root: str, title: str) -> list[Endpoint]:
    """Return `<root>/docs` and its assets, for the description at `<root>/openapi.json`; no token is required."""

    async def page(scope: Scope, receive: Receive) -> Answer:
        body = _shipped("page.html").replace(b"{{title}}", escape(title).encode())
        headers = [(b"content-security-policy", _POLICY), (b"cache-control", b"no-cache"), *_SAFE]
        return Answer(body, content_type=(b"content-type", b"text/html; charset=utf-8"), headers=headers)

    return [
        Endpoint(f"{root}/docs", {"GET": page}),
        *(Endpoint(f"{root}/docs/{name}", {"GET": _file(name)}) for name in _SHIPPED),
    ]


def _file(name: str) -> Handler:
    kind = (b"content-type", _TYPES[name[name.rindex(".") :]])

    async def answer(scope: Scope, receive: Receive) -> Answer:
        return _compressible(scope, kind, _compressed(name), [(b"cache-control", b"public, max-age=86400"), *_SAFE])

    return answer


def document_endpoint(route: str, render: Callable[[], bytes]) -> Endpoint:
    """Return an endpoint for an interface description as JSON, rendered on first request and kept compressed.

    It contains no secrets and requires no token.
    """
    compressed = cache(lambda: gzip.compress(render(), mtime=0))

    async def answer(scope: Scope, receive: Receive) -> Answer:
        return _compressible(scope, _JSON, compressed(), [(b"cache-control", b"no-cache"), *_SAFE])

    return Endpoint(route, {"GET": answer})


def _compressible(
    scope: Scope, kind: tuple[bytes, bytes], compressed: bytes, headers: list[tuple[bytes, bytes]]
) -> Answer:
    headers = [*headers, (b"vary", b"accept-encoding")]
    if takes_gzip(header(scope, b"accept-encoding") or b""):
        return Answer(compressed, content_type=kind, headers=[*headers, (b"content-encoding", b"gzip")])
    return Answer(gzip.decompress(compressed), content_type=kind, headers=headers)


def takes_gzip(accepted: bytes) -> bool:
    """Return whether an Accept-Encoding header allows gzip, by name or by ``*``."""
    takes: dict[bytes, bool] = {}
    for part in accepted.lower().split(b","):
        coding, *parameters = (piece.replace(b" ", b"").replace(b"\t", b"") for piece in part.split(b";"))
        takes[coding] = not any(_NONE.fullmatch(one) for one in parameters)
    return takes.get(b"gzip", takes.get(b"*", False))
