"""The bookshop as a service on both databases."""

from __future__ import annotations

import pytest

from odata_server.engines import EngineDatabase
from tests.odata_server.service.shelves import Client, ShopSource


@pytest.fixture
def shop(bookshop: EngineDatabase) -> Client:
    """Return a client of a bookshop that tests may change."""
    return Client(ShopSource(bookshop))


@pytest.fixture
def reader(library: EngineDatabase) -> Client:
    """Return a client of a read-only bookshop."""
    return Client(ShopSource(library))
