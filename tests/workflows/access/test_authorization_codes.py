"""Codes of the built-in issuer, on both databases: one per login, valid for a minute and for one request."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from promenade.store.driver.unit import Database
from promenade.workflows.access.authorization_codes import AuthorizationCode, keep_code, take_code
from promenade.workflows.access.clients import Client, create_client
from promenade.workflows.access.tenants import create_tenant

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BOUND = AuthorizationCode("client", "https://shop.example/", "c" * 43)


@pytest.fixture
async def issuing(database: Database) -> Database:
    await create_tenant(database, "acme", settings={}, at=NOW, user="tests")
    await create_client(database, client_id="client", secret="secret", tenant_id="acme", scopes=["svc.Admin"], at=NOW)
    await keep_code(database, "code", BOUND, NOW)
    return database


@pytest.mark.parametrize(("seconds", "holds"), [(0, True), (59.9, True), (60, False), (3600, False), (-1, False)])
async def test_a_code_is_valid_for_a_minute_by_any_clock(issuing: Database, seconds: float, holds: bool) -> None:
    taken = await take_code(issuing, "code", NOW + timedelta(seconds=seconds))
    assert (taken is not None) is holds
    if taken is not None:
        assert taken[0] == BOUND
        assert isinstance(taken[1], Client)
        assert (taken[1].client_id, taken[1].scopes) == ("client", ("svc.Admin",))
    assert await take_code(issuing, "code", NOW) is None


async def test_only_one_of_many_concurrent_requests_gets_a_code(issuing: Database) -> None:
    taken = await asyncio.gather(*(take_code(issuing, "code", NOW) for _ in range(20)))
    assert len([one for one in taken if one is not None]) == 1


async def test_an_unknown_code_is_not_accepted(issuing: Database) -> None:
    assert await take_code(issuing, "cod", NOW) is None
    assert await take_code(issuing, "", NOW) is None
    assert await take_code(issuing, "code", NOW) is not None
