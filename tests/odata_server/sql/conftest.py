"""A bookshop whose SQLite has the functions that a host can add to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import create_engine, event
from sqlalchemy.pool import StaticPool

from odata_server.engines import EngineDatabase
from odata_server.sql.terms.sqlite_functions import install
from tests.odata_server.bookshop import fill


@pytest.fixture
async def equipped(library: EngineDatabase) -> AsyncIterator[EngineDatabase]:
    """Return `library`; on SQLite with Unicode upper and lower case, and with regular expressions."""
    if library.dialect == "postgresql":
        yield library
        return
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _record: Any) -> None:
        install(connection)

    await fill(engine)
    yield EngineDatabase(engine)
    engine.dispose()
