"""Authorization codes of the built-in token issuer: issued after a login, exchanged once for a token (RFC 6749).

A code is valid for a minute only. Only a digest of it is stored, so reading the database does not allow using one;
taking a code deletes it, so that only one of several server processes gets it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from promenade.store.access import clients as access
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.clients import Client, client_of
from promenade.workflows.access.person_sessions import SignedIn, read_session

CODE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """The binding of a code: the user who logged in, where the code was sent, and the requester's challenge.

    ``session_id``: the session of a person; None: a client has logged in.
    """

    client_id: str
    redirect_uri: str
    challenge: str
    session_id: str | None = None


def _digest(code: str) -> str:
    # 256 random bits, like a client's secret.
    return hashlib.sha256(code.encode("utf-8")).hexdigest()


async def keep_code(database: Database, code: str, bound: AuthorizationCode, at: datetime) -> None:
    """Store a new code, which must be 256 random bits, for a minute; delete expired ones."""
    row = {
        "code_hash": _digest(code),
        "client_id": bound.client_id,
        "session_id": bound.session_id,
        "redirect_uri": bound.redirect_uri,
        "challenge": bound.challenge,
        "ends_at": at + timedelta(seconds=CODE_SECONDS),
    }

    async def work(session: Session) -> None:
        await access.delete_codes(session, ended_by=at)
        await access.insert_code(session, row)

    await database.write(work, system=True)


async def take_code(database: Database, code: str, at: datetime) -> tuple[AuthorizationCode, Client | SignedIn] | None:
    """Return a code's binding and its current client or person; None: unknown, expired or taken before.

    The code is worthless afterwards, whoever took it.
    """

    async def work(session: Session) -> tuple[AuthorizationCode, Client | SignedIn] | None:
        found = await access.take_code(session, _digest(code))
        # Setting the clock back must not extend a code's life.
        if found is None or not timedelta(0) < found.ends_at - at <= timedelta(seconds=CODE_SECONDS):
            return None
        bound = AuthorizationCode(found.client_id, found.redirect_uri, found.challenge, found.session_id)
        if bound.session_id is not None:
            person = await read_session(session, bound.session_id, at)
            return None if person is None else (bound, person)
        client = await access.find_client(session, found.client_id)
        return None if client is None else (bound, client_of(client))

    return await database.write(work, system=True)
