"""A trial is planned from what its shops sell now, before it begins and while it runs."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal

import pytest

from promenade.errors import Invalid, NotFound
from promenade.workflows.reports.arms_planning import TrialPlan, plan_trial
from tests.workflows.authoring.desk import NOON, TENANT
from tests.workflows.reports.arms.market import Market

DAY = NOON.date()
NOBODY = "99999999-9999-4999-8999-999999999999"


async def plan(market: Market, promotion: str, difference: str = "5") -> TrialPlan:
    trial = market.trial
    return await trial.context.database.read(
        lambda session: plan_trial(session, promotion, Decimal(difference), trial.now[0]), tenant=TENANT
    )


async def experiment(market: Market) -> str:
    """Return an experiment that has not begun."""
    groups = market.trial.groups
    return await market.trial.office.given(
        "Promotions", status="DRAFT", isExperiment=True, controlGroupId=groups["CONTROL"],
        experimentGroupId=groups["TREATED"],
    )  # fmt: skip


async def sold_for(market: Market, days: int) -> None:
    """Sell four baskets on each of the days before today: 18.00 and 22.00 in one shop, 9.00 and 11.00 in the other."""
    for ago in range(1, days + 1):
        await market.trial.sold_before(ago, TREATED=["18", "22"], CONTROL=["9", "11"])


def expected_days(days: int, percent: float) -> float:
    """Return the plan's days by the textbook, for the baskets of `sold_for`, compared with 28 days of their past."""
    from scipy.stats import norm

    sold = 2 * days
    of_each = [spread * spread * sold / (sold - 1) / 2 for spread in (2, 1)]  # the variance, by two baskets a day
    alone = sum(of_each) * (norm.isf(0.025) + norm.isf(0.2)) ** 2 / (20 * percent / 100) ** 2
    return float(2 * alone if 2 * alone >= 28 else 1 / (1 / alone - 1 / 28))


@pytest.mark.parametrize("percent", [5, 2])
async def test_an_experiment_is_planned_before_it_begins(market: Market, percent: int) -> None:
    await sold_for(market, 28)
    found = await plan(market, await experiment(market), str(percent))
    days = expected_days(28, percent)
    assert (found.trial, found.currency, found.avg_basket) == ("EXPERIMENT", "EUR", Decimal(20))
    assert (found.pace_from, found.pace_to) == (DAY - timedelta(days=28), DAY - timedelta(days=1))
    assert found.baskets_per_day == 4
    assert found.days == math.ceil(days)
    assert found.baskets == math.ceil(days * 4)
    assert (found.more_baskets, found.more_days) == (found.baskets, math.ceil(math.ceil(days * 4) / 4))
    assert (found.baskets_so_far, found.significance_level, found.power) == (0, Decimal("0.05"), Decimal("0.8"))


async def test_what_a_trial_has_sold_is_taken_off_its_plan(market: Market) -> None:
    await sold_for(market, 10)
    promotion = await market.trial.pilot(autoPromote=False)
    market.trial.later(minutes=1)
    for shop in ("TREATED", "CONTROL", "CONTROL"):
        await market.sell(shop, A=1000)
    await market.report()
    found = await plan(market, promotion)
    assert found.baskets is not None
    assert found.more_baskets is not None
    assert (found.trial, found.baskets_so_far) == ("PILOT", 3)
    assert found.baskets == math.ceil(expected_days(10, 5) * 4)
    assert found.more_baskets == found.baskets - 3
    enough = await plan(market, promotion, "100")
    assert (enough.more_baskets, enough.more_days) == (0, 0)


async def test_without_sales_in_both_arms_nothing_is_planned(market: Market) -> None:
    promotion = await experiment(market)
    assert (await plan(market, promotion)).baskets_per_day is None
    await market.trial.sold_before(3, TREATED=["18", "22"])
    assert (await plan(market, promotion)).baskets is None
    await market.trial.sold_before(3, CONTROL=["9"])  # a single basket does not tell how much they vary
    found = await plan(market, promotion)
    assert (found.baskets_per_day, found.baskets, found.more_days) == (Decimal(1), None, None)


async def test_equal_baskets_say_nothing_of_those_to_come(market: Market) -> None:
    for ago in (1, 2):
        await market.trial.sold_before(ago, TREATED=["18", "18"], CONTROL=["9", "9"])
    found = await plan(market, await experiment(market))
    assert (found.avg_basket, found.baskets, found.days, found.more_days) == (Decimal("18.000"), None, None, None)


async def test_a_promotion_that_is_no_trial_has_no_plan(market: Market) -> None:
    promotion = await market.promotion()
    assert (await plan(market, promotion)).trial is None
    with pytest.raises(NotFound):
        await plan(market, NOBODY)


@pytest.mark.parametrize("difference", ["0", "-5", "100.01"])
async def test_a_difference_is_between_nothing_and_all(market: Market, difference: str) -> None:
    with pytest.raises(Invalid) as refused:
        await plan(market, await experiment(market), difference)
    assert (refused.value.code, refused.value.target) == ("OUT_OF_RANGE", "difference")
