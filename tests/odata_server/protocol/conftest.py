"""The bookshop over HTTP, as an external client sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from odata_server.engines import EngineDatabase
from odata_server.hooks import Hooks
from odata_server.service import Service
from tests.odata_server.bookshop import EDM, source

ORIGIN = "https://shop.example"
ROOT = "/odata/shop"


def _client(database: EngineDatabase) -> httpx2.AsyncClient:
    service = Service(EDM, source(database), Hooks(), root=ROOT)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=service), base_url=f"{ORIGIN}{ROOT}")


@pytest.fixture
async def shop(bookshop: EngineDatabase) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a client of a bookshop that tests may change."""
    async with _client(bookshop) as client:
        yield client


@pytest.fixture
async def reader(library: EngineDatabase) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a client of a read-only bookshop."""
    async with _client(library) as client:
        yield client
