"""`/local-admin`: the administrator of a store sets a password, logs in, and sees or changes the tills' key.

All of it is POST with JSON. There is no CSRF token here: another site's pages cannot send the session's cookie, which
is SameSite=Strict, and what a browser says to come from elsewhere (Sec-Fetch-Site, or else Origin) is refused, so that
no page can set up or log in a store for whoever looks at it either. Nor can a page whose name leads to the store's
address only since it was loaded: of names, browsers must have used the store's own.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from socket import gethostname
from typing import Any
from urllib.parse import urlsplit

import msgspec
import structlog
from starlette.types import Receive, Scope

from promenade.errors import Forbidden, Invalid
from promenade.web.api_key import LOGIN_CHALLENGE, StoreAuthenticator
from promenade.web.auth import session_of
from promenade.web.body import header, read_body, require_json
from promenade.web.endpoint import Answer, Endpoint, Handler
from promenade.web.login_throttle import LoginThrottle
from promenade.web.problems import Challenged
from promenade.web.sessions import Sessions
from promenade.web.validation import require_sound
from promenade.workflows.local_admin import KnownStore, StorePassword

__all__ = ["ADMINISTRATOR", "SETUP", "ApiKey", "Done", "LocalAdmin", "LoginRequest", "Redirect", "SetupRequest"]

ROOT = "/local-admin"
SETUP = f"{ROOT}/setup"
ADMINISTRATOR = "admin"
"""What createdBy and modifiedBy carry of what the administrator of a store does."""

_BODY_BYTES_MAX = 16 * 1024
_NO_STORE = (b"cache-control", b"no-store")
_OWN = frozenset({b"same-origin", b"none"})
_log = structlog.get_logger("promenade.web")


class SetupRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The first password of a store."""

    password: str  #: From 8 characters to 1024 bytes.
    confirm_password: str  #: The same again.


class LoginRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The administrator at the door."""

    password: str  #: As it was set.


class Done(msgspec.Struct, frozen=True, rename="camel"):
    """It was done."""

    success: bool  #: Always true.


class Redirect(msgspec.Struct, frozen=True, rename="camel"):
    """There is no password yet."""

    redirect: str  #: Always `/local-admin/setup`.


class ApiKey(msgspec.Struct, frozen=True, rename="camel"):
    """What tills show."""

    api_key: str  #: 64 hexadecimal digits, for `X-Api-Key`.


class LocalAdmin:
    """The handlers. ``new_key`` makes 64 hexadecimal digits that nobody can guess."""

    def __init__(
        self,
        known: KnownStore,
        password: StorePassword,
        sessions: Sessions,
        authenticator: StoreAuthenticator,
        *,
        base_url: str,
        new_key: Callable[[], str],
    ) -> None:
        self._known = known
        self._sessions = sessions
        self._authenticator = authenticator
        self._password = password
        self._throttle = LoginThrottle()
        self._guessed: str | None = None  # the hash of the password that the throttle's failures were made at
        self._origin = urlsplit(base_url)
        self._new_key = new_key
        self._is_secure = self._origin.scheme == "https"
        machine = gethostname().lower()
        self._names = frozenset({"localhost", machine, f"{machine}.local", (self._origin.hostname or "").lower()})

    def endpoints(self) -> list[Endpoint]:
        """The routes."""
        handlers: dict[str, Handler] = {
            SETUP: self._setup,
            f"{ROOT}/login": self._login,
            f"{ROOT}/logout": self._logout,
            f"{ROOT}/getApiKey": self._get_api_key,
            f"{ROOT}/regenerateApiKey": self._regenerate_api_key,
        }
        return [Endpoint(route, {"POST": handler}) for route, handler in handlers.items()]

    async def _setup(self, scope: Scope, receive: Receive) -> Answer:
        """Set the password of a store that has none; nobody is logged in by that."""
        document = await self._read(scope, receive)
        await self._password.set_first(_text(document, "password"), _text(document, "confirmPassword"))
        _log.info("local_admin.set_up", address=_address(scope))
        return _answer(Done(True))

    async def _login(self, scope: Scope, receive: Receive) -> Answer:
        """Begin a session, which the answer's cookie carries, or say that a password is to be set first.

        A wrong password is 401; after 5 from one address 429 for half a minute, and twice as long after each further
        one, up to an hour.
        """
        given = _text(await self._read(scope, receive), "password")
        hashed = await self._password.proof()
        if hashed is None:
            return _answer(Redirect(SETUP))
        if hashed != self._guessed:
            self._guessed = hashed
            self._throttle.forgive_all()
        address = _address(scope)
        self._throttle.require_room(address)
        self._password.require_turn()
        self._throttle.record(address)
        if not await self._password.verify(given, hashed):
            _log.warning("local_admin.wrong_password", address=address)
            raise Challenged("UNAUTHORIZED", "The password is wrong.", LOGIN_CHALLENGE)
        self._throttle.forgive(address)
        session = self._sessions.begin(self._known.tenant_id, ADMINISTRATOR, hashed)
        return _answer(Done(True), self._sessions.cookie(session, secure=self._is_secure))

    async def _logout(self, scope: Scope, receive: Receive) -> Answer:
        """End the session, if there is one."""
        await self._read(scope, receive)
        session = session_of(self._sessions, scope)
        if session is not None:
            self._sessions.end(session)
        return _answer(Done(True), self._sessions.no_cookie(secure=self._is_secure))

    async def _get_api_key(self, scope: Scope, receive: Receive) -> Answer:
        """Tell the key that tills show."""
        await self._authenticator.session(scope)
        await self._read(scope, receive)
        return _answer(ApiKey((await self._known.read()).api_key))

    async def _regenerate_api_key(self, scope: Scope, receive: Receive) -> Answer:
        """Make a new key for tills; the one before opens nothing any more, from this moment on."""
        await self._authenticator.session(scope)
        await self._read(scope, receive)
        key = self._new_key()
        await self._known.replace_key(key)
        _log.info("local_admin.api_key_replaced", address=_address(scope))
        return _answer(ApiKey(key))

    async def _read(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        """The JSON object of a request that no other site has made a browser send; no body is an empty object."""
        self._require_own_page(scope)
        require_json(scope)
        body = await read_body(scope, receive, _BODY_BYTES_MAX)
        if not body.strip():
            return {}
        require_sound(body)
        try:
            document = msgspec.json.decode(body)
        except msgspec.MsgspecError:  # half a character, which JSON can write and no text holds
            raise Invalid("MALFORMED_JSON", "The body holds something that is not JSON.") from None
        if not isinstance(document, dict):
            raise Invalid("VALIDATION_FAILED", "The body must be a JSON object.")
        return document

    def _require_own_page(self, scope: Scope) -> None:
        site, origin = header(scope, b"sec-fetch-site"), header(scope, b"origin")
        if site is None and origin is None:  # no browser
            return
        host = (header(scope, b"host") or b"").decode("latin-1").lower()
        if not self._is_own_name(host):
            message = "This is for the store's own pages: open them by its address, or serve it with --public-url."
            raise Forbidden("CROSS_ORIGIN", message)
        if site is not None:
            is_own = site in _OWN
        else:
            # Browsers that speak plain http to another machine send Origin alone.
            own = {host, self._origin.netloc.lower()} - {""}
            is_own = _host_of((origin or b"").decode("latin-1")) in own
        if not is_own:
            raise Forbidden("CROSS_ORIGIN", "This is for the store's own pages: the request comes from another site.")

    def _is_own_name(self, host: str) -> bool:
        """Whether a Host header names an address or this store. Any other name may lead here by somebody's doing."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str):
        raise Invalid("VALIDATION_FAILED", f"{name} must be a text.", name)
    return value


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("", 0))[0])


def _answer(body: msgspec.Struct, cookie: str | None = None) -> Answer:
    headers = [_NO_STORE]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode("ascii")))
    return Answer(msgspec.json.encode(body), headers=headers)
