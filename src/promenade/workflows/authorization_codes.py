"""Authorization codes of the built-in token issuer: given after a login, changed for a token once and soon (RFC 6749).

Only a digest of a code is kept, so whoever reads the database cannot use one; taking a code removes it, so of several
server processes one alone is given it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from promenade.store import access
from promenade.store.unit import Database, Session
from promenade.workflows.clients import Client, client_of

__all__ = ["CODE_SECONDS", "AuthorizationCode", "keep_code", "take_code"]

CODE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """What a code is bound to: who has logged in, where the code was sent and the challenge of who asked for it."""

    client_id: str
    redirect_uri: str
    challenge: str


def _digest(code: str) -> str:
    # 256 random bits, as of a client's secret.
    return hashlib.sha256(code.encode("utf-8")).hexdigest()


async def keep_code(database: Database, code: str, bound: AuthorizationCode, at: datetime) -> None:
    """Keep a new code, which must be 256 random bits, for a minute; those that ran out go."""
    row = {
        "code_hash": _digest(code),
        "client_id": bound.client_id,
        "redirect_uri": bound.redirect_uri,
        "challenge": bound.challenge,
        "ends_at": at + timedelta(seconds=CODE_SECONDS),
    }

    async def work(session: Session) -> None:
        await access.delete_codes(session, ended_by=at)
        await access.insert_code(session, row)

    await database.write(work, system=True)


async def take_code(database: Database, code: str, at: datetime) -> tuple[AuthorizationCode, Client] | None:
    """What a code is bound to and its client as it is now; None: there is none, it has run out or was taken before.

    Whoever asks, the code is worth nothing afterwards.
    """

    async def work(session: Session) -> tuple[AuthorizationCode, Client] | None:
        found = await access.take_code(session, _digest(code))
        # A clock that was set back must not let a code live for longer.
        if found is None or not timedelta(0) < found.ends_at - at <= timedelta(seconds=CODE_SECONDS):
            return None
        client = await access.find_client(session, found.client_id)
        bound = AuthorizationCode(found.client_id, found.redirect_uri, found.challenge)
        return None if client is None else (bound, client_of(client))

    return await database.write(work, system=True)
