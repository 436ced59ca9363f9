"""The office, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from tests.workflows.authoring.desk import Desk
from tests.workflows.budgets.office import Office
from tests.workflows.shop import Shop


@pytest.fixture
def office(shop: Shop) -> Office:
    """An office for the tenant of the shop of `tests.workflows.conftest`."""
    return Office(shop, Desk(shop.context.database, shop.tenant))
