"""A key for each till of a store: named, seen in use, replaced with an overlap, revoked; by page and by command."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from promenade.errors import Conflict, Invalid, NotFound, Unauthorized
from promenade.ids import new_id
from promenade.store.driver.session import open_database
from promenade.web.access.api_key import StoreAuthenticator
from promenade.web.access.sessions import Sessions
from promenade.workflows.access import till_keys
from promenade.workflows.access.local_admin import KnownStore, establish_store
from promenade.workflows.access.till_keys import (
    Author,
    create_till_key,
    list_till_keys,
    revoke_till_key,
    rotate_till_key,
)
from tests.kit.databases import Databases
from tests.kit.service import promenade
from tests.web.replica.local_store.conftest import Browser, Store
from tests.web.replica.local_store.test_administrator import refusal

BY = Author("tests", new_id)
MORNING = datetime(2026, 1, 1, 8, tzinfo=UTC)


def create(browser: Browser, name: str) -> str:
    answer = browser.post("createTillKey", {"name": name})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"name": name, "apiKey": answer.json()["apiKey"], "formerUntil": None}
    return str(answer.json()["apiKey"])


def beats(store: Store, key: str) -> bool:
    with store.till(key) as till:
        return till.get("/pos/heartbeat").status_code == 200


def shown(browser: Browser, name: str) -> dict[str, str | None]:
    keys = browser.post("listTillKeys").json()["tillKeys"]
    found: dict[str, str | None] = next(one for one in keys if one["name"] == name)
    return found


def test_a_till_with_a_key_of_its_own_is_seen_and_shut_out_alone(store: Store) -> None:
    browser = store.browser()
    one, other = create(browser, "Till 1"), create(browser, "Kasse 2, Süd")
    assert len({one, other, browser.api_key()}) == 3
    assert shown(browser, "Till 1")["lastUsedAt"] is None
    assert beats(store, one)
    while shown(browser, "Till 1")["lastUsedAt"] is None:
        pass  # a busy database records it later
    assert shown(browser, "Kasse 2, Süd")["lastUsedAt"] is None
    common = browser.api_key()
    assert browser.post("revokeTillKey", {"name": "Till 1"}).json() == {"success": True}
    assert [beats(store, key) for key in (one, other, common)] == [False, True, True], "at once"


def test_the_history_tells_of_every_key_that_was_changed_and_shows_none(store: Store) -> None:
    browser = store.browser()
    first = create(browser, "Told")
    assert refusal(browser.post("createTillKey", {"name": "Told"})) == (409, "TILL_KEY_EXISTS")
    second = browser.post("rotateTillKey", {"name": "Told", "overlapHours": 0}).json()["apiKey"]
    browser.post("revokeTillKey", {"name": "Told"})
    assert refusal(browser.post("revokeTillKey", {"name": "Told"})) == (404, "TILL_KEY_NOT_FOUND")
    common = browser.post("regenerateApiKey").json()["apiKey"]
    told = browser.http.get("/admin/AuditLogs?$filter=entityName eq 'Told'&$orderby=timestamp")
    entries = told.json()["value"]
    assert [(one["action"], one["entityType"], one["actor"]) for one in entries] == [
        ("CREATE", "TillKeys", "admin"), ("ROTATE", "TillKeys", "admin"), ("REVOKE", "TillKeys", "admin"),
    ]  # fmt: skip
    others = browser.http.get("/admin/AuditLogs?$filter=entityType eq 'ApiKeys'&$orderby=timestamp desc")
    assert [others.json()["value"][0][name] for name in ("action", "actor")] == ["ROTATE", "admin"]
    assert not any(key in told.text + others.text for key in (first, second, common))


def test_a_sale_is_priced_with_a_tills_own_key_and_nothing_else_is_opened(store: Store) -> None:
    browser = store.browser()
    with store.till(create(browser, "Pricing")) as till:
        assert till.get("/admin/Promotions").status_code == 401
        assert refusal(till.post("/local-admin/listTillKeys")) == (401, "UNAUTHORIZED")
        basket = {"header": {"transactionId": "T-own"}, "posGroupCode": "NOWHERE", "items": []}
        assert till.post("/pos/v2/evaluate", json={"request": basket}).status_code in {400, 404}


def test_both_keys_work_for_a_while_after_a_rotation(store: Store) -> None:
    browser = store.browser()
    old = create(browser, "Rotating")
    answer = browser.post("rotateTillKey", {"name": "Rotating", "overlapHours": 2}).json()
    new = answer["apiKey"]
    assert answer["formerUntil"] == shown(browser, "Rotating")["formerUntil"] is not None
    assert [beats(store, key) for key in (old, new)] == [True, True]
    last = browser.post("rotateTillKey", {"name": "Rotating", "overlapHours": 0}).json()
    assert last["formerUntil"] is None
    assert [beats(store, key) for key in (old, new, last["apiKey"])] == [False, False, True]


def test_commands_change_keys_of_a_running_store(store: Store) -> None:
    data = ("--data-dir", str(store.directory))
    key = json.loads(promenade("till-key", "create", "By command", "--json", *data))["apiKey"]
    while not beats(store, key):  # the test's own timeout is the bound
        pass
    rotated = json.loads(promenade("till-key", "rotate", "By command", "--overlap-hours", "0", "--json", *data))
    assert rotated["formerUntil"] is None
    while beats(store, key):
        pass
    assert beats(store, rotated["apiKey"])
    listed = {one["name"]: one for one in json.loads(promenade("till-key", "list", "--json", *data))}
    assert listed["By command"]["lastUsedAt"] is not None
    assert "refused" in promenade("till-key", "revoke", "By command", *data)
    while beats(store, rotated["apiKey"]):
        pass


def test_keys_are_not_stored(store: Store) -> None:
    key = create(store.browser(), "Secret")
    with closing(sqlite3.connect(store.database)) as database:
        rows = database.execute("SELECT * FROM till_keys").fetchall()
    assert len(rows) >= 1
    assert key not in str(rows)


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "target"),
    [
        ("createTillKey", {}, 400, "VALIDATION_FAILED", "name"),
        ("createTillKey", {"name": " "}, 400, "REQUIRED", "name"),
        ("createTillKey", {"name": "x" * 51}, 400, "TOO_LONG", "name"),
        ("createTillKey", {"name": "a\nb"}, 400, "INVALID_VALUE", "name"),
        ("rotateTillKey", {"name": "a\nb"}, 400, "INVALID_VALUE", "name"),
        ("revokeTillKey", {"name": ""}, 400, "REQUIRED", "name"),
        ("rotateTillKey", {"name": "nobody"}, 404, "TILL_KEY_NOT_FOUND", None),
        ("rotateTillKey", {"name": "nobody", "overlapHours": 721}, 400, "OUT_OF_RANGE", "overlapHours"),
        ("rotateTillKey", {"name": "nobody", "overlapHours": True}, 400, "VALIDATION_FAILED", "overlapHours"),
        ("revokeTillKey", {"name": "nobody"}, 404, "TILL_KEY_NOT_FOUND", None),
    ],
)
def test_what_cannot_be_done_is_said(
    store: Store, path: str, body: dict[str, object], status: int, code: str, target: str | None
) -> None:
    answer = store.browser().post(path, body)
    assert (*refusal(answer), answer.json()["error"].get("target")) == (status, code, target)
    assert refusal(store.browser(logged_in=False).post(path, body)) == (401, "UNAUTHORIZED")


def test_a_name_has_one_key(store: Store) -> None:
    browser = store.browser()
    key = create(browser, "Twice")
    assert refusal(browser.post("createTillKey", {"name": "Twice"})) == (409, "TILL_KEY_EXISTS")
    assert beats(store, key)


async def test_a_former_key_ends_by_the_clock_and_uses_are_written_once_a_minute(databases: Databases) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    now, seconds = MORNING, 0.0
    store, _ = await establish_store(database, "local", instance_id="i", api_key="a" * 64, at=now)
    known = KnownStore(database, store, lambda: seconds)
    door = StoreAuthenticator(known, Sessions(lambda: now), lambda: now)

    async def opens(key: str) -> str | None:
        try:
            caller = await door.authenticate({"type": "http", "headers": [(b"x-api-key", key.encode())]})
        except Unauthorized:
            return None
        return caller.user

    try:
        await create_till_key(database, "Till 1", "1" * 64, at=now, by=BY)
        until = await rotate_till_key(database, "Till 1", "2" * 64, at=now, by=BY, overlap_hours=1)
        assert until == now + timedelta(hours=1)
        await known.expect_changes()
        assert [await opens(key * 64) for key in "12a3"] == ["till:Till 1", "till:Till 1", "till", None]
        first = (await list_till_keys(database))[0].last_used_at
        now, seconds = until, 59.0
        assert [await opens(key * 64) for key in "12"] == [None, "till:Till 1"]
        assert (await list_till_keys(database))[0].last_used_at == first == MORNING
        seconds = 61.0
        assert await opens("2" * 64) == "till:Till 1"
        assert (await list_till_keys(database))[0].last_used_at == now
        await revoke_till_key(database, "Till 1", at=MORNING, by=BY)
        seconds = 100.0
        assert await opens("2" * 64) is None
        with pytest.raises(NotFound):
            await rotate_till_key(database, "Till 1", "3" * 64, at=now, by=BY)
        with pytest.raises(Invalid):
            await create_till_key(database, "", "3" * 64, at=now, by=BY)
    finally:
        await database.close()
        databases.drop(url)


async def test_a_till_does_not_wait_for_a_database_that_is_busy(databases: Databases) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    store, _ = await establish_store(database, "local", instance_id="i", api_key="a" * 64, at=MORNING)
    known = KnownStore(database, store)
    door = StoreAuthenticator(known, Sessions(lambda: MORNING), lambda: MORNING)
    try:
        await create_till_key(database, "Till 1", "1" * 64, at=MORNING, by=BY)
        await known.expect_changes()
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began = monotonic()
            await door.authenticate({"type": "http", "headers": [(b"x-api-key", b"1" * 64)]})
            assert monotonic() - began < 2
        async with asyncio.timeout(10):
            while (await list_till_keys(database))[0].last_used_at is None:  # noqa: ASYNC110 -- only the row tells
                await asyncio.sleep(0)
    finally:
        await database.close()
        databases.drop(url)


async def test_the_number_of_keys_is_bounded(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    monkeypatch.setattr(till_keys, "KEYS_MAX", 2)
    await establish_store(database, "local", instance_id="i", api_key="a" * 64, at=MORNING)
    try:
        for number in (1, 2):
            await create_till_key(database, f"Till {number}", f"{number}" * 64, at=MORNING, by=BY)
        with pytest.raises(Conflict, match="at most 2 keys"):
            await create_till_key(database, "Till 3", "3" * 64, at=MORNING, by=BY)
        await revoke_till_key(database, "Till 1", at=MORNING, by=BY)
        await create_till_key(database, "Till 3", "3" * 64, at=MORNING, by=BY)
        assert [one.name for one in await list_till_keys(database)] == ["Till 2", "Till 3"]
    finally:
        await database.close()
        databases.drop(url)


async def test_a_cloud_has_no_tills_keys(databases: Databases) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    try:
        with pytest.raises(NotFound, match="not a store"):
            await create_till_key(database, "Till 1", "1" * 64, at=MORNING, by=BY)
    finally:
        await database.close()
        databases.drop(url)
