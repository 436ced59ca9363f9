"""`promenade db check` finds nothing in a database that was only sold with, and finds what somebody changed by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from functools import partial

import pytest
from sqlalchemy import UpdateBase, delete, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.verification.references import read_dangling
from promenade.store.verification.sums import Difference, read_differences
from tests.reliability.counted import Till
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity, open_shop

BUDGETS, LOGS, PARTS = table("Budgets"), table("CalculationLogs"), table("calculation_log_parts")


@pytest.fixture
async def shop(database: Database) -> Shop:
    """A shop that has nothing yet."""
    return await open_shop(database)


async def differences(shop: Shop) -> Sequence[Difference]:
    _, found = await shop.context.database.read(read_differences, system=True)
    return found


async def sold(shop: Shop, seed: int) -> None:
    """Sales with returns, cancels, points and a coupon that many share."""
    till = Till(shop, random.Random(seed))
    await till.open()
    await shop.coupon_type("save", code_type="GENERIC", generic_code="SAVE")
    await till.sell(12)
    await till.cancel(3)
    priced = outcome((line("1", 1000, 500, discount("off", ((1, 7),))),), (applied("off", 7, points=3),))
    counter = await shop.price("last", priced, customer_id="C1")
    await shop.confirm("last", counter, "off")
    await shop.work()


async def test_all_sums_of_a_history_are_right(shop: Shop, seed: int) -> None:
    await sold(shop, seed)
    checks, found = await shop.context.database.read(read_differences, system=True)
    assert (len(checks), found) == (11, [])
    assert (await shop.context.database.read(read_dangling, system=True))[1] == []


async def test_what_was_changed_by_hand_is_found(shop: Shop, seed: int) -> None:
    await sold(shop, seed)
    database, tenant = shop.context.database, shop.tenant
    one = (await shop.rows("CalculationLogs", status="CALCULATED"))[0].id
    balance = table("loyalty_balances")
    changes: list[tuple[str, UpdateBase]] = [
        ("consumed amounts of budgets", update(BUDGETS).values(consumed_amount=Decimal(1))),
        ("shares of stores in budgets", update(BUDGETS).values(reserved_amount=Decimal(1))),
        ("totals of sales", update(LOGS).values(grand_total=Decimal(9999)).where(LOGS.c.id == one)),
        ("lines of sales", update(PARTS).values(lines=[]).where(PARTS.c.log_id == one)),
        ("logs of confirmed sales", delete(LOGS).where(LOGS.c.id == one)),
        ("counters of transactions", delete(table("iteration_counters"))),
        ("points of customers", update(balance).values(points=balance.c.points + 1)),
    ]
    for check, change in changes:
        await database.write(partial(Session.execute, statement=change), tenant=tenant)
        found = {one.check: one for one in await differences(shop)}
        assert check in found, check
        assert found[check].count > 0
        assert all(example.startswith(f"{tenant}/") for example in found[check].examples)
    assert len(found["counters of transactions"].examples) == 5


async def test_a_difference_of_one_tenant_is_not_hidden_by_another(shop: Shop) -> None:
    other = await open_shop(shop.context.database, "tenant-b")
    await other.budget("marketing", "100.00", consumed_amount=Decimal("5.00"))
    (found,) = await differences(shop)
    assert found.examples == [f"tenant-b/{identity('marketing')}"]
