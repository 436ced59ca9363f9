"""A process's cache of its store row and password, tested against the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid, PromenadeError, TooMany, Unauthorized, Unavailable
from promenade.ids import new_id
from promenade.store.access.local_store import StoreRow, set_api_key
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.web.access.api_key import StoreAuthenticator
from promenade.web.access.sessions import Sessions
from promenade.web.http.rate_limits import RateLimits
from promenade.workflows.access.local_admin import (
    KnownStore,
    StorePassword,
    establish_store,
    find_store,
    forget_password,
    reset_password,
)
from promenade.workflows.access.passwords import check_password
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.access.till_keys import Author
from tests.kit.databases import Databases

MORNING = datetime(2026, 1, 1, 8, tzinfo=UTC)
KEY, OTHER = "a" * 64, "b" * 64


@dataclass
class Seconds:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class Counting:
    """A database that counts reads and can fail or delay its answers."""

    database: Database
    reads: int = 0
    is_away: bool = False
    is_read: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=_set)

    async def read(self, work: Any, **how: Any) -> Any:
        self.reads += 1
        if self.is_away:
            raise Unavailable("DATABASE_UNAVAILABLE", "It is away.")
        found = await self.database.read(work, **how)
        self.is_read.set()
        await self.go_on.wait()
        return found

    async def write(self, work: Any, **how: Any) -> Any:
        return await self.database.write(work, **how)


@pytest.fixture
async def database(databases: Databases) -> AsyncIterator[Database]:
    """Return an empty SQLite database, as a store begins."""
    url = databases.create("sqlite")
    opened = await open_database(url)
    yield opened
    await opened.close()
    databases.drop(url)


async def establish(database: Database, tenant: str = "local") -> StoreRow:
    store, _ = await establish_store(database, tenant, instance_id="i-1", api_key=KEY, at=MORNING)
    return store


def till(key: str | None = None) -> dict[str, Any]:
    return {"type": "http", "headers": [] if key is None else [(b"x-api-key", key.encode())]}


async def test_a_store_is_made_once(database: Database) -> None:
    assert await find_store(database) is None
    assert await establish_store(database, "local", instance_id="i-1", api_key=KEY, at=MORNING) == (
        StoreRow("local", "i-1", KEY),
        True,
    )
    again = await establish_store(database, "local", instance_id="i-2", api_key=OTHER, at=MORNING)
    assert again == (StoreRow("local", "i-1", KEY), False)
    with pytest.raises(Conflict, match="--tenant local"):
        await establish(database, "other")


async def test_a_store_shares_its_database_with_no_other_tenant(database: Database) -> None:
    await create_tenant(database, "acme", settings={}, at=MORNING, user="tests")
    with pytest.raises(Conflict, match="acme"):
        await establish(database)
    assert await find_store(database) is None
    assert (await establish(database, "acme")).tenant_id == "acme"


async def test_tills_are_authenticated_without_a_query(database: Database) -> None:
    store = await establish(database)
    seconds = Seconds()
    counting = Counting(database)
    known = KnownStore(counting, store, seconds)  # type: ignore[arg-type]
    door = StoreAuthenticator(known, Sessions(lambda: MORNING), lambda: MORNING)
    for _ in range(100):
        caller = await door.authenticate(till(KEY))
    assert (caller.tenant_id, caller.scopes) == ("local", frozenset({"svc.POSReader"}))
    assert counting.reads == 0
    for _ in range(100):
        with pytest.raises(Unauthorized):
            await door.authenticate(till(OTHER))
    assert counting.reads == 0, "the row was read a moment ago"
    seconds.now = 1.5
    for _ in range(100):
        with pytest.raises(Unauthorized):
            await door.authenticate(till(OTHER))
    assert counting.reads == 1, "many wrong keys are one reading a second"
    seconds.now = 10
    await asyncio.gather(*(door.authenticate(till(KEY)) for _ in range(100)))
    assert counting.reads == 2


async def test_changes_of_another_process_are_picked_up(database: Database) -> None:
    seconds = Seconds()
    known = KnownStore(database, await establish(database), seconds)
    door = StoreAuthenticator(known, Sessions(lambda: MORNING), lambda: MORNING)
    await database.write(lambda session: set_api_key(session, OTHER), system=True)
    await door.authenticate(till(KEY))
    seconds.now = 1.5
    await door.authenticate(till(OTHER))
    with pytest.raises(Unauthorized):
        await door.authenticate(till(KEY))
    await database.write(lambda session: set_api_key(session, KEY), system=True)
    seconds.now = 5
    with pytest.raises(Unauthorized):
        await door.authenticate(till(OTHER))


async def test_tills_do_not_wait_for_an_unavailable_database(database: Database) -> None:
    seconds = Seconds()
    counting = Counting(database, is_away=True)
    known = KnownStore(counting, await establish(database), seconds)  # type: ignore[arg-type]
    door = StoreAuthenticator(known, Sessions(lambda: MORNING), lambda: MORNING)
    seconds.now = 100
    assert (await door.authenticate(till(KEY))).user == "till"
    with pytest.raises(Unauthorized):
        await door.authenticate(till(OTHER))


async def test_a_key_that_is_replaced_is_not_brought_back_by_a_reading_under_way(database: Database) -> None:
    slow = Counting(database, is_read=asyncio.Event(), go_on=asyncio.Event())
    known = KnownStore(slow, await establish(database))  # type: ignore[arg-type]
    reading = asyncio.create_task(known.read())
    await slow.is_read.wait()
    await known.replace_key(OTHER, at=MORNING, by=Author("tests", new_id))
    slow.go_on.set()
    assert (await reading).api_key == KEY
    assert known.key == OTHER.encode()
    assert (await known.read()).api_key == OTHER


async def test_a_till_that_floods_is_limited_and_counted_once(database: Database) -> None:
    known = KnownStore(database, await establish(database))
    limits = RateLimits(per_tenant=0, per_client=5, seconds=Seconds())
    door = StoreAuthenticator(known, Sessions(lambda: MORNING), lambda: MORNING, limits)
    for _ in range(5):
        request = till(KEY)
        assert await door.authenticate(request) is await door.authenticate(request)
    with pytest.raises(TooMany):
        await door.authenticate(till(KEY))


async def test_only_one_of_many_concurrent_first_passwords_is_set(database: Database) -> None:
    known = KnownStore(database, await establish(database))
    password = StorePassword(known, database, lambda: MORNING)
    words = [f"password number {number}" for number in range(4)]
    done = await asyncio.gather(*(password.set_first(word, word) for word in words), return_exceptions=True)
    assert [type(one) for one in done if one is not None] == [Conflict] * 3
    hashed = await password.proof()
    assert hashed is not None
    assert hashed.startswith("$argon2id$")
    verified = [await password.verify(word, hashed) for word in words]
    assert [one is None for one in done] == verified


async def test_only_one_of_many_concurrent_changes_of_a_password_counts(database: Database) -> None:
    known = KnownStore(database, await establish(database))
    password = StorePassword(known, database, lambda: MORNING)
    await password.set_first("long enough", "long enough")
    hashed = await password.proof() or ""
    words = [f"password {number}" for number in range(5)]
    done = await asyncio.gather(
        *(password.replace("long enough", hashed, word) for word in words), return_exceptions=True
    )
    (made,) = [one for one in done if isinstance(one, str)]
    assert [one.code for one in done if isinstance(one, Conflict)] == ["PASSWORD_CHANGED"] * 4
    assert await password.proof() == made
    assert await password.verify(words[done.index(made)], made)


async def test_the_queue_of_password_checks_is_bounded(database: Database) -> None:
    known = KnownStore(database, await establish(database))
    password = StorePassword(known, database, lambda: MORNING)
    await password.set_first("long enough", "long enough")
    hashed = await password.proof() or ""
    done = await asyncio.gather(*(password.verify("long enough", hashed) for _ in range(30)), return_exceptions=True)
    assert done.count(True) == 8
    assert sum(isinstance(one, TooMany) for one in done) == 22
    assert await password.verify("long enough", hashed)


async def test_a_password_is_reset_and_forgotten(database: Database) -> None:
    with pytest.raises(PromenadeError, match="not a store yet"):
        await reset_password(database, "long enough", MORNING)
    known = KnownStore(database, await establish(database))
    password = StorePassword(known, database, lambda: MORNING)
    await reset_password(database, "long enough", MORNING)
    hashed = await password.proof() or ""
    assert await password.verify("long enough", hashed)
    assert not await password.verify("long enougH", hashed)
    await reset_password(database, "long enough", MORNING)
    assert await password.proof() != hashed, "sessions end although the words are the same"
    await forget_password(database, MORNING)
    assert await password.proof() is None


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("1234567", "PASSWORD_TOO_SHORT"),
        ("", "PASSWORD_TOO_SHORT"),
        ("é" * 513, "PASSWORD_TOO_LONG"),
        ("x" * 1025, "PASSWORD_TOO_LONG"),
        ("x" * 10_000_000, "PASSWORD_TOO_LONG"),
    ],
)
def test_a_password_too_short_or_too_long_is_refused(given: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_password(given)
    assert (caught.value.code, caught.value.target) == (code, "password")


def test_a_password_is_the_same_from_any_keyboard() -> None:
    assert check_password("Cafe\u0301 noir") == check_password("Caf\u00e9 noir")
    assert check_password("x" * 1024) == "x" * 1024
