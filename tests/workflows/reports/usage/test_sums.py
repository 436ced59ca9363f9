"""Reports on the use of promotions match a simple count of all sales, in whatever order these arrived."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from promenade.store.driver.unit import Session
from promenade.workflows.reports.sales import LoggedSale
from promenade.workflows.reports.usage import add_usage, bucket_of, fill_hours, give_places
from tests.workflows.reports.usage.made_up import any_sales, made_sale
from tests.workflows.shop import NOON, Shop, identity

Sums = dict[tuple[Any, ...], tuple[int, Decimal]]


async def add(shop: Shop, sales: Sequence[LoggedSale], sign: int = 1) -> None:
    """Add sales, or take cancelled ones out, as a portion of the aggregator does."""

    async def work(session: Session) -> None:
        await (await add_usage(session, sales, NOON, sign))(session)

    await shop.context.database.write(work, tenant=shop.tenant)


async def refresh(shop: Shop) -> None:
    for one in (give_places, fill_hours):
        await one(shop.context, shop.tenant, NOON)


def counted(found: Iterable[tuple[tuple[Any, ...], Decimal]]) -> Sums:
    sums: Sums = defaultdict(lambda: (0, Decimal(0)))
    for key, amount in found:
        number, total = sums[key]
        sums[key] = number + 1, total + amount
    return dict(sums)


def applications(sales: Iterable[LoggedSale]) -> list[tuple[LoggedSale, str, Decimal]]:
    return [
        (sale, one.promotion_id, one.total_discount)
        for sale in sales
        for one in sale.promotions
        if one.pilot_arm != "CONTROL"
    ]


async def kept(shop: Shop, name: str, key: Sequence[str], number: str, total: str | None = "total_discount") -> Sums:
    return {
        tuple(row._mapping[one] for one in key): (
            row._mapping[number],
            Decimal(0) if total is None else row._mapping[total],
        )
        for row in await shop.rows(name)
    }


async def test_every_report_equals_a_simple_count_of_all_sales(shop: Shop, seed: int) -> None:
    sales = any_sales(seed, 300)
    for start in range(0, len(sales), 90):
        await add(shop, sales[start : start + 90])
        await refresh(shop)
    await check_usage(shop, sales)
    await check_hours(shop, sales)
    await check_performance(shop, sales)


async def check_usage(shop: Shop, sales: Sequence[LoggedSale]) -> None:
    applied = applications(sales)

    by_day = ("promotion_id", "day", "currency")
    expected = counted(((one, sale.local_at.date(), sale.currency), amount) for sale, one, amount in applied)
    assert await kept(shop, "PromotionUsageByDay", by_day, "applications") == expected
    assert await kept(shop, "PromotionUsageByDay", by_day, "transactions") == expected
    assert await kept(shop, "promotion_utc_days", by_day, "applications") == counted(
        ((one, sale.confirmed_at.date(), sale.currency), amount) for sale, one, amount in applied
    )
    assert await kept(shop, "promotion_utc_months", ("promotion_id", "month", "currency"), "applications") == counted(
        ((one, sale.confirmed_at.date().replace(day=1), sale.currency), amount) for sale, one, amount in applied
    )
    assert await kept(shop, "PromotionUsageByHour", ("promotion_id", "hour", "currency"), "applications") == counted(
        ((one, sale.local_at.hour, sale.currency), amount) for sale, one, amount in applied
    )
    by_weekday = ("promotion_id", "weekday", "currency")
    assert await kept(shop, "PromotionUsageByDayOfWeek", by_weekday, "transactions") == counted(
        ((one, sale.local_at.isoweekday(), sale.currency), amount) for sale, one, amount in applied
    )
    distribution = await kept(
        shop,
        "PromotionDiscountDistribution",
        ("promotion_id", "bucket_from", "bucket_to", "currency"),
        "transactions",
        None,
    )
    assert {key: number for key, (number, _) in distribution.items()} == {
        key: number
        for key, (number, _) in counted(
            ((one, *bucket_of(amount), sale.currency), amount) for sale, one, amount in applied
        ).items()
    }


async def check_hours(shop: Shop, sales: Sequence[LoggedSale]) -> None:
    applied = applications(sales)
    hours = await kept(shop, "PromotionHourOfDay", ("promotion_id", "weekday", "hour", "currency"), "transactions")
    assert {key: sums for key, sums in hours.items() if sums[0]} == counted(
        ((one, sale.local_at.isoweekday(), sale.local_at.hour, sale.currency), amount) for sale, one, amount in applied
    )
    by_day = ("promotion_id", "day", "weekday", "hour", "currency")
    expected = counted(
        ((one, sale.local_at.date(), sale.local_at.isoweekday(), sale.local_at.hour, sale.currency), amount)
        for sale, one, amount in applied
    )
    assert await kept(shop, "PromotionUsageByDayAndHour", by_day, "applications") == expected
    assert await kept(shop, "PromotionUsageByDayAndHour", by_day, "transactions") == expected
    pairs = {(one, sale.currency) for sale, one, _ in applied}
    assert len(hours) == 168 * len(pairs)


async def check_performance(shop: Shop, sales: Sequence[LoggedSale]) -> None:
    applied = applications(sales)
    rows = {row.promotion_id: row for row in await shop.rows("PromotionPerformance")}
    assert set(rows) == {one for _, one, _ in applied}
    for promotion_id, row in rows.items():
        own = [(sale, amount) for sale, one, amount in applied if one == promotion_id]
        assert row.applications_count == len(own)
        assert row.first_applied_at == min(sale.confirmed_at for sale, _ in own)
        assert row.last_applied_at == max(sale.confirmed_at for sale, _ in own)
        currencies = {sale.currency for sale, _ in own}
        is_one = len(currencies) == 1
        assert row.currency == (currencies.pop() if is_one else None)
        assert row.total_discount_given == (sum(amount for _, amount in own) if is_one else None)
    by_currency = await shop.rows("PromotionPerformanceByCurrency")
    assert {
        (row.promotion_id, row.currency): (row.applications_count, row.total_discount_given) for row in by_currency
    } == counted(((one, sale.currency), amount) for sale, one, amount in applied)


async def test_a_promotion_whose_last_sale_in_a_currency_was_cancelled_has_amounts_again(shop: Shop) -> None:
    euros = [made_sale(f"E{at}", ("A", {"off": "2.50"}), at=NOON + timedelta(hours=at)) for at in (1, 3)]
    abroad = [made_sale(f"F{at}", ("A", {"off": "7"}), at=NOON + timedelta(hours=at), currency="CHF") for at in (0, 4)]
    await add(shop, [*euros, *abroad])
    (row,) = await shop.rows("PromotionPerformance")
    assert (row.currency, row.total_discount_given, row.applications_count) == (None, None, 4)
    await add(shop, abroad[:1], sign=-1)
    (row,) = await shop.rows("PromotionPerformance")
    assert (row.currency, row.total_discount_given, row.applications_count) == (None, None, 3)
    await add(shop, abroad[1:], sign=-1)
    await check_performance(shop, euros)


async def test_a_day_that_is_cancelled_sale_by_sale_is_no_day_of_use(shop: Shop) -> None:
    """All sales of a day are cancelled, and some are taken out before the others: none is left to look up."""
    kept_one = made_sale("K", ("A", {"off": "1"}), at=NOON)
    around = [
        made_sale(f"{days}-{at}", ("A", {"off": "1"}), at=NOON + timedelta(days=days, hours=at))
        for days in (-1, 1)
        for at in (0, 1, 2)
    ]
    await add(shop, [kept_one, *around])
    for sale in (around[0], around[5], around[2], around[3], around[1], around[4]):
        await add(shop, [sale], sign=-1)
    await check_performance(shop, [kept_one])
    for name in ("PromotionPerformanceByCurrency", "promotion_utc_months", "promotion_utc_days"):
        (row,) = await shop.rows(name)
        assert (row.first_applied_at, row.last_applied_at) == (NOON, NOON), name


async def test_top_lists_rank_the_first_of_each_promotion_correctly(shop: Shop, seed: int) -> None:
    sales = any_sales(seed, 300)
    for start in range(0, len(sales), 60):
        await add(shop, sales[start : start + 60])
        if start % 120:
            await refresh(shop)
        await check_places(shop, sales[: start + 60], placed=bool(start % 120))
    await refresh(shop)
    await check_places(shop, sales, placed=True)


async def check_places(shop: Shop, sales: Sequence[LoggedSale], *, placed: bool) -> None:
    by_place = counted(
        ((one, sale.currency, sale.pos_group_id or ""), amount) for sale, one, amount in applications(sales)
    )
    by_article: dict[tuple[Any, ...], Decimal] = {}
    sold: dict[tuple[Any, ...], set[str]] = {}
    for sale in sales:
        for line in sale.lines:
            for share in line.discounts:
                key = (share.promotion_id, sale.currency, line.article_number)
                by_article[key] = by_article.get(key, Decimal(0)) + share.amount
                sold.setdefault(key, set()).add(sale.log_id)
    of_articles = {key: (len(sold[key]), total) for key, total in by_article.items()}
    for name, item, expected in (
        ("promotion_pos_group_sums", "pos_group_id", by_place),
        ("promotion_article_sums", "article_number", of_articles),
    ):
        rows = await shop.rows(name)
        key = ("promotion_id", "currency", item)
        assert await kept(shop, name, key, "applications") == expected
        if placed:
            found = {tuple(row._mapping[one] for one in key): row.rank for row in rows if row.rank is not None}
            assert found == places(expected)


def places(sums: Sums) -> dict[tuple[Any, ...], int]:
    found: dict[tuple[Any, ...], int] = {}
    for pair in {key[:2] for key in sums}:
        own = sorted((key for key in sums if key[:2] == pair), key=lambda key: (-sums[key][1], key))
        found |= {key: at for at, key in enumerate(own[:20], 1)}
    return found


async def test_returns_let_entries_below_the_top_list_move_up(shop: Shop) -> None:
    await add(shop, [made_sale(f"T{at}", ("A", {"off": str(at)}), place=f"place {at}") for at in range(10, 40)])
    await refresh(shop)
    await add(shop, [made_sale("R", place="place 39", taken_back={"off": "-38"})])
    await refresh(shop)
    ranks = {row.pos_group_id: row.rank for row in await shop.rows("promotion_pos_group_sums") if row.rank}
    assert ranks == {identity(f"place {at}"): 39 - at for at in range(19, 39)}


async def test_buckets_count_the_sales_between_their_bounds() -> None:
    bounds = {
        "0": ("0", "0.5"), "0.49": ("0", "0.5"), "0.5": ("0.5", "1"), "4.99": ("2", "5"), "5": ("5", "10"),
        "123456.789": ("100000", "200000"), "-0.01": ("-0.5", "0"), "-3": ("-5", "-2"), "-5": ("-5", "-2"),
        "999999999999999.999": ("500000000000000", "999999999999999.999"),
        "-999999999999999.999": ("-999999999999999.999", "-500000000000000"),
    }  # fmt: skip
    for amount, (begin, end) in bounds.items():
        assert bucket_of(Decimal(amount)) == (Decimal(begin), Decimal(end))
