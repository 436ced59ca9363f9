"""`/local-admin`: the administrator of a store sets a password, logs in, and reads or replaces the tills' key.

Every request is a POST with JSON. CSRF tokens are not needed here: the session cookie is SameSite=Strict, so other
sites' pages cannot send it, and requests that the browser marks as cross-site (Sec-Fetch-Site, or else Origin) are
refused, so that no foreign page can set up a store or log in through its visitor's browser. DNS rebinding is prevented
as well: the Host header must be an address or one of the store's own names.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from socket import gethostname
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Forbidden, Invalid
from promenade.log import Logger
from promenade.web.access.api_key import LOGIN_CHALLENGE, StoreAuthenticator
from promenade.web.access.auth import session_of
from promenade.web.access.login_throttle import LoginThrottle
from promenade.web.access.sessions import Sessions
from promenade.web.http.body import header, read_body, require_json
from promenade.web.http.endpoint import Answer, Endpoint, Handler
from promenade.web.http.problems import Challenged
from promenade.web.http.validation import require_sound
from promenade.workflows.access.local_admin import KnownStore, StorePassword

ROOT = "/local-admin"
SETUP = f"{ROOT}/setup"
ADMINISTRATOR = "admin"
"""What createdBy and modifiedBy carry of what the administrator of a store does."""

_BODY_BYTES_MAX = 16 * 1024
_NO_STORE = (b"cache-control", b"no-store")
_OWN = frozenset({b"same-origin", b"none"})
_log = Logger("promenade.web")


class SetupRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The first password of a store."""

    password: str  #: From 8 characters to 1024 bytes.
    confirm_password: str  #: The same password again.


class LoginRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The administrator's login."""

    password: str  #: The password.


class Done(msgspec.Struct, frozen=True, rename="camel"):
    """The action succeeded."""

    success: bool  #: Always true.


class Redirect(msgspec.Struct, frozen=True, rename="camel"):
    """No password has been set yet."""

    redirect: str  #: Always `/local-admin/setup`.


class ApiKey(msgspec.Struct, frozen=True, rename="camel"):
    """The API key of tills."""

    api_key: str  #: 64 hexadecimal digits, for `X-Api-Key`.


class LocalAdmin:
    """The handlers. ``new_key`` returns 64 random hexadecimal digits."""

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
        self._guessed: str | None = None  # hash of the password that the throttle's failures belong to
        self._origin = urlsplit(base_url)
        self._new_key = new_key
        self._is_secure = self._origin.scheme == "https"
        machine = gethostname().lower()
        self._names = frozenset({"localhost", machine, f"{machine}.local", (self._origin.hostname or "").lower()})

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        handlers: dict[str, Handler] = {
            SETUP: self._setup,
            f"{ROOT}/login": self._login,
            f"{ROOT}/logout": self._logout,
            f"{ROOT}/getApiKey": self._get_api_key,
            f"{ROOT}/regenerateApiKey": self._regenerate_api_key,
        }
        return [Endpoint(route, {"POST": handler}) for route, handler in handlers.items()]

    async def _setup(self, scope: Scope, receive: Receive) -> Answer:
        """Set the password of a store that has none; this does not log in."""
        document = await self._read(scope, receive)
        await self._password.set_first(_text(document, "password"), _text(document, "confirmPassword"))
        _log.info("local_admin.set_up", address=_address(scope))
        return _answer(Done(True))

    async def _login(self, scope: Scope, receive: Receive) -> Answer:
        """Begin a session, whose cookie is set by the answer, or answer that a password has to be set first.

        A wrong password is answered with 401; after 5 from one address with 429 for half a minute, doubling with each
        further one up to an hour.
        """
        given = _text(await self._read(scope, receive), "password")
        hashed = await self._password.proof()
        if hashed is None:
            return _answer(Redirect(SETUP))
        if hashed != self._guessed:
            self._guessed = hashed
            self._throttle.reset_all()
        address = _address(scope)
        self._throttle.require_room(address)
        self._password.require_turn()
        self._throttle.record(address)
        if not await self._password.verify(given, hashed):
            _log.warning("local_admin.wrong_password", address=address)
            raise Challenged("UNAUTHORIZED", "The password is wrong.", LOGIN_CHALLENGE)
        self._throttle.reset(address)
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
        """Return the tills' API key."""
        await self._authenticator.session(scope)
        await self._read(scope, receive)
        return _answer(ApiKey((await self._known.read()).api_key))

    async def _regenerate_api_key(self, scope: Scope, receive: Receive) -> Answer:
        """Replace the tills' API key; the previous key is invalid from this moment on."""
        await self._authenticator.session(scope)
        await self._read(scope, receive)
        key = self._new_key()
        await self._known.replace_key(key)
        _log.info("local_admin.api_key_replaced", address=_address(scope))
        return _answer(ApiKey(key))

    async def _read(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        """Return the JSON object of a request that no other site has triggered; an empty body is an empty object."""
        self._require_own_page(scope)
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

    def _require_own_page(self, scope: Scope) -> None:
        site, origin = header(scope, b"sec-fetch-site"), header(scope, b"origin")
        if site is None and origin is None:  # not a browser
            return
        host = (header(scope, b"host") or b"").decode("latin-1").lower()
        if not self._is_own_name(host):
            message = (
                "Only the store's own pages may call this: open them at its address, or serve it with --public-url."
            )
            raise Forbidden("CROSS_ORIGIN", message)
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

    def _is_own_name(self, host: str) -> bool:
        """Return whether a Host header is an IP address or this store's name; other names may be DNS rebinding."""
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
        raise Invalid("VALIDATION_FAILED", f"{name} must be a string.", name)
    return value


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("", 0))[0])


def _answer(body: msgspec.Struct, cookie: str | None = None) -> Answer:
    headers = [_NO_STORE]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode("ascii")))
    return Answer(msgspec.json.encode(body), headers=headers)
