"""`/oauth/authorize`: a person logs in at the built-in token issuer and goes back to the back office with a code.

A person gets a session, whose cookie lets all tabs of the browser get tokens; a client logs in the one page that holds
`state` and the verifier. A code goes to this server's own `/` and nowhere else.

A person who needs an app for codes and has none gets a second form in place of a session, to set one up. It carries a
secret that is good for that alone, once, and for some minutes.

The pages are forms without a script, in two languages.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Final
from urllib.parse import urlencode

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Forbidden, NotFound, PromenadeError, TooMany
from promenade.log import Logger
from promenade.web.access.browsers import browser_of
from promenade.web.access.issuer import Issuer
from promenade.web.access.issuer_store import DatabaseIssuerStore
from promenade.web.access.oauth import (
    BACK_OFFICE,
    CHALLENGE,
    NO_STORE,
    Refusal,
    address_of,
    is_back_office,
    oauth_problem,
    origin_of,
    parameters,
    read_form,
    require_own_page,
)
from promenade.web.access.roles import ROLES
from promenade.web.http.body import header, read_body
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.problems import headers_of, status_of
from promenade.web.services.back_office import file_address
from promenade.workflows.access.authorization_codes import AuthorizationCode
from promenade.workflows.access.clients import Client
from promenade.workflows.access.one_time_codes import KEY_BYTES, address_for_app, is_key, text_of_key
from promenade.workflows.access.people import SettingUp
from promenade.workflows.access.person_sessions import SignedIn

AUTHORIZE = "/oauth/authorize"
SIGN_OUT = "/oauth/sign-out"
_CSS = "/oauth/login.css"
_BODY_BYTES_MAX = 16 * 1024
_HTML = (b"content-type", b"text/html; charset=utf-8")
_ICON = "app/shell/icon.svg"
_SET_UP = "setUp"  # the field with the secret of who sets up an app
# After a form is submitted browsers follow redirects only as form-action allows, so the target is listed too.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self' {home}; "
    "frame-ancestors 'none'"
)
_log = Logger("promenade.web")
_Fault = tuple[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _LoginRequest:
    """The back office's authorization request, once its sender is validated."""

    redirect_uri: str
    state: str
    challenge: str


@dataclass(frozen=True, slots=True)
class _Typed:
    """What the form shows again after a failure."""

    user_name: str = ""
    tenant: str = ""


class _LoginFailed(Exception):
    """A request that must not be answered by leading the browser anywhere; ``key`` says why, in `message_page`."""

    def __init__(self, status: int, key: str, **values: str) -> None:
        super().__init__(key)
        self.status = status
        self.key = key
        self.values = values


class Login:
    """The handlers of the login page."""

    def __init__(self, issuer: Issuer, store: DatabaseIssuerStore, *, issuer_url: str, base_url: str) -> None:
        self._issuer = issuer
        self._store = store
        self._issuer_url = issuer_url
        self._base_url = base_url
        self._home = f"{base_url}/"

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        return [
            Endpoint(AUTHORIZE, {"GET": self._form, "POST": self._login}),
            Endpoint(SIGN_OUT, {"POST": self._sign_out}, oauth_problem),
            Endpoint(_CSS, {"GET": self._style}),
        ]

    async def _sign_out(self, scope: Scope, receive: Receive) -> Answer:
        """End the session of the person whose cookie the browser sends: no tab gets a token any more, and those that
        tabs have are refused within half a minute.
        """
        require_own_page(scope, self._base_url)
        await self._store.end(self._issuer.cookie_of(scope))
        return Answer(b"", 204, headers=[*NO_STORE, self._issuer.cookie("")])

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
        """Check user name, password and code of a person, or ID and secret of a client, with a role in administration,
        and redirect back with a code.

        Wrong credentials are answered with 401, and counted as at `/oauth/token`. A person who needs an app and has
        none gets a form to set one up, whose code is checked and counted here, too; then follows the redirect.
        """
        return await self._answered(scope, receive)

    async def _answered(self, scope: Scope, receive: Receive | None) -> Answer:
        try:
            asked = self._login_request(scope)
            if isinstance(asked, Answer):
                return asked
            if receive is None:
                return await self._shown(scope, _Typed())
            return await self._admitted(scope, receive, asked)
        except _LoginFailed as lost:
            return self._failure_page(scope, lost)
        except Forbidden:
            return self._failure_page(scope, _LoginFailed(403, "foreign", home=self._home))
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
        require_own_page(scope, self._base_url)
        form = read_form(scope, await read_body(scope, receive, _BODY_BYTES_MAX))
        if _SET_UP in form:
            return await self._set_up(scope, asked, form)
        typed = _Typed(form.get("username", "").strip(), form.get("tenant", "").strip())
        address = address_of(scope)
        try:
            found = await self._found(scope, typed, form)
        except TooMany as error:
            return await self._shown(scope, typed, *_waiting(error))
        if found is None:
            # The input is not logged: it may be a secret typed into the wrong field.
            _log.warning("sign_in.refused", address=address)
            return await self._shown(scope, typed, 401, ("wrong", {}))
        if isinstance(found, SettingUp):
            return self._app_form(scope, found)
        return await self._let_in(scope, asked, found, typed)

    async def _set_up(self, scope: Scope, asked: _LoginRequest, form: Mapping[str, str]) -> Answer:
        """Let a person in who has shown the password, with the first code of an app; its key comes with the form."""
        address, key = address_of(scope), form.get("key", "")
        who = None
        try:
            who = await self._issuer.setting_up(address, form[_SET_UP])
            cookie = None if who is None else await self._issuer.set_up_app(address, who, key, form.get("code", ""))
        except TooMany as error:
            if who is None:
                return await self._shown(scope, _Typed(), *_waiting(error))
            return self._app_form(scope, who, key, *_waiting(error))
        except NotFound:  # another window was faster
            who = cookie = None
        if who is not None and cookie is None:
            _log.warning("app.refused", user=who.user_name, tenant=who.tenant_id, address=address)
            return self._app_form(scope, who, key, 401, ("CODE_WRONG", {}))
        found = None if cookie is None else await self._store.renew(cookie, browser_of(scope))
        if who is None or found is None:
            return await self._shown(scope, _Typed(), 401, ("setUpEnded", {}))
        _log.info("app.set_up", user=who.user_name, tenant=who.tenant_id, address=address)
        return await self._let_in(scope, asked, found, _Typed(who.user_name, who.tenant_id))

    async def _let_in(self, scope: Scope, asked: _LoginRequest, found: Client | SignedIn, typed: _Typed) -> Answer:
        """Redirect back with a code, and with the cookie of a person's session."""
        if set(ROLES).isdisjoint(found.scopes):
            return await self._shown(scope, typed, 403, ("noRole", {"scopes": ", ".join(ROLES)}))
        if isinstance(found, SignedIn):
            who, client_id, session_id, cookie = found.user_name, BACK_OFFICE, found.session_id, found.cookie
        else:
            who, client_id, session_id, cookie = found.client_id, found.client_id, None, None
        bound = AuthorizationCode(client_id, asked.redirect_uri, asked.challenge, session_id)
        code = await self._issuer.give_code(bound)
        _log.info("sign_in.done", client=who, tenant=found.tenant_id, address=address_of(scope))
        back = self._back(asked, code=code)
        if cookie is not None:
            await self._store.end(self._issuer.cookie_of(scope))  # of whoever was signed in in this browser
            back.headers.append(self._issuer.cookie(cookie))
        return back

    async def _found(
        self, scope: Scope, typed: _Typed, form: Mapping[str, str]
    ) -> Client | SignedIn | SettingUp | None:
        """Return who logs in, a person with a new session in place of the browser's former one."""
        tenants = [typed.tenant] if typed.tenant else await self._store.people.tenants()
        tenant_id = tenants[0] if len(tenants) == 1 else ""
        password, code = form.get("password", ""), form.get("code", "")
        found = await self._issuer.log_in(address_of(scope), tenant_id, typed.user_name, password, code)
        return await self._store.renew(found, browser_of(scope)) if isinstance(found, str) else found

    def _back(self, asked: _LoginRequest, **answered: str) -> Answer:
        """Redirect to the back office, identifying the issuer (RFC 9207)."""
        query = {**answered, "state": asked.state, "iss": self._issuer_url}
        if not asked.state:
            del query["state"]
        where = f"{asked.redirect_uri}?{urlencode(query)}".encode("ascii")
        return Answer(b"", 303, _HTML, [(b"location", where), (b"referrer-policy", b"no-referrer"), *NO_STORE])

    async def _shown(
        self,
        scope: Scope,
        typed: _Typed,
        status: int = 200,
        fault: _Fault | None = None,
        more: list[tuple[bytes, bytes]] | None = None,
    ) -> Answer:
        asks_tenant = len(await self._store.people.tenants()) > 1
        body = login_form(
            language_for(scope), action=_action(scope), typed=typed.user_name, fault=fault,
            tenant=typed.tenant if asks_tenant else None,
        )  # fmt: skip
        return login_page(body, status, home=self._base_url, more=more)

    def _app_form(
        self,
        scope: Scope,
        who: SettingUp,
        key: str = "",
        status: int = 200,
        fault: _Fault | None = None,
        more: list[tuple[bytes, bytes]] | None = None,
    ) -> Answer:
        language = language_for(scope)
        content = filled(
            "app_form.html",
            language,
            ("submit",),
            lead=text_of(language, "setUpLead", user=who.user_name),
            fault=fault_text(language, fault),
            action=escape(_action(scope)),
            user=escape(who.user_name),
            secret=escape(who.secret),
            app=app_part(language, who.user_name, key, is_required=True, is_first=True, fault=fault),
        )
        return login_page(framed(language, "setUp", content), status, home=self._base_url, more=more)

    def _failure_page(self, scope: Scope, lost: _LoginFailed) -> Answer:
        body = message_page(language_for(scope), lost.key, **lost.values)
        return login_page(body, lost.status, home=self._base_url)


def _action(scope: Scope) -> str:
    """Return where the forms lead: to where they came from, with the request of the back office."""
    return f"{AUTHORIZE}?{scope['query_string'].decode('latin-1')}"


def _waiting(error: TooMany) -> tuple[int, _Fault, list[tuple[bytes, bytes]]]:
    """Return status, fault and headers of the page after too many failures."""
    seconds = error.retry_after_seconds
    return 429, ("waiting", {"seconds": str(seconds)}), [(b"retry-after", b"%d" % seconds)]


def login_page(body: bytes, status: int = 200, *, home: str, more: list[tuple[bytes, bytes]] | None = None) -> Answer:
    """Return a page around signing in; ``home``: the address of the back office, to which its forms may lead."""
    policy = _POLICY.format(home=origin_of(home) or "")
    headers = [
        (b"content-security-policy", policy.encode("ascii")),
        (b"x-frame-options", b"DENY"),
        (b"x-content-type-options", b"nosniff"),
        # The form must send its origin to this server, where it is checked; other sites get no referrer.
        (b"referrer-policy", b"same-origin"),
        (b"vary", b"accept-language"),
        *NO_STORE,
        *(more or []),
    ]
    return Answer(body, status, _HTML, headers)


def language_for(scope: Scope) -> str:
    """Return the language of the pages for a request."""
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


def text_of(language: str, key: str, **values: str) -> str:
    """Return a text as HTML; ``values`` are escaped."""
    return _texts()[language][key].format(**{name: escape(value) for name, value in values.items()})


def login_form(
    language: str,
    *,
    action: str,
    typed: str = "",
    tenant: str | None = None,
    fault: _Fault | None = None,
) -> bytes:
    """Return the form, with the error of the previous attempt: a key of the texts and its values.

    ``tenant``: what was typed as the tenant; None: it is not asked for.
    """
    described = described_by(fault)
    asked = "" if tenant is None else filled("tenant.html", language, ("tenant",), typed=escape(tenant))
    content = filled(
        "form.html",
        language,
        ("lead", "user", "password", "code", "codeHint", "submit", "hint"),
        action=escape(action),
        typed=escape(typed),
        tenant=asked,
        fault=fault_text(language, fault),
        described=described + (' aria-invalid="true"' if fault is not None and fault[0] == "wrong" else ""),
        focus_user="" if typed else " autofocus",
        focus_password=" autofocus" if typed else "",
    )
    return framed(language, "title", content)


def app_part(
    language: str, user_name: str, key: str, *, is_required: bool, is_first: bool = False, fault: _Fault | None = None
) -> str:
    """Return the fields by which a person sets up an app for codes.

    ``key``: that of the form before; a new one if it is none. ``is_first``: the form has no field before.
    """
    key = key if is_key(key) else text_of_key(secrets.token_bytes(KEY_BYTES))
    return filled(
        "app.html",
        language,
        ("appCode",),
        key=key,
        shownKey=" ".join(key[at : at + 4] for at in range(0, len(key), 4)),
        address=escape(address_for_app(key, user_name)),
        appText=text_of(language, "appRequired" if is_required else "appOptional"),
        required=" required" if is_required else "",
        focus=" autofocus" if is_first else "",
        described=described_by(fault) if is_first else "",
    )


def described_by(fault: _Fault | None) -> str:
    """Return the attribute by which a field refers to the error above it."""
    return "" if fault is None else ' aria-describedby="fault"'


def fault_text(language: str, fault: _Fault | None) -> str:
    """Return the error above a form."""
    if fault is None:
        return ""
    return f'    <p class="fault" id="fault" role="alert">{text_of(language, fault[0], **fault[1])}</p>'


def filled(template: str, language: str, keys: Sequence[str], **values: str) -> str:
    """Return a part of a page with its texts, whose names are ``keys``, and ``values``, which are HTML."""
    return _template(template).substitute({name: text_of(language, name) for name in keys}, **values)


def message_page(language: str, key: str, *, title: str = "failed", **values: str) -> bytes:
    """Return a page with a message in place of a form."""
    kind = "fault" if title == "failed" else "done"
    return framed(language, title, f'    <p class="{kind}" role="alert">{text_of(language, key, **values)}</p>')


def framed(language: str, title: str, content: str) -> bytes:
    """Return a whole page; ``title`` is the key of its heading."""
    page = _template("page.html").substitute(
        language=language, title=text_of(language, title), icon=escape(file_address(_ICON)), content=content
    )
    return page.encode()
