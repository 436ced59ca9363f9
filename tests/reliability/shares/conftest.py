"""The shop of the workflow tests with stores that are known to it."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.reliability.shares.stores import Stores
from tests.workflows.shop import open_shop


@pytest.fixture
async def stores(database: Database) -> Stores:
    """A shop with a promotion `off`, and two stores that are online."""
    shop = await open_shop(database)
    await shop.promotion("off")
    opened = Stores(shop)
    for name in ("north", "south"):
        await opened.open(name)
    return opened
