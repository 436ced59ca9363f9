"""Batches of coupon codes: their progress, their end, and their codes."""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid, NotFound, Unavailable
from promenade.store.driver.unit import Database, Session
from promenade.worker import Worker
from promenade.workflows.coupons import generation as coupon_generation
from promenade.workflows.coupons.codes import DEFAULT_SHAPE
from promenade.workflows.coupons.generation import IMMEDIATE_MAX, PORTIONS, generate_codes, make_portion, process_batch
from tests.workflows.authoring.desk import TENANT
from tests.workflows.counting import count_statements
from tests.workflows.promotions.lifecycle.acting import Office
from tests.workflows.shop import Shop, open_shop

LARGE = IMMEDIATE_MAX + 1  # more than one portion


@pytest.fixture
async def shop(database: Database) -> Shop:
    """The context of a worker."""
    return await open_shop(database)


@pytest.fixture
def portion(database: Database) -> int:
    """The number of codes per portion."""
    return PORTIONS[database.dialect]


async def kind_of(office: Office, **values: Any) -> str:
    return await office.given("CouponTypes", status="ACTIVE", **values)


async def codes(office: Office, **where: Any) -> list[dict[str, Any]]:
    return await office.rows("CouponCodes", **where)


async def test_a_batch_made_at_once_leaves_codes_in_the_pool(office: Office) -> None:
    kind = await kind_of(office)
    batch = await office.generate(kind, 7)
    row = await office.row("CouponCodeBatches", batch)
    assert (row["status"], row["quantity"], row["generatedCount"]) == ("COMPLETED", 7, 7)
    assert row["startedAt"] == row["completedAt"] == office.now
    made = await codes(office)
    assert len({one["code"] for one in made}) == 7
    for one in made:
        assert (one["couponType_ID"], one["status"], one["issuedAt"], one["customerId"]) == (kind, "ACTIVE", None, None)
        assert (one["source"], one["issuanceChannel"], one["createdBy"]) == ("MANUAL", "BATCH", "ann")
        assert one["batch_ID"] == batch
        assert len(one["code"]) == 12
        assert set(one["code"]) <= set(DEFAULT_SHAPE.alphabet)
    assert sorted(await office.trail(kind)) == ["CREATE", "GENERATE_CODES"]
    assert await office.trail(batch) == ["CREATE"]
    (told,) = await office.news()
    assert told["type"] == "COUPON_BATCH_COMPLETED"
    expected = {"batchId": batch, "couponTypeId": kind, "quantity": 7, "generatedCount": 7}
    assert told["data"] == expected


async def test_a_large_batch_is_made_in_portions_that_can_be_seen(office: Office, shop: Shop, portion: int) -> None:
    batch = await office.generate(await kind_of(office), LARGE)
    assert (await office.row("CouponCodeBatches", batch))["status"] == "QUEUED"
    seen = []
    while await process_batch(shop.context, secrets.choice):
        row = await office.row("CouponCodeBatches", batch)
        seen.append((row["status"], row["generatedCount"], len(await codes(office)), row["completedAt"] is None))
    portions = [("RUNNING", made, made, True) for made in range(portion, 1001, portion)]
    assert seen == [*portions, ("COMPLETED", 1001, 1001, False)]
    assert [one["type"] for one in await office.news()] == ["COUPON_BATCH_COMPLETED"]


async def test_a_worker_generates_codes_and_yields_to_sales(office: Office, shop: Shop, portion: int) -> None:
    await office.generate(await kind_of(office), LARGE)
    assert await Worker(shop.context).run_once() == 1
    assert len(await codes(office)) == portion
    await shop.work()
    assert len(await codes(office)) == 1001


async def test_batches_take_turns(office: Office, shop: Shop, portion: int) -> None:
    """A small order does not wait for a large one that came before it."""
    kind = await kind_of(office)
    first, second = await office.generate(kind, 100_000), await office.generate(kind, 1001)
    counts = []
    for _ in range(4):
        shop.later(seconds=1)
        await process_batch(shop.context, secrets.choice)
        rows = [await office.row("CouponCodeBatches", one) for one in (first, second)]
        counts.append(sorted(row["generatedCount"] for row in rows))
    assert counts == [[0, portion], [portion, portion], [portion, 2 * portion], [2 * portion, 2 * portion]]


async def test_two_workers_never_process_the_same_batch(office: Office, shop: Shop, portion: int) -> None:
    """While one holds a portion the other finds no work, or waits; together they make all ordered codes."""
    batch = await office.generate(await kind_of(office), LARGE)

    async def hold_and_look(session: Session) -> bool:
        async def other(second: Session) -> bool:
            return await make_portion(
                second, batch, portion, at=office.now, new_id=lambda: str(uuid.uuid4()), draw=secrets.choice
            )

        made = await make_portion(
            session, batch, portion, at=office.now, new_id=lambda: str(uuid.uuid4()), draw=secrets.choice
        )
        assert made
        if session.dialect == "postgresql":
            assert not await office.database.write(other, tenant=TENANT)
        return made

    await office.database.write(hold_and_look, tenant=TENANT)

    async def work() -> None:
        while (await office.row("CouponCodeBatches", batch))["status"] == "RUNNING":
            await process_batch(shop.context, secrets.choice)

    await asyncio.gather(work(), work(), work())
    row = await office.row("CouponCodeBatches", batch)
    assert (row["status"], row["generatedCount"], len(await codes(office))) == ("COMPLETED", LARGE, LARGE)


async def test_two_concurrent_orders_are_two_batches(office: Office) -> None:
    kind = await kind_of(office)
    batches = await asyncio.gather(*(office.generate(kind, 50) for _ in range(8)))
    assert len(set(batches)) == 8
    assert {row["status"] for row in await office.rows("CouponCodeBatches")} == {"COMPLETED"}
    assert len(await codes(office)) == 400


async def small_type(office: Office, count: int) -> str:
    """Create a type with few possible codes, so that they run out; it can no longer be configured."""
    kind = await kind_of(office)
    alphabet = "0123456789"[:count]
    await office.put("CouponCodeConfigurations", coupon_type_id=kind, length=1, alphabet=alphabet, prefix="P")
    return kind


@pytest.mark.parametrize(("space", "before", "number"), [(2, 0, 3), (4, 3, 2)])
async def test_a_configuration_that_gives_too_few_codes_fails_with_a_reason(
    office: Office, space: int, before: int, number: int
) -> None:
    kind = await small_type(office, space)
    if before:
        await office.generate(kind, before)
    batch = await office.generate(kind, number)
    row = await office.row("CouponCodeBatches", batch)
    assert (row["status"], row["generatedCount"], row["completedAt"]) == ("FAILED", 0, office.now)
    assert len(await codes(office)) == before
    (told,) = [one for one in await office.news() if one["type"] == "COUPON_BATCH_FAILED"]
    assert (told["data"]["batchId"], told["data"]["generatedCount"]) == (batch, 0)
    assert "too few codes" in told["data"]["message"]
    (written,) = await office.rows("AuditLogs", entityId=batch, action="FAIL")
    assert (written["note"], written["actor"]) == (told["data"]["message"], "system")


async def test_codes_that_are_taken_are_drawn_again(office: Office) -> None:
    kind = await small_type(office, 4)
    await office.generate(kind, 3)
    await office.generate(kind, 1)
    assert {one["code"] for one in await codes(office)} == {"P0", "P1", "P2", "P3"}


async def test_the_shared_code_of_a_type_is_never_generated(office: Office) -> None:
    await office.given("CouponTypes", codeType="GENERIC", genericCode="P0")
    kind = await small_type(office, 2)
    await office.generate(kind, 1)
    assert [one["code"] for one in await codes(office)] == ["P1"]


async def test_a_failure_in_a_worker_ends_the_batch_and_keeps_complete_portions(
    office: Office, shop: Shop, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    batch = await office.generate(await kind_of(office), LARGE)
    await process_batch(shop.context, secrets.choice)

    def broken(_: Sequence[str]) -> str:
        raise ValueError("no randomness")

    assert await process_batch(shop.context, broken)
    row = await office.row("CouponCodeBatches", batch)
    assert (row["status"], row["generatedCount"], len(await codes(office))) == ("FAILED", portion, portion)
    assert not await process_batch(shop.context, secrets.choice)

    waiting = await office.generate(row["couponType_ID"], LARGE)

    async def away(*_: Any, **__: Any) -> Any:
        raise Unavailable("DATABASE_AWAY", "It is away.")

    with monkeypatch.context() as patched:
        patched.setattr(coupon_generation, "make_codes", away)
        with pytest.raises(Unavailable):
            await process_batch(shop.context, secrets.choice)
    assert (await office.row("CouponCodeBatches", waiting))["status"] == "QUEUED"


@pytest.mark.parametrize("number", [0, -1, 1_000_001])
async def test_a_number_out_of_range_is_refused(office: Office, number: int) -> None:
    with pytest.raises(Invalid) as caught:
        await office.generate(await kind_of(office), number)
    assert (caught.value.code, caught.value.target) == ("OUT_OF_RANGE", "numberOfCodes")


async def test_the_largest_order_is_taken(office: Office, shop: Shop) -> None:
    batch = await office.generate(await kind_of(office), 1_000_000)
    assert (await office.row("CouponCodeBatches", batch))["status"] == "QUEUED"
    with pytest.raises(Invalid) as caught:
        await office.create("CouponCodeBatches", couponType_ID=await kind_of(office), quantity=1_000_001)
    assert (caught.value.code, caught.value.target) == ("OUT_OF_RANGE", "quantity")


async def test_codes_are_for_individual_types_of_the_own_tenant(office: Office) -> None:
    shared = await kind_of(office, codeType="GENERIC", genericCode="ALL")
    with pytest.raises(Invalid) as caught:
        await office.generate(shared, 1)
    assert caught.value.code == "INDIVIDUAL_ONLY"
    foreign = await kind_of(Office(office.database, "tenant-b"))
    with pytest.raises(NotFound):
        await office.generate(foreign, 1)
    assert await office.rows("CouponCodeBatches") == []


async def test_a_type_that_became_shared_meanwhile_fails_its_batch(office: Office, shop: Shop) -> None:
    kind = await kind_of(office)
    batch = await office.generate(kind, LARGE)
    await office.update("CouponTypes", kind, codeType="GENERIC")
    await shop.work()
    assert (await office.row("CouponCodeBatches", batch))["status"] == "FAILED"


async def test_a_batch_that_runs_can_be_neither_changed_nor_deleted(office: Office, shop: Shop) -> None:
    batch = await office.generate(await kind_of(office), LARGE)
    await process_batch(shop.context, secrets.choice)
    with pytest.raises(Conflict) as caught:
        await office.update("CouponCodeBatches", batch, quantity=5)
    assert caught.value.code == "BATCH_STARTED"
    with pytest.raises(Conflict) as caught:
        await office.remove("CouponCodeBatches", batch)
    assert caught.value.code == "BATCH_RUNNING"


async def test_one_change_set_makes_so_many_at_once_and_leaves_the_rest_to_the_worker(office: Office) -> None:
    kind = await kind_of(office)

    async def many(authoring: Any, session: Session) -> None:
        for _ in range(25):
            await generate_codes(authoring, session, kind, 1000, at=office.now, draw=secrets.choice)

    await office.act(many)
    states = [row["status"] for row in await office.rows("CouponCodeBatches")]
    assert (states.count("COMPLETED"), states.count("QUEUED")) == (19, 6)


async def test_a_thousand_codes_take_as_many_statements_as_ten(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = await kind_of(office)
    counted = count_statements(monkeypatch)
    await office.generate(kind, 10)
    first = counted()
    await office.generate(kind, 1000)
    assert counted() - first == first


async def test_a_worker_does_each_tenant_s_batches_for_it(office: Office, shop: Shop) -> None:
    other = Office(office.database, "tenant-b")
    for one in (office, other):
        await one.generate(await kind_of(one), 1001)
    shop.later(seconds=1)
    await shop.work()
    for one in (office, other):
        assert len(await codes(one)) == 1001
    office.now += timedelta(seconds=1)
