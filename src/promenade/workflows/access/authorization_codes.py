"""Authorization codes of the built-in token issuer: issued after a login, exchanged once for a token (RFC 6749).

A code is valid for a minute only. Only a digest of it is stored, so reading the database does not allow using one;
taking a code marks it, so that only one of several server processes gets it. It is remembered for as long as what it
gave can last: who shows it again has copied it, or somebody else has, so that ends (RFC 6749, 4.1.2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from promenade.log import Logger
from promenade.store.access import clients as access
from promenade.store.access import people
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.clients import Client, client_of
from promenade.workflows.access.person_sessions import SESSION_HOURS, SignedIn, read_session

CODE_SECONDS = 60
USED_HOURS = SESSION_HOURS
"""How long a used code is remembered: a session lasts no longer, and tokens of clients are shorter."""

_log = Logger("promenade.access")


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


async def take_code(
    database: Database, code: str, at: datetime, is_for: Callable[[AuthorizationCode], bool]
) -> Client | SignedIn | None:
    """Return the current client or person of a code; None: it is unknown, expired, used, or not for who shows it.

    ``is_for``: whether this binding is that of the request. The code is worthless afterwards, whoever showed it. If it
    was used before, the session of its person ends, or all tokens of its client are withdrawn.
    """
    digest = _digest(code)

    async def work(session: Session) -> Client | SignedIn | None:
        found = await access.find_code(session, digest)
        if found is None:
            return None
        if found.challenge == access.SPENT:
            await _revoke(session, found, at)
            return None
        bound = AuthorizationCode(found.client_id, found.redirect_uri, found.challenge, found.session_id)
        # Setting the clock back must not extend a code's life.
        if not timedelta(0) < found.ends_at - at <= timedelta(seconds=CODE_SECONDS) or not is_for(bound):
            await access.delete_code(session, digest)
            return None
        if not await access.spend_code(session, digest, at + timedelta(hours=USED_HOURS)):
            # Another request has shown it meanwhile: it was used, or is gone because that request was not its own.
            found = await access.find_code(session, digest)
            if found is not None:
                await _revoke(session, found, at)
            return None
        if bound.session_id is not None:
            return await read_session(session, bound.session_id, at)
        client = await access.find_client(session, found.client_id)
        return None if client is None else client_of(client)

    return await database.write(work, system=True)


async def _revoke(session: Session, spent: Any, at: datetime) -> None:
    """End what a code has given, once, however often it is shown."""
    if not await access.delete_code(session, spent.code_hash):
        return
    if spent.session_id is not None:
        found = await people.find_session(session, spent.session_id)
        who = None if found is None else (found.tenant_id, found.user_name)
        await people.delete_session(session, spent.session_id)
    else:
        client = await access.withdraw_tokens(session, spent.client_id, at)
        who = None if client is None else (client.tenant_id, client.client_id)
    if who is not None:
        _log.warning("code.repeated", tenant=who[0], client=who[1])
