"""Shows in the metrics how busy a process keeps its database, by looking every few seconds: requests pay nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from promenade import metrics
from promenade.store.driver.unit import Database

LOOK_SECONDS = 5.0


@asynccontextmanager
async def watched(database: Database, look_seconds: float = LOOK_SECONDS) -> AsyncIterator[None]:
    """Look at the database's load until the block ends."""

    async def look() -> None:
        while True:
            show_load(database)
            await asyncio.sleep(look_seconds)

    task = asyncio.create_task(look(), name="database load")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def show_load(database: Database) -> None:
    """Set the metrics of this process's load."""
    load = database.load()
    metrics.database_units.set(load.units)
    if load.connections_in_use is not None and load.connections_max is not None:
        metrics.database_connections.labels("in_use").set(load.connections_in_use)
        metrics.database_connections.labels("limit").set(load.connections_max)
