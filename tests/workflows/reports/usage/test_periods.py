"""An export of promotionPerformance matches a simple count of the period's logs, wherever the period begins."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from promenade.store.driver.unit import Session
from promenade.store.sales.calculation_logs import insert_log
from promenade.store.sales.log_parts import packed_promotion
from promenade.workflows.reports.exports import Period, exports
from promenade.workflows.reports.sales import LoggedSale
from tests.workflows.reports.usage.made_up import any_sales, made_sale
from tests.workflows.reports.usage.test_sums import add, applications
from tests.workflows.shop import NOON, Shop, identity


async def log(shop: Shop, sales: Sequence[LoggedSale]) -> None:
    """Write the logs of the sales, as far as exports read them."""
    logs = [
        {
            "id": sale.log_id,
            "origin": sale.origin,
            "transaction_id": sale.transaction_id,
            "transaction_counter": sale.transaction_counter,
            "status": "CALCULATED",
            "subtotal": sale.subtotal,
            "discount": sale.discount,
            "grand_total": sale.grand_total,
            "currency": sale.currency,
            "evaluated_at": sale.evaluated_at,
            "confirmed_at": sale.confirmed_at,
            "source": "btp",
        }
        for sale in sales
    ]

    async def work(session: Session) -> None:
        for row, sale in zip(logs, sales, strict=True):
            promotions = [
                packed_promotion(
                    one.promotion_id, one.promotion_name, 1, int(one.total_discount * 1000), None, 0, None,
                    one.pilot_arm, None,
                )
                for one in sale.promotions
            ]  # fmt: skip
            await insert_log(session, row, [], promotions, at=NOON, block=0)

    await shop.context.database.write(work, tenant=shop.tenant)


async def exported(shop: Shop, since: datetime, until: datetime, **of: str) -> list[Mapping[str, Any]]:
    period = Period(tenant_id=shop.tenant, since=since, until=until, **of)
    return [row async for row in exports()["promotionPerformance"].rows(shop.context, period)]


def expected(sales: Sequence[LoggedSale], since: datetime, until: datetime) -> list[tuple[Any, ...]]:
    own: dict[tuple[str, str], list[tuple[datetime, Decimal]]] = {}
    for sale, promotion_id, amount in applications(sales):
        if since <= sale.confirmed_at < until:
            own.setdefault((promotion_id, sale.currency), []).append((sale.confirmed_at, amount))
    rows = []
    for (promotion_id, currency), found in own.items():
        total = sum((amount for _, amount in found), Decimal(0))
        average = (total / len(found)).quantize(Decimal("0.001"), ROUND_HALF_UP)
        times = [at for at, _ in found]
        rows.append((promotion_id, len(found), total, average, min(times), max(times), currency))
    return sorted(rows, key=lambda row: (row[6], -row[2], row[0]))


async def test_any_exported_period_equals_a_simple_count(shop: Shop, seed: int) -> None:
    sales = any_sales(seed, 250)
    await log(shop, sales)
    await add(shop, sales)
    chance = random.Random(seed)
    midnight = datetime(2026, 3, 1, tzinfo=UTC)
    moments = [sales[at].confirmed_at for at in range(12)] + [midnight, midnight + timedelta(days=31)]
    moments += [midnight - timedelta(days=29), midnight + timedelta(hours=5), midnight + timedelta(days=90)]
    for _ in range(25):
        since, until = sorted(chance.sample(moments, 2))
        rows = await exported(shop, since, until)
        names = ("promotionId", "applicationsCount", "totalDiscountGiven", "avgDiscountPerTx")
        found = [tuple(row[name] for name in (*names, "firstAppliedAt", "lastAppliedAt", "currency")) for row in rows]
        assert found == expected(sales, since, until), (since, until)


async def test_an_export_is_narrowed_to_a_promotion_or_to_what_a_stakeholder_pays(shop: Shop) -> None:
    sales = [
        made_sale("T1", ("A", {"off": "1.00", "saver": "3.00", "stamps": "0.50", "gone": "2.00"})),
        made_sale("T2", ("A", {"off": "0.01"}), at=NOON + timedelta(days=2)),
    ]
    await log(shop, sales)
    await add(shop, sales)
    for name in ("brand", "other"):
        await shop.put("Stakeholders", id=identity(name), code=name, name=name, type="SUPPLIER")
    await shop.put("BudgetStakeholders", budget_id=identity("marketing"), stakeholder_id=identity("brand"),
                   share_percentage=Decimal(40))  # fmt: skip
    await shop.put("BudgetPromotions", budget_id=identity("marketing"), promotion_id=identity("off"))
    await shop.put("StakeholderPromotions", stakeholder_id=identity("brand"), promotion_id=identity("stamps"),
                   share_percentage=Decimal(10))  # fmt: skip
    begin, end = NOON - timedelta(days=3), NOON + timedelta(days=5)

    rows = await exported(shop, begin, end)
    assert [(row["promotionName"], row["promotionStatus"], row["totalDiscountGiven"]) for row in rows] == [
        ("saver", "ACTIVE", Decimal("3")),
        ("gone", None, Decimal("2")),
        ("off", "ACTIVE", Decimal("1.01")),
        ("stamps", "ACTIVE", Decimal("0.5")),
    ]
    assert list(rows[0]) == list(exports()["promotionPerformance"].columns)
    only = await exported(shop, begin, end, promotion_id=identity("saver"))
    assert [row["promotionName"] for row in only] == ["saver"]
    paid = await exported(shop, begin, end, stakeholder_id=identity("brand"))
    assert [row["promotionName"] for row in paid] == ["off", "stamps"]
    assert not await exported(shop, begin, end, stakeholder_id=identity("other"))
    assert [row["totalDiscountGiven"] for row in await exported(shop, NOON, NOON + timedelta(seconds=1))] == [
        Decimal(3), Decimal(2), Decimal(1), Decimal("0.5"),
    ]  # fmt: skip
    assert not await exported(shop, NOON - timedelta(days=2), NOON)
