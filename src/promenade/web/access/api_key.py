"""Authentication in a store: tills send an API key, the administrator's browser a session cookie.

A store accepts no bearer tokens. A till shows the store's key, or one of its own. The former is compared in constant
time, the latter is found by its digest, both in memory, so authenticating a till needs no database query. For a session
the store's row is read as well, because another process may have changed the password a moment ago.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import datetime

from starlette.types import ASGIApp, Receive, Scope, Send

from promenade.errors import PromenadeError
from promenade.tracing import spanned
from promenade.web.access.auth import Caller, session_caller, session_of
from promenade.web.access.sessions import Session, Sessions
from promenade.web.http.body import header
from promenade.web.http.endpoint import send_problem
from promenade.web.http.problems import Challenged
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.refusals import note_caller
from promenade.workflows.access.local_admin import KnownStore

API_KEY_HEADER = b"x-api-key"
POS_SCOPE = "svc.POSReader"
_TILL = "till"  # the user name of tills that show the store's key, and the beginning of the others'
_CALLER = "promenade.till"
_KEY_CHALLENGE = b'ApiKey realm="promenade", header="X-Api-Key"'
LOGIN_CHALLENGE = b'Cookie realm="promenade", form-action="/local-admin/login"'


class StoreAuthenticator:
    """Authenticates tills by API key and the administrator by session; ``clock`` tells the time in UTC."""

    def __init__(
        self, known: KnownStore, sessions: Sessions, clock: Callable[[], datetime], limits: RateLimits | None = None
    ) -> None:
        self._known = known
        self._sessions = sessions
        self._clock = clock
        self._limits = limits
        self._till = _till(known.tenant_id, _TILL)

    @spanned("access")
    async def authenticate(self, scope: Scope) -> Caller:
        """Return the till of a request, checked once. Raises Unauthorized (UNAUTHORIZED) and TooMany (RATE_LIMITED)."""
        found: Caller | None = scope.get(_CALLER)
        if found is not None:
            return found
        given = header(scope, API_KEY_HEADER) or b""
        await self._known.catch_up()
        till = await self._recognized(given)
        if till is None and given:
            await self._known.expect_another_key()
            till = await self._recognized(given)
        if till is None:
            raise Challenged("UNAUTHORIZED", "The API key is invalid or missing: send X-Api-Key.", _KEY_CHALLENGE)
        note_caller(till.tenant_id, till.client_id, till.user)
        if self._limits is not None:
            await self._limits.take(till.tenant_id, till.client_id)
        scope[_CALLER] = till
        return till

    async def _recognized(self, given: bytes) -> Caller | None:
        """Return the till that shows this key."""
        if hmac.compare_digest(given, self._known.key):
            return self._till
        at = self._clock()
        name = self._known.ring.name_of(given, at)
        if name is None:
            return None
        await self._known.uses.note(name, at)
        return _till(self._known.tenant_id, f"{_TILL}:{name}")

    async def authenticate_browser(self, scope: Scope) -> Caller:
        """Return the administrator of a request; writes must send the session's CSRF token.

        Raises Unauthorized (UNAUTHORIZED), Forbidden (CSRF_TOKEN_REQUIRED), TooMany (RATE_LIMITED) and Unavailable.
        """
        session = await self.session(scope)
        caller = session_caller(self._sessions, session, scope, self._clock())
        if self._limits is not None:
            await self._limits.take(caller.tenant_id, caller.client_id)
        return caller

    async def session(self, scope: Scope) -> Session:
        """Return the session of a request if the password has not changed since it began. Raises as above."""
        session = session_of(self._sessions, scope)
        if session is not None and session.proof != (await self._known.read()).password_hash:
            self._sessions.end(session)
            session = None
        if session is None:
            raise Challenged("UNAUTHORIZED", "Log in first: POST /local-admin/login.", LOGIN_CHALLENGE)
        return session

    def csrf_token(self, caller: Caller) -> str:
        """Return the CSRF token that pages of the caller's session send with writes."""
        if caller.session is None:
            raise LookupError("only callers with a session are let in here")
        return self._sessions.csrf_token(caller.session)


def _till(tenant_id: str, name: str) -> Caller:
    return Caller(tenant_id, name, name, frozenset({POS_SCOPE}), float("inf"))


def behind_key(app: ASGIApp, authenticator: StoreAuthenticator) -> ASGIApp:
    """Return ``app`` with every path below `/pos`, existing or not, restricted to tills (Local-store instance)."""

    async def gated(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path.startswith("/pos/") or path == "/pos":
            try:
                await authenticator.authenticate(scope)
            except PromenadeError as error:
                scope["promenade.route"] = "/pos"
                await send_problem(scope, send, error)
                return
        await app(scope, receive, send)

    return gated
