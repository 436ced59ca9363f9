"""Requests below `/local-admin`, which the pages of a store's administrator send, and their answers.

Every request is a POST with JSON. CSRF tokens are not needed here: the session cookie is SameSite=Strict, so other
sites' pages cannot send it, and requests that the browser marks as cross-site (Sec-Fetch-Site, or else Origin) are
refused, so that no foreign page can set up a store or log in through its visitor's browser. That a foreign name leads
here (DNS rebinding) is refused for all requests, by `web.http.protection`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Forbidden, Invalid
from promenade.web.http.body import header, read_body, require_json
from promenade.web.http.endpoint import Answer
from promenade.web.http.validation import require_sound

ROOT = "/local-admin"
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""How answers show a moment in UTC, in whole seconds."""

_BODY_BYTES_MAX = 16 * 1024
_NO_STORE = (b"cache-control", b"no-store")
_OWN = frozenset({b"same-origin", b"none"})


class Done(msgspec.Struct, frozen=True, rename="camel"):
    """The action succeeded."""

    success: bool  #: Always true.


class LocalRequests:
    """Reads requests of the store's own pages; ``base_url`` is the store's public address."""

    def __init__(self, base_url: str) -> None:
        self._origin = urlsplit(base_url)

    async def read(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        """Return the JSON object of a request that no other site has triggered; an empty body is an empty object."""
        self._require_own_page(scope)
        return await read_object(scope, receive)

    def _require_own_page(self, scope: Scope) -> None:
        site, origin = header(scope, b"sec-fetch-site"), header(scope, b"origin")
        if site is None and origin is None:  # not a browser
            return
        host = (header(scope, b"host") or b"").decode("latin-1").lower()
        if site is not None:
            is_own = site in _OWN
        else:
            # Over plain http to another machine, browsers send Origin only.
            own = {host, self._origin.netloc.lower()} - {""}
            is_own = _host_of((origin or b"").decode("latin-1")) in own
        if not is_own:
            raise Forbidden(
                "CROSS_ORIGIN", "Only the store's own pages may call this: the request comes from another site."
            )


async def read_object(scope: Scope, receive: Receive) -> dict[str, Any]:
    """Return the JSON object of a request; an empty body is an empty object. Raises Invalid and TooLarge."""
    require_json(scope)
    body = await read_body(scope, receive, _BODY_BYTES_MAX)
    if not body.strip():
        return {}
    require_sound(body)
    try:
        document = msgspec.json.decode(body)
    except msgspec.MsgspecError:  # a lone surrogate, which JSON can express but text cannot
        raise Invalid("MALFORMED_JSON", "The body is not valid JSON.") from None
    if not isinstance(document, dict):
        raise Invalid("VALIDATION_FAILED", "The body must be a JSON object.")
    return document


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def text_of(document: dict[str, Any], name: str) -> str:
    """Return a member of a request that must be text. Raises Invalid (VALIDATION_FAILED)."""
    value = document.get(name)
    if not isinstance(value, str):
        raise Invalid("VALIDATION_FAILED", f"{name} must be a string.", name)
    return value


def address_of(scope: Scope) -> str:
    """Return the client's address, for the log."""
    return str((scope.get("client") or ("", 0))[0])


def local_answer(body: msgspec.Struct, cookie: str | None = None) -> Answer:
    """Return an answer that nobody may keep, with a cookie to be set."""
    headers = [_NO_STORE]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode("ascii")))
    return Answer(msgspec.json.encode(body), headers=headers)


def moment(at: datetime | None) -> str | None:
    """Return a moment in UTC as answers show it, in whole seconds; None stays None."""
    return None if at is None else f"{at:{MOMENT}}"
