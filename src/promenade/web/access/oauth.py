"""Helpers of the built-in token issuer's endpoints: parameters, and errors as defined in RFC 6749."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from urllib.parse import parse_qsl, urlsplit

import msgspec
from starlette.types import Scope

from promenade.errors import Forbidden, PromenadeError, TooMany, Unauthorized, Unavailable
from promenade.settings import LOOPBACK_HOSTS
from promenade.web.access.sessions import HOST_ONLY
from promenade.web.http.body import header
from promenade.web.http.endpoint import Answer
from promenade.web.http.problems import Headers, headers_of, status_of

BACK_OFFICE = "back-office"
"""The client ID of the back office at the built-in issuer. It has no secret: a browser could not keep one."""

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
NO_STORE: Headers = [(b"cache-control", b"no-store"), (b"pragma", b"no-cache")]
_COOKIE = b"promenade_person"
_HOST_COOKIE = HOST_ONLY.encode() + _COOKIE
_COOKIES_MAX = 8_192
_PARAMETERS_MAX = 20
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]")


class OAuthError(msgspec.Struct, frozen=True):
    """An error of the token endpoint."""

    error: str  #: `invalid_request`, `invalid_client`, `unsupported_grant_type`, `invalid_scope` (RFC 6749) ...
    error_description: str  #: A description of the error.


class Refusal(Exception):
    """A refused request, with an error of RFC 6749, 4.1.2.1 and 5.2."""

    def __init__(self, status: int, error: str, description: str, challenges: bool = False) -> None:
        super().__init__(description)
        self.status = status
        self.error = error
        self.description = description
        self.challenges = challenges


def parameters(text: str) -> dict[str, str]:
    """Return the parameters of a query or a form. Raises Refusal for malformed and for repeated ones."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=_PARAMETERS_MAX)
    except ValueError:
        raise Refusal(400, "invalid_request", "The form cannot be read.") from None
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refusal(400, "invalid_request", "A parameter occurs twice.")
    return found


def read_form(scope: Scope, body: bytes) -> dict[str, str]:
    """Return the fields of a submitted form. Raises Refusal."""
    content_type = (header(scope, b"content-type") or b"").partition(b";")[0].strip().lower()
    if content_type != b"application/x-www-form-urlencoded":
        raise Refusal(400, "invalid_request", "Send application/x-www-form-urlencoded.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(400, "invalid_request", "The form cannot be read.") from None
    return parameters(text)


def address_of(scope: Scope) -> str:
    """Return the client's address, as reported by a trusted proxy if there is one."""
    return str((scope.get("client") or ("", 0))[0])


def challenge_of(verifier: str) -> str:
    """Return the code challenge of a verifier (RFC 7636, S256)."""
    return urlsafe_b64encode(sha256(verifier.encode("utf-8")).digest()).rstrip(b"=").decode("ascii")


def origin_of(url: str) -> str | None:
    """Return scheme, host and port of an http URL as browsers write them; None: it is not safe to echo."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    host = f"[{host}]" if ":" in host else host
    if parts.scheme not in _PORTS or parts.username is not None or _HOST.fullmatch(host) is None:
        return None
    return f"{parts.scheme}://{host}" if port in {None, _PORTS[parts.scheme]} else f"{parts.scheme}://{host}:{port}"


def is_back_office(scope: Scope, redirect_uri: str, base_url: str) -> bool:
    """Return whether a redirect URI is the back office of this server.

    It must match the server's public address exactly. A server on loopback has several names; the one that the browser
    used for it (Host) is accepted as well.
    """
    own = origin_of(base_url)
    if own is None:
        return False
    if redirect_uri == f"{own}/":
        return True
    host = (header(scope, b"host") or b"").decode("latin-1")
    used = origin_of(f"{urlsplit(own).scheme}://{host}")
    names = {urlsplit(one).hostname for one in (own, used or own)}
    return names <= LOOPBACK_HOSTS and used is not None and redirect_uri == f"{used}/"


def require_own_page(scope: Scope, base_url: str) -> None:
    """Raise Forbidden (CROSS_ORIGIN) for what another site's page has sent.

    Clients that are not browsers send no origin, and pass.
    """
    site, origin = header(scope, b"sec-fetch-site"), header(scope, b"origin")
    if site is not None:
        is_own = site in {b"same-origin", b"none"}
    elif origin is not None:
        host = (header(scope, b"host") or b"").decode("latin-1").lower()
        own = {host, urlsplit(origin_of(base_url) or "").netloc} - {""}
        is_own = urlsplit(origin_of(origin.decode("latin-1")) or "").netloc in own
    else:
        is_own = True
    if not is_own:
        raise Forbidden("CROSS_ORIGIN", "The request comes from the page of another site.")


def cookie_of(scope: Scope, *, is_secure: bool) -> str:
    """Return the cookie of a person's session; empty without one. ``is_secure``: browsers use https."""
    wanted = _HOST_COOKIE if is_secure else _COOKIE
    lines = [value for name, value in scope["headers"] if name == b"cookie"]
    for part in b";".join(lines)[:_COOKIES_MAX].split(b";"):
        name, _, value = part.strip().partition(b"=")
        if name == wanted:
            return value.decode("latin-1")
    return ""


def set_cookie(value: str, *, is_secure: bool) -> tuple[bytes, bytes]:
    """Return the header that sets the cookie of a person's session, which ends with the browser; "" deletes it.

    No script can read it, and no other site's page makes the browser send it. By https no other host of the domain can
    set it, for which it must go to all of this one; by http it goes to the issuer alone.
    """
    ends = "" if value else "; Max-Age=0"
    name, where = (_HOST_COOKIE, "Path=/; Secure") if is_secure else (_COOKIE, "Path=/oauth")
    return b"set-cookie", name + f"={value}{ends}; {where}; HttpOnly; SameSite=Strict".encode("latin-1")


def oauth_problem(error: PromenadeError) -> Answer:
    """Return errors from below a grant in the token endpoint's own format."""
    kind: dict[type[PromenadeError], str] = {
        TooMany: "temporarily_unavailable",
        Unavailable: "temporarily_unavailable",
        Unauthorized: "invalid_client",
    }
    body = msgspec.json.encode(OAuthError(kind.get(type(error), "invalid_request"), error.message))
    return Answer(body, status_of(error), headers=[*NO_STORE, *headers_of(error, False)])
