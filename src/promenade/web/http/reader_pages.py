"""The browsable API documentation: `<root>/docs` shows `<root>/openapi.json`.

It uses Swagger UI, which is shipped with the package, compressed, so that the page works offline.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from html import escape
from importlib.resources import files
from typing import Protocol
from urllib.parse import parse_qs

import msgspec
from starlette.types import Receive, Scope

from odata_server.openapi.selection import select_tags
from promenade.errors import Invalid
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
_PARTS_KEPT = 16  # documents of some tags; each is at most as large as the whole one
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


class Render(Protocol):
    """Renders an interface description as JSON; ``whole``: with every address at which it is served."""

    def __call__(self, *, whole: bool) -> bytes: ...


def document_endpoints(root: str, render: Render) -> list[Endpoint]:
    """Return `<root>/openapi.json` and `<root>/openapi-all.json`, which contain no secrets and require no token.

    With ``?tag=A,B`` each has the operations of these tags only. It is rendered on the first request and kept
    compressed; of the parts, those asked for last.
    """

    def endpoint(name: str, *, whole: bool) -> Endpoint:
        compressed = cache(lambda: gzip.compress(render(whole=whole), mtime=0))

        @lru_cache(maxsize=_PARTS_KEPT)
        def part(tags: frozenset[str]) -> bytes:
            document = msgspec.json.decode(gzip.decompress(compressed()))
            _check_tags(tags, [one["name"] for one in document["tags"]])
            return gzip.compress(msgspec.json.encode(select_tags(document, tags)), mtime=0)

        async def answer(scope: Scope, receive: Receive) -> Answer:
            tags = _tags(scope)
            body = compressed() if tags is None else part(tags)
            return _compressible(scope, _JSON, body, [(b"cache-control", b"no-cache"), *_SAFE])

        return Endpoint(f"{root}/{name}", {"GET": answer})

    return [endpoint("openapi.json", whole=False), endpoint("openapi-all.json", whole=True)]


def _tags(scope: Scope) -> frozenset[str] | None:
    """Return the tags that the address names, separated by commas or one by one; None: it names none."""
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("tag")
    return None if given is None else frozenset(",".join(given).split(","))


def _check_tags(tags: frozenset[str], known: Sequence[str]) -> None:
    """Raises Invalid, naming the tag in the document that is most like an unknown one."""
    for tag in sorted(tags.difference(known)):
        shown = tag[:100]
        nearest = max(known, key=lambda one: SequenceMatcher(None, shown.lower(), one.lower()).ratio())
        raise Invalid("UNKNOWN_TAG", f"`{shown}` is not a tag of this document; the nearest one is `{nearest}`.", "tag")


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
