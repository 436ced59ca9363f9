"""A promotion is compared with as many days before it, in the places where it ran; today does not count."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from promenade.store.reports.arms import Sample
from promenade.workflows.reports.statistics import welch
from tests.workflows.authoring.desk import NOON
from tests.workflows.reports.arms.market import Market

START = NOON.date()
FIGURES = ("baselineAvgBasket", "promotionAvgBasket", "baselineRevenuePerDay", "promotionRevenuePerDay", "upliftPct")


def period(analysis: dict[str, Any]) -> list[date | None]:
    return [analysis[name] for name in ("baselineFrom", "baselineTo", "promotionFrom", "promotionTo")]


async def sell_day(market: Market, *cents: int, shop: str = "TREATED") -> None:
    """Make the sales of a day, and end the day."""
    for one in cents:
        await market.sell(shop, A=one)
    market.trial.later(days=1)


async def test_three_days_against_three_days_before(market: Market) -> None:
    for cents in ((700, 1100), (900,), (), (800, 1000), (1300,)):
        await sell_day(market, *cents)
    promotion = await market.promotion(percent=10)
    for cents in ((1200, 1300), (), (1400,)):
        await sell_day(market, *cents)
    await market.sell("TREATED", A=99900)
    await market.report()
    analysis = await market.analysis(promotion)
    first = START + timedelta(days=5)
    assert period(analysis) == [START + timedelta(days=2), first - timedelta(days=1), first, first + timedelta(days=2)]
    # Before: nothing, 8.00 and 10.00, 13.00. During, less 10 %: 10.80 and 11.70, nothing, 12.60.
    assert [analysis[name] for name in FIGURES] == [
        Decimal("10.33"), Decimal("11.70"), Decimal("10.33"), Decimal("11.70"), Decimal("13.23")
    ]  # fmt: skip
    assert (analysis["baselineTransactions"], analysis["promotionTransactions"]) == (3, 3)
    expected = welch(Sample(3, 3510, 1080**2 + 1170**2 + 1260**2), Sample(3, 3100, 800**2 + 1000**2 + 1300**2))
    assert expected is not None
    assert analysis["pValue"] == Decimal(f"{expected.p_value:.10f}")
    by_day = welch(Sample(3, 3510, 2250**2 + 1260**2), Sample(3, 3100, 1800**2 + 1300**2))
    assert by_day is not None
    assert analysis["revenuePerDayPValue"] == Decimal(f"{by_day.p_value:.10f}")
    assert (analysis["isSignificant"], analysis["currency"]) == (False, "EUR")


async def test_another_day_makes_both_periods_longer_until_it_ends(market: Market) -> None:
    for _ in range(3):
        await sell_day(market, 1000)
    promotion = await market.promotion(percent=10, validTo=NOON + timedelta(days=5))
    await market.sell("TREATED", A=2000)
    await market.report()
    analysis = await market.analysis(promotion)  # it began today
    assert period(analysis) == [None, None, START + timedelta(days=3), None]
    assert [analysis[name] for name in FIGURES] == [None] * 5
    market.trial.later(days=1)
    await market.report()  # a new day begins, without a sale
    assert (await market.analysis(promotion))["upliftPct"] == 80
    for _ in range(3):
        await sell_day(market, 1000)
    await market.report()
    ended = await market.analysis(promotion)
    days = [START, START + timedelta(days=2), START + timedelta(days=3), START + timedelta(days=5)]
    assert period(ended) == days
    market.trial.later(days=3)
    await market.report()
    assert period(await market.analysis(promotion)) == days


async def test_only_sales_of_where_it_runs_count(market: Market) -> None:
    groups = market.trial.groups
    await market.sell("CONTROL", A=5000)
    await sell_day(market, 1000)
    promotion = await market.promotion(percent=10, posGroups=[{"posGroup_ID": groups["TREATED"]}])
    everywhere = await market.promotion(percent=1, article="B")
    await market.sell("CONTROL", A=9000, B=100)
    await sell_day(market, 2000)
    await market.report()
    analysis = await market.analysis(promotion)
    assert (analysis["baselineAvgBasket"], analysis["promotionAvgBasket"]) == (10, 18)
    assert (analysis["pValue"], analysis["isSignificant"]) == (None, None)
    analysis = await market.analysis(everywhere)
    assert (analysis["baselineAvgBasket"], analysis["promotionAvgBasket"]) == (30, Decimal("54.50"))


async def test_days_are_those_of_the_shop_and_a_late_sale_counts_on_its_day(market: Market) -> None:
    trial = market.trial
    await trial.office.update("PosGroups", trial.groups["TREATED"], timeZone="Pacific/Auckland")
    await trial.office.update("PosGroups", trial.groups["CONTROL"], timeZone="Pacific/Auckland")
    await sell_day(market, 1000)  # at noon UTC it is already the next day in New Zealand
    promotion = await market.promotion(percent=10)
    await market.sell("TREATED", A=1000)
    await market.report()
    trial.later(hours=22, minutes=59)
    await market.sell("CONTROL", B=1)
    await market.report()
    assert (await market.analysis(promotion))["promotionTo"] is None
    trial.later(minutes=1)  # the day is over there
    await market.sell("CONTROL", B=1)
    await market.report()
    analysis = await market.analysis(promotion)
    tomorrow = START + timedelta(days=1)
    assert period(analysis) == [tomorrow, tomorrow, tomorrow + timedelta(days=1), tomorrow + timedelta(days=1)]
    assert (analysis["promotionTransactions"], analysis["promotionAvgBasket"]) == (2, Decimal("4.51"))
    before = trial.now[0]
    trial.later(hours=-23)
    await market.sell("TREATED", A=3000)
    trial.now[0] = before
    await market.report()
    analysis = await market.analysis(promotion)
    assert (analysis["promotionTransactions"], analysis["promotionAvgBasket"]) == (3, 12)


async def test_a_promotion_that_is_deleted_keeps_its_analysis(market: Market) -> None:
    await sell_day(market, 1000)
    promotion = await market.promotion(percent=10)
    await sell_day(market, 1000)
    await market.report()
    before = await market.analysis(promotion)
    await market.trial.office.move("Promotions", promotion, "deactivate")
    await market.trial.office.remove("Promotions", promotion)
    await sell_day(market, 1000)
    await market.report()
    after = await market.analysis(promotion)
    assert {**after, "computedAt": None} == {**before, "computedAt": None}
    assert after["upliftPct"] == -10


async def test_the_baseline_begins_with_the_first_sale_that_was_seen(market: Market) -> None:
    trial = market.trial
    await sell_day(market, 1000, shop="CONTROL")
    await sell_day(market, 2000, shop="TREATED")
    await sell_day(market)
    groups = [{"posGroup_ID": trial.groups["TREATED"]}]
    promotion = await market.promotion(percent=10, article="B", posGroups=groups)
    for _ in range(4):
        await market.sell("TREATED", B=2000)
        market.trial.later(days=1)
    await market.report()
    analysis = await market.analysis(promotion)
    # TREATED has sold since the second day; four days before the promotion there was no sale yet.
    first = START + timedelta(days=3)
    assert period(analysis) == [START + timedelta(days=1), START + timedelta(days=2), first, first + timedelta(days=3)]
    assert (analysis["baselineDays"], analysis["promotionDays"]) == (2, 4)
    assert (analysis["baselineRevenuePerDay"], analysis["promotionRevenuePerDay"]) == (10, 18)
    before = trial.now[0]
    trial.now[0] = NOON - timedelta(days=1)
    await market.sell("TREATED", A=1000)  # a store reports an earlier sale
    trial.now[0] = before
    await market.report()
    analysis = await market.analysis(promotion)
    assert (analysis["baselineFrom"], analysis["baselineDays"]) == (START - timedelta(days=1), 4)
    assert analysis["baselineRevenuePerDay"] == Decimal("7.50")


async def test_a_promotion_as_old_as_the_sales_has_no_baseline(market: Market) -> None:
    trial = market.trial
    trial.office.now = NOON - timedelta(days=60)
    old = await market.promotion(percent=10)
    trial.office.now = NOON
    for _ in range(3):
        await sell_day(market, 1000)
    await market.report()
    analysis = await market.analysis(old)
    assert period(analysis) == [None, None, START, START + timedelta(days=2)]
    assert (analysis["baselineDays"], analysis["baselineTransactions"], analysis["promotionDays"]) == (0, 0, 3)
    assert [analysis[name] for name in FIGURES] == [None, 9, None, 9, None]
    assert (analysis["pValue"], analysis["isSignificant"], analysis["revenuePerDayPValue"]) == (None, None, None)


async def test_currencies_are_compared_one_by_one(market: Market) -> None:
    trial = market.trial
    for code, currency in (("SWISS", "CHF"), ("TOKYO", "JPY")):
        trial.groups[code] = await trial.office.given("PosGroups", code=code, currency=currency)
    await sell_day(market, 1000)
    await market.sell("SWISS", A=5000)
    await sell_day(market, 2000)
    promotion = await market.promotion(percent=50, article="B")
    await market.sell("SWISS", B=5000)
    await market.sell("TOKYO", A=70000)
    await sell_day(market, 2000, 3000)
    await sell_day(market)
    await market.report()
    analysis = await market.analysis(promotion)
    assert analysis["currency"] is None
    assert [analysis[name] for name in (*FIGURES, "pValue", "revenuePerDayUpliftPct")] == [None] * 7
    assert (analysis["baselineTransactions"], analysis["promotionTransactions"]) == (3, 4)
    assert (analysis["baselineDays"], analysis["promotionDays"]) == (2, 2)
    found = {row["currency"]: row for row in await market.entries("PromotionUpliftByCurrency", promotion)}
    assert {name: [row[figure] for figure in FIGURES] for name, row in found.items()} == {
        "EUR": [15, 25, 15, 25, Decimal("66.67")],
        "CHF": [50, 25, 50, Decimal("12.50"), -50],
        "JPY": [None, 700, None, 350, None],
    }
    assert {name: row["baselineDays"] for name, row in found.items()} == {"EUR": 2, "CHF": 1, "JPY": 0}
    await market.trial.office.update("Promotions", promotion, currency="CHF")
    market.trial.later(days=1)
    await market.report()
    only = await market.analysis(promotion)
    assert (only["currency"], only["baselineAvgBasket"], only["promotionTransactions"]) == ("CHF", 50, 1)
    assert [row["currency"] for row in await market.entries("PromotionUpliftByCurrency", promotion)] == ["CHF"]
