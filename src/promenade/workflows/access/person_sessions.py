"""Sessions of people: one in a browser, for all of its tabs, which get their short-lived tokens by its cookie.

The cookie holds a key that stays, and a secret that is replaced when a tab gets a token, half a minute after the last
time at the earliest. For that long the secret before is accepted, too: tabs may ask at once, and an answer may be lost.
Whoever shows the key with any other secret has copied it, or somebody else has, so the session ends. Only digests are
stored; that of the key is the session's ID, which tokens name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from promenade.log import Logger
from promenade.store.access import people as store
from promenade.store.access.clients import digest_of, secret_of
from promenade.store.driver.unit import Database, Session

SESSION_HOURS = 12
IDLE_HOURS = 1
FORMER_SECONDS = 30
SESSIONS_MAX = 1_000
"""Sessions of a person that are told at once, and ended by one request."""

_log = Logger("promenade.web")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person with a session; ``cookie``: what the browser is to show next, None: what it has."""

    session_id: str
    tenant_id: str
    user_name: str
    scopes: tuple[str, ...]
    ends_at: datetime
    tokens_from: datetime | None
    cookie: str | None = None


async def begin_session(session: Session, person_id: str, *, new_id: Callable[[], str], at: datetime) -> str:
    """Store a session in a unit of the person's tenant and return its cookie; delete those that have ended."""
    await store.delete_ended_sessions(session, at, at - timedelta(hours=IDLE_HOURS))
    key, secret = secret_of(new_id), secret_of(new_id)
    row = {
        "id": _id_of(key),
        "person_id": person_id,
        "secret_digest": digest_of(secret),
        "began_at": at,
        "renewed_at": at,
        "ends_at": at + timedelta(hours=SESSION_HOURS),
    }
    await store.insert_session(session, row)
    return f"{key}.{secret}"


async def renew_session(
    database: Database, cookie: str, *, new_id: Callable[[], str], at: datetime, browser: str | None = None
) -> SignedIn | None:
    """Return whose cookie this is, with the next one; None: its session has ended, or ends now.

    ``browser``: which one shows the cookie, in 40 characters at most.
    """
    key, _, secret = cookie.partition(".")
    session_id, shown, following = _id_of(key), digest_of(secret), secret_of(new_id)

    async def work(session: Session) -> SignedIn | None:
        found = await store.find_session(session, session_id)
        if found is None or not _is_alive(found, at):
            return None
        values = {
            "secret_digest": digest_of(following),
            "former_until": at + timedelta(seconds=FORMER_SECONDS),
            "renewed_at": at,
            "browser": browser,
        }
        if not _is_renewed(found, at) and await store.rotate_session(session, session_id, shown, values):
            return _signed_in(found, f"{key}.{following}")
        # Read again: another process may have replaced the secret since.
        found = await store.find_session(session, session_id)
        if found is None:
            return None
        if _is_renewed(found, at) and shown in {found.secret_digest, found.former_digest}:
            return _signed_in(found, None)
        _log.warning("sign_in.copied", tenant=found.tenant_id, user=found.user_name)
        await store.delete_session(session, session_id)
        return None

    return await database.write(work, system=True)


async def end_session(database: Database, cookie: str) -> None:
    """End the session that a cookie is of, or was."""
    session_id = _id_of(cookie.partition(".")[0])
    await database.write(lambda session: store.delete_session(session, session_id), system=True)


async def read_session(session: Session, session_id: str, at: datetime) -> SignedIn | None:
    """Return who has a session; None: it has ended."""
    found = await store.find_session(session, session_id)
    return _signed_in(found, None) if found is not None and _is_alive(found, at) else None


async def list_sessions(session: Session, person_id: str, at: datetime) -> list[Any]:
    """Return a person's sessions that have not ended, in a unit of the person's tenant, the one used last first.

    They are at most `SESSIONS_MAX`.
    """
    return [one for one in await store.read_sessions(session, person_id, SESSIONS_MAX) if _is_alive(one, at)]


class SessionDirectory:
    """Tells whether tokens of sessions are accepted; kept for half a minute, only for sessions that exist."""

    SECONDS_KEPT = 30.0
    _KEPT_MAX = 10_000

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[str, tuple[str, float, float]] = {}  # tenant, tokens from, known until

    async def accepts(self, tenant_id: str, session_id: str, issued_at: float) -> bool:
        """Return whether a token is accepted that was issued in this session at this time, seconds since 1970."""
        at = self._clock()
        now = at.timestamp()
        known = self._known.get(session_id)
        if known is None or not 0 < known[2] - now <= self.SECONDS_KEPT:
            self._known.pop(session_id, None)
            found = await self._database.read(lambda session: read_session(session, session_id, at), system=True)
            if found is None:
                return False
            first = 0.0 if found.tokens_from is None else found.tokens_from.timestamp()
            known = (found.tenant_id, first, min(now + self.SECONDS_KEPT, found.ends_at.timestamp()))
            if len(self._known) >= self._KEPT_MAX:
                self._known.clear()
            self._known[session_id] = known
        return known[0] == tenant_id and issued_at >= known[1]


def _id_of(key: str) -> str:
    return digest_of(key)[:36]


def _is_renewed(found: Any, at: datetime) -> bool:
    """Return whether the secret has just been replaced, by whichever process: their clocks may differ."""
    if found.former_until is None:
        return False
    left: timedelta = found.former_until - at
    return timedelta(0) < left <= 2 * timedelta(seconds=FORMER_SECONDS)


def _is_alive(found: Any, at: datetime) -> bool:
    # Setting the clock back must not extend a session's life.
    length = timedelta(hours=SESSION_HOURS)
    left: timedelta = found.ends_at - at
    idle: timedelta = at - found.renewed_at
    return timedelta(0) < left <= length and idle < timedelta(hours=IDLE_HOURS)


def _signed_in(found: Any, cookie: str | None) -> SignedIn:
    return SignedIn(
        found.id, found.tenant_id, found.user_name, tuple(found.scopes), found.ends_at, found.tokens_from, cookie
    )
