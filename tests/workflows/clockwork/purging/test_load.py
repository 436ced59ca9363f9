"""A purge during pricing: tills continue, and no unit of it blocks them for long."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import insert

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.clockwork import purges
from tests.workflows.clockwork.purging.attic import PRICED, Attic
from tests.workflows.shop import identity

UNIT_SECONDS_MAX = 0.015  # of processor time; delays by the disk and other processes do not count


async def _stored_long_ago(attic: Attic, number: int) -> None:
    """Store month-old iterations: of each four transactions one was confirmed, one by another iteration."""
    record = bytes(1500)
    for start in range(0, number, 1000):
        names = [str(uuid.uuid4()) for _ in range(min(1000, number - start))]

        async def work(session: Session, names: Sequence[str] = names) -> None:
            base = [{"origin": "cloud", "transaction_id": name} for name in names]
            at = attic.shop.now[0]
            await session.execute_many(
                insert(table("iteration_counters")), [{**one, "last_counter": 1} for one in base]
            )
            made = {"pos_group_id": identity("shop"), "evaluated_at": at, "record": record, "created_at": at}
            await session.execute_many(
                insert(table("iterations")), [{**one, "transaction_counter": 1, **made} for one in base]
            )
            sale = {"fingerprint": b"", "response": b"", "confirmed_at": at}
            confirmed = [
                {**one, "transaction_counter": 1 + place % 4, **sale} for place, one in enumerate(base) if place % 4 < 2
            ]
            await session.execute_many(insert(table("confirmations")), confirmed)

        await attic.shop.context.database.write(work, tenant=attic.shop.tenant)


@pytest.mark.alone
@pytest.mark.parametrize("number", [3000, pytest.param(100_000, marks=pytest.mark.soak)])
async def test_tills_keep_pricing_while_much_is_purged(
    attic: Attic, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    await _stored_long_ago(attic, number)
    attic.shop.later(days=31)
    units: list[float] = []
    written = purges._written

    async def measured(context: Any, work: Any) -> Any:
        async def timed(session: Session) -> Any:
            began = time.thread_time()
            try:
                return await work(session)
            finally:
                units.append(time.thread_time() - began)

        return await written(context, timed)

    monkeypatch.setattr(purges, "_written", measured)
    waited: list[float] = []
    over = asyncio.Event()

    async def till() -> None:
        while not over.is_set():
            began = time.perf_counter()
            assert await attic.shop.price(str(uuid.uuid4()), PRICED) == 1
            waited.append(time.perf_counter() - began)
            await asyncio.sleep(0)

    pricing = asyncio.ensure_future(till())
    try:
        await attic.purge_wholly()
    finally:
        over.set()
        await pricing
    waited.sort()
    units.sort()
    print(f"{len(waited)} evaluations, ms: p50 {waited[len(waited) // 2] * 1e3:.1f}, max {waited[-1] * 1e3:.1f}")
    print(f"{len(units)} units, ms of the processor: p50 {units[len(units) // 2] * 1e3:.1f}, max {units[-1] * 1e3:.1f}")
    kept = [
        one for one in await attic.every("iterations") if one.created_at < attic.shop.now[0] - purges.CONDEMNED_FOR * 2
    ]
    assert len(kept) == number // 4
    assert len(await attic.counters()) == number // 2 + len(waited)
    if attic.context.database.dialect == "sqlite":  # where a unit blocks all other writers
        assert units[int(len(units) * 0.9)] < UNIT_SECONDS_MAX
    assert len(waited) > len(units) / 2  # nobody waited for more than a unit or two
