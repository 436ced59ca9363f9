"""Included and excluded data of a forecast: days, transactions, the promotion's own past, returns; and its queue."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Row, delete, update

from promenade.engine.basket import BasketLine
from promenade.errors import Conflict, Invalid, NotFound, TooMany
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.forecasts import runs as forecasts
from promenade.store.forecasts.sales import Cursor
from promenade.workflows.forecasts.asking import DAYS_MAX, Period, check_period, prepare_forecast, store_forecast
from promenade.workflows.forecasts.runs import ATTEMPTS_MAX, run_forecasts
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from tests.workflows.forecasts.market import OWN, START, TRIED, Market, action, identity, open_market, promotion

TODAY = START.date()
BEER = (BasketLine("1", "beer", 2000, 120),)
HALF = promotion("tried", action("beer", "PERCENTAGE", "50"), status="DRAFT")


@pytest.fixture
async def market(database: Database) -> Market:
    opened = await open_market(database)
    await opened.put(HALF, OWN)
    return opened


async def outcome(market: Market, first: date, last: date, **how: Any) -> Row[Any]:
    forecast_id = await market.forecast(first, last, **how)
    return (await market.rows("PromotionForecasts", id=forecast_id))[0]


async def queue(market: Market, first: date = TODAY, last: date = TODAY) -> str:
    """Create a forecast that no worker has started."""
    prepared = await prepare_forecast(market.context, OWN, TRIED, Period(first, last), baskets_max=-1)
    return await market.context.database.write(
        lambda session: store_forecast(session, prepared, user="planner", new_id=market.context.new_id), tenant=OWN
    )


async def change(market: Market, set_name: str, **columns: Any) -> None:
    statement = update(table(set_name)).values(**columns)
    await market.context.database.write(lambda session: session.rowcount(statement), tenant=OWN)


async def test_a_forecast_uses_the_days_of_the_shops_clock(market: Market) -> None:
    day = date(2026, 3, 10)
    for pos, moment in (
        ("BERLIN", datetime(2026, 3, 9, 22, 59, 59, 999_999, tzinfo=UTC)),  # 23:59:59 of the 9th in Berlin
        ("BERLIN", datetime(2026, 3, 9, 23, 0, tzinfo=UTC)),  # midnight there
        ("BERLIN", datetime(2026, 3, 9, 23, 30, tzinfo=UTC)),
        ("BERLIN", datetime(2026, 3, 10, 22, 59, 59, 999_999, tzinfo=UTC)),
        ("BERLIN", datetime(2026, 3, 10, 23, 0, tzinfo=UTC)),
        ("TOKYO", datetime(2026, 3, 9, 14, 59, 59, tzinfo=UTC)),
        ("TOKYO", datetime(2026, 3, 9, 15, 0, tzinfo=UTC)),  # midnight there
        ("TOKYO", datetime(2026, 3, 9, 15, 30, tzinfo=UTC)),
        ("TOKYO", datetime(2026, 3, 10, 14, 59, 59, tzinfo=UTC)),
        ("TOKYO", datetime(2026, 3, 10, 15, 0, tzinfo=UTC)),
    ):
        market.now[0] = moment
        await market.sell(BEER, OWN, pos=pos)
    market.now[0] += timedelta(days=30)
    for background in (False, True):
        forecast_id = await market.forecast(day, day, background=background)
        amounts = await market.rows("PromotionForecastAmounts", forecast_id=forecast_id)
        assert {row.currency: row.baskets_replayed for row in amounts} == {"EUR": 3, "JPY": 3}


async def test_a_day_on_which_the_clocks_change_is_a_whole_day(market: Market) -> None:
    for hour in range(25):  # 2026-03-28 23:00 UTC begins the 29th in Berlin, which has 23 hours
        market.now[0] = datetime(2026, 3, 28, 22, 30, tzinfo=UTC) + timedelta(hours=hour)
        await market.sell(BEER, OWN)
    assert (await outcome(market, date(2026, 3, 29), date(2026, 3, 29))).baskets_replayed == 23


async def test_a_transaction_counts_once_with_what_was_confirmed(market: Market) -> None:
    more = PricingRequest(lines=(BasketLine("1", "beer", 9000, 120),), transaction_id="T1", pos_group_code="BERLIN")
    await evaluate(market.context, OWN, more)  # an earlier iteration, which is not confirmed
    await market.sell(BEER, OWN)
    await evaluate(
        market.context, OWN, PricingRequest(lines=BEER, transaction_id="only looked", pos_group_code="BERLIN")
    )
    forecast_id = await market.forecast(TODAY, TODAY)
    (amounts,) = await market.rows("PromotionForecastAmounts", forecast_id=forecast_id)
    assert (amounts.baskets_replayed, amounts.discount, amounts.net_sales_without) == (
        1,
        Decimal("1.20"),
        Decimal("2.40"),
    )


async def test_a_refused_confirm_is_no_sale(market: Market) -> None:
    await market.sell(BEER, OWN)
    await change(market, "CalculationLogs", status="FAILED")
    assert (await outcome(market, TODAY, TODAY)).baskets_total == 0


async def test_a_return_counts_as_it_was(market: Market) -> None:
    back = BasketLine("2", "beer", -1000, 120)
    await market.sell((*BEER, back), OWN)
    await market.sell((back,), OWN)
    forecast_id = await market.forecast(TODAY, TODAY)
    (amounts,) = await market.rows("PromotionForecastAmounts", forecast_id=forecast_id)
    assert (amounts.baskets_replayed, amounts.baskets_affected, amounts.discount) == (2, 1, Decimal("1.20"))
    assert (amounts.net_sales_without, amounts.net_sales_with) == (Decimal("0.00"), Decimal("-1.20"))


async def test_a_promotion_that_already_ran_is_compared_with_its_absence(market: Market) -> None:
    await change(market, "Promotions", status="ACTIVE")
    await market.put({})
    await market.sell(BEER, OWN)
    await change(market, "DiscountActions", discount_value=Decimal(25))
    await market.put({})
    forecast_id = await market.forecast(TODAY, TODAY)
    (amounts,) = await market.rows("PromotionForecastAmounts", forecast_id=forecast_id)
    assert (amounts.discount_without, amounts.discount_with, amounts.discount) == (0, Decimal("0.60"), Decimal("0.60"))


@pytest.mark.parametrize("status", ["ARCHIVED", "EXPIRED", "PENDING_APPROVAL", "INACTIVE"])
async def test_a_promotion_of_any_status_can_be_tried(market: Market, status: str) -> None:
    await market.sell(BEER, OWN)
    past = datetime(2020, 1, 1, tzinfo=UTC)
    await change(market, "Promotions", status=status, valid_from=past, valid_to=past + timedelta(days=1))
    assert (await outcome(market, TODAY, TODAY)).baskets_affected == 1


async def test_a_cancelled_campaign_is_set_aside_but_its_pos_groups_count(market: Market) -> None:
    campaign = {"ID": identity("campaign"), "code": "C", "name": "C", "status": "CANCELLED", "startAt": START,
                "endAt": START + timedelta(days=1)}  # fmt: skip
    there = {"campaign_ID": identity("campaign"), "posGroup_ID": identity("TOKYO")}
    await market.put({"Campaigns": [campaign], "CampaignPosGroups": [there]}, OWN)
    await change(market, "Promotions", campaign_id=identity("campaign"))
    market.now[0] += timedelta(days=3)
    for pos in ("BERLIN", "TOKYO"):
        await market.sell(BEER, OWN, pos=pos)
    forecast_id = await market.forecast(market.now[0].date(), market.now[0].date())
    amounts = await market.rows("PromotionForecastAmounts", forecast_id=forecast_id)
    assert {row.currency: row.baskets_affected for row in amounts} == {"EUR": 0, "JPY": 1}


async def test_a_forecast_names_the_day_on_which_a_budget_runs_out(market: Market) -> None:
    budget = {"ID": identity("b"), "code": "b", "name": "Beer money", "status": "DRAFT", "currency": "EUR",
              "totalAmount": Decimal("10.00"), "consumedAmount": Decimal("7.00"), "validTo": START}  # fmt: skip
    link = {"budget_ID": identity("b"), "promotion_ID": TRIED}
    await market.put({"Budgets": [budget], "BudgetPromotions": [link]}, OWN)
    for _ in range(4):  # 1.20 each: 3.00 is enough for two of them
        await market.sell(BEER, OWN)
        market.now[0] += timedelta(days=1)
    forecast_id = await market.forecast(TODAY, market.now[0].date())
    (row,) = await market.rows("PromotionForecastBudgets", forecast_id=forecast_id)
    assert (row.budget_name, row.remaining_before, row.consumption, row.remaining_after) == (
        "Beer money", Decimal("3.00"), Decimal("2.40"), Decimal("0.60")
    )  # fmt: skip
    assert (row.exhausted_on, row.baskets_limited) == (TODAY + timedelta(days=2), 2)
    assert (await market.rows("Budgets", id=identity("b")))[0].consumed_amount == Decimal("7.00")


async def test_sales_after_the_request_do_not_count(market: Market) -> None:
    await market.sell(BEER, OWN)
    forecast_id = await queue(market)
    market.now[0] += timedelta(seconds=1)
    await market.sell(BEER, OWN)
    while await run_forecasts(market.context):
        pass
    (row,) = await market.rows("PromotionForecasts", id=forecast_id)
    assert (row.status, row.baskets_total) == ("COMPLETED", 1)


async def test_a_sale_with_deleted_records_is_skipped_and_reported(market: Market) -> None:
    await market.sell(BEER, OWN)
    await market.sell(BEER, OWN)
    gone = delete(table("iterations")).where(table("iterations").c.transaction_id == "T1")
    await market.context.database.write(lambda session: session.rowcount(gone), tenant=OWN)
    row = await outcome(market, TODAY, TODAY)
    assert (row.baskets_total, row.baskets_replayed, row.baskets_skipped) == (2, 1, 1)
    assert "Left out: 1," in row.message


async def test_a_missing_or_broken_promotion_has_no_forecast(market: Market) -> None:
    with pytest.raises(NotFound):
        await prepare_forecast(market.context, OWN, identity("nothing"), Period(TODAY, TODAY))
    with pytest.raises(NotFound):
        await prepare_forecast(market.context, "twin", TRIED, Period(TODAY, TODAY))
    broken = {"ID": identity("broken"), "promotion_ID": TRIED, "conditionType": "RECEIPT_AMOUNT", "value": "much"}
    await market.put({"Conditions": [broken]}, OWN)
    with pytest.raises(Conflict) as caught:
        await prepare_forecast(market.context, OWN, TRIED, Period(TODAY, TODAY))
    assert caught.value.code == "PROMOTION_CANNOT_RUN"


def test_a_forecast_period_beyond_the_limit_is_refused() -> None:
    check_period(TODAY, TODAY + timedelta(days=DAYS_MAX - 1))
    with pytest.raises(Invalid):
        check_period(TODAY, TODAY + timedelta(days=DAYS_MAX))


# --- the queue --------------------------------------------------------------------------------------------------------


async def test_at_most_four_forecasts_wait_and_others_are_asked_to_retry(market: Market) -> None:
    answers = await asyncio.gather(*(queue(market) for _ in range(8)), return_exceptions=True)
    refused = [one for one in answers if isinstance(one, TooMany)]
    assert len([one for one in answers if isinstance(one, str)]) == 4
    assert [(one.code, one.retry_after_seconds > 0) for one in refused] == [("TOO_MANY_FORECASTS", True)] * 4
    while await run_forecasts(market.context):
        pass
    assert await queue(market)


async def test_a_long_forecast_shows_how_far_it_is(market: Market) -> None:
    for _ in range(120):
        await market.sell(BEER, OWN)
    forecast_id = await queue(market)
    seen = []
    while await run_forecasts(market.context, stretch_seconds=0.0):
        (row,) = await market.rows("PromotionForecasts", id=forecast_id)
        seen.append((row.status, row.progress, row.baskets_replayed, row.baskets_total))
    assert seen == [("RUNNING", 41, 50, 120), ("RUNNING", 83, 100, 120), ("COMPLETED", 100, 120, 120)]
    assert not await market.rows("forecast_jobs")
    assert not await market.rows("forecast_customers")


async def test_a_forecast_fails_if_its_promotion_is_deleted_meanwhile(market: Market) -> None:
    forecast_id = await queue(market)
    promotions = table("Promotions")
    statement = delete(promotions).where(promotions.c.id == TRIED)
    await market.context.database.write(lambda session: session.rowcount(statement), tenant=OWN)
    while await run_forecasts(market.context):
        pass
    (row,) = await market.rows("PromotionForecasts", id=forecast_id)
    assert (row.status, row.message) == ("FAILED", "The promotion was deleted.")
    assert row.completed_at is not None
    assert not await market.rows("forecast_jobs")


async def claim(market: Market) -> forecasts.ForecastJob | None:
    at = market.now[0]
    return await market.context.database.write(
        lambda session: forecasts.claim(session, lease_owner=market.context.new_id(), at=at, lease_seconds=60),
        system=True,
    )


async def test_a_forecast_is_held_by_one_worker_until_its_lease_runs_out(market: Market) -> None:
    await market.sell(BEER, OWN, customer="C1")
    forecast_id = await queue(market)
    stale = await claim(market)
    assert stale is not None
    assert await claim(market) is None
    assert await run_forecasts(market.context) == 0
    market.now[0] += timedelta(seconds=61)
    assert await claim(market) is not None

    async def late(session: Session) -> tuple[bool, bool, int | None]:
        cursor = Cursor(market.now[0], identity("a log"))
        saved = await forecasts.save(session, stale, stale.tally, cursor, {"C1": 7}, at=market.now[0])
        given_back = await forecasts.release(session, stale, at=market.now[0])
        return saved, given_back, await forecasts.drop_job(session, stale, {"C1": 7})

    assert await market.context.database.write(late, tenant=OWN) == (False, False, None)
    assert not await market.rows("forecast_customers")
    assert await run_forecasts(market.context) == 0, "it is held"
    market.now[0] += timedelta(seconds=61)
    while await run_forecasts(market.context):
        pass
    (row,) = await market.rows("PromotionForecasts", id=forecast_id)
    assert (row.status, row.baskets_affected, row.customers_affected) == ("COMPLETED", 1, 1)


async def test_a_forecast_that_kills_every_worker_ends_failed(market: Market) -> None:
    forecast_id = await queue(market)
    for _ in range(ATTEMPTS_MAX):
        assert await claim(market) is not None
        market.now[0] += timedelta(seconds=61)
    await run_forecasts(market.context)
    (row,) = await market.rows("PromotionForecasts", id=forecast_id)
    assert (row.status, row.message) == ("FAILED", "The last attempts did not finish.")


async def test_a_forecast_that_always_fails_is_retried_and_ends_failed_with_the_reason(market: Market) -> None:
    await market.sell(BEER, OWN)
    forecast_id = await queue(market)
    await change(market, "iterations", record=b"no record")
    for _ in range(20):
        await run_forecasts(market.context)
        market.now[0] += timedelta(minutes=10)
    (row,) = await market.rows("PromotionForecasts", id=forecast_id)
    assert row.status == "FAILED"
    assert "Error" in row.message


async def test_long_forecasts_take_turns(market: Market) -> None:
    for _ in range(120):
        await market.sell(BEER, OWN)
    first = await queue(market)
    market.now[0] += timedelta(seconds=1)
    second = await queue(market)
    market.now[0] += timedelta(seconds=1)
    for _ in range(2):
        await run_forecasts(market.context, stretch_seconds=0.0)
        market.now[0] += timedelta(seconds=1)
    states = {row.id: row.baskets_replayed for row in await market.rows("PromotionForecasts")}
    assert (states[first], states[second]) == (50, 50)


async def test_old_forecasts_are_deleted_when_a_new_one_is_requested(market: Market) -> None:
    old = await market.forecast(TODAY, TODAY)
    waiting = await queue(market)
    market.now[0] += timedelta(days=91)
    new = await market.forecast(TODAY, TODAY)
    assert {row.id for row in await market.rows("PromotionForecasts")} == {waiting, new} != {old}
