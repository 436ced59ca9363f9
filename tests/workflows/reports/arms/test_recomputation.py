"""Reports on arms and days match their logs, however the sales were counted."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from random import Random
from typing import Any

from promenade.engine.pilots import treated_groups
from promenade.store.clockwork.pilots import read_pilots, sum_sales
from promenade.store.reports.arms import Sample
from promenade.workflows.reports.aggregating import Run, aggregate
from promenade.workflows.reports.rebuilding import begin_rebuild, rebuild_portion
from promenade.workflows.reports.statistics import welch
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.workflows.authoring.desk import TENANT
from tests.workflows.reports.arms.market import Market


async def logs(market: Market) -> list[dict[str, Any]]:
    return [row for row in await market.trial.office.rows("CalculationLogs") if row["status"] == "CALCULATED"]


async def sums(market: Market, name: str, *key: str) -> dict[Any, tuple[int, Decimal, int]]:
    """Return transactions, revenue and squares, by key."""
    found: dict[Any, tuple[int, Decimal, int]] = {}
    for row in await market.trial.office.system_rows(name):
        squares = row["squares_0"] + (row["squares_1"] << 40) + (row["squares_2"] << 80)
        found[tuple(row[one] for one in key)] = (row["transactions"], row["revenue"], squares)
    return found


async def check(market: Market, promotion: str) -> None:
    """Check every sum against the logs, and the arms against those used for pilots."""
    sold = await logs(market)
    expected: dict[Any, tuple[int, Decimal, int]] = defaultdict(lambda: (0, Decimal(0), 0))
    for log in sold:
        for group in ("", log["posGroup_ID"]):
            key = (group, log["confirmedAt"].date(), log["currency"])
            count, total, squares = expected[key]
            paid = log["grandTotal"]
            expected[key] = (count + 1, total + paid, squares + int(paid * 1000) ** 2)
    shown = await sums(market, "basket_days", "pos_group_id", "day", "currency")
    assert {key: found for key, found in shown.items() if found[0]} == expected
    database, at = market.trial.context.database, market.trial.now[0]
    (pilot,) = await database.read(lambda session: read_pilots(session, at), system=True)
    treated = treated_groups(pilot.row)
    by_arm = (
        await database.read(
            lambda session: sum_sales(session, pilot, treated, pilot.row.starts_at, pilot.row.ends_at), tenant=TENANT
        )
    )["EUR"]
    compared = {row["arm"]: row for row in await market.entries("PromotionAbComparison", promotion)}
    for arm, row in compared.items():
        assert (row["transactions"], row["revenue"] * 1000) == (by_arm[arm].transactions, by_arm[arm].total), arm
    of_arms = [
        [int(log["grandTotal"] * 1000) for log in sold if log["posGroup_ID"] == market.trial.groups[shop]]
        for shop in ("TREATED", "CONTROL")
    ]
    samples = [Sample(len(one), sum(one), sum(paid * paid for paid in one)) for one in of_arms]
    assert [by_arm[arm].squares for arm in ("PILOT", "CONTROL")] == [one.squares for one in samples]
    found = welch(*samples)
    assert found is not None
    assert compared["PILOT"]["pValue"] == Decimal(f"{found.p_value:.10f}")


async def test_counting_in_any_portions_and_recounting_give_the_same_figures(market: Market, seed: int) -> None:
    random, trial = Random(seed), market.trial
    promotion = await trial.pilot(autoPromote=True, autoPromoteThreshold=Decimal(999))
    await trial.office.given(
        "Conditions", promotion_ID=promotion, conditionType="RECEIPT_AMOUNT", minAmount=Decimal(10)
    )
    for _ in range(3):
        trial.later(hours=9)
        for _ in range(6):
            cents = random.choice((-1, 1, 1, 1)) * random.randrange(1, 4000)
            await market.sell(random.choice(("TREATED", "CONTROL")), A=cents, B=random.randrange(1, 500))
        await aggregate(trial.context, TENANT, limit=random.randrange(1, 5))
    for shop in ("TREATED", "CONTROL") * 2:
        await market.sell(shop, A=random.randrange(1, 4000))
    for log in random.sample(await logs(market), 5):  # some of them counted already
        await cancel(trial.context, TENANT, CancelCommand(log["transactionId"], log["transactionCounter"]))
    await market.report()
    await check(market, promotion)
    shown = {**await market.result(promotion), "computedAt": None}
    await begin_rebuild(trial.context.database, TENANT)
    while await rebuild_portion(trial.context, TENANT, Run(trial.context.new_id), 7) is not None:
        pass
    await market.report()
    await check(market, promotion)
    assert {**await market.result(promotion), "computedAt": None} == shown
