"""A retailer that sells in euros and in yen: no figure of a report, an export or `$apply` adds up both.

Amounts in yen are millions, all of them multiples of a thousand; those in euros are small. So an amount in euros that
holds a yen is large, and a sum in yen that holds a euro is no multiple of a thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query, Rows
from promenade import model
from promenade.model.declare import NONE, EntityType, Field, Service
from promenade.model.edm import edm_for
from promenade.store.driver.unit import Database, Session
from promenade.store.odata.services import columns_of, reader_for, rows_of
from promenade.workflows.reports import exports
from promenade.workflows.reports.advice import count_shown
from promenade.workflows.reports.exports import Period
from tests.workflows.authoring.desk import NOON, TENANT
from tests.workflows.reports.arms.market import Market, open_market

REPORTS = [one for one in model.entities() if one.reporting is not NONE and one.public is NONE and one.admin is NONE]
EDM = edm_for(Service.REPORTING)
LARGE = Decimal(100_000)
QUOTIENTS = ("avg", "Avg", "PerDay", "dailyBurnRate", "extraRevenue", "netGain")  # no sums of whole amounts
SILENT = {"CouponAnalytics", "AggregatorRuns"}
"""Reports without amounts."""


def is_money(field: Field) -> bool:
    return (field.precision, field.scale) == (18, 3)


MONEY = {field.wire for entity in REPORTS for field in entity.fields if is_money(field)}


def check(rows: Iterable[Mapping[str, Any]], whose: str) -> set[str | None]:
    """Check every amount of every row; return the currencies that occur."""
    found: set[str | None] = set()
    for row in rows:
        amounts = {name: row[name] for name in row.keys() & MONEY if row[name] is not None}
        if row["currency"] is None:
            assert amounts == {}, (whose, row)
        for name, amount in amounts.items():
            if row["currency"] == "EUR":
                assert abs(amount) < LARGE, (whose, name, row)
            else:
                assert amount == 0 or abs(amount) >= LARGE / 100, (whose, name, row)
                is_sum = not any(part in name for part in QUOTIENTS)
                assert not is_sum or amount % 1000 == 0, (whose, name, row)
        found.add(row["currency"])
    return found


async def rows(market: Market, entity: EntityType) -> list[dict[str, Any]]:
    source = rows_of(entity)
    shown = columns_of(entity, Service.REPORTING).items()
    columns = [(source.c[of] if isinstance(of, str) else of(source)).label(name) for name, of in shown]

    async def work(session: Session) -> list[dict[str, Any]]:
        return [dict(row._mapping) for row in await session.execute(select(*columns).select_from(source))]

    return await market.trial.context.database.read(work, tenant=TENANT)


async def open_shops(database: Database) -> Market:
    """Open two shops in euros and two in yen, with a pilot in one of each and promotions with and without a budget."""
    market = await open_market(database)
    trial, office = market.trial, market.trial.office
    for code in ("GINZA", "UMEDA"):
        trial.groups[code] = await office.given("PosGroups", code=code, currency="JPY")
    await sell(market, "OLD")
    await trial.pilot(
        autoPromote=False,
        pilotPosGroups=[{"posGroup_ID": trial.groups[name]} for name in ("TREATED", "GINZA")],
        controlPosGroups=[{"posGroup_ID": trial.groups[name]} for name in ("CONTROL", "UMEDA")],
    )
    await market.promotion(percent=10, article="ANY")
    stakeholder = await office.given("Stakeholders")
    for currency, total in (("EUR", 500), ("JPY", 50_000_000)):
        promotion = await market.promotion(percent=20, article="PAID", currency=currency)
        budget = await office.given("Budgets", currency=currency, totalAmount=Decimal(total), status="ACTIVE")
        await office.given("BudgetPromotions", budget_ID=budget, promotion_ID=promotion)
        share = {"budget_ID": budget, "stakeholder_ID": stakeholder, "sharePercentage": Decimal(100)}
        await office.given("BudgetStakeholders", **share)
    trial.later(days=1)
    await sell(market, "ANY")
    await sell(market, "PAID")
    trial.later(days=1)
    while (await count_shown(trial.context))[1]:
        pass
    await market.report()
    return market


async def sell(market: Market, article: str) -> None:
    for shop, unit in (("TREATED", 1013), ("CONTROL", 907), ("GINZA", 10_000_000), ("UMEDA", 30_000_000)):
        for pieces in (1, 2, 4):
            await market.sell(shop, **{article: pieces * unit})


@pytest.mark.parametrize("entity", [one for one in REPORTS if one.set_name not in SILENT], ids=lambda one: one.set_name)
def test_a_report_with_amounts_names_their_currency(entity: EntityType) -> None:
    amounts = [field.wire for field in entity.fields if is_money(field)]
    assert amounts
    assert any(field.wire == "currency" for field in entity.fields)


async def test_no_amount_of_a_report_or_an_export_is_of_two_currencies(database: Database) -> None:
    market = await open_shops(database)
    empty = set()
    for entity in REPORTS:
        found = await rows(market, entity)
        if entity.set_name not in SILENT and not {"EUR", "JPY"} <= check(found, entity.set_name):
            empty.add(entity.set_name)
    # One row per promotion: the promotions without a currency of their own have applied in both.
    advice = {one.set_name for one in REPORTS if one.set_name.endswith(("ROI", "Aggregates"))} - {"ABTestROI"}
    assert empty <= advice | {"ABTestResults", "PromotionAbComparison", "PilotComparisonReports"}
    for since, until in ((NOON, NOON + timedelta(days=9)), (NOON + timedelta(hours=3), NOON + timedelta(hours=30))):
        period = Period(tenant_id=TENANT, since=since, until=until)
        for name in sorted(exports().keys() - {"couponAnalytics"}):
            exported = [row async for row in exports()[name].rows(market.trial.context, period)]
            assert check(exported, name) == {"EUR", "JPY"}


async def read(market: Market, set_name: str, apply: str) -> list[Mapping[str, Any]]:
    target = resolve(EDM, parse_path(set_name), {}).target
    assert target is not None
    query = Query(target=target, options=parse_options(f"$apply={apply}"), now=NOON)

    async def work(session: Session) -> Any:
        return await reader_for(Service.REPORTING).read(session, query)

    found = await market.trial.context.database.read(work, tenant=TENANT)
    assert isinstance(found, Rows)
    return [dict(one) for one in found.items]


GROUPS = "groupby(({1}currency),aggregate({0} with sum as y))"
MIXED = [
    "aggregate({0} with sum as x)",
    "aggregate({0} with average as x)",
    "aggregate({0} with max as x)",
    "aggregate({0} mul 2 with sum as x)",
    "compute({0} add 1 as more)/aggregate(more with sum as x)",
    "groupby(({1}currency,{2}),aggregate({0} with sum as y))/aggregate(y with sum as x)",
    "groupby(({2}),aggregate({0} with sum as y))/aggregate(y with sum as x)",
    "groupby(({1}currency),aggregate({0} with sum as y))/compute(y mul 2 as z)/aggregate(z with sum as x)",
    "concat(groupby(({1}currency),aggregate({0} with sum as y)),groupby(({2})))/aggregate(y with sum as x)",
    "concat({groups},groupby(({2}),aggregate({0} with sum as y)))/aggregate(y with sum as x)",
    "concat(groupby(({2},{1}currency),aggregate({0} with sum as y)),{groups})/aggregate(y with sum as x)",
    "groupby(({0}),aggregate($count as n))/aggregate({0} with sum as x)",
    "groupby(({0},{1}currency),aggregate($count as n))/aggregate({0} with sum as x)",
    "groupby(({0}))/compute({0} mul 2 as more)/aggregate(more with max as x)",
    "topcount(1000,{0})/aggregate({0} with sum as x)",
    "groupby(({1}currency),aggregate({0} with sum as y))/concat(aggregate(y with sum as x),aggregate(y with max as x))",
]
SOURCES = [
    ("PromotionUsageByDay", "totalDiscount", "", "promotionId"),
    ("PromotionPerformanceByCurrency", "avgDiscountPerTx", "", "promotionId"),
    ("StakeholderCostBreakdown", "stakeholderCost", "", "budgetId"),
    ("CalculationLogs", "grandTotal", "", "posGroup_ID"),
    ("CalculationLogPromotions", "totalDiscount", "log/", "promotion_ID"),
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda one: one[0])
async def test_an_aggregate_of_two_currencies_is_null(database: Database, source: tuple[str, ...]) -> None:
    market = await open_shops(database)
    set_name, amount, log, key = source
    found = await read(market, set_name, f"groupby(({log}currency),aggregate({amount} with sum as x,$count as n))")
    by_currency = {str((row["log"] if log else row)["currency"]): row["x"] for row in found}
    assert by_currency.keys() == {"EUR", "JPY"}
    assert 0 < by_currency["EUR"] < LARGE < by_currency["JPY"]
    for mixed in MIXED:
        apply = mixed.replace("{groups}", GROUPS)
        rows = await read(market, set_name, apply.format(amount, log, key))
        assert [row["x"] for row in rows] == [None] * len(rows), apply
        (row, *_) = await read(market, set_name, f"filter({log}currency eq 'EUR')/{apply.format(amount, log, key)}")
        assert list(row) == ["x"]
        assert 0 < row["x"] < LARGE, apply


async def test_rows_of_several_sources_keep_their_currencies(database: Database) -> None:
    """A shop sells in one currency, so its total is known; the rows beside it are in euros."""
    market = await open_shops(database)
    of_shops = "groupby((posGroup_ID),aggregate(grandTotal with sum as y))"
    in_euros = "filter(currency eq 'EUR')/groupby((currency),aggregate(grandTotal with sum as y))"
    for parts in ((of_shops, in_euros), (in_euros, of_shops)):
        (row,) = await read(market, "CalculationLogs", f"concat({','.join(parts)})/aggregate(y with sum as x)")
        assert row["x"] is None
        (row,) = await read(
            market,
            "CalculationLogs",
            f"filter(currency eq 'JPY')/concat({of_shops},{of_shops})/aggregate(y with sum as x)",
        )
        assert row["x"] > LARGE


async def test_an_amount_whose_currency_is_not_known_is_in_no_sum(database: Database) -> None:
    """Nothing in euros and nothing in yen are one group, whose currency nobody knows."""
    market = await open_shops(database)
    nothing = "compute(grandTotal mul 0 as y)/groupby((y),aggregate($count as n))"
    in_euros = "filter(currency eq 'EUR')/groupby((currency),aggregate(grandTotal with sum as y))"
    (row,) = await read(market, "CalculationLogs", f"concat({in_euros},{nothing})/aggregate(y with sum as x)")
    assert row["x"] is None
    only = f"filter(currency eq 'EUR')/concat({in_euros},{nothing})/aggregate(y with sum as x)"
    (row,) = await read(market, "CalculationLogs", only)
    assert 0 < row["x"] < LARGE
