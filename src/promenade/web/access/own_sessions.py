"""`/oauth/sessions`: a person sees in which browsers they are signed in, and ends sessions with the password as proof.

The password is counted like one at the login page, as for a change of it (`own_password`).
"""

from __future__ import annotations

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Forbidden, Invalid
from promenade.log import Logger
from promenade.web.access.auth import Authentication
from promenade.web.access.issuer import Issuer
from promenade.web.access.local_requests import MOMENT, read_object, text_of
from promenade.web.access.oauth import NO_STORE, address_of
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.workflows.access.people import OwnSession, People
from promenade.workflows.access.person_sessions import SESSIONS_MAX

SESSIONS = "/oauth/sessions"
_END = f"{SESSIONS}/end"

_log = Logger("promenade.access")


class SessionShown(msgspec.Struct, frozen=True, rename="camel"):
    """A browser in which the person is signed in."""

    id: str  #: The session.
    browser: str | None  #: The browser and its system, such as `Firefox, Windows`; null: not a known one.
    began_at: str  #: When the person signed in.
    used_at: str  #: When a page was last given a token: an open page asks for one within half an hour.
    ends_at: str  #: When it ends at the latest.
    is_this: bool  #: Whether it is the session of the token that the request came with.


class SessionList(msgspec.Struct, frozen=True, rename="camel"):
    """Where a person is signed in."""

    sessions: list[SessionShown]  #: The one used last first, 1000 at most.


class SessionsEnd(msgspec.Struct, frozen=True, rename="camel"):
    """Which sessions end."""

    password: str  #: The person's password.
    sessions: list[str]  #: IDs of `GET /oauth/sessions`, 1000 at most.


class OwnSessions:
    """The handlers."""

    def __init__(self, authenticator: Authentication, issuer: Issuer, people: People) -> None:
        self._authenticator = authenticator
        self._issuer = issuer
        self._people = people

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        return [Endpoint(SESSIONS, {"GET": self._list_sessions}), Endpoint(_END, {"POST": self._end_sessions})]

    async def _list_sessions(self, scope: Scope, receive: Receive) -> Answer:
        """Return the browsers in which the person who sends the token is signed in, the one used last first."""
        _, _, session_id = await self._person(scope)
        shown = [_shown(one) for one in await self._people.sessions(session_id)]
        return Answer(msgspec.json.encode(SessionList(shown)), headers=[*NO_STORE])

    async def _end_sessions(self, scope: Scope, receive: Receive) -> Answer:
        """End sessions of the person who sends the token; their tokens are refused within half a minute.

        What is no session of the person, or has ended, is passed over. A wrong password is answered with 400
        (`PASSWORD_WRONG`) and counted as at the login page: after 10 from one address, the answer is 429 for a minute.
        """
        tenant_id, user, session_id = await self._person(scope)
        document = await read_object(scope, receive)
        password, ended, address = text_of(document, "password"), _ids_of(document), address_of(scope)

        async def attempt() -> bool | None:
            return await self._people.end_sessions(session_id, password, ended) or None

        if not await self._issuer.counted(address, tenant_id, user, attempt):
            _log.warning("password.refused", user=user, tenant=tenant_id, address=address)
            raise Invalid("PASSWORD_WRONG", "The current password is wrong.", "password")
        _log.info("sessions.ended", user=user, tenant=tenant_id, address=address)
        return Answer(b"", 204, headers=[*NO_STORE])

    async def _person(self, scope: Scope) -> tuple[str, str, str]:
        """Return the tenant, the name and the session of the person who sends the token. Raises Forbidden."""
        caller = await self._authenticator.authenticate(scope)
        if caller.session_id is None:
            raise Forbidden("NO_SESSIONS", "Only people have sessions: a client has none.")
        return caller.tenant_id, caller.user, caller.session_id


def _shown(one: OwnSession) -> SessionShown:
    began_at, used_at, ends_at = (f"{at:{MOMENT}}" for at in (one.began_at, one.renewed_at, one.ends_at))
    return SessionShown(one.id, one.browser, began_at, used_at, ends_at, one.is_this)


def _ids_of(document: dict[str, object]) -> list[str]:
    ids = document.get("sessions")
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise Invalid("VALIDATION_FAILED", "sessions must be an array of strings.", "sessions")
    if len(ids) > SESSIONS_MAX:
        raise Invalid("VALIDATION_FAILED", f"sessions has at most {SESSIONS_MAX} members.", "sessions")
    return ids
