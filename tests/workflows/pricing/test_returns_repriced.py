"""Returns of sales whose promotions are priced again without the returned units (section 11, policy REPRICE)."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from promenade.engine.basket import BasketLine, Customer
from promenade.errors import Invalid
from promenade.store.driver.schema import table
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricedIteration, evaluate
from promenade.workflows.sales import returned
from promenade.workflows.sales.cancel import CancelCommand, cancel
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.workflows.pricing.test_evaluate import PROMOTION, TENANT, author, basket, context, percent_off, uuid

__all__ = ["context"]  # a fixture

BUDGET = uuid(7)


async def half_price_from_three(context: Context, **fields: Any) -> None:
    """Half the price of each beer, from three on, from a budget."""
    condition = {"ID": uuid(4), "promotion_ID": PROMOTION, "conditionType": "ARTICLE", "articleNumber": "beer"}
    rows: dict[str, list[dict[str, Any]]] = {
        **percent_off(1, 50, **fields),
        "Conditions": [condition | {"minQuantity": Decimal(3)}],
        "Budgets": [
            {"ID": BUDGET, "code": "B", "name": "B", "status": "ACTIVE", "currency": "EUR", "totalAmount": Decimal(100)}
        ],
        "BudgetPromotions": [{"ID": uuid(8), "budget_ID": BUDGET, "promotion_ID": PROMOTION}],
    }
    await author(context.database, "Promotions", rows, PROMOTION)


async def sell(context: Context, transaction: str, *lines: BasketLine) -> PricedIteration:
    priced = await evaluate(context, TENANT, basket(transaction_id=transaction, lines=lines, customer=Customer("C1")))
    entries = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied)
    await confirm(context, TENANT, ConfirmCommand(transaction, priced.transaction_counter or 0, entries, b""))
    return priced


def back(quantity: int, sale: str = "t1") -> BasketLine:
    names = (("originalTransactionId", sale), ("originalLineReference", "1"))
    return BasketLine("9", "beer", -quantity, 1000, fields=names)


async def told_and_booked(context: Context, number: int, *lines: BasketLine) -> tuple[int, int, int]:
    """Return the refund that a return is told, the discount that it takes back, and what its budget gets."""
    before = await consumed(context)
    priced = await sell(context, f"r{number}", *lines)
    amounts = [one.amount_minor or 0 for one in priced.refunds]
    taken = sum(one.discount_minor for one in priced.refunds)
    given = before - await consumed(context)
    assert given * 100 == sum(one.budget_minor for one in priced.refunds)
    return sum(amounts), taken, int(given)


async def consumed(context: Context) -> Decimal:
    budgets = table("Budgets")
    rows = await context.database.read(
        lambda session: session.execute(select(budgets.c.consumed_amount)), tenant=TENANT
    )
    return rows[0][0] or Decimal(0)


@pytest.mark.parametrize(
    ("policy", "steps"),
    [
        ("KEEP_SHARES", [(500, 500, 5), (500, 500, 5), (500, 500, 5)]),
        # Two beers cost 20.00, more than the three; one costs 10.00.
        ("REPRICE", [(0, 1500, 15), (500, 0, 0), (1000, 0, 0)]),
    ],
)
async def test_the_policy_decides_what_a_broken_promotion_refunds(
    context: Context, policy: str, steps: list[tuple[int, int, int]]
) -> None:
    await half_price_from_three(context, returnPolicy=policy)
    await sell(context, "t1", BasketLine("1", "beer", 3000, 1000))
    assert await consumed(context) == 15
    assert [await told_and_booked(context, number, back(1000)) for number in range(3)] == steps
    assert (await told_and_booked(context, 9, back(1000)))[0] == 0


async def test_what_is_kept_may_still_deserve_its_discount(context: Context) -> None:
    await half_price_from_three(context, returnPolicy="REPRICE")
    await sell(context, "t1", BasketLine("1", "beer", 5000, 1000))
    assert await told_and_booked(context, 1, back(1000), replace(back(1000), reference="8")) == (1000, 1000, 10)
    assert await told_and_booked(context, 2, back(3000)) == (1500, 1500, 15)


async def test_a_sale_whose_evaluation_is_gone_is_refunded_by_its_shares(context: Context) -> None:
    await half_price_from_three(context, returnPolicy="REPRICE")
    await sell(context, "t1", BasketLine("1", "beer", 3000, 1000))
    await sell(context, "t2", BasketLine("1", "beer", 3000, 1000))
    assert await told_and_booked(context, 1, back(1000)) == (0, 1500, 15)
    iterations = table("iterations")
    gone = delete(iterations).where(iterations.c.transaction_id.in_(["t1", "t2"]))
    await context.database.write(lambda session: session.rowcount(gone), tenant=TENANT)
    # Of the first sale, 10.00 are due for two units and nothing was given for the first; 15.00 were paid in all.
    assert await told_and_booked(context, 2, back(1000)) == (1000, 0, 0)
    assert await told_and_booked(context, 3, back(1000)) == (500, 0, 0)
    assert await told_and_booked(context, 4, back(1000, "t2")) == (500, 500, 5)


@pytest.mark.parametrize("limit", ["REPRICED_MAX", "REPRICED_LINES_MAX"])
async def test_only_so_many_sales_of_a_basket_are_priced_again(
    context: Context, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Of the third, the shares of its unit go back, as evaluated and as booked."""
    monkeypatch.setattr(returned, limit, 2)
    await half_price_from_three(context, returnPolicy="REPRICE")
    for number in range(3):
        await sell(context, f"t{number}", BasketLine("1", "beer", 3000, 1000))
    lines = [replace(back(1000, f"t{number}"), reference=f"{number}") for number in range(3)]
    assert await told_and_booked(context, 1, *lines) == (0 + 0 + 500, 1500 + 1500 + 500, 15 + 15 + 5)


@pytest.mark.parametrize("limit", ["NAMED_MAX", "NAMED_LINES_MAX"])
async def test_a_basket_that_names_too_many_sales_is_refused(
    context: Context, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Each sale costs time, as much as it has lines."""
    monkeypatch.setattr(returned, limit, 2)
    for number in range(3):
        await sell(context, f"t{number}", BasketLine("1", "beer", 3000, 1000))
    lines = [replace(back(1000, f"t{number}"), reference=f"{number}") for number in range(3)]
    await sell(context, "r1", *lines[:2], replace(lines[0], reference="again"))
    with pytest.raises(Invalid, match="sales") as refused:
        await sell(context, "r2", *lines)
    assert refused.value.code == "TOO_MANY_SALES"


async def test_a_sale_that_was_priced_again_once_stays_so(context: Context) -> None:
    await half_price_from_three(context, returnPolicy="REPRICE")
    await sell(context, "t1", BasketLine("1", "beer", 3000, 1000))
    assert await told_and_booked(context, 1, back(1000)) == (0, 1500, 15)
    keep = update(table("Promotions")).values(return_policy="KEEP_SHARES")
    await context.database.write(lambda session: session.rowcount(keep), tenant=TENANT)
    assert await told_and_booked(context, 2, back(2000)) == (1500, 0, 0)


async def test_cancelling_a_return_gives_the_goods_back_to_their_sale(context: Context) -> None:
    await half_price_from_three(context, returnPolicy="REPRICE")
    await sell(context, "t1", BasketLine("1", "beer", 3000, 1000))
    assert await told_and_booked(context, 1, back(1000)) == (0, 1500, 15)
    assert await told_and_booked(context, 2, back(1000)) == (500, 0, 0)
    await cancel(context, TENANT, CancelCommand("r1", 1))
    assert await consumed(context) == 15
    # 5.00 have gone back for two units; of three, all 15.00 are due.
    assert await told_and_booked(context, 3, back(2000)) == (1000, 1500, 15)


@pytest.mark.parametrize("policy", ["KEEP_SHARES", "REPRICE"])
async def test_a_cancelled_sale_gives_back_what_its_returns_have_left(context: Context, policy: str) -> None:
    await half_price_from_three(context, returnPolicy=policy)
    await sell(context, "t1", BasketLine("1", "beer", 3000, 1000))
    await told_and_booked(context, 1, back(1000))
    answer = json.loads(await cancel(context, TENANT, CancelCommand("t1", 1)))
    left = {"KEEP_SHARES": [10], "REPRICE": []}[policy]
    assert [one["amount"]["value"] for one in answer["budgetsGivenBack"]] == left
    assert await consumed(context) == 0
    assert await told_and_booked(context, 2, back(1000)) == (0, 0, 0)
