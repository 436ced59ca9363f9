"""The browsable API documentation: `<root>/docs` shows `<root>/openapi.json`.

It uses Swagger UI, which is shipped with the package, compressed, so that the page works offline.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property, partial
from html import escape
from importlib.resources import files
from typing import Protocol
from urllib.parse import parse_qs

import msgspec
from starlette.types import Receive, Scope

from odata_server.openapi.selection import select_tags
from promenade.errors import Invalid, TooMany
from promenade.web.http.at_once import RETRY_AFTER_SECONDS, AtOnce
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

    With ``?tag=A,B`` each has the operations of these tags only.
    """
    names = {"openapi.json": False, "openapi-all.json": True}
    return [Endpoint(f"{root}/{name}", {"GET": _Document(render, whole).answer}) for name, whole in names.items()]


def _too_many() -> TooMany:
    message = "Many parts of documents wait to be made already: send this request again in a moment."
    return TooMany("TOO_MANY_PARTS", message, RETRY_AFTER_SECONDS)


_RENDERING = AtOnce(1, _too_many)


class _Document:
    """A document, rendered on the first request and kept compressed; of its parts, those that were rendered last.

    A stranger may ask for any part, so they are rendered one at a time, beside the event loop.
    """

    def __init__(self, render: Render, whole: bool) -> None:
        self._render = partial(render, whole=whole)
        self._kept: dict[frozenset[str] | None, bytes] = {}  # None: the whole document

    async def answer(self, scope: Scope, receive: Receive) -> Answer:
        """Return the document, or the part that the address names. Raises Invalid (UNKNOWN_TAG) and TooMany."""
        tags = _tags(scope)
        body = self._kept.get(tags)
        if body is None:
            body = await _RENDERING.run(partial(self._part, tags))
        return _compressible(scope, _JSON, body, [(b"cache-control", b"no-cache"), *_SAFE])

    @cached_property
    def _known(self) -> Sequence[str]:
        """The tags, from the whole document, which is kept from now on."""
        text = self._render()
        self._kept[None] = gzip.compress(text, mtime=0)
        return [one["name"] for one in msgspec.json.decode(text)["tags"]]

    def _part(self, tags: frozenset[str] | None) -> bytes:
        known = self._known
        if tags is not None and tags not in self._kept:
            _check_tags(tags, known)
            document = select_tags(msgspec.json.decode(gzip.decompress(self._kept[None])), tags)
            parts = [one for one in self._kept if one is not None]
            if len(parts) == _PARTS_KEPT:
                del self._kept[parts[0]]
            self._kept[tags] = gzip.compress(msgspec.json.encode(document), mtime=0)
        return self._kept[tags]


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
