"""StakeholderCostBreakdown: who bears which part of a budget's cost, and what they have contributed."""

from __future__ import annotations

from decimal import Decimal

from promenade.workflows.reports.budgets import share
from tests.workflows.reports.money.books import read_report, sell, take_back
from tests.workflows.shop import NOON, TENANT, Shop, identity


async def stakeholder(shop: Shop, name: str, **budgets: str) -> None:
    """Create a supplier with shares of budgets, in percent."""
    await shop.put("Stakeholders", id=identity(name), code=name, name=name.title(), type="SUPPLIER", is_active=True)
    for budget, percentage in budgets.items():
        row = {"budget_id": identity(budget), "stakeholder_id": identity(name)}
        await shop.put("BudgetStakeholders", **row, share_percentage=Decimal(percentage))


async def pay_in(shop: Shop, name: str, budget: str, amount: str) -> None:
    row = {"budget_id": identity(budget), "stakeholder_id": identity(name), "amount": Decimal(amount)}
    await shop.put("RechargeContributions", **row, currency="EUR", contributed_at=NOON)


async def test_each_bears_its_part_of_what_sales_took_less_what_it_has_paid(shop: Shop) -> None:
    await shop.budget("other", "50.00")
    await shop.put("BudgetPromotions", budget_id=identity("marketing"), promotion_id=identity("off"))
    await shop.put("BudgetPromotions", budget_id=identity("marketing"), promotion_id=identity("saver"))
    await stakeholder(shop, "brand", marketing="33.33", other="100")
    await stakeholder(shop, "house", marketing="66.67")
    await stakeholder(shop, "patron", marketing="0")
    await pay_in(shop, "brand", "marketing", "20.00")
    await pay_in(shop, "brand", "marketing", "0.50")
    await pay_in(shop, "patron", "marketing", "7.00")
    await pay_in(shop, "patron", "marketing", "3.00")
    await sell(shop, "T1", 501, "marketing")
    await sell(shop, "T2", 100, "marketing")
    await take_back(shop, "R2", "T2")
    rows = {(row.stakeholder_name, row.budget_name): row for row in await read_report(shop, "StakeholderCostBreakdown")}
    shown = {
        key: (row.share_percentage, row.total_budget_cost, row.stakeholder_cost, row.contributions_total,
              row.net_balance, row.linked_promotions)
        for key, row in rows.items()
    }  # fmt: skip
    euros = Decimal
    assert shown == {
        ("Brand", "marketing"): (euros("33.33"), euros("11.02"), euros("3.67"), euros("20.5"), euros("16.83"), 2),
        ("House", "marketing"): (euros("66.67"), euros("11.02"), euros("7.35"), 0, euros("-7.35"), 2),
        ("Brand", "other"): (100, 0, 0, 0, 0, 0),
        ("Patron", "marketing"): (0, euros("11.02"), 0, 10, 10, 2),
    }
    one = rows["Brand", "marketing"]
    assert (one.stakeholder_type, one.currency) == ("SUPPLIER", "EUR")
    shop.tenant = "tenant-b"
    assert not await read_report(shop, "StakeholderCostBreakdown")
    shop.tenant = TENANT
    only = await read_report(shop, "StakeholderCostBreakdown", stakeholder_id=identity("brand"))
    assert {row.budget_name for row in only} == {"marketing", "other"}


PARTS = [
    ("EUR", "0.50", "33.00", "0.17"),
    ("EUR", "0.50", "1.00", "0.01"),
    ("EUR", "0.50", "0.99", "0"),
    ("JPY", "101", "49.50", "50"),
    ("JPY", "150", "1.00", "2"),
    ("BHD", "1.235", "50.00", "0.618"),
    ("EUR", "9999999999999.99", "99.99", "9998999999999.99"),
    ("EUR", "9999999999999.99", "0.01", "1000000000.00"),
    ("EUR", "0", "100.00", "0"),
]


async def test_a_part_is_rounded_half_up_to_the_minor_unit(shop: Shop) -> None:
    await stakeholder(shop, "brand")
    for place, (currency, amount, percentage, _) in enumerate(PARTS):
        name = str(place)
        await shop.budget(name, "9999999999999.99", currency=currency, consumed_amount=Decimal(amount))
        pair = {"budget_id": identity(name), "stakeholder_id": identity("brand")}
        await shop.put("BudgetStakeholders", **pair, share_percentage=Decimal(percentage))
    found = {row.budget_name: row for row in await read_report(shop, "StakeholderCostBreakdown")}
    for place, (currency, amount, percentage, cost) in enumerate(PARTS):
        row = found[str(place)]
        assert row.stakeholder_cost == Decimal(cost) == share(Decimal(amount), Decimal(percentage), currency)
        assert row.net_balance == -Decimal(cost)
    assert len(found) == len(PARTS)


async def test_parts_add_up_to_the_minor_unit_whatever_is_rounded(shop: Shop) -> None:
    parts = [Decimal(one) for one in ("50.00", "33.33", "16.67")]
    for place in range(3):
        await stakeholder(shop, f"bearer {place}")
    for name, amount, currency in (("odd", "7.41", "EUR"), ("small", "0.01", "EUR"), ("yen", "1001", "JPY")):
        await shop.budget(name, "5000", currency=currency, consumed_amount=Decimal(amount))
        for place, percentage in enumerate(parts):
            pair = {"budget_id": identity(name), "stakeholder_id": identity(f"bearer {place}")}
            await shop.put("BudgetStakeholders", **pair, share_percentage=percentage)
        rows = [row for row in await read_report(shop, "StakeholderCostBreakdown") if row.budget_name == name]
        assert sum(row.stakeholder_cost for row in rows) == Decimal(amount)
        before = Decimal(0)
        for row in sorted(rows, key=lambda one: one.stakeholder_id):
            assert row.stakeholder_cost == share(Decimal(amount), row.share_percentage, currency, before)
            before += row.share_percentage
