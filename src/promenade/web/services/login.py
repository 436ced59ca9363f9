"""`/oauth/authorize`: a person logs in at the built-in token issuer and goes back to the back office with a code.

The issuer remembers nobody: there is no cookie and no session, so whoever makes a browser log in here has logged
nothing in but the one page that holds `state` and the verifier. A code goes to this server's own `/` and nowhere else.

The page is a form without a script, in two languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Final
from urllib.parse import urlencode, urlsplit

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import PromenadeError, TooMany
from promenade.log import Logger
from promenade.web.access.issuer import Issuer
from promenade.web.access.oauth import (
    BACK_OFFICE,
    CHALLENGE,
    NO_STORE,
    Refusal,
    address_of,
    is_back_office,
    origin_of,
    parameters,
    read_form,
)
from promenade.web.access.roles import ROLES
from promenade.web.http.body import header, read_body
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.problems import headers_of, status_of
from promenade.web.services.back_office import file_address
from promenade.workflows.access.authorization_codes import AuthorizationCode

AUTHORIZE = "/oauth/authorize"
_CSS = "/oauth/login.css"
_BODY_BYTES_MAX = 16 * 1024
_HTML = (b"content-type", b"text/html; charset=utf-8")
_ICON = "app/shell/icon.svg"
# After a form is submitted browsers follow redirects only as form-action allows, so the target is listed too.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self' {home}; "
    "frame-ancestors 'none'"
)
_log = Logger("promenade.web")


@dataclass(frozen=True, slots=True)
class _LoginRequest:
    """The back office's authorization request, once its sender is validated."""

    redirect_uri: str
    state: str
    challenge: str


class _LoginFailed(Exception):
    """A request that must not be answered by leading the browser anywhere; ``key`` says why, in `message_page`."""

    def __init__(self, status: int, key: str, **values: str) -> None:
        super().__init__(key)
        self.status = status
        self.key = key
        self.values = values


class Login:
    """The handlers of the login page."""

    def __init__(self, issuer: Issuer, *, issuer_url: str, base_url: str) -> None:
        self._issuer = issuer
        self._issuer_url = issuer_url
        self._base_url = base_url
        self._home = f"{base_url}/"

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        return [Endpoint(AUTHORIZE, {"GET": self._form, "POST": self._login}), Endpoint(_CSS, {"GET": self._style})]

    async def _style(self, scope: Scope, receive: Receive) -> Answer:
        """Return the stylesheet of the login page."""
        headers = [(b"cache-control", b"public, max-age=3600"), (b"x-content-type-options", b"nosniff")]
        return Answer(login_css(), content_type=(b"content-type", b"text/css; charset=utf-8"), headers=headers)

    async def _form(self, scope: Scope, receive: Receive) -> Answer:
        """Show the login page to a user whom the back office has sent here (RFC 6749, 4.1, with PKCE, RFC 7636).

        `response_type=code`, `client_id=back-office`, `redirect_uri` (this server's own `/`), `state`,
        `code_challenge`, `code_challenge_method=S256`.
        """
        return await self._answered(scope, None)

    async def _login(self, scope: Scope, receive: Receive) -> Answer:
        """Check client ID and secret of a client with a role in administration, and redirect back with a code.

        Wrong credentials are answered with 401, and counted as at `/oauth/token`.
        """
        return await self._answered(scope, receive)

    async def _answered(self, scope: Scope, receive: Receive | None) -> Answer:
        try:
            asked = self._login_request(scope)
            if isinstance(asked, Answer):
                return asked
            return self._shown(scope) if receive is None else await self._admitted(scope, receive, asked)
        except _LoginFailed as lost:
            return self._failure_page(scope, lost)
        except Refusal:
            return self._failure_page(scope, _LoginFailed(400, "request", home=self._home))
        except PromenadeError as error:
            answer = self._failure_page(scope, _LoginFailed(status_of(error), "unavailable", reason=error.message))
            return Answer(answer.body, answer.status, _HTML, [*answer.headers, *headers_of(error, False)])

    def _login_request(self, scope: Scope) -> _LoginRequest | Answer:
        """Return the authorization request, or the error with which the browser is redirected to the back office."""
        given = parameters(scope["query_string"].decode("latin-1"))
        client_id, redirect_uri = given.get("client_id", ""), given.get("redirect_uri", "")
        if client_id != BACK_OFFICE:
            raise _LoginFailed(400, "client_unknown", client=client_id[:100])
        if not is_back_office(scope, redirect_uri, self._base_url):
            raise _LoginFailed(400, "address", home=self._home)
        asked = _LoginRequest(redirect_uri, given.get("state", ""), given.get("code_challenge", ""))
        if given.get("response_type") != "code":
            kind = "unsupported_response_type" if given.get("response_type") else "invalid_request"
            return self._back(asked, error=kind, error_description="Only response_type=code is supported.")
        is_s256 = given.get("code_challenge_method") == "S256"
        if not is_s256 or CHALLENGE.fullmatch(asked.challenge) is None or not asked.state:
            text = "state, code_challenge and code_challenge_method=S256 are required."
            return self._back(asked, error="invalid_request", error_description=text)
        return asked

    async def _admitted(self, scope: Scope, receive: Receive, asked: _LoginRequest) -> Answer:
        self._require_own_page(scope)
        form = read_form(scope, await read_body(scope, receive, _BODY_BYTES_MAX))
        typed, secret = form.get("username", "").strip(), form.get("password", "").strip()
        address = address_of(scope)
        try:
            client = await self._issuer.authenticate(address, typed, secret)
        except TooMany as error:
            seconds = error.retry_after_seconds
            fault = ("waiting", {"seconds": str(seconds)})
            return self._shown(scope, 429, typed, fault, [(b"retry-after", b"%d" % seconds)])
        if client is None:
            # The input is not logged: it may be a secret typed into the wrong field.
            _log.warning("sign_in.refused", address=address)
            return self._shown(scope, 401, typed, ("wrong", {}))
        if set(ROLES).isdisjoint(client.scopes):
            return self._shown(scope, 403, typed, ("noRole", {"scopes": ", ".join(ROLES)}))
        code = await self._issuer.give_code(AuthorizationCode(client.client_id, asked.redirect_uri, asked.challenge))
        _log.info("sign_in.done", client=client.client_id, tenant=client.tenant_id, address=address)
        return self._back(asked, code=code)

    def _require_own_page(self, scope: Scope) -> None:
        """Refuse a form sent by another site's page; clients that are not browsers send no origin and are accepted."""
        site, origin = header(scope, b"sec-fetch-site"), header(scope, b"origin")
        if site is not None:
            is_own = site in {b"same-origin", b"none"}
        elif origin is not None:
            host = (header(scope, b"host") or b"").decode("latin-1").lower()
            own = {host, urlsplit(origin_of(self._base_url) or "").netloc} - {""}
            is_own = urlsplit(origin_of(origin.decode("latin-1")) or "").netloc in own
        else:
            is_own = True
        if not is_own:
            raise _LoginFailed(403, "foreign", home=self._home)

    def _back(self, asked: _LoginRequest, **answered: str) -> Answer:
        """Redirect to the back office, identifying the issuer (RFC 9207)."""
        query = {**answered, "state": asked.state, "iss": self._issuer_url}
        if not asked.state:
            del query["state"]
        where = f"{asked.redirect_uri}?{urlencode(query)}".encode("ascii")
        return Answer(b"", 303, _HTML, [(b"location", where), (b"referrer-policy", b"no-referrer"), *NO_STORE])

    def _shown(
        self,
        scope: Scope,
        status: int = 200,
        typed: str = "",
        fault: tuple[str, dict[str, str]] | None = None,
        more: list[tuple[bytes, bytes]] | None = None,
    ) -> Answer:
        action = f"{AUTHORIZE}?{scope['query_string'].decode('latin-1')}"
        body = login_form(_language(scope), icon=file_address(_ICON), action=action, typed=typed, fault=fault)
        return self._page(scope, body, status, more or [])

    def _failure_page(self, scope: Scope, lost: _LoginFailed) -> Answer:
        body = message_page(_language(scope), lost.key, icon=file_address(_ICON), **lost.values)
        return self._page(scope, body, lost.status, [])

    def _page(self, scope: Scope, body: bytes, status: int, more: list[tuple[bytes, bytes]]) -> Answer:
        policy = _POLICY.format(home=origin_of(self._base_url) or "")
        headers = [
            (b"content-security-policy", policy.encode("ascii")),
            (b"x-frame-options", b"DENY"),
            (b"x-content-type-options", b"nosniff"),
            # The form must send its origin to this server, where it is checked; other sites get no referrer.
            (b"referrer-policy", b"same-origin"),
            (b"vary", b"accept-language"),
            *NO_STORE,
            *more,
        ]
        return Answer(body, status, _HTML, headers)


def _language(scope: Scope) -> str:
    return language_of((header(scope, b"accept-language") or b"").decode("latin-1"))


_LANGUAGES = ("en", "de")


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    """Return the texts: language -> key -> HTML, with placeholders that `_text` fills."""
    return msgspec.json.decode(_read("texts.json"), type=dict[str, dict[str, str]])


@cache
def _template(name: str) -> Template:
    return Template(_read(name).decode("utf-8"))


@cache
def login_css() -> bytes:
    """Return the stylesheet of the page."""
    return _read("page.css")


def _read(name: str) -> bytes:
    return files("promenade.web.services").joinpath("login", name).read_bytes()


def language_of(accepted: str) -> str:
    """Return German or English, whichever an Accept-Language header prefers; English if it lists neither."""
    best, found = 0.0, _LANGUAGES[0]
    for part in accepted.lower()[:1000].split(","):
        name, _, weight = part.partition(";")
        try:
            wanted = float(weight.replace(" ", "").removeprefix("q=") or 1)
        except ValueError:
            continue
        language = name.strip().partition("-")[0]
        if language in _LANGUAGES and wanted > best:
            best, found = wanted, language
    return found


def _text(language: str, key: str, **values: str) -> str:
    """Return a text as HTML; ``values`` are escaped."""
    return _texts()[language][key].format(**{name: escape(value) for name, value in values.items()})


def login_form(
    language: str, *, icon: str, action: str, typed: str = "", fault: tuple[str, Mapping[str, str]] | None = None
) -> bytes:
    """Return the form, with the error of the previous attempt: a key of the texts and its values."""
    words = (
        ""
        if fault is None
        else f'    <p class="fault" id="fault" role="alert">{_text(language, fault[0], **fault[1])}</p>'
    )
    described = "" if fault is None else ' aria-describedby="fault"'
    content = _template("form.html").substitute(
        {name: _text(language, name) for name in ("lead", "client", "secret", "submit", "hint")},
        action=escape(action),
        typed=escape(typed),
        fault=words,
        described=described + (' aria-invalid="true"' if fault is not None and fault[0] == "wrong" else ""),
        focus_client="" if typed else " autofocus",
        focus_secret=" autofocus" if typed else "",
    )
    return _page(language, "title", icon, content)


def message_page(language: str, key: str, *, icon: str, **values: str) -> bytes:
    """Return a page with the reason why there is no form."""
    content = f'    <p class="fault" role="alert">{_text(language, key, **values)}</p>'
    return _page(language, "failed", icon, content)


def _page(language: str, title: str, icon: str, content: str) -> bytes:
    page = _template("page.html").substitute(
        language=language, title=_text(language, title), icon=escape(icon), content=content
    )
    return page.encode()
