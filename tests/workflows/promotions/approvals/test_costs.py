"""From which forecast cost on promotions need an approval: an unknown cost is not a small one."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid
from promenade.store.driver.unit import Database
from tests.workflows.authoring.desk import NOON
from tests.workflows.promotions.approvals.house import House

LIMIT = {"approval": "BINDING", "approvalFromAmount": "1000.00", "approvalCurrency": "EUR"}
TODAY = NOON.date()


@pytest.fixture
async def house(database: Database) -> House:
    """A tenant whose promotions need an approval from 1000 EUR on."""
    return await House(database).open(LIMIT)


async def forecast(house: House, key: str, *amounts: tuple[str, str], limited: int = 0, **columns: Any) -> None:
    """Store a forecast of the last 28 days with these discounts: amount and currency."""
    row = {
        "promotion_id": key, "promotion_name": "Ten off", "promotion_version": 1, "status": "COMPLETED",
        "content_hash": (await house.contents())[key], "date_from": TODAY - timedelta(days=28),
        "date_to": TODAY - timedelta(days=1), "baskets_replayed": 10, "baskets_affected": 5, "baskets_skipped": 0,
        "points": 0, "applications": 5, "customers_affected": 0, "progress": 100, "created_at": house.now,
        **columns,
    }  # fmt: skip
    made = await house.desk.put("PromotionForecasts", **row)
    none = dict.fromkeys(
        ("give_away_value", "discount_without", "discount_with", "discount_change", "net_sales_without",
         "net_sales_with"), Decimal(0),
    )  # fmt: skip
    for amount, currency in amounts or (("999.99", "EUR"),):
        discount, _, gifts = amount.partition("+")
        sums = none | {"discount": Decimal(discount), "give_away_value": Decimal(gifts or "0")}
        counts = {"baskets_replayed": 10, "baskets_affected": 5}
        await house.desk.put("PromotionForecastAmounts", forecast_id=made, currency=currency, **counts, **sums)
    if limited:
        sums = dict.fromkeys(
            ("remaining_before", "consumption", "consumption_by_others", "remaining_after"), Decimal(1)
        )
        budget = {"budget_id": made, "budget_name": "Marketing", "currency": "EUR", "baskets_limited": limited}
        await house.desk.put("PromotionForecastBudgets", forecast_id=made, **budget, **sums)


async def test_a_small_cost_needs_no_approval(house: House) -> None:
    key = await house.promotion()
    await forecast(house, key)
    await house.move("ann", key, "activate")
    assert await house.status(key) == "ACTIVE"
    with pytest.raises(Conflict):  # another content, of which there is no forecast
        await house.update("ann", "Promotions", key, priority=1)


@pytest.mark.parametrize(
    ("amounts", "columns"),
    [
        pytest.param([("1000.00", "EUR")], {}, id="at the limit"),
        pytest.param([("900.00+100.00", "EUR")], {}, id="with its gifts at the limit"),
        pytest.param([("1.00", "USD")], {}, id="another currency"),
        pytest.param([("1.00", "EUR"), ("1.00", "USD")], {}, id="two currencies"),
        pytest.param([], {"limited": 1}, id="held down by a budget"),
        pytest.param([], {"baskets_affected": 0}, id="no sale affected"),
        pytest.param([], {"baskets_skipped": 1}, id="a sale skipped"),
        pytest.param([], {"points": 1}, id="points"),
        pytest.param([], {"status": "RUNNING"}, id="not completed"),
        pytest.param([], {"content_hash": "another"}, id="another content"),
        pytest.param([], {"date_from": TODAY - timedelta(days=27)}, id="too short"),
        pytest.param([], {"date_to": date(2026, 3, 20)}, id="days to come"),
        pytest.param([], {"date_from": date(2025, 1, 1), "date_to": TODAY - timedelta(days=29)}, id="too old"),
    ],
)
async def test_an_unknown_cost_is_not_a_small_one(
    house: House, amounts: list[tuple[str, str]], columns: dict[str, Any]
) -> None:
    key = await house.promotion()
    await forecast(house, key, *amounts, **columns)
    with pytest.raises(Conflict) as refused:
        await house.move("ann", key, "activate")
    assert refused.value.code == "APPROVAL_REQUIRED"
    await house.approved(key)
    await house.move("ann", key, "activate")


async def test_the_latest_forecast_counts(house: House) -> None:
    key = await house.promotion()
    await forecast(house, key, created_at=NOON)
    await forecast(house, key, ("5000.00", "EUR"), created_at=NOON + timedelta(seconds=1))
    with pytest.raises(Conflict):
        await house.move("ann", key, "activate")
    await house.move("ann", key, "submit")
    (approval,) = await house.approvals(key)
    assert (approval["forecastCost"], approval["currency"]) == (Decimal("5000.000"), "EUR")
    await forecast(house, key, created_at=NOON + timedelta(seconds=2))
    await house.move("ann", key, "activate")
    assert [one["status"] for one in await house.approvals(key)] == ["WITHDRAWN"]


async def test_an_edit_makes_a_forecast_out_of_date(house: House) -> None:
    key = await house.promotion()
    await forecast(house, key)
    await house.update("ann", "Promotions", key, description="Not what customers get")
    await house.update("ann", "Promotions", key, priority=1)
    with pytest.raises(Conflict):
        await house.move("ann", key, "activate")


async def test_of_coupons_the_past_says_nothing(house: House) -> None:
    key = await house.promotion()
    coupons = await house.desk.given("CouponTypes")
    await house.create("ann", "CouponTypePromotions", promotion_ID=key, couponType_ID=coupons)
    await forecast(house, key)
    with pytest.raises(Conflict):
        await house.move("ann", key, "activate")


@pytest.mark.parametrize(
    "settings", [{"approvalFromAmount": "5"}, {"approvalCurrency": "EUR"}, {"approvalCurrency": ""}]
)
async def test_an_amount_has_a_currency(database: Database, settings: dict[str, str]) -> None:
    house = await House(database).open({} if "" not in settings.values() else LIMIT)
    with pytest.raises(Invalid) as refused:
        await house.settle(**settings)
    assert refused.value.code == "SET_TOGETHER"
    await house.settle(approvalFromAmount="", approvalCurrency="")
    await house.settle(approvalFromAmount="5", approvalCurrency="USD")


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("approval", "MAYBE", "UNKNOWN_CODE"),
        ("approverScope", "POSReader", "UNKNOWN_CODE"),
        ("approvalFromAmount", "-1", "OUT_OF_RANGE"),
        ("approvalFromAmount", "1.234", "BAD_SETTING"),
    ],
)
async def test_a_wrong_setting_is_refused(house: House, name: str, value: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        await house.settle(**{name: value})
    assert (refused.value.code, refused.value.target) == (code, name)
