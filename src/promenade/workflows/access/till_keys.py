"""A key for each till of a store: with a name and its last use, replaced while the former one still works, or revoked.

Keys are random numbers of 256 bits, so a plain SHA-256 of them is kept, and it is found by this digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from promenade.errors import Conflict, Invalid, NotFound
from promenade.store.access import till_keys as store
from promenade.store.access.local_store import read_store
from promenade.store.access.till_keys import TillKey, read_till_keys
from promenade.store.authoring.trail import Action, Subject, trail_entry, write_trail
from promenade.store.driver.unit import Database, Session

NAME_LENGTH_MAX = 50
KEYS_MAX = 1_000
OVERLAP_HOURS, OVERLAP_HOURS_MAX = 24, 24 * 30
"""How long a replaced key is still accepted, unless told otherwise, and at most."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes keys, as the audit trail tells it, and where the IDs of its entries come from."""

    user: str
    new_id: Callable[[], str]


def digest_of(key: bytes) -> str:
    """Return the digest under which a key is known."""
    return hashlib.sha256(key).hexdigest()


class Ring:
    """The keys of a store's tills, to be looked up by what a till sends."""

    def __init__(self, keys: Iterable[TillKey] = ()) -> None:
        self._names: dict[str, tuple[str, datetime | None]] = {}
        for one in keys:
            self._names[one.digest] = (one.name, None)
            if one.former_digest is not None:
                self._names.setdefault(one.former_digest, (one.name, one.former_until))

    def name_of(self, key: bytes, at: datetime) -> str | None:
        """Return the name of the till that has this key, or had it until a while ago; None: nobody has."""
        found = self._names.get(digest_of(key)) if self._names else None
        if found is None:
            return None
        name, until = found
        return name if until is None or at < until else None


async def list_till_keys(database: Database) -> list[TillKey]:
    """Return all keys of this store, by name. Raises NotFound (NOT_A_STORE)."""

    async def work(session: Session) -> list[TillKey]:
        if await read_store(session) is None:
            raise not_a_store()
        return await read_till_keys(session)

    return await database.read(work, system=True)


async def create_till_key(database: Database, name: str, key: str, *, at: datetime, by: Author) -> None:
    """Give the till ``name`` its first key, 64 hexadecimal digits.

    Raises NotFound (NOT_A_STORE), Invalid (REQUIRED, TOO_LONG, INVALID_VALUE) for the name, and Conflict
    (TILL_KEY_EXISTS, TOO_MANY_TILL_KEYS).
    """
    _check_name(name)

    async def work(session: Session) -> None:
        keys = await read_till_keys(session)
        if any(one.name == name for one in keys):
            raise Conflict("TILL_KEY_EXISTS", f"The till {name} has a key: rotate or revoke it.")
        if len(keys) >= KEYS_MAX:
            raise Conflict("TOO_MANY_TILL_KEYS", f"A store has at most {KEYS_MAX} keys of tills: revoke one first.")
        await store.insert_till_key(session, name, digest_of(key.encode("ascii")), at)

    await _write(database, work, "CREATE", name, at=at, by=by)


async def rotate_till_key(
    database: Database, name: str, key: str, *, at: datetime, by: Author, overlap_hours: int = OVERLAP_HOURS
) -> datetime | None:
    """Replace the key of the till ``name``; return until when the former one is accepted, None: not any more.

    Of three keys only the last two work. Raises NotFound (NOT_A_STORE, TILL_KEY_NOT_FOUND), and Invalid for the
    name and the hours.
    """
    if not 0 <= overlap_hours <= OVERLAP_HOURS_MAX:
        text = f"`overlapHours` must be from 0 to {OVERLAP_HOURS_MAX}."
        raise Invalid("OUT_OF_RANGE", text, "overlapHours")
    _check_name(name)
    until = at + timedelta(hours=overlap_hours) if overlap_hours else None

    async def work(session: Session) -> None:
        digest = digest_of(key.encode("ascii"))
        if not await store.replace_till_key(session, name, digest, at, former_until=until):
            raise _no_key(name)

    await _write(database, work, "ROTATE", name, at=at, by=by)
    return until


async def revoke_till_key(database: Database, name: str, *, at: datetime, by: Author) -> None:
    """Delete the key of the till ``name``, and the former one.

    Raises NotFound (NOT_A_STORE, TILL_KEY_NOT_FOUND), and Invalid for the name.
    """
    _check_name(name)

    async def work(session: Session) -> None:
        if not await store.delete_till_key(session, name):
            raise _no_key(name)

    await _write(database, work, "REVOKE", name, at=at, by=by)


async def _write(
    database: Database,
    work: Callable[[Session], Awaitable[None]],
    action: Action,
    name: str,
    *,
    at: datetime,
    by: Author,
) -> None:
    found = await database.read(read_store, system=True)
    if found is None:
        raise not_a_store()

    async def told(session: Session) -> None:
        await work(session)
        await tell(session, action, Subject("TillKeys", name, name), at=at, by=by)

    await database.write(told, tenant=found.tenant_id)


async def tell(session: Session, action: Action, subject: Subject, *, at: datetime, by: Author) -> None:
    """Have the audit trail tell that a key was changed; in a session of the store's tenant."""
    await write_trail(session, [trail_entry(by.new_id(), at, by.user, action, subject)])


def not_a_store() -> NotFound:
    """The error for what only a store has."""
    text = "This is not a store yet: start it once with `promenade serve --edition local-store`."
    return NotFound("NOT_A_STORE", text)


def _no_key(name: str) -> NotFound:
    return NotFound("TILL_KEY_NOT_FOUND", f"No till {name} has a key.")


def _check_name(name: str) -> None:
    if not name.strip():
        raise Invalid("REQUIRED", "`name` is required.", "name")
    if len(name) > NAME_LENGTH_MAX:
        raise Invalid("TOO_LONG", f"`name` may have at most {NAME_LENGTH_MAX} characters.", "name")
    if not name.isprintable() or name != name.strip():
        raise Invalid("INVALID_VALUE", "`name` must be printable, without spaces around it.", "name")
