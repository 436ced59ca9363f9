"""Confirms one after the other while tests watch its fsyncs: `python -m tests.reliability.syncing URL COUNT`."""

from __future__ import annotations

import asyncio
import sys

from promenade.store.driver.session import open_database
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import open_shop

PRICED = outcome((line("1", 1000, 500, discount("off", ((1, 50),))),), (applied("off", 50),))


async def main(url: str, count: int) -> None:
    database = await open_database(url)
    shop = await open_shop(database)
    for number in range(count):
        await shop.confirm(f"T{number}", await shop.price(f"T{number}", PRICED), "off")
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
