"""A sale as passed to folds matches its log, including the discount of each promotion on each line."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest

from promenade.store.driver.unit import Session
from promenade.workflows.reports.aggregating import aggregate
from promenade.workflows.reports.folds import Fold, Write
from promenade.workflows.reports.sales import LoggedSale
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

TWO_LINES = outcome(
    (
        line("1", 2000, 1000, discount("off", ((2, 100),)), discount("saver", ((1, 33),))),
        line("2", 1000, 700, discount("off", ((1, 51),))),
    ),
    (applied("off", 251), applied("saver", 33), applied("stamps", points=5)),
)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[LoggedSale]:
    """Return the sales passed to a fold that replaces all others."""
    found: list[LoggedSale] = []

    async def add(session: Session, sales: Any, at: datetime, sign: int) -> Write:
        found.extend(sales)

        async def write(session: Session) -> int:
            return len(sales)

        return write

    registry = import_module("promenade.workflows.reports.folds")
    monkeypatch.setattr(registry, "_REGISTRY", {"seen": Fold("seen", (), add)})
    return found


async def test_a_sale_has_its_lines_promotions_and_discounts_per_line(shop: Shop, seen: list[LoggedSale]) -> None:
    await shop.change("PosGroups", "shop", time_zone="America/New_York")
    await shop.confirm("T1", await shop.price("T1", TWO_LINES, customer_id="C1"), "off", "saver")
    assert await aggregate(shop.context, shop.tenant) == 1
    (sale,) = seen
    assert (sale.transaction_id, sale.currency, sale.customer_id) == ("T1", "EUR", "C1")
    assert (sale.subtotal, sale.discount, sale.grand_total) == (Decimal("17"), Decimal("2.84"), Decimal("14.16"))
    assert sale.local_at == datetime(2026, 3, 2, 7, 0)  # noqa: DTZ001
    shares = {one.reference: {of.promotion_id: of.amount for of in one.discounts} for one in sale.lines}
    assert shares == {
        "1": {identity("off"): Decimal("2"), identity("saver"): Decimal("0.33")},
        "2": {identity("off"): Decimal("0.51")},
    }
    totals = {one.promotion_id: (one.total_discount, one.points) for one in sale.promotions}
    assert totals == {
        identity("off"): (Decimal("2.51"), 0),
        identity("saver"): (Decimal("0.33"), 0),
        identity("stamps"): (Decimal(0), 5),
    }
    assert await aggregate(shop.context, shop.tenant) == 0


async def test_where_the_till_confirmed_less_the_shares_are_those_of_the_log(
    shop: Shop, seen: list[LoggedSale]
) -> None:
    await shop.confirm("T1", await shop.price("T1", TWO_LINES), ("off", "1.00"), ("saver", "0.33"))
    await aggregate(shop.context, shop.tenant)
    (sale,) = seen
    logged = {row.line_reference: row.line_discount for row in await shop.rows("CalculationLogItems")}
    assert {one.reference: sum(of.amount for of in one.discounts) for one in sale.lines} == logged
    assert sum(logged.values()) == sale.discount == Decimal("1.33")


async def test_a_returned_line_counts_negatively(shop: Shop, seen: list[LoggedSale]) -> None:
    await shop.confirm("T1", await shop.price("T1", TWO_LINES), "off", "saver")
    back = outcome((line("9", -1000, -500), line("10", 1000, 300, discount("off", ((1, 10),)))), (applied("off", 10),))
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}), "off")
    await aggregate(shop.context, shop.tenant)
    sale = next(one for one in seen if one.transaction_id == "R1")
    returned, sold = sorted(sale.lines, key=lambda one: one.quantity_thousandths)
    assert (returned.quantity_thousandths, returned.is_sold, returned.discounts) == (-1000, False, ())
    assert [of.amount for of in sold.discounts] == [Decimal("0.1")]
