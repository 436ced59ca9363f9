"""The bookshop as a service on both databases."""

from __future__ import annotations

import pytest

from odata_server.engines import EngineDatabase
from tests.odata_server.service.shelves import Client, ShopSource


@pytest.fixture
def shop(bookshop: EngineDatabase) -> Client:
    """A client of a bookshop that may be changed."""
    return Client(ShopSource(bookshop))


@pytest.fixture
def reader(library: EngineDatabase) -> Client:
    """A client of a bookshop that is only read."""
    return Client(ShopSource(library))
