"""An autonomous store: created on first start; tills authenticate by key, the administrator by password.

There is no password until the first one is set.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from promenade.errors import Conflict, Invalid, Unavailable
from promenade.store.access.local_store import (
    StoreRow,
    insert_store,
    read_store,
    replace_password,
    set_api_key,
    set_first_password,
    set_password,
)
from promenade.store.access.tenants import read_tenants, tenant_is_known
from promenade.store.access.till_keys import TillKey, note_use, read_till_keys
from promenade.store.authoring.trail import Subject
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.passwords import Passwords, check_password, hash_password
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.access.till_keys import Author, Ring, not_a_store, tell
from promenade.workflows.access.uses import Uses

KNOWN_SECONDS = 2.0
"""How old what a process knows of its store may be: another process may have changed it."""

_KEY_SECONDS = 1.0  # minimum interval between reads caused by wrong keys


# ---- the store -----------------------------------------------------------------------------------------------------


async def establish_store(
    database: Database, tenant_id: str, *, instance_id: str, api_key: str, at: datetime
) -> tuple[StoreRow, bool]:
    """Return the store of this database, and whether it was created now, with its tenant and the given identities.

    Raises Conflict (OTHER_TENANT) if the database is the store of another tenant, or contains other tenants' data.
    """

    async def look(session: Session) -> tuple[StoreRow | None, list[str], bool]:
        others = [row.tenant_id for row in await read_tenants(session) if row.tenant_id != tenant_id]
        return await read_store(session), others, await tenant_is_known(session, tenant_id)

    found, others, is_known = await database.read(look, system=True)
    if found is not None and found.tenant_id != tenant_id:
        text = f"This is the store of tenant {found.tenant_id}: start it with --tenant {found.tenant_id}."
        raise Conflict("OTHER_TENANT", text)
    if others:
        text = f"The database holds tenant {others[0]}: give this store a database, or a --data-dir, of its own."
        raise Conflict("OTHER_TENANT", text)
    if found is not None:
        return found, False
    if not is_known:
        await create_tenant(database, tenant_id, settings={}, at=at, user="cli")
    made = StoreRow(tenant_id, instance_id, api_key)
    await database.write(lambda session: insert_store(session, made, at), system=True)
    return made, True


async def find_store(database: Database) -> StoreRow | None:
    """Return the store of this database; None: the database is new or a cloud's."""
    return await database.read(read_store, system=True)


class KnownStore:
    """A process's cached store row and keys, so that tills are authenticated without a database query."""

    def __init__(self, database: Database, store: StoreRow, seconds: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._seconds = seconds
        self._set(store)
        self._ring = Ring()
        self._read_at = seconds()
        self._changes = 0
        self.uses = Uses(database, note_use, seconds)
        """When tills have last shown their keys, by their names."""

    @property
    def tenant_id(self) -> str:
        """The store's tenant, which never changes."""
        return self._store.tenant_id

    @property
    def key(self) -> bytes:
        """The API key as tills send it, as last read."""
        return self._key

    @property
    def ring(self) -> Ring:
        """The keys of single tills, as last read."""
        return self._ring

    def _set(self, store: StoreRow) -> None:
        self._store = store
        self._key = store.api_key.encode("ascii")

    async def catch_up(self, *, after_seconds: float = KNOWN_SECONDS) -> None:
        """Reread the rows if they are older than ``after_seconds``; keep the cached ones without a database."""
        if self._seconds() - self._read_at < after_seconds:
            return
        # INVARIANT: set before reading, so that concurrent requests do not read as well.
        self._read_at = self._seconds()
        try:
            await self.read()
        except Unavailable:
            return

    async def expect_another_key(self) -> None:
        """Reread because a till sent a different key, which may be new; at most one read per second for wrong keys."""
        await self.catch_up(after_seconds=_KEY_SECONDS)

    async def read(self) -> StoreRow:
        """Read the current rows. Raises Unavailable."""
        changes = self._changes
        found, keys = await self._database.read(_read_both, system=True)
        # If this process changed something during the read, the read may have returned what was there before.
        if found is not None and changes == self._changes:
            self._set(found)
            self._ring = Ring(keys)
        return found or self._store

    async def replace_key(self, api_key: str, *, at: datetime, by: Author) -> None:
        """Make ``api_key`` the only valid key that is not a single till's."""
        subject = Subject("ApiKeys", self._store.instance_id, self._store.tenant_id)

        async def work(session: Session) -> None:
            await set_api_key(session, api_key)
            await tell(session, "ROTATE", subject, at=at, by=by)

        await self._database.write(work, tenant=self._store.tenant_id)
        self._changes += 1
        self._set(replace(self._store, api_key=api_key))

    async def expect_changes(self) -> None:
        """Reread after this process has changed the rows, so that the change holds here at once. Raises Unavailable."""
        self._changes += 1
        await self.read()


async def _read_both(session: Session) -> tuple[StoreRow | None, list[TillKey]]:
    return await read_store(session), await read_till_keys(session)


# ---- its password --------------------------------------------------------------------------------------------------


class StorePassword:
    """The administrator's password of a running store: set once, verified at every login."""

    def __init__(self, known: KnownStore, database: Database, clock: Callable[[], datetime]) -> None:
        self._known = known
        self._database = database
        self._clock = clock
        self._passwords = Passwords()

    async def proof(self) -> str | None:
        """Return the password hash, to which sessions are bound: they end when it changes. None: no password is set."""
        return (await self._known.read()).password_hash

    async def set_first(self, password: str, confirmation: str) -> None:
        """Set the password of a store that has none.

        Raises Conflict (ALREADY_SET_UP), and Invalid (PASSWORD_MISMATCH, PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG).
        """
        if await self.proof() is not None:
            raise _already_set_up()
        check_password(password)
        if password != confirmation:
            raise Invalid("PASSWORD_MISMATCH", "Both passwords must be the same.", "confirmPassword")
        hashed = await self._passwords.hash(password)
        at = self._clock()
        if not await self._database.write(lambda session: set_first_password(session, hashed, at), system=True):
            raise _already_set_up()

    async def replace(self, password: str, hashed: str, new_password: str) -> str:
        """Replace a password that was just verified against ``hashed``, and return the hash of the new one.

        Raises Invalid (PASSWORD_UNCHANGED, PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG) about the new password, Conflict
        (PASSWORD_CHANGED) if it was changed meanwhile, and TooMany (TOO_MANY_ATTEMPTS) if too many attempts wait.
        """
        if check_password(new_password, "newPassword") == check_password(password):
            raise Invalid("PASSWORD_UNCHANGED", "The new password is the one that you have.", "newPassword")
        made, at = await self._passwords.hash(new_password), self._clock()
        if not await self._database.write(lambda session: replace_password(session, hashed, made, at), system=True):
            raise Conflict("PASSWORD_CHANGED", "The password was changed by somebody else meanwhile.")
        return made

    def require_turn(self) -> None:
        """Raise TooMany (TOO_MANY_ATTEMPTS) if too many attempts are waiting."""
        self._passwords.require_turn()

    async def verify(self, password: str, hashed: str) -> bool:
        """Whether the password matches the hash. Raises TooMany (TOO_MANY_ATTEMPTS) if too many attempts wait."""
        return await self._passwords.verify(password, hashed)


async def reset_password(database: Database, password: str, at: datetime) -> None:
    """Replace the password, whatever it was; sessions end. Raises NotFound (NOT_A_STORE), and Invalid."""
    hashed = hash_password(password)
    if not await database.write(lambda session: set_password(session, hashed, at), system=True):
        raise not_a_store()


async def forget_password(database: Database, at: datetime) -> None:
    """Remove the password, so that setup is open; sessions end."""
    await database.write(lambda session: set_password(session, None, at), system=True)


def _already_set_up() -> Conflict:
    text = "The password is already set. `promenade local-admin reset-password` on the store's machine sets a new one."
    return Conflict("ALREADY_SET_UP", text)
