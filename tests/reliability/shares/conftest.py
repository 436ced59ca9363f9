"""The shop of the workflow tests with registered stores."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from tests.kit.databases import Databases
from tests.reliability.shares.offline import Branch, open_branch
from tests.reliability.shares.stores import Stores
from tests.workflows.shop import open_shop


@pytest.fixture
async def stores(database: Database) -> Stores:
    """A shop with a promotion `off` and two stores that are online."""
    shop = await open_shop(database)
    await shop.promotion("off")
    opened = Stores(shop)
    for name in ("north", "south"):
        await opened.open(name)
    return opened


@pytest.fixture
async def branches(stores: Stores, databases: Databases) -> AsyncIterator[list[Branch]]:
    """Both stores with their own databases, linked to the cloud."""
    urls = [databases.create("sqlite") for _ in range(2)]
    opened = [await open_database(url) for url in urls]
    shops = [await open_shop(one) for one in opened]
    yield [await open_branch(name, shop, stores) for name, shop in zip(("north", "south"), shops, strict=True)]
    for one in opened:
        await one.close()
