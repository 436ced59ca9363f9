"""Reserves and redeems codes while tests watch its fsyncs: `python -m tests.reliability.fights.syncing URL COUNT`."""

from __future__ import annotations

import asyncio
import sys

from promenade.store.driver.session import open_database
from promenade.workflows.coupons.redeeming import redeem
from promenade.workflows.coupons.reserving import ReserveOrder, reserve
from tests.workflows.shop import open_shop

__all__ = ["main"]


async def main(url: str, count: int) -> None:
    """Print `begin` when the setup is done, then redeem."""
    database = await open_database(url)
    shop = await open_shop(database)
    await shop.coupon_type("once", reservation_minutes=1)
    for number in range(count):
        await shop.coupon(f"C{number}", "once")
    print("begin", flush=True)
    for number in range(count):
        held = await reserve(shop.context, shop.tenant, ReserveOrder(f"C{number}", f"T{number}"))
        assert held.reservation_id is not None
        assert (await redeem(shop.context, shop.tenant, held.reservation_id, f"T{number}")).reason is None
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
