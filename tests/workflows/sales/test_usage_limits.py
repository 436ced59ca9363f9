"""Limits of use at confirm: never counted beyond their maximum, no sale is refused, and the log tells it."""

from __future__ import annotations

import asyncio

import pytest

from promenade.engine.outcome import Outcome
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity


def sale(*names: str) -> Outcome:
    """Return a sale with a discount of 1.00 by each of these promotions."""
    lines = (line("1", 1000, 5000, *[discount(name, ((1, 100),)) for name in names]),)
    return outcome(lines, tuple(applied(name, 100) for name in names))


async def limited(shop: Shop, name: str, total: int | None, each: int | None = None) -> None:
    await shop.put(
        "Promotions", id=identity(name), code=name, name=name, status="ACTIVE", max_applications_total=total,
        max_applications_per_customer=each,
    )  # fmt: skip


async def counted(shop: Shop, name: str) -> tuple[int, dict[str, int]]:
    """Return the promotion's applicationsCount, and its usage by customer."""
    usage = await shop.rows("promotion_usage", promotion_id=identity(name))
    count = (await shop.row("Promotions", name)).applications_count
    return count, {row.customer_id: row._mapping["count"] for row in usage}


async def told(shop: Shop, transaction_id: str) -> dict[str, str | None]:
    """Return the exceeded limits that the log of a sale tells, by promotion."""
    (log,) = await shop.rows("CalculationLogs", transaction_id=transaction_id)
    assert log.status == "CALCULATED"
    return {
        row.promotion_name: row.exceeded_limit for row in await shop.rows("CalculationLogPromotions", log_id=log.id)
    }


async def test_sales_beyond_a_limit_stand_and_are_not_counted(shop: Shop) -> None:
    """They were all evaluated before the first of them was confirmed."""
    await limited(shop, "two", 2)
    await limited(shop, "one each", None, 1)
    await limited(shop, "any", None)
    names = ("two", "one each", "any")
    sales = [(f"T{number}", await shop.price(f"T{number}", sale(*names)), "AAB"[number % 3]) for number in range(4)]
    for transaction, counter, customer in sales:
        await shop.confirm(transaction, counter, *names, customer_id=customer)
    assert [await told(shop, transaction) for transaction, *_ in sales] == [
        {"two": None, "one each": None, "any": None},
        {"two": None, "one each": "CUSTOMER", "any": None},
        {"two": "TOTAL", "one each": None, "any": None},
        {"two": "TOTAL", "one each": "CUSTOMER", "any": None},
    ]
    assert await counted(shop, "two") == (2, {"": 2, "A": 3, "B": 1})
    assert await counted(shop, "one each") == (4, {"": 4, "A": 1, "B": 1})
    assert await counted(shop, "any") == (4, {"": 4, "A": 3, "B": 1})
    assert {row.discount for row in await shop.rows("CalculationLogs")} == {3}


@pytest.mark.parametrize("lowered", [0, 1])
async def test_a_limit_that_was_lowered_meanwhile_is_not_counted_beyond(shop: Shop, lowered: int) -> None:
    await limited(shop, "some", 5)
    for transaction in ("T0", "T1", "T2"):
        counter = await shop.price(transaction, sale("some"))
        if transaction == "T1":
            await shop.change("Promotions", "some", max_applications_total=lowered)
        await shop.confirm(transaction, counter, "some")
    assert await counted(shop, "some") == (1, {"": 1})
    assert [await told(shop, one) for one in ("T0", "T1", "T2")] == [
        {"some": None}, {"some": "TOTAL"}, {"some": "TOTAL"}
    ]  # fmt: skip


async def test_a_new_limit_of_zero_counts_nothing(shop: Shop) -> None:
    await limited(shop, "some", 0, 0)
    await shop.confirm("T0", await shop.price("T0", sale("some")), "some", customer_id="A")
    assert await counted(shop, "some") == (0, {})
    assert await told(shop, "T0") == {"some": "BOTH"}


async def test_a_cancelled_sale_leaves_the_counts_that_it_is_in(shop: Shop) -> None:
    await limited(shop, "two", 2)
    await limited(shop, "one each", None, 1)
    counters = [await shop.price(f"T{number}", sale("two", "one each")) for number in range(3)]
    for number, counter in enumerate(counters):
        await shop.confirm(f"T{number}", counter, "two", "one each", customer_id="A")
    before = await counted(shop, "two"), await counted(shop, "one each")
    assert before == ((2, {"": 2, "A": 3}), (3, {"": 3, "A": 1}))
    await cancel(shop.context, shop.tenant, CancelCommand("T2", counters[2]))  # beyond both promotions' limits
    assert (await counted(shop, "two"), await counted(shop, "one each")) == ((2, {"": 2, "A": 2}), (2, {"": 2, "A": 1}))
    await cancel(shop.context, shop.tenant, CancelCommand("T0", counters[0]))
    assert (await counted(shop, "two"), await counted(shop, "one each")) == ((1, {"": 1, "A": 1}), (1, {"": 1, "A": 0}))


async def test_of_many_sales_at_once_as_many_count_as_the_limit_allows(shop: Shop) -> None:
    await limited(shop, "ten", 10)
    sales = [(f"T{number}", await shop.price(f"T{number}", sale("ten"))) for number in range(24)]
    await asyncio.gather(*(shop.confirm(transaction, counter, "ten") for transaction, counter in sales))
    assert await counted(shop, "ten") == (10, {"": 10})
    found = [await told(shop, transaction) for transaction, _ in sales]
    assert sorted(str(one["ten"]) for one in found) == ["None"] * 10 + ["TOTAL"] * 14
