"""The clockwork counts every sale once, whatever fails in between, and reports it in AggregatorRuns."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import delete, insert

from promenade.store.driver.schema import table
from promenade.workflows.clockwork import reports
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.reports.aggregating import aggregate, aggregate_all
from promenade.workflows.reports.rebuilding import begin_rebuild
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.reports.witness import Witness
from tests.workflows.shop import Shop, open_shop

PRICED = outcome((line("1", 1000, 500, discount("off", ((1, 100),))),), (applied("off", 100),))


async def sell(shop: Shop, *names: str) -> None:
    for name in names:
        await shop.confirm(name, await shop.price(name, PRICED), "off")


async def count(shop: Shop) -> JobResult:
    """Run the job until no work is left; return the total done, and the last result."""
    done, ran = 0, JobResult(0, more=True)
    while ran.more:
        ran = await reports.sales(shop.context, ran.cursor)
        done += ran.done
    return JobResult(done, trouble=ran.trouble)


async def test_each_sale_counts_once_however_often_the_clock_looks(shop: Shop, witness: Witness) -> None:
    await sell(shop, *(f"T{number}" for number in range(20)))
    assert (await count(shop)).done == 20
    await sell(shop, "late")
    assert (await count(shop)).done == 1
    assert (await count(shop)).done == 0
    assert await witness.counted(shop) == {**{f"T{number}": 1 for number in range(20)}, "late": 1}
    told = [(row.name, row.rows, row.status) for row in await shop.rows("AggregatorRuns")]
    assert sorted(told) == [("memory", 1, "COMPLETED")] * 2 + [
        ("witness", 1, "COMPLETED"),
        ("witness", 20, "COMPLETED"),
    ]


async def test_derived_figures_are_computed_after_sales_and_on_a_new_day(shop: Shop, witness: Witness) -> None:
    await count(shop)
    assert len(witness.refreshed) == 1
    await count(shop)
    await sell(shop, "T1")
    await count(shop)
    assert len(witness.refreshed) == 2
    shop.later(hours=11)
    await count(shop)
    assert len(witness.refreshed) == 2
    shop.later(hours=1)  # midnight
    await count(shop)
    await count(shop)
    assert len(witness.refreshed) == 3


async def test_a_sale_that_cannot_be_counted_is_left_and_counts_once_it_can(shop: Shop, witness: Witness) -> None:
    await sell(shop, *(f"T{number}" for number in range(9)))
    witness.refuses = {"T4"}
    ran = await count(shop)
    assert ran.trouble is not None
    assert "witness of tenant-a: ArithmeticError" in ran.trouble
    assert set(await witness.counted(shop)) == {f"T{number}" for number in range(9) if number != 4}
    statuses = {row.name: row.status for row in await shop.rows("AggregatorRuns")}
    assert statuses == {"witness": "FAILED", "memory": "COMPLETED"}
    witness.refuses = set()
    assert (await count(shop)).trouble is None
    assert await witness.counted(shop) == {f"T{number}": 1 for number in range(9)}


async def test_a_failed_computation_is_reported_and_does_not_stop_counting(shop: Shop, witness: Witness) -> None:
    await sell(shop, "T1")
    witness.refresh_fails = True
    assert (await count(shop)).trouble == "memory of tenant-a: ArithmeticError"
    assert await witness.counted(shop) == {"T1": 1}
    assert [row.status for row in await shop.rows("AggregatorRuns", name="memory")] == ["FAILED"]


async def test_portions_are_as_large_as_can_be_written_quickly(shop: Shop, witness: Witness) -> None:
    await sell(shop, *(f"T{number}" for number in range(reports.PORTION_FIRST + 4)))
    await count(shop)
    assert witness.portions[0] == reports.PORTION_FIRST
    assert sum(witness.portions) == reports.PORTION_FIRST + 4


async def test_concurrent_workers_count_each_sale_once(shop: Shop, witness: Witness) -> None:
    await sell(shop, *(f"T{number}" for number in range(30)))
    counted = await asyncio.gather(*(aggregate(shop.context, shop.tenant, limit=20) for _ in range(4)))
    assert sum(counted) + await aggregate_all(shop.context, shop.tenant) == 30
    assert await witness.counted(shop) == {f"T{number}": 1 for number in range(30)}


async def test_a_recount_gives_the_same_figures_and_new_sales_count_once(shop: Shop, witness: Witness) -> None:
    await sell(shop, *(f"T{number}" for number in range(20)))
    await count(shop)
    await begin_rebuild(shop.context.database, shop.tenant)
    await sell(shop, "meanwhile")
    await asyncio.gather(count(shop), count(shop), sell(shop, "later"))
    await count(shop)
    names = {*(f"T{number}" for number in range(20)), "meanwhile", "later"}
    assert await witness.counted(shop) == dict.fromkeys(names, 1)


async def test_a_recount_does_not_need_deleted_jobs(shop: Shop, witness: Witness) -> None:
    await sell(shop, "T1", "T2")
    await count(shop)
    forget = delete(table("side_effect_jobs"))
    await shop.context.database.write(lambda session: session.rowcount(forget), tenant=shop.tenant)
    await begin_rebuild(shop.context.database, shop.tenant)
    await count(shop)
    assert await witness.counted(shop) == {"T1": 1, "T2": 1}


async def test_each_tenant_is_counted_by_itself_and_in_its_turn(
    shop: Shop, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await open_shop(shop.context.database, "tenant-b")
    row = {"tenant_id": other.tenant, "name": "B"}
    await shop.context.database.write(lambda session: session.rowcount(insert(table("Tenants")), row), system=True)
    await sell(shop, "T1", "T2", "T3")
    await sell(other, "T1")
    monkeypatch.setattr(reports, "PORTION_FIRST", 1)
    monkeypatch.setattr(reports, "_adapt_size", lambda *_: None)
    ran = await reports.sales(shop.context, "tenant-a")  # the one who was last before
    assert (ran.done, ran.more) == (4, False)
    assert await witness.counted(shop) == {"T1": 1, "T2": 1, "T3": 1}
    assert await witness.counted(other) == {"T1": 1}
    assert {row.rows for row in await other.rows("AggregatorRuns", name="witness")} == {1}


async def test_runs_are_deleted_after_a_week(shop: Shop, witness: Witness) -> None:
    await sell(shop, "T1")
    await count(shop)
    shop.later(days=6)
    await sell(shop, "T2")
    await count(shop)
    shop.later(days=1, seconds=1)
    assert (await reports.forget_runs(shop.context, None)).done == 2
    assert {row.name for row in await shop.rows("AggregatorRuns")} == {"witness", "memory"}
