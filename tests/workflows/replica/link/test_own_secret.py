"""A store replaces the secret of its link, and is never locked out, at whatever step it is killed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe

import pytest
from sqlalchemy import update

from promenade.ids import new_id
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.store.replica.link import Link, read_link
from promenade.workflows.access.clients import authenticate_client, create_client, list_clients, rotate_client
from promenade.workflows.access.enrolments import enrol_clients
from promenade.workflows.access.own_secrets import replace_own_secret
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.replica.cloud_client import CloudAccess, HttpCloudClient
from promenade.workflows.replica.linking import LinkChange, set_link
from promenade.workflows.replica.own_secret import keep_secret as keep
from promenade.workflows.replica.own_secret import replace_secret
from promenade.workflows.uplink import CloudRefused, CloudUnreachable
from tests.kit.databases import Databases

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
FIRST = "first-secret-of-the-store-0123456789-abcdefg"
URL = "https://cloud.example"


async def keep_secret(store: Database, client: HttpCloudClient) -> bool:
    return await keep(store, client, lambda: token_urlsafe(32))


class Killed(BaseException):
    """The store's process has ended here."""


@dataclass
class World:
    """A cloud and a store, each with its database, and the cloud's clock; ``dies``: where the store is killed."""

    cloud: Database
    store: Database
    now: datetime = START
    dies: str = ""
    is_down: bool = False

    async def link(self) -> Link:
        found = await self.store.read(read_link, system=True)
        assert found is not None
        return found

    async def client(self) -> Uncabled:
        """Start the store's program: it knows what its database holds, and nothing else."""
        settings = (await self.link()).settings
        return Uncabled(self, CloudAccess(settings.url, settings.auth_url, settings.client_id, settings.client_secret))

    async def gets_tokens(self) -> bool:
        settings = (await self.link()).settings
        found = await authenticate_client(self.cloud, settings.client_id, settings.client_secret, at=self.now)
        return found is not None

    def die_at(self, step: str) -> None:
        if self.dies == step:
            self.dies = ""
            raise Killed


class Uncabled(HttpCloudClient):
    """The client without the line: it calls the issuer's workflow."""

    def __init__(self, world: World, access: CloudAccess) -> None:
        super().__init__(access)
        self._world = world
        self.is_due = True

    @property
    def is_secret_due(self) -> bool:
        return self.is_due

    def use_secret(self, secret: str) -> None:
        super().use_secret(secret)
        self.is_due = False

    async def replace_secret(self, shown: str, new: str) -> None:
        world = self._world
        world.die_at("kept, not asked")
        if world.is_down:
            raise CloudUnreachable("CLOUD_UNREACHABLE", "The line is down.")
        done = await replace_own_secret(
            world.cloud, self.access.client_id, shown, new, at=world.now, new_id=new_id
        )  # fmt: skip
        world.die_at("asked, not answered")
        if done is None:
            raise CloudRefused(401, "SECRET_REFUSED", "The secret was not replaced.")
        world.die_at("answered, not kept")


@pytest.fixture
async def world(databases: Databases) -> AsyncIterator[World]:
    urls = [databases.create("sqlite") for _ in range(2)]
    cloud, store = [await open_database(url) for url in urls]
    await create_tenant(cloud, "acme", settings={"secretDays": "30"}, at=START, user="tests")
    await create_client(cloud, client_id="c-1", secret=FIRST, tenant_id="acme", scopes=["svc.Sync"], at=START)
    await set_link(store, LinkChange(URL, None, "c-1", FIRST, "S-1"), at=START)
    yield World(cloud, store)
    for database, url in zip((cloud, store), urls, strict=True):
        await database.close()
        databases.drop(url)


async def test_a_due_secret_is_replaced_and_kept(world: World) -> None:
    client = await world.client()
    changed_at = (await world.link()).changed_at
    assert await keep_secret(world.store, client)
    link = await world.link()
    assert link.settings.client_secret == client.access.client_secret != FIRST
    assert (link.next_secret, link.changed_at) == (None, changed_at), "the running link goes on"
    assert await world.gets_tokens()
    assert not await keep_secret(world.store, client), "it is not due any more"


STEPS = ("kept, not asked", "asked, not answered", "answered, not kept", "kept, not used")


@pytest.mark.parametrize("later", [timedelta(0), timedelta(days=10)], ids=["at once", "after the overlap"])
@pytest.mark.parametrize("dies", STEPS)
async def test_a_store_that_is_killed_at_any_step_is_not_locked_out(
    world: World, dies: str, later: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await world.client()
    if dies == "kept, not used":
        monkeypatch.setattr(Uncabled, "use_secret", lambda self, secret: world.die_at(dies))
    world.dies = dies
    with pytest.raises(Killed):
        await keep_secret(world.store, client)
    monkeypatch.undo()
    world.now += later
    again = await world.client()
    again.is_due = False  # it has not asked for a token yet
    await keep_secret(world.store, again)
    link = await world.link()
    assert link.next_secret is None
    assert link.settings.client_secret != FIRST
    assert await world.gets_tokens()
    (found,) = await list_clients(world.cloud)
    assert found.rotated_at == (START if dies != "kept, not asked" else world.now), "it was replaced once"


async def test_without_a_line_the_store_keeps_both_and_makes_no_third(world: World) -> None:
    world.is_down = True
    client = await world.client()
    assert not await keep_secret(world.store, client)
    begun = (await world.link()).next_secret
    assert begun is not None
    assert await world.gets_tokens()
    assert not await keep_secret(world.store, client)
    assert (await world.link()).next_secret == begun
    world.is_down = False
    assert await keep_secret(world.store, client)
    assert (await world.link()).settings.client_secret == begun


async def test_a_store_enrols_with_its_code_and_keeps_a_secret_of_its_own(world: World) -> None:
    def coded(code: str) -> LinkChange:
        return LinkChange(URL, None, "c-1", code, "S-1", next_secret=token_urlsafe(32))

    coded_row = update(table("Clients")).values(code="S-1")
    await world.cloud.write(lambda session: session.rowcount(coded_row), system=True)
    (made,) = await enrol_clients(world.cloud, "acme", ["S-1"], new_id=new_id, at=START, user="tests")
    await set_link(world.store, coded(made.enrolmentCode), at=START)
    client = await world.client()
    client.is_due = False
    assert await replace_secret(world.store, client)
    assert await world.gets_tokens()
    assert made.enrolmentCode not in repr(await world.link())

    await set_link(world.store, coded(made.enrolmentCode), at=START)
    with pytest.raises(CloudRefused):
        await replace_secret(world.store, await world.client())
    assert not await keep_secret(world.store, await world.client()), "the link goes on, and says why"


async def test_a_secret_that_the_operator_sets_ends_what_was_begun(world: World) -> None:
    world.is_down = True
    running = await world.client()
    await keep_secret(world.store, running)
    world.is_down = False
    given = token_urlsafe(32)
    await rotate_client(world.cloud, "c-1", given, at=START, withdraws=True)
    await set_link(world.store, LinkChange(client_secret=given), at=START + timedelta(seconds=1))
    assert (await world.link()).next_secret is None
    running.is_due = False
    assert not await keep_secret(world.store, running)
    assert running.access.client_secret == given
    assert await world.gets_tokens()


async def test_other_settings_leave_it_as_it_is(world: World) -> None:
    world.is_down = True
    await keep_secret(world.store, await world.client())
    begun = (await world.link()).next_secret
    await set_link(world.store, LinkChange(interval_seconds=5), at=START + timedelta(seconds=1))
    assert (await world.link()).next_secret == begun is not None
