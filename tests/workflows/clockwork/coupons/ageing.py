"""Helpers to create coupons in bulk and to check the clockwork's changes to them."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import insert

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.workflows.clockwork.coupons import expire, refill, release
from promenade.workflows.clockwork.jobs import Run
from tests.workflows.shop import NOON, Shop, identity, open_shop

__all__ = ["beside", "logged", "news", "put_codes", "run_out", "statuses", "sweep", "sweep_all"]


async def put_codes(shop: Shop, number: int, kind: str = "gift", **columns: Any) -> None:
    """Create this many codes of a type in one statement."""
    shared = {"status": "ACTIVE", "created_at": NOON, "modified_at": NOON, "coupon_type_id": identity(kind), **columns}
    rows = [{**shared, "id": str(uuid.uuid4()), "code": uuid.uuid4().hex} for _ in range(number)]
    await shop.context.database.write(
        lambda session: session.execute_many(insert(table("CouponCodes")), rows), tenant=shop.tenant
    )


async def run_out(run: Run, shop: Shop) -> int:
    """Run a job until no work is left; return the total done."""
    done, more = 0, True
    while more:
        ran = await run(shop.context, None)
        done, more = done + ran.done, ran.more
    return done


async def sweep(shop: Shop) -> int:
    return await run_out(expire, shop)


async def sweep_all(shop: Shop) -> int:
    return await sweep(shop) + await run_out(release, shop) + await run_out(refill, shop)


async def statuses(shop: Shop) -> dict[str, int]:
    return dict(Counter([row.status for row in await shop.rows("CouponCodes")]))


async def logged(shop: Shop, action: str) -> list[Any]:
    return list(await shop.rows("RedemptionLogs", action=action))


async def news(shop: Shop) -> list[dict[str, Any]]:
    """Return the data of the events about expired coupons."""
    rows = await shop.rows("outbox_events", kind="COUPON_EXPIRED")
    return [json.loads(row.payload)["data"] for row in rows]


@asynccontextmanager
async def beside(shop: Shop, database_url: str) -> AsyncIterator[list[Shop]]:
    """Return the shop for four workers: on PostgreSQL two of them use a second database object, as another process
    would.
    """
    on_their_own = 2 if shop.context.database.dialect == "postgresql" else 0
    opened = [await open_database(database_url) for _ in range(on_their_own)]
    try:
        yield [*[shop] * (4 - on_their_own), *[await open_shop(one, is_new=False) for one in opened]]
    finally:
        for one in opened:
            await one.close()
