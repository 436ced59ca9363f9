"""Today's cloud for the recorded store, and today's store for the recorded cloud; their clocks show the recording's."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from promenade.store.driver.session import open_database
from promenade.workflows.uplink import Uplink
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.web.conftest import Shop
from tests.web.replica.link.chain import SCOPES, furnish
from tests.web.sync.peers.cloud import OlderCloud
from tests.web.sync.peers.market import SHELF
from tests.web.sync.peers.recording import Recording, read_recording
from tests.web.sync.peers.store import Store
from tests.workflows.replica.link.pages import link
from tests.workflows.shop import identity, open_shop


@pytest.fixture(scope="package")
def recording() -> Recording:
    """Return what the older peer said."""
    return read_recording()


@pytest.fixture
def cloud(databases: Databases, recording: Recording) -> Iterator[Shop]:
    """Serve today's cloud with the shelf of the recording."""
    url = databases.create("sqlite")
    clients = {name: (name, secrets.token_urlsafe(16)) for name in SCOPES}
    furnish(url, SHELF, clients)
    with InProcess(url, clock=lambda: recording.at) as service, service.client(timeout=60) as http:
        yield Shop(service, url, clients, http)
    databases.drop(url)


@pytest.fixture
async def store(databases: Databases, recording: Recording) -> AsyncIterator[Store]:
    """Open today's store, empty, with a link to the older cloud."""
    url = databases.create("sqlite")
    database = await open_database(url)
    shop = await open_shop(database, is_new=False)
    shop.now[0] = recording.at
    await link(shop)
    far = OlderCloud(recording)
    shop.context = replace(shop.context, source="local-store", uplink=Uplink(client=far, run_id=identity("this run")))
    yield Store(shop, far)
    await database.close()
    databases.drop(url)
