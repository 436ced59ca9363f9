"""A till in a small shop, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.coupons.tills.till import Till
from tests.workflows.shop import Shop, open_shop


@pytest.fixture
async def shop(database: Database) -> Shop:
    """Promotions off and saver, a coupon type save with its code SAVE-1."""
    opened = await open_shop(database)
    for name in ("off", "saver"):
        await opened.promotion(name)
    await opened.coupon_type("save")
    return opened


@pytest.fixture
def till(shop: Shop) -> Till:
    return Till(shop)
