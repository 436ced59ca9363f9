"""Readers' view of the use of promotions: current names, and top lists in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query, Rows
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.store.driver.unit import Session
from promenade.store.odata.services import reader_for
from promenade.workflows.reports.aggregating import aggregate_all
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.reports.usage.made_up import made_sale
from tests.workflows.reports.usage.test_sums import add, refresh
from tests.workflows.shop import NOON, Shop, identity

OFF, SAVER = identity("off"), identity("saver")


async def read(shop: Shop, path: str, options: str = "") -> Rows:
    target = resolve(edm_for(Service.REPORTING), parse_path(path), {}).target
    assert target is not None
    query = Query(target=target, options=parse_options(options), now=NOON)

    async def work(session: Session) -> Any:
        return await reader_for(Service.REPORTING).read(session, query)

    found = await shop.context.database.read(work, tenant=shop.tenant)
    assert isinstance(found, Rows)
    return found


async def of(shop: Shop, path: str, options: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(str(item[name]) for name in names) for item in (await read(shop, path, options)).items]


async def test_a_sale_is_in_every_report_with_the_names_and_the_clock_of_the_shop(shop: Shop) -> None:
    await shop.change("PosGroups", "shop", time_zone="America/New_York")
    await shop.put("Articles", article_number="A-2", name="Tea")
    await shop.promotion("pilot")
    priced = outcome(
        (
            line("1", 2000, 1000, discount("off", ((2, 100),)), discount("saver", ((1, 33),))),
            line("2", 1000, 700, discount("off", ((1, 51),))),
        ),
        (applied("off", 251), applied("saver", 33), applied("stamps", points=5)),
    )
    basket = replace(priced, control_arms=("pilot",))
    for name in ("T1", "T2", "T3"):
        await shop.confirm(name, await shop.price(name, basket), "off" if name < "T3" else ("off", "0.01"))
        shop.later(hours=14)
    assert await aggregate_all(shop.context, shop.tenant) == 3
    await shop.change("Promotions", "off", type="BASKET")

    row, *_ = (await read(shop, "PromotionPerformance", f"$filter=promotionId eq {OFF}")).items
    assert (row["promotionName"], row["promotionStatus"], row["promotionType"]) == ("off", "ACTIVE", "BASKET")
    assert (row["applicationsCount"], row["totalDiscountGiven"]) == (3, Decimal("5.03"))
    assert row["avgDiscountPerTx"] == Decimal("1.677")
    assert row["currency"] == "EUR"
    assert str(row["firstAppliedAt"]) == "2026-03-02 12:00:00+00:00"
    assert str(row["lastAppliedAt"]) == "2026-03-03 16:00:00+00:00"
    mine = f"$filter=promotionId eq {OFF}"
    assert await of(shop, "PromotionUsageByDay", mine, "promotionName", "day", "applications", "totalDiscount") == [
        ("off", "2026-03-02", "2", "5.020"),
        ("off", "2026-03-03", "1", "0.010"),
    ]
    assert await of(shop, "PromotionUsageByHour", mine, "hour", "transactions") == [
        ("7", "1"),
        ("11", "1"),
        ("21", "1"),
    ]
    assert await of(shop, "PromotionUsageByDayOfWeek", mine, "weekday", "transactions") == [("1", "2"), ("2", "1")]
    assert await of(shop, "PromotionDiscountDistribution", mine, "bucketFrom", "bucketTo", "transactions") == [
        ("0.000", "0.500", "1"),
        ("2.000", "5.000", "2"),
    ]
    sold = await of(shop, "PromotionHourOfDay", f"{mine} and transactions gt 0", "weekday", "hour", "totalDiscount")
    assert sold == [("1", "7", "2.510"), ("1", "21", "2.510"), ("2", "11", "0.010")]
    hours = await of(shop, "PromotionUsageByDayAndHour", mine, "day", "weekday", "hour", "totalDiscount")
    assert hours == [
        ("2026-03-02", "1", "7", "2.510"),
        ("2026-03-02", "1", "21", "2.510"),
        ("2026-03-03", "2", "11", "0.010"),
    ]
    assert (await read(shop, "PromotionHourOfDay", f"{mine}&$count=true&$top=0")).count == 168
    stores = await of(shop, "PromotionTopPosGroups", mine, "rank", "posGroupCode", "posGroupName", "totalDiscount")
    assert stores == [("1", "SHOP", "Shop", "5.030")]
    articles = await of(shop, "PromotionTopArticles", mine, "rank", "articleNumber", "articleName", "totalDiscount")
    assert articles == [("1", "A-1", "None", "4.010"), ("2", "A-2", "Tea", "1.020")]
    assert not (await read(shop, "PromotionPerformance", f"$filter=promotionId eq {identity('pilot')}")).items


async def test_a_promotion_that_is_deleted_stays_with_its_last_name(shop: Shop) -> None:
    await add(shop, [made_sale("T1", ("A", {"gone": "1"}))])
    gone = f"$filter=promotionId eq {identity('gone')}"
    names = ("promotionName", "promotionStatus", "promotionType", "totalDiscountGiven")
    assert await of(shop, "PromotionPerformance", gone, *names) == [("gone", "None", "None", "1.000")]
    assert await of(shop, "PromotionUsageByDay", gone, "promotionName") == [("gone",)]
    await add(shop, [made_sale("T2", ("A", {"gone": "2"}), currency="CHF")])
    amounts = ("totalDiscountGiven", "avgDiscountPerTx", "currency", "applicationsCount")
    assert await of(shop, "PromotionPerformance", gone, *amounts) == [("None", "None", "None", "2")]
    for at in range(2):
        await add(shop, [made_sale(f"T{3 + at}", ("A", {"gone": "4"}), currency=("EUR", "CHF")[at])])
    assert await of(shop, "PromotionPerformance", gone, *amounts) == [("None", "None", "None", "4")]
    assert await of(shop, "PromotionPerformanceByCurrency", f"{gone}&$orderby=currency", *amounts) == [
        ("6.000", "3.000", "CHF", "2"),
        ("5.000", "2.500", "EUR", "2"),
    ]
    assert await of(shop, "PromotionUsageByDay", gone, "totalDiscount", "currency") == [
        ("6.000", "CHF"),
        ("5.000", "EUR"),
    ]
    for name, days in (("gone for good", 1), ("as it was", -1)):  # the second is reported late
        late = made_sale(name, ("A", {"gone": "1"}), at=NOON + timedelta(days=days))
        await add(shop, [replace(late, promotions=(replace(late.promotions[0], promotion_name=name),))])
    assert await of(shop, "PromotionPerformance", gone, "promotionName") == [("gone for good",)]
    await refresh(shop)
    assert await of(shop, "PromotionTopArticles", gone, "currency", "rank") == [("CHF", "1"), ("EUR", "1")]


async def test_top_lists_are_sorted_by_rank(shop: Shop) -> None:
    given = [(name, at) for name in ("off", "saver") for at in range(1, 31)]
    await add(shop, [made_sale(f"{name}{at}", (f"A{at}", {name: str(at)}), place=f"place {at}") for name, at in given])
    await add(shop, [made_sale("nowhere", ("A0", {"off": "99"}), place=None)])
    await refresh(shop)
    whole = await read(shop, "PromotionTopArticles", "$count=true&$top=3")
    assert whole.count == 40
    first = await of(shop, "PromotionTopArticles", f"$filter=promotionId eq {OFF}", "rank", "articleNumber")
    assert first == [(str(rank), f"A{31 - (rank - 1)}" if rank > 1 else "A0") for rank in range(1, 21)]
    few = "$filter=rank le 2&$orderby=rank,promotionName"
    assert await of(shop, "PromotionTopPosGroups", few, "rank", "promotionName", "posGroupId", "totalDiscount") == [
        ("1", "off", "None", "99.000"),
        ("1", "saver", identity("place 30"), "30.000"),
        ("2", "off", identity("place 30"), "30.000"),
        ("2", "saver", identity("place 29"), "29.000"),
    ]
    for name in ("PromotionPostMortemTopArticles", "PromotionPostMortemTopStores"):
        ten = await read(shop, name, f"$filter=promotion_ID eq {SAVER}&$count=true")
        assert ten.count == 10
        assert [item["rank"] for item in ten.items] == list(range(1, 11))
        assert [item["totalDiscount"] for item in ten.items] == list(range(30, 20, -1))
