"""`/local-admin`: the administrator of a store sets a password, logs in, and reads or replaces the tills' key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Invalid
from promenade.log import Logger
from promenade.web.access.api_key import LOGIN_CHALLENGE, StoreAuthenticator
from promenade.web.access.auth import session_of
from promenade.web.access.local_requests import ROOT, Done, LocalRequests, address_of, local_answer, text_of
from promenade.web.access.login_throttle import LoginThrottle
from promenade.web.access.sessions import Sessions
from promenade.web.http.endpoint import Answer, Endpoint, Handler
from promenade.web.http.problems import Challenged
from promenade.workflows.access.local_admin import KnownStore, StorePassword
from promenade.workflows.access.till_keys import Author

SETUP = f"{ROOT}/setup"
ADMINISTRATOR = "admin"
"""What createdBy and modifiedBy carry of what the administrator of a store does."""

_log = Logger("promenade.web")


class SetupRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The first password of a store."""

    password: str  #: From 8 characters to 1024 bytes.
    confirm_password: str  #: The same password again.


class LoginRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The administrator's login."""

    password: str  #: The password.


class StorePasswordChange(msgspec.Struct, frozen=True, rename="camel"):
    """The current password of a store, and the next one."""

    password: str  #: The current password.
    new_password: str  #: The next one, from 8 characters to 1024 bytes.


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
        requests: LocalRequests,
        *,
        new_key: Callable[[], str],
        by: Author,
        clock: Callable[[], datetime],
    ) -> None:
        self._known = known
        self._sessions = sessions
        self._authenticator = authenticator
        self._password = password
        self._throttle = LoginThrottle()
        self._guessed: str | None = None  # hash of the password that the throttle's failures belong to
        self._requests = requests
        self._new_key = new_key
        self._by = by
        self._clock = clock

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        handlers: dict[str, Handler] = {
            SETUP: self._setup,
            f"{ROOT}/login": self._login,
            f"{ROOT}/logout": self._logout,
            f"{ROOT}/password": self._change_password,
            f"{ROOT}/getApiKey": self._get_api_key,
            f"{ROOT}/regenerateApiKey": self._regenerate_api_key,
        }
        return [Endpoint(route, {"POST": handler}) for route, handler in handlers.items()]

    async def _setup(self, scope: Scope, receive: Receive) -> Answer:
        """Set the password of a store that has none; this does not log in."""
        document = await self._requests.read(scope, receive)
        await self._password.set_first(text_of(document, "password"), text_of(document, "confirmPassword"))
        _log.info("local_admin.set_up", address=address_of(scope))
        return local_answer(Done(True))

    async def _login(self, scope: Scope, receive: Receive) -> Answer:
        """Begin a session, whose cookie is set by the answer, or answer that a password has to be set first.

        A wrong password is answered with 401; after 5 from one address with 429 for half a minute, doubling with each
        further one up to an hour.
        """
        given = text_of(await self._requests.read(scope, receive), "password")
        hashed = await self._password.proof()
        if hashed is None:
            return local_answer(Redirect(SETUP))
        address = address_of(scope)
        if not await self._is_right(given, hashed, address):
            raise Challenged("UNAUTHORIZED", "The password is wrong.", LOGIN_CHALLENGE)
        _log.info("local_admin.signed_in", address=address)
        session = self._sessions.begin(self._known.tenant_id, ADMINISTRATOR, hashed)
        return local_answer(Done(True), self._sessions.cookie(session))

    async def _is_right(self, password: str, hashed: str, address: str) -> bool:
        """Return whether this is the password; a wrong one is counted and logged. Raises TooMany."""
        if hashed != self._guessed:
            self._guessed = hashed
            self._throttle.reset_all()
        self._throttle.require_room(address)
        self._password.require_turn()
        self._throttle.record(address)
        if not await self._password.verify(password, hashed):
            _log.warning("local_admin.wrong_password", address=address)
            return False
        self._throttle.reset(address)
        return True

    async def _change_password(self, scope: Scope, receive: Receive) -> Answer:
        """Replace the password, which takes the current one. This session goes on, all others end.

        A wrong current password is answered with 400 (`PASSWORD_WRONG`) and counted as at the log-in.
        """
        session, address = await self._authenticator.session(scope), address_of(scope)
        document = await self._requests.read(scope, receive)
        given, new_password = text_of(document, "password"), text_of(document, "newPassword")
        if not await self._is_right(given, session.proof, address):
            raise Invalid("PASSWORD_WRONG", "The current password is wrong.", "password")
        hashed = await self._password.replace(given, session.proof, new_password)
        self._sessions.rebind(session, hashed)
        _log.info("local_admin.password_changed", address=address)
        return local_answer(Done(True))

    async def _logout(self, scope: Scope, receive: Receive) -> Answer:
        """End the session, if there is one."""
        await self._requests.read(scope, receive)
        session = session_of(self._sessions, scope)
        if session is not None:
            self._sessions.end(session)
            _log.info("local_admin.signed_out", address=address_of(scope))
        return local_answer(Done(True), self._sessions.no_cookie())

    async def _get_api_key(self, scope: Scope, receive: Receive) -> Answer:
        """Return the tills' API key."""
        await self._authenticator.session(scope)
        await self._requests.read(scope, receive)
        return local_answer(ApiKey((await self._known.read()).api_key))

    async def _regenerate_api_key(self, scope: Scope, receive: Receive) -> Answer:
        """Replace the tills' API key; the previous key is invalid from this moment on."""
        await self._authenticator.session(scope)
        await self._requests.read(scope, receive)
        key = self._new_key()
        await self._known.replace_key(key, at=self._clock(), by=self._by)
        _log.info("local_admin.api_key_replaced", address=address_of(scope))
        return local_answer(ApiKey(key))
