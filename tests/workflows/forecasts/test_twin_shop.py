"""A forecast is exact to the cent: the oracle is a twin shop in which the promotion was active."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from tests.workflows.forecasts.market import OWN, TRIED, TWIN, Market, Rows, action, identity, open_market, promotion

DAY = timedelta(days=1)
LATER = datetime(2027, 1, 1, tzinfo=UTC)

OTHERS: Rows = {
    "MutualExclusionGroups": [{"ID": identity("one of"), "code": "ONE", "name": "One of"}],
    "PriorityGroups": [{"ID": identity("group"), "code": "GROUP", "name": "Group", "priority": 5}],
}
CROWD = (
    promotion("beer 10", action("beer", "PERCENTAGE", "10")),
    promotion("mug exclusive", action("mug", "PERCENTAGE", "25"), exclusivityLevel="PROMOTION", priority=50),
    promotion("receipt", action(None, "PERCENTAGE", "5"), priority=300),
    promotion("one of wine", action("wine", "ABSOLUTE", "1.50"), mutualExclusionGroup_ID=identity("one of")),
    promotion(
        "charged",
        action("cheese", "PERCENTAGE", "30"),
        more={"BudgetPromotions": [{"budget_ID": identity("shared"), "promotion_ID": identity("charged")}]},
    ),
)
BUDGETS = [
    {"ID": identity(name), "code": name, "name": name, "status": "ACTIVE", "currency": "EUR",
     "totalAmount": Decimal(total)}
    for name, total in (("shared", "40.00"), ("own", "9.99"))
]  # fmt: skip


def linked(name: str) -> Rows:
    return {"BudgetPromotions": [{"budget_ID": identity(name), "promotion_ID": TRIED}]}


VARIANTS: dict[str, Rows] = {
    "plain": promotion("tried", action("beer", "PERCENTAGE", "20")),
    "first and exclusive": promotion(
        "tried", action("beer", "ABSOLUTE", "0.50"), action("mug", "UNIT_PRICE", "3.99"),
        exclusivityLevel="PROMOTION", priority=1,
    ),
    "one of a group": promotion(
        "tried", action("wine", "PERCENTAGE", "18"), mutualExclusionGroup_ID=identity("one of")
    ),
    "global": promotion("tried", action(None, "PERCENTAGE", "12"), exclusivityLevel="GLOBAL"),
    "shared budget": promotion("tried", action("beer", "PERCENTAGE", "50"), more=linked("shared")),
    "own budget": promotion("tried", action("wine", "PERCENTAGE", "15"), more=linked("own")),
    "limits": promotion(
        "tried", action("crisps", "PERCENTAGE", "40"), maxApplicationsTotal=12, maxApplicationsPerCustomer=2
    ),
    "coupon": promotion(
        "tried",
        action("crisps", "PERCENTAGE", "50"),
        more={"CouponTypePromotions": [{"couponType_ID": identity("coupon"), "promotion_ID": TRIED}]},
    ),
    "free item": promotion(
        "tried",
        {"actionType": "FREE_ITEM", "freeItemArticleNumber": "wine", "freeItemQuantity": Decimal(1)},
        more={
            "Conditions": [
                {"ID": identity("needs beer"), "promotion_ID": TRIED, "conditionType": "ARTICLE",
                 "articleNumber": "beer", "minQuantity": Decimal(2)}
            ]
        },
    ),
}  # fmt: skip


@pytest.fixture
async def market(database: Database) -> Market:
    opened = await open_market(database)
    coupon = {"ID": identity("coupon"), "code": "C", "name": "Coupon", "status": "ACTIVE", "codeType": "GENERIC"}
    await opened.put({**OTHERS, "Budgets": BUDGETS, "CouponTypes": [{**coupon, "genericCode": "SAVE"}]})
    for one in CROWD:
        await opened.put(one)
    return opened


def asleep(rows: Rows) -> Rows:
    """Return the same promotion, inactive and not yet valid."""
    (row,) = rows["Promotions"]
    return {**rows, "Promotions": [{**row, "status": "DRAFT", "validFrom": LATER}]}


async def refill(market: Market) -> None:
    """Restore the own shop's budgets to their initial state: a forecast starts from the remaining amounts."""
    budgets = table("Budgets")
    statement = update(budgets).values(consumed_amount=Decimal(0), status="ACTIVE")
    await market.context.database.write(lambda session: session.rowcount(statement), tenant=OWN)


async def expected(market: Market) -> dict[str, Any]:
    """Return the figures according to both shops' logs."""
    without, with_it = await market.totals(OWN), await market.totals(TWIN)
    own, twin = await market.given(OWN), await market.given(TWIN)
    amounts = {
        currency: (
            with_it[currency][0],
            sum((given for _, given in twin.get((TRIED, currency), {}).values()), Decimal(0)),
            without[currency][1],
            with_it[currency][1],
            without[currency][2],
            with_it[currency][2],
        )
        for currency in with_it
    }
    others: dict[tuple[str, str], tuple[int, int, Decimal, Decimal]] = {}
    for key in own.keys() | twin.keys():
        if key[0] == TRIED:
            continue
        was, now = own.get(key, {}), twin.get(key, {})
        changes = [
            now.get(one, ("", Decimal(0)))[1] - was.get(one, ("", Decimal(0)))[1] for one in was.keys() | now.keys()
        ]
        lost = sum((-one for one in changes if one < 0), Decimal(0))
        gained = sum((one for one in changes if one > 0), Decimal(0))
        if lost or gained:
            others[key] = (len(was.keys() - now.keys()), len(now.keys() - was.keys()), lost, gained)
    return {"amounts": amounts, "others": others}


async def told(market: Market, forecast_id: str) -> dict[str, Any]:
    """Return the forecast's figures in the same form."""
    amounts = {
        row.currency: (
            row.baskets_replayed, row.discount, row.discount_without, row.discount_with, row.net_sales_without,
            row.net_sales_with,
        )
        for row in await market.rows("PromotionForecastAmounts", forecast_id=forecast_id)
    }  # fmt: skip
    others = {
        (row.promotion_id, row.currency): (
            row.applications_lost, row.applications_gained, row.discount_lost, row.discount_gained
        )
        for row in await market.rows("PromotionForecastDisplacements", forecast_id=forecast_id)
    }  # fmt: skip
    return {"amounts": amounts, "others": others}


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_forecast_equals_the_sales_of_its_twin_shop(market: Market, variant: str, seed: int) -> None:
    await market.put(asleep(VARIANTS[variant]), OWN)
    await market.put(VARIANTS[variant], TWIN)
    first = market.now[0].date()
    await market.sell_many(random.Random(seed), 60, coupon="SAVE")
    await refill(market)
    wanted = await expected(market)
    of_twin = [log for (one, _), given in (await market.given(TWIN)).items() if one == TRIED for log in given]
    customers = {row.transaction_id: row.customer_id for row in await market.rows("CalculationLogs", TWIN)}
    assert of_twin, "the promotion has applied to nothing: this would prove nothing"
    for background in (False, True):
        forecast_id = await market.forecast(first - DAY, market.now[0].date() + DAY, background=background)
        (row,) = await market.rows("PromotionForecasts", id=forecast_id)
        assert (row.status, row.progress, row.baskets_total, row.baskets_replayed) == ("COMPLETED", 100, 60, 60)
        assert await told(market, forecast_id) == wanted
        assert row.baskets_affected == len(of_twin)
        assert row.customers_affected == len({customers[one] for one in of_twin} - {None})
        for budget in await market.rows("PromotionForecastBudgets", forecast_id=forecast_id):
            (twin,) = await market.rows("Budgets", TWIN, id=budget.budget_id)
            assert budget.remaining_after == twin.total_amount - twin.consumed_amount
            consumed = await market.rows("BudgetConsumptions", TWIN, budget_id=budget.budget_id, promotion_id=TRIED)
            assert budget.consumption == sum((one.amount for one in consumed), Decimal(0))
