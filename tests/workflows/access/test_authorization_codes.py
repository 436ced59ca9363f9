"""Codes of the built-in issuer, on both databases: one per login, valid for a minute and for one request."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from promenade.store.access import clients as access
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.authorization_codes import USED_HOURS, AuthorizationCode, keep_code, take_code
from promenade.workflows.access.clients import Client, ClientDirectory, create_client
from promenade.workflows.access.people import Chosen, People, invite_person
from promenade.workflows.access.person_sessions import SessionDirectory, SignedIn, renew_session
from promenade.workflows.access.tenants import create_tenant

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOME = "https://shop.example/"
BOUND = AuthorizationCode("client", HOME, "c" * 43)


def new_id() -> str:
    return str(uuid4())


async def take(
    database: Database, code: str = "code", at: datetime = NOW, *, is_for: bool = True
) -> Client | SignedIn | None:
    return await take_code(database, code, at, lambda bound: is_for and bound.redirect_uri == HOME)


async def kept(database: Database) -> int:
    """Return how many codes are stored."""
    rows = await database.read(lambda session: session.execute(table("authorization_codes").select()), system=True)
    return len(rows)


@pytest.fixture
async def issuing(database: Database) -> Database:
    await create_tenant(database, "acme", settings={}, at=NOW, user="tests")
    for name in ("client", "other"):
        await create_client(database, client_id=name, secret=name, tenant_id="acme", scopes=["svc.Admin"], at=NOW)
    await keep_code(database, "code", BOUND, NOW)
    return database


@pytest.mark.parametrize(("seconds", "holds"), [(0, True), (59.9, True), (60, False), (3600, False), (-1, False)])
async def test_a_code_is_valid_for_a_minute_by_any_clock(issuing: Database, seconds: float, holds: bool) -> None:
    taken = await take(issuing, at=NOW + timedelta(seconds=seconds))
    assert (taken is not None) is holds
    if taken is not None:
        assert isinstance(taken, Client)
        assert (taken.client_id, taken.scopes) == ("client", ("svc.Admin",))
    assert await take(issuing) is None


async def test_only_one_of_many_concurrent_requests_gets_a_code(issuing: Database) -> None:
    taken = await asyncio.gather(*(take(issuing) for _ in range(20)))
    assert len([one for one in taken if one is not None]) == 1


async def test_an_unknown_code_is_not_accepted(issuing: Database) -> None:
    assert await take(issuing, "cod") is None
    assert await take(issuing, "") is None
    assert await take(issuing) is not None


async def test_a_code_that_is_shown_by_somebody_else_is_used_up_and_ends_nothing(issuing: Database) -> None:
    assert await take(issuing, is_for=False) is None
    assert await take(issuing) is None
    assert await ClientDirectory(issuing, lambda: NOW).accepts("acme", "client", NOW.timestamp())


@pytest.mark.parametrize("is_for", [True, False])
@pytest.mark.parametrize("hours", [0, USED_HOURS - 1], ids=["at once", "hours later"])
async def test_a_code_that_is_shown_again_withdraws_the_tokens_of_its_client(
    issuing: Database, hours: int, is_for: bool
) -> None:
    issued = NOW + timedelta(seconds=1)
    later = issued + timedelta(hours=hours, seconds=1)
    assert await take(issuing, at=issued) is not None
    await keep_code(issuing, "another", BOUND, later)  # which deletes what has ended
    assert await take(issuing, at=later, is_for=is_for) is None
    directory = ClientDirectory(issuing, lambda: later)
    assert not await directory.accepts("acme", "client", issued.timestamp())
    assert await directory.accepts("acme", "other", issued.timestamp())
    # Who signs in again goes on, however often the old code is shown.
    assert await take(issuing, "another", later) is not None
    await take(issuing, at=later + timedelta(seconds=9))
    assert await ClientDirectory(issuing, lambda: later).accepts("acme", "client", later.timestamp())


async def test_a_request_that_read_the_code_just_before_it_was_used_ends_what_it_gave(
    issuing: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, digest = access.find_code, access.digest_of("code")
    read_before = [await issuing.read(lambda session: find(session, digest), system=True)]

    async def find_late(session: Session, code_hash: str) -> Any:
        return read_before.pop() if read_before else await find(session, code_hash)

    issued = NOW + timedelta(seconds=1)
    assert await take(issuing, at=issued) is not None
    monkeypatch.setattr(access, "find_code", find_late)
    assert await take(issuing, at=issued + timedelta(seconds=1)) is None
    assert read_before == []
    assert not await ClientDirectory(issuing, lambda: issued).accepts("acme", "client", issued.timestamp())


@pytest.mark.parametrize("is_at_once", [True, False])
async def test_a_code_that_is_shown_again_ends_the_session_of_its_person(issuing: Database, is_at_once: bool) -> None:
    people = People(issuing, lambda: NOW, new_id)
    secret = await invite_person(issuing, "acme", "rosa", scopes=["svc.Admin"], new_id=new_id, at=NOW)
    await people.accept(secret, Chosen("correct horse"))
    cookies = [str(await people.sign_in("acme", "rosa", "correct horse", "")) for _ in range(2)]
    own, other = [await renew_session(issuing, one, new_id=new_id, at=NOW) for one in cookies]
    assert own is not None
    assert other is not None
    await keep_code(issuing, "rosa's", AuthorizationCode("back-office", HOME, "c" * 43, own.session_id), NOW)
    if is_at_once:
        taken = await asyncio.gather(*(take(issuing, "rosa's") for _ in range(5)))
    else:
        taken = [await take(issuing, "rosa's", NOW + timedelta(minutes=one)) for one in (0, 5)]
    given = [one for one in taken if one is not None]
    assert [one.session_id for one in given if isinstance(one, SignedIn)] == [own.session_id]
    directory = SessionDirectory(issuing, lambda: NOW)
    assert not await directory.accepts("acme", own.session_id, NOW.timestamp())
    assert await directory.accepts("acme", other.session_id, NOW.timestamp())
    assert await renew_session(issuing, own.cookie or "", new_id=new_id, at=NOW) is None


async def test_used_codes_are_forgotten_once_nothing_that_they_gave_can_last(issuing: Database) -> None:
    assert await take(issuing) is not None
    ends = NOW + timedelta(hours=USED_HOURS)
    await keep_code(issuing, "second", BOUND, ends - timedelta(seconds=1))
    assert await kept(issuing) == 2
    await keep_code(issuing, "third", BOUND, ends)
    assert await kept(issuing) == 2
    await take(issuing, at=ends)
    assert await ClientDirectory(issuing, lambda: ends).accepts("acme", "client", NOW.timestamp())
