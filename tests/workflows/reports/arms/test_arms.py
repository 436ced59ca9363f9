"""Every sale belongs to the arm of its till's shop, and the comparison of both arms matches their sales."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from promenade.store.reports.arms import Sample
from promenade.workflows.reports.statistics import BeforeAfter, difference_in_differences
from tests.workflows.authoring.desk import NOON
from tests.workflows.reports.arms.market import Market

DAY = NOON.date()


async def arms(market: Market, promotion: str) -> dict[str, dict[str, Any]]:
    rows = await market.entries("PromotionAbComparison", promotion)
    return {row["arm"]: row for row in rows}


async def test_the_arms_of_a_pilot_in_two_shops_match_their_sales(market: Market) -> None:
    promotion = await market.trial.pilot(autoPromote=False)
    await market.trial.office.given(
        "Conditions", promotion_ID=promotion, conditionType="RECEIPT_AMOUNT", minAmount=Decimal(10)
    )
    market.trial.later(minutes=1)
    for cents in (1100, 2200, 500):  # 5 % off the first two, nothing off the third
        assert await market.sell("TREATED", A=cents) is (cents >= 1000)
    for cents in (1000, 700):
        assert not await market.sell("CONTROL", A=cents)
    await market.report()
    result = await market.result(promotion)
    assert (result["experimentTransactions"], result["controlTransactions"]) == (3, 2)
    assert result["experimentAvgBasket"] == Decimal("12.12")  # (10.45 + 20.90 + 5.00) / 3
    assert result["controlAvgBasket"] == Decimal("8.50")
    assert result["revenueUplift"] == Decimal("42.55")  # of the exact averages
    assert (result["currency"], result["trial"]) == ("EUR", "PILOT")
    assert result["totalDiscount"] == Decimal("1.65")
    # scipy.stats.ttest_ind([10.45, 20.90, 5.00], [10.00, 7.00], equal_var=False)
    assert (result["revenueTStatistic"], result["revenuePValue"]) == (Decimal("0.738065"), Decimal("0.5263207041"))
    assert result["revenueIsSignificant"] is False
    # The promotion applies to any basket, so that every basket is converted and nothing differs.
    assert (result["controlConversionRate"], result["experimentConversionRate"]) == (100, 100)
    assert [result[name] for name in ("uplift", "chiSquared", "pValue", "isSignificant")] == [0, None, None, None]
    # The confidence_interval() of the same, in percent of 8.50: two baskets and three say nothing.
    assert (result["revenueUpliftLow"], result["revenueUpliftHigh"]) == (Decimal("-170.88"), Decimal("255.98"))
    both = await arms(market, promotion)
    # scipy.stats.t.interval(0.95, 1, 8.5, 1.5)
    assert (both["CONTROL"]["avgBasketLow"], both["CONTROL"]["avgBasketHigh"]) == (Decimal("-10.56"), Decimal("27.56"))
    # scipy.stats.binomtest(3, 3).proportion_ci(0.95, method="wilson")
    assert (both["PILOT"]["conversionRateLow"], both["PILOT"]["conversionRateHigh"]) == (Decimal("43.85"), 100)
    assert both.keys() == {"PILOT", "CONTROL"}
    assert (both["PILOT"]["revenue"], both["CONTROL"]["revenue"]) == (Decimal("36.35"), Decimal("17.00"))
    assert (both["PILOT"]["uplift"], both["CONTROL"]["uplift"]) == (Decimal("42.55"), None)
    assert (both["PILOT"]["isSignificant"], both["CONTROL"]["isSignificant"]) == (False, None)


async def test_more_sales_move_the_figures_and_none_is_counted_twice(market: Market) -> None:
    promotion = await market.trial.pilot(autoPromote=False)
    market.trial.later(minutes=1)
    await market.sell("TREATED", A=1000)
    await market.report()
    assert (await market.result(promotion))["experimentTransactions"] == 1
    assert (await market.result(promotion))["revenuePValue"] is None
    for cents in (1000, 1040):
        await market.sell("TREATED", A=cents)
        await market.sell("CONTROL", A=cents // 2)
    market.trial.later(days=1)
    await market.sell("CONTROL", A=510)
    await market.report()
    await market.report()
    result = await market.result(promotion)
    assert (result["experimentTransactions"], result["controlTransactions"]) == (3, 3)
    assert result["revenueIsSignificant"] is True
    first, second = sorted(await market.entries("DailyABTestAggregates", promotion), key=lambda row: row["day"])
    assert (first["day"], second["day"]) == (DAY, DAY + timedelta(days=1))
    assert (first["shown"], first["converted"], first["controlTransactions"]) == (3, 3, 2)
    # 9.50 + 9.50 + 9.88 less three times the control arm's 5.10
    assert (first["revenue"], first["extraRevenue"], first["controlRevenue"]) == (
        Decimal("28.88"), Decimal("13.58"), Decimal("10.20")
    )  # fmt: skip
    assert (second["shown"], second["controlTransactions"], second["extraRevenue"]) == (0, 1, 0)
    first, second = sorted(await market.entries("ABTestROI", promotion), key=lambda row: row["day"])
    assert (first["totalDiscount"], first["conversionRate"]) == (Decimal("1.52"), 100)
    assert first["returnOnDiscount"] == Decimal("893.42")
    assert (second["conversionRate"], second["returnOnDiscount"]) == (0, 0)
    pilot, control = sorted(
        await market.entries("PilotComparisonReports", promotion), key=lambda row: row["arm"], reverse=True
    )
    assert (pilot["arm"], pilot["transactions"], control["transactions"]) == ("PILOT", 3, 3)
    assert (pilot["promotionStatus"], pilot["autoPromote"], pilot["pilotStartAt"]) == ("PILOT", False, NOON)


async def test_converted_is_a_basket_with_a_line_that_is_targeted(market: Market) -> None:
    groups = market.trial.groups
    await market.trial.office.given("ArticleGroups", groupId="FOOD")
    below = await market.trial.office.given("ArticleGroups", groupId="FRUIT")
    parent = (await market.trial.office.rows("ArticleGroups", groupId="FOOD"))[0]["ID"]
    await market.trial.office.update("ArticleGroups", below, parent_ID=parent)
    for number, group in (("APPLE", "FRUIT"), ("ROTTEN", "FRUIT"), ("SOAP", None)):
        await market.trial.office.given("Articles", articleNumber=number, articleGroupId=group)
    promotion = await market.trial.office.given(
        "Promotions", status="DRAFT", isExperiment=True, controlGroupId=groups["CONTROL"],
        experimentGroupId=groups["TREATED"],
    )  # fmt: skip
    await market.trial.office.given(
        "DiscountActions", promotion_ID=promotion, actionType="ARTICLE", discountType="PERCENTAGE",
        discountValue=Decimal(10), targetArticleGroupId="FOOD", includeSubGroups=True,
        exclusions=[{"exclusionType": "ARTICLE", "articleNumber": "ROTTEN"}],
    )  # fmt: skip
    await market.trial.office.move("Promotions", promotion, "activate")
    market.trial.later(minutes=1)
    assert await market.sell("TREATED", APPLE=100, SOAP=500)
    assert not await market.sell("TREATED", ROTTEN=100)
    assert not await market.sell("TREATED", SOAP=500)
    assert not await market.sell("TREATED", APPLE=-100)  # a return
    for articles in ({"APPLE": 100}, {"APPLE": 100, "ROTTEN": 100}, {"SOAP": 300}):
        assert not await market.sell("CONTROL", **articles)
    await market.report()
    result = await market.result(promotion)
    assert result["trial"] == "EXPERIMENT"
    assert (result["experimentConversions"], result["experimentTransactions"]) == (1, 4)
    assert (result["controlConversions"], result["controlTransactions"]) == (2, 3)
    assert (result["experimentConversionRate"], result["controlConversionRate"]) == (25, Decimal("66.67"))
    assert result["uplift"] == Decimal("-62.50")
    # scipy.stats.chi2_contingency([[1, 3], [2, 1]], correction=False)
    assert (result["chiSquared"], result["pValue"]) == (Decimal("1.215278"), Decimal("0.2702893848"))


async def test_sales_before_and_after_a_pilot_are_in_no_arm(market: Market) -> None:
    trial = market.trial
    await market.sell("TREATED", A=100)
    trial.later(minutes=1)
    promotion = await trial.pilot(autoPromote=False)
    trial.later(minutes=1)
    await market.sell("TREATED", A=1000)
    trial.later(minutes=1)
    await trial.office.move("Promotions", promotion, "promoteToActive")
    trial.later(minutes=1)
    assert await market.sell("TREATED", A=7000)
    assert await market.sell("CONTROL", A=7000)
    await market.report()
    result = await market.result(promotion)
    assert (result["experimentTransactions"], result["controlTransactions"]) == (1, 0)
    assert (result["experimentAvgBasket"], result["controlAvgBasket"]) == (Decimal("9.50"), None)
    assert (result["revenueUplift"], result["revenuePValue"], result["controlConversionRate"]) == (None, None, None)


async def test_a_sale_reported_late_counts_in_its_original_arm(market: Market) -> None:
    trial = market.trial
    promotion = await trial.pilot(autoPromote=False)
    await trial.office.given(
        "Conditions", promotion_ID=promotion, conditionType="RECEIPT_AMOUNT", minAmount=Decimal(10)
    )
    trial.later(minutes=1)
    await market.sell("TREATED", A=500)  # not counted yet
    await market.sell("CONTROL", A=400)
    trial.later(days=2)
    await trial.office.move("Promotions", promotion, "endPilot")
    trial.later(days=30)
    await market.sell("TREATED", A=500)
    await market.report()
    result = await market.result(promotion)
    assert (result["experimentTransactions"], result["controlTransactions"]) == (1, 1)


PAST = ("pastFrom", "pastTo", "pastDays", "experimentPastAvgBasket", "controlPastAvgBasket", "adjustedUplift")


async def test_arms_are_compared_with_their_own_past(market: Market) -> None:
    trial = market.trial
    await market.sell("CONTROL", A=9000)  # TREATED has not opened yet
    trial.later(days=1)
    for shop, cents in (("TREATED", 2000), ("TREATED", 2200), ("CONTROL", 1000), ("CONTROL", 1200)):
        await market.sell(shop, A=cents)
    trial.later(days=2)
    trial.groups["THIRD"] = await trial.office.given("PosGroups", code="THIRD", currency="EUR")
    await market.sell("THIRD", A=7000)  # in no arm
    promotion = await trial.pilot(autoPromote=False)
    trial.later(days=1)
    for shop, cents in (("TREATED", 2000), ("TREATED", 2200), ("CONTROL", 1000), ("CONTROL", 1200)):
        await market.sell(shop, A=cents)
    await market.report()
    result = await market.result(promotion)
    # 19.00 and 20.90 against 10.00 and 12.00; before it 20.00 and 22.00 against the same.
    assert result["revenueUplift"] == Decimal("81.36")
    first = DAY + timedelta(days=1)
    assert [result[name] for name in PAST] == [first, DAY + timedelta(days=3), 3, 21, 11, -5]
    samples = [Sample(2, sum(one), sum(x * x for x in one)) for one in ((2000, 2200), (1900, 2090), (1000, 1200))]
    old, new, usual = samples
    expected = difference_in_differences(BeforeAfter(old, new), BeforeAfter(usual, usual))
    assert expected is not None
    assert result["adjustedPValue"] == Decimal(f"{expected.p_value:.10f}")
    assert result["adjustedIsSignificant"] is False
    both = await arms(market, promotion)
    assert (both["PILOT"]["adjustedUplift"], both["CONTROL"]["adjustedUplift"]) == (-5, None)
    (row,) = await market.entries("ABTestResultsByCurrency", promotion)
    assert {name: row[name] for name in row if name != "computedAt"} == {
        name: result[name] for name in row if name != "computedAt"
    }


async def test_an_experiment_everywhere_else_has_the_past_of_all_other_shops(market: Market) -> None:
    trial = market.trial
    trial.groups["THIRD"] = await trial.office.given("PosGroups", code="THIRD", currency="EUR")
    for shop, cents in (("TREATED", 1000), ("THIRD", 3000), ("CONTROL", 5000)):
        await market.sell(shop, A=cents)
    trial.later(days=1)
    promotion = await market.promotion(percent=10, isExperiment=True, controlGroupId=trial.groups["CONTROL"])
    for shop in ("TREATED", "THIRD", "CONTROL"):
        await market.sell(shop, A=2000)
    await market.report()
    result = await market.result(promotion)
    assert [result[name] for name in PAST] == [DAY, DAY, 1, 20, 50, None]  # -10.00 was to be expected


async def test_without_a_past_nothing_is_adjusted(market: Market) -> None:
    trial = market.trial
    await market.sell("TREATED", A=1000)
    trial.later(days=1)
    promotion = await trial.pilot(autoPromote=False)
    trial.later(minutes=1)
    for shop in ("TREATED", "CONTROL"):
        await market.sell(shop, A=1000)
    await market.report()
    result = await market.result(promotion)
    assert [result[name] for name in (*PAST, "adjustedPValue", "adjustedIsSignificant")] == [None] * 8


async def test_amounts_are_compared_within_one_currency(market: Market) -> None:
    trial = market.trial
    for code in ("SWISS", "ALPS"):
        trial.groups[code] = await trial.office.given("PosGroups", code=code, currency="CHF")
    await trial.pilot(
        autoPromote=False,
        pilotPosGroups=[{"posGroup_ID": trial.groups[name]} for name in ("TREATED", "SWISS")],
        controlPosGroups=[{"posGroup_ID": trial.groups[name]} for name in ("CONTROL", "ALPS")],
    )
    trial.later(minutes=1)
    for shop in ("TREATED", "SWISS", "CONTROL"):
        await market.sell(shop, A=1000)
        await market.sell(shop, A=2000)
    await market.sell("SWISS", A=99900)
    await market.report()
    result = await market.result(trial.promotion)
    assert (result["currency"], result["experimentAvgBasket"], result["revenueUplift"]) == ("EUR", Decimal("14.25"), -5)
    assert (result["experimentTransactions"], result["experimentConversionRate"]) == (5, 100)
    await market.sell("ALPS", A=3000)  # now both arms have both currencies
    await market.report()
    result = await market.result(trial.promotion)
    assert [result[name] for name in ("currency", "controlAvgBasket", "experimentAvgBasket", "revenueUplift")] == [
        None
    ] * 4
    assert (result["totalDiscount"], result["revenuePValue"], result["revenueIsSignificant"]) == (None, None, None)
    assert (result["experimentTransactions"], result["controlTransactions"]) == (5, 3)
    assert [row["revenue"] for row in await market.entries("PromotionAbComparison", trial.promotion)] == [None, None]
    names = ("controlAvgBasket", "experimentAvgBasket", "totalDiscount", "experimentTransactions")
    rows = await market.entries("ABTestResultsByCurrency", trial.promotion)
    assert {row["currency"]: [row[name] for name in names] for row in rows} == {
        "EUR": [15, Decimal("14.25"), Decimal("1.50"), 2],
        "CHF": [30, Decimal("325.85"), Decimal("51.45"), 3],  # 9.50, 19.00 and 949.05
    }
    exported = await market.exported(NOON, NOON + timedelta(days=1))
    assert [(row["currency"], row["controlAvgBasket"]) for row in exported] == [("CHF", 30), ("EUR", 15)]


async def test_a_deleted_promotion_stays_in_reports(market: Market) -> None:
    trial = market.trial
    promotion = await trial.pilot(autoPromote=False)
    trial.later(minutes=1)
    await market.sell("TREATED", A=1000)
    await market.sell("CONTROL", A=1000)
    name = (await trial.office.row("Promotions", promotion))["name"]
    (config,) = await trial.office.rows("PromotionPilotConfigs", promotion_ID=promotion)
    await trial.office.move("Promotions", promotion, "endPilot")
    await trial.office.remove("PromotionPilotConfigs", config["ID"])
    await trial.office.remove("Promotions", promotion)
    await market.report()
    result = await market.result(promotion)
    assert (result["experimentTransactions"], result["controlTransactions"]) == (1, 1)
    assert result["promotionName"] == name


async def test_an_export_is_of_its_period_to_the_moment(market: Market) -> None:
    trial = market.trial
    promotion = await trial.pilot(autoPromote=False)
    trial.later(minutes=1)
    for day in range(4):
        await market.sell("TREATED", A=1000 + day * 100)
        await market.sell("CONTROL", A=1000)
        trial.later(days=1)
    await market.report()
    whole = await market.exported(NOON, NOON + timedelta(days=4))
    assert [row["promotionId"] for row in whole] == [promotion]
    assert whole[0]["experimentAvgBasket"] == Decimal("10.93")  # 9.50, 10.45, 11.40 and 12.35
    result = await market.result(promotion)
    for name in ("revenueTStatistic", "revenuePValue", "uplift", "chiSquared", "controlConversionRate"):
        assert whole[0][name] == result[name]
    # From the second sale to just before the fourth; neither is at the edge of a day.
    (inner,) = await market.exported(NOON + timedelta(days=1, minutes=1), NOON + timedelta(days=3, minutes=1))
    assert inner["experimentAvgBasket"] == Decimal("10.93")  # 10.45 and 11.40
    (one_day,) = await market.exported(datetime(2026, 3, 3, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))
    assert one_day["experimentAvgBasket"] == Decimal("10.45")
    (moment,) = await market.exported(NOON + timedelta(minutes=1), NOON + timedelta(minutes=2))
    assert moment["experimentAvgBasket"] == Decimal("9.50")
    assert await market.exported(NOON - timedelta(days=9), NOON) == []
    assert len(await market.exported(NOON, NOON + timedelta(days=4), promotion_id=promotion)) == 1
    assert await market.exported(NOON, NOON + timedelta(days=4), stakeholder_id=promotion) == []
