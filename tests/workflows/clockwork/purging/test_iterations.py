"""Only old evaluations are deleted: exact to the microsecond, of this tenant only, confirmed ones much later."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from promenade.errors import NotFound
from promenade.store.clockwork.purging import Stretch, purge_iterations
from promenade.store.pricing.offers import offers_of
from promenade.workflows.clockwork import purges
from promenade.workflows.context import Retention
from promenade.workflows.pricing.replay import replay
from tests.workflows.clockwork.purging.attic import PRICED, Attic
from tests.workflows.outcomes import line, outcome
from tests.workflows.shop import open_shop


async def test_unconfirmed_evaluations_are_deleted_after_thirty_days(attic: Attic) -> None:
    await attic.shop.price("T1", PRICED)
    attic.shop.later(seconds=1)
    await attic.shop.price("T2", PRICED)
    attic.shop.later(days=30, seconds=-1)
    assert await attic.purge() == 0  # T1 is thirty days old, and not older
    attic.shop.later(seconds=0.5)
    assert await attic.purge() == 1
    with pytest.raises(NotFound) as caught:
        await attic.shop.confirm("T1", 1, "off")
    assert caught.value.code == "ITERATION_NOT_FOUND"
    await attic.shop.confirm("T2", 1, "off")


async def test_a_confirmed_sale_is_kept_for_long(attic: Attic) -> None:
    await attic.sell("T1", priced=3)
    attic.shop.later(days=31)
    await attic.purge_wholly()
    assert await attic.kept() == {("T1", 1), ("T1", 3)}  # the third is stored as the difference from the first
    assert await attic.can_be_read("T1", 3)
    attic.shop.later(days=365)
    await attic.purge_wholly()
    assert await attic.kept() == {("T1", 1), ("T1", 3)}
    attic.shop.later(days=5)
    await attic.purge_wholly()
    assert await attic.kept() == set()
    assert await attic.counters() == {"T1": 3}
    assert len(await attic.every("confirmations")) == 1


async def test_a_counter_is_deleted_with_the_last_evaluation_of_its_transaction(attic: Attic) -> None:
    """INVARIANT (T2): no transaction with remaining rows gets a number twice."""
    await attic.sell("sold")
    await attic.shop.price("left", PRICED)
    await attic.shop.price("resumed", PRICED)
    attic.shop.later(days=29)
    await attic.shop.price("resumed", PRICED)
    attic.shop.later(days=2)
    await attic.purge_wholly()
    assert await attic.counters() == {"sold": 1, "resumed": 2}
    assert await attic.kept() == {("sold", 1), ("resumed", 2)}
    assert await attic.shop.price("resumed", PRICED) == 3
    assert await attic.shop.price("sold", PRICED) == 2
    assert await attic.shop.price("left", PRICED) == 1  # nothing of it is left


async def test_a_purge_does_not_touch_another_tenants_sale_with_the_same_id(attic: Attic) -> None:
    other = await open_shop(attic.shop.context.database, "tenant-b")
    other.context = replace(other.context, clock=attic.shop.context.clock)
    other.now = attic.shop.now
    await other.promotion("off")
    await attic.shop.price("T1", PRICED)
    attic.shop.later(days=20)
    await attic.sell("T1", shop=other)
    attic.shop.later(days=11)
    await attic.purge_wholly()
    rows = {(row.tenant_id, row.transaction_counter) for row in await attic.every("iterations")}
    assert rows == {("tenant-b", 1)}
    counters = {(row.tenant_id, row.last_counter) for row in await attic.every("iteration_counters")}
    assert counters == {("tenant-b", 1)}


async def test_the_operator_configures_the_retention(attic: Attic) -> None:
    attic.retention = Retention(iterations=2, sales=1)  # sales are always kept for at least as long as evaluations
    await attic.shop.price("T1", PRICED)
    await attic.sell("T2")
    attic.shop.later(days=1.9)
    await attic.purge_wholly()
    assert await attic.kept() == {("T1", 1), ("T2", 1)}
    attic.shop.later(days=0.2)
    await attic.purge_wholly()
    assert await attic.kept() == set()


@pytest.mark.parametrize("priced", [1, 2])
async def test_a_confirm_that_has_read_its_iteration_survives_a_purge(
    attic: Attic, priced: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads its iteration, the purge runs, then it writes: the sale can be read and its counter continues.

    The second iteration is stored as the difference from the first, which comes back with it.
    """
    for _ in range(priced):
        counter = await attic.shop.price("T1", PRICED)
    attic.shop.later(days=31)
    database = attic.shop.context.database
    offers_of(database).clear()  # another process has priced it
    read = database.read

    async def then_purge(*arguments: Any, **named: Any) -> Any:
        found: Any = await read(*arguments, **named)
        monkeypatch.setattr(database, "read", read)
        await attic.purge()
        assert await attic.kept() == {("T1", -one) for one in range(1, priced + 1)}
        return found

    monkeypatch.setattr(database, "read", then_purge)
    answer = await attic.shop.confirm("T1", counter, "off")
    assert answer.confirmed
    attic.shop.later(hours=1)
    await attic.purge()
    assert await attic.kept() == {("T1", one) for one in range(1, priced + 1)}
    assert await attic.can_be_read("T1", counter)
    assert await attic.counters() == {"T1": priced}
    assert await attic.shop.price("T1", PRICED) == priced + 1


async def test_confirms_and_evaluations_race_with_the_purge(attic: Attic) -> None:
    """Each confirm finds its iteration or fails because it is gone; confirmed ones are kept; no counter is reused."""
    names = [f"T{number}" for number in range(40)]
    for name in names:
        await attic.shop.price(name, PRICED)
    attic.shop.later(days=31)
    confirmed: set[str] = set()
    given: dict[str, int] = {}

    async def till(name: str, number: int) -> None:
        if number % 2:
            given[name] = await attic.shop.price(name, PRICED)
        with suppress(NotFound):
            await attic.shop.confirm(name, 1, "off")
            confirmed.add(name)

    await asyncio.gather(*(till(name, number) for number, name in enumerate(names)), attic.purge(), attic.purge())
    attic.shop.later(hours=1)
    await attic.purge()
    kept = await attic.kept()
    assert {name for name, counter in kept if counter == 1} >= confirmed
    assert all(counter > 0 for _, counter in kept)
    for name, counter in given.items():
        assert counter == 2
        assert await attic.shop.price(name, PRICED) == 3


async def test_a_killed_purge_is_continued(attic: Attic, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        await attic.shop.price(f"T{number}", PRICED)
    await attic.sell("sold", priced=2)
    attic.shop.later(days=31)
    monkeypatch.setattr(purges, "UNIT_ROWS", 3)
    units = 0

    async def dies(context: Any, work: Any) -> Any:
        nonlocal units
        units += 1
        if units % 4 == 0:
            raise RuntimeError("killed")
        return await written(context, work)

    written = purges._written
    monkeypatch.setattr(purges, "_written", dies)
    for _ in range(200):
        try:
            await attic.purge()
        except RuntimeError:
            attic.shop.later(minutes=6)  # the cursor of a run that failed is lost
            continue
        if units > 40 and len(await attic.kept()) == 2:
            break
    assert await attic.kept() == {("sold", 1), ("sold", 2)}
    assert await attic.counters() == {"sold": 2}


async def test_sales_that_are_kept_can_be_replayed_and_returned(attic: Attic) -> None:
    await attic.sell("T1")
    attic.shop.later(days=31)
    await attic.purge_wholly()
    row = [one for one in await attic.every("iterations") if one.transaction_id == "T1"]
    assert len(row) == 1
    with pytest.raises(KeyError):  # it is found; this shop has no article tree
        await replay(attic.context, attic.shop.tenant, "T1", 1)
    attic.shop.later(days=400)
    await attic.purge_wholly()
    with pytest.raises(NotFound):
        await replay(attic.context, attic.shop.tenant, "T1", 1)
    before = (await attic.shop.row("Budgets", "marketing")).consumed_amount
    counter = await attic.shop.price("R1", outcome((line("1", -2000, -800),), ()), sales={"1": ("T1", "1")})
    await attic.shop.confirm("R1", counter)
    assert (await attic.shop.row("Budgets", "marketing")).consumed_amount < before


async def test_a_row_with_a_future_date_does_not_stop_the_purge(attic: Attic) -> None:
    attic.shop.later(days=500)
    await attic.shop.price("ahead", PRICED)
    attic.shop.later(days=-500)
    await attic.shop.price("T1", PRICED)
    attic.shop.later(days=31)
    await attic.purge_wholly()
    assert await attic.kept() == {("ahead", 1)}


async def test_the_purge_restarts_when_row_numbers_restart(attic: Attic) -> None:
    """SQLite counts from 1 again once the table was empty."""
    for number in range(5):
        await attic.shop.price(f"T{number}", PRICED)
    attic.shop.later(days=31)
    await attic.purge_wholly()
    assert await attic.kept() == set()
    for number in range(8):
        await attic.shop.price(f"U{number}", PRICED)
    attic.shop.later(days=31)
    await attic.purge_wholly()
    assert await attic.kept() == set()


async def test_a_run_looks_at_each_row_once(attic: Attic, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cost depends on the rows that have become old, not on the stored ones."""
    for number in range(20):
        await attic.sell(f"T{number}")
    attic.shop.later(days=31)
    looked = 0

    async def counting(*arguments: Any, **named: Any) -> Stretch:
        nonlocal looked
        stretch = await purge_iterations(*arguments, **named)
        looked += stretch.looked
        return stretch

    monkeypatch.setattr(purges, "purge_iterations", counting)
    monkeypatch.setattr(purges, "UNIT_ROWS", 6)
    await attic.purge()
    assert looked == 20
    await attic.purge()
    assert looked == 20
