"""A worker that tests kill: `python -m tests.workflows.forecasts.working URL LEASE_SECONDS`.

Processes forecasts until none is left.
Prints `page` after each replayed page of sales; a work unit has several of them.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from promenade.store.driver.cache import LocalCache
from promenade.store.driver.session import open_database
from promenade.store.forecasts.runs import is_anything_waiting
from promenade.store.pricing.catalogue import Catalogues
from promenade.workflows.context import Context
from promenade.workflows.forecasts.replay import Replaying
from promenade.workflows.forecasts.runs import run_forecasts

STRETCH_SECONDS = 0.1


def tell_of_pages(patch: pytest.MonkeyPatch) -> None:
    page = Replaying.page

    async def telling(self: Replaying, *how: Any) -> Any:
        reached = await page(self, *how)
        print("page", flush=True)
        return reached

    patch.setattr(Replaying, "page", telling)


async def main(url: str, lease_seconds: int) -> None:
    database = await open_database(url)
    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=lambda: datetime.now(UTC),
        new_id=lambda: str(uuid.uuid4()),
        source="btp",
        instance_id="worker",
    )
    while await database.read(is_anything_waiting, system=True):
        await run_forecasts(context, stretch_seconds=STRETCH_SECONDS, lease_seconds=lease_seconds)
    await database.close()


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        tell_of_pages(patch)
        asyncio.run(main(sys.argv[1], int(sys.argv[2])))
