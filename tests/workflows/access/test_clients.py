"""Secrets of clients are replaced while the former one still works, and what they open can be withdrawn."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from promenade.errors import Invalid, NotFound
from promenade.store.access.clients import note_use
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from promenade.workflows.access.clients import (
    ClientDirectory,
    authenticate_client,
    create_client,
    delete_client,
    list_clients,
    rotate_client,
)
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.access.uses import Uses

START = datetime(2026, 3, 2, 8, 0, 0, 250_000, tzinfo=UTC)
TENANT, CLIENT = "acme", "till"
FIRST, SECOND, THIRD = "first secret", "second secret", "third secret"


@pytest.fixture
async def issuing(database: Database) -> Database:
    await create_tenant(database, TENANT, settings={}, at=START, user="tests")
    await create_client(database, client_id=CLIENT, secret=FIRST, tenant_id=TENANT, scopes=["svc.POSReader"], at=START)
    return database


async def accepted(issuing: Database, at: datetime) -> list[str]:
    """Return which secrets get a token."""
    secrets = (FIRST, SECOND, THIRD)
    return [one for one in secrets if await authenticate_client(issuing, CLIENT, one, at=at) is not None]


async def test_a_replaced_secret_works_until_its_time_has_run_out(issuing: Database) -> None:
    assert await accepted(issuing, START) == [FIRST]
    until = await rotate_client(issuing, CLIENT, SECOND, at=START)
    assert until == START + timedelta(hours=24)
    assert await accepted(issuing, until - timedelta(microseconds=1)) == [FIRST, SECOND]
    assert await accepted(issuing, until) == [SECOND]


async def test_of_three_secrets_the_last_two_work(issuing: Database) -> None:
    for secret in (SECOND, THIRD):
        await rotate_client(issuing, CLIENT, secret, at=START)
    assert await accepted(issuing, START) == [SECOND, THIRD]


@pytest.mark.parametrize("withdraws", [False, True])
async def test_a_secret_that_has_leaked_is_refused_at_once(issuing: Database, withdraws: bool) -> None:
    until = await rotate_client(
        issuing, CLIENT, SECOND, at=START, overlap_hours=24 if withdraws else 0, withdraws=withdraws
    )
    assert until is None
    assert await accepted(issuing, START) == [SECOND]


async def test_the_list_tells_the_last_use_to_the_minute(issuing: Database) -> None:
    seconds = 0.0
    uses = Uses(issuing, note_use, lambda: seconds)

    async def last_use(at: datetime) -> datetime | None:
        """Return the last use after one at this time, once it is recorded."""
        await uses.note(CLIENT, at)
        async with asyncio.timeout(10):
            while (await list_clients(issuing))[0].last_used_at is None:  # noqa: ASYNC110 -- only the row tells
                await asyncio.sleep(0)
        return (await list_clients(issuing))[0].last_used_at

    assert await last_use(START) == START
    seconds = 59.0
    assert await last_use(START + timedelta(seconds=59)) == START
    seconds = 60.0
    later = START + timedelta(seconds=60)
    async with asyncio.timeout(10):
        while await last_use(later) != later:  # noqa: ASYNC110 -- only the row tells
            await asyncio.sleep(0)


async def test_the_list_tells_the_rotation(issuing: Database) -> None:
    at = START + timedelta(hours=1)
    await rotate_client(issuing, CLIENT, SECOND, at=at, overlap_hours=2)
    (client,) = await list_clients(issuing, TENANT)
    assert client.rotated_at == at
    assert client.accepts_former_until(at) == at + timedelta(hours=2)
    assert client.accepts_former_until(at + timedelta(hours=2)) is None


async def test_a_client_that_is_switched_off_is_listed_and_gets_no_token_with_a_new_secret_either(
    issuing: Database,
) -> None:
    await issuing.write(lambda session: session.rowcount(update(table("Clients")).values(is_active=False)), system=True)
    await rotate_client(issuing, CLIENT, SECOND, at=START)
    (client,) = await list_clients(issuing)
    assert (client.is_active, client.rotated_at) == (False, START)
    assert await accepted(issuing, START) == []


@pytest.mark.parametrize("hours", [-1, 721])
async def test_the_overlap_has_bounds(issuing: Database, hours: int) -> None:
    with pytest.raises(Invalid) as refused:
        await rotate_client(issuing, CLIENT, SECOND, at=START, overlap_hours=hours)
    assert (refused.value.code, refused.value.target) == ("OUT_OF_RANGE", "overlapHours")
    with pytest.raises(NotFound):
        await rotate_client(issuing, "nobody", SECOND, at=START)
    assert await accepted(issuing, START) == [FIRST]


async def test_tokens_of_a_client_are_accepted_for_its_tenant_while_it_exists(issuing: Database) -> None:
    now = START
    directory = ClientDirectory(issuing, lambda: now)
    issued = float(int(START.timestamp()))  # tokens tell their time in whole seconds
    assert await directory.accepts(TENANT, CLIENT, issued)
    assert not await directory.accepts(TENANT, CLIENT, issued - 1), "issued before this client was made"
    assert not await directory.accepts("globex", CLIENT, issued)
    assert not await directory.accepts(TENANT, "nobody\0", issued)
    await rotate_client(issuing, CLIENT, SECOND, at=START + timedelta(seconds=5), withdraws=True)
    now = START + timedelta(seconds=ClientDirectory.SECONDS_KEPT)
    assert not await directory.accepts(TENANT, CLIENT, issued + 5), "perhaps issued before, in the same second"
    assert await directory.accepts(TENANT, CLIENT, issued + 6)
    await delete_client(issuing, CLIENT)
    now -= timedelta(minutes=10)  # setting the clock back prolongs nothing
    assert not await directory.accepts(TENANT, CLIENT, issued + 6)
