"""Clients replace their secrets themselves, by one that they have made: their present one, or an enrolment code.

The client makes the new secret and keeps it before it asks. So it may ask again whenever it has got no answer, with
what it has shown before or with the new secret itself, and is never locked out.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from promenade.errors import Conflict, Invalid
from promenade.store.access import clients as access
from promenade.store.access.clients import digest_of
from promenade.store.authoring.trail import Action, Subject, trail_entry, write_trail
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.clients import Client, authenticate_client, client_of

_SECRET = re.compile(r"[A-Za-z0-9._~-]{43,200}")
_DIFFERENT_MIN = 16  # characters: one that was typed or padded has fewer


@dataclass(frozen=True, slots=True)
class Replaced:
    """The client after its secret was replaced; ``former_until``: how long the one before is accepted.

    ``by_code``: by its enrolment code. ``is_repeat``: it had this secret already.
    """

    client: Client
    former_until: datetime | None
    by_code: bool = False
    is_repeat: bool = False


async def replace_own_secret(
    database: Database, client_id: str, shown: str, new: str, *, at: datetime, new_id: Callable[[], str]
) -> Replaced | None:
    """Replace the secret of a client that shows its present one, the former one or its enrolment code.

    None: what it has shown is wrong. If ``new`` is its secret already, nothing changes. An enrolment code counts once;
    what the client had before, secrets and tokens, is refused from then on. Raises Invalid (WEAK_SECRET), Unauthorized
    (SECRET_EXPIRED) and Conflict (CHANGED_MEANWHILE).
    """
    if _SECRET.fullmatch(new) is None or len(set(new)) < _DIFFERENT_MIN:
        message = "new_secret must be 256 random bits: from 43 to 200 letters, digits or . _ ~ -, such as base64url."
        raise Invalid("WEAK_SECRET", message, "new_secret")
    row = await database.read(lambda session: _find(session, client_id), system=True)
    client = await authenticate_client(database, client_id, shown, at=at)
    by_code = client is None and row is not None and _is_enrolment(row, shown, at)
    if row is None or (client is None and not by_code):
        return None
    client = client or client_of(row)
    digest = digest_of(new)
    if hmac.compare_digest(row.secret_digest or "", digest):
        return Replaced(replace(client, used_former=False), client.accepts_former_until(at), is_repeat=True)
    until = None if by_code else at + client.policy.overlap
    values: dict[str, Any] = {"secret_digest": digest, "former_until": until, "rotated_at": at}
    values |= {"former_digest": None if by_code else row.secret_digest, "enrolment_digest": None}
    values |= {"enrolment_until": None} | ({"tokens_from": at} if by_code else {})
    action: Action = "ENROLLED" if by_code else "OWN_SECRET"

    async def work(session: Session) -> None:
        if not await access.replace_secret(session, client_id, row.version, values):
            raise Conflict("CHANGED_MEANWHILE", "The client was changed at the same time: ask again.")
        subject = Subject("Clients", row.id, row.name or row.code or client_id)
        await write_trail(session, [trail_entry(new_id(), at, client_id, action, subject)])

    await database.write(work, tenant=client.tenant_id)
    return Replaced(
        replace(client, rotated_at=at, former_until=until, used_former=False, has_secret=True), until, by_code
    )


async def _find(session: Session, client_id: str) -> Any:
    return None if "\0" in client_id else await access.find_client(session, client_id)


def _is_enrolment(row: Any, shown: str, at: datetime) -> bool:
    if row.enrolment_digest is None or row.enrolment_until is None or at >= row.enrolment_until:
        return False
    return hmac.compare_digest(row.enrolment_digest.encode("ascii"), digest_of(shown).encode("ascii"))
