"""A store whose database was restored from a copy or created again on another machine (B1)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import update

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.workflows.replica.holding import hold_codes
from tests.kit.databases import Databases
from tests.reliability.shares.offline import Branch, open_branch
from tests.reliability.shares.stores import Stores
from tests.workflows.shop import Shop, identity, open_shop

pytestmark = pytest.mark.parametrize("dialect", ["sqlite"])
"""What the cloud does is tested on both databases elsewhere; a store's is SQLite anyway."""


class Machines:
    """Machines that a store runs on, one after the other; each uses an earlier machine's database, or a new one."""

    def __init__(self, stores: Stores, databases: Databases, stack: AsyncExitStack) -> None:
        self._stores = stores
        self._databases = databases
        self._stack = stack
        self.branch: Branch | None = None
        self._url = ""

    async def start(self, url: str | None = None) -> Branch:
        """Start a process of the store `north` on the given database, or on a new one."""
        self._url = url or self._databases.create("sqlite")
        database = await open_database(self._url)
        self._stack.push_async_callback(database.close)
        shop = await open_shop(database, is_new=url is None)
        if url is None:
            self.branch = await open_branch("north", shop, self._stores)
            await _budget(shop, "0")
            return self.branch
        assert self.branch is not None
        shop.now = self.branch.shop.now
        shop.context = replace(
            self.branch.shop.context, database=database, catalogues=shop.context.catalogues, cache=shop.context.cache
        )
        return Branch("north", shop, self.branch.wire, self._stores)

    def copy(self) -> str:
        """Copy the database in its current state; return the URL of the copy."""
        url = self._databases.create_empty("sqlite")
        with sqlite3.connect(self._url.removeprefix("sqlite:///")) as here:
            here.execute("VACUUM INTO ?", (url.removeprefix("sqlite:///"),))
        return url


@pytest.fixture
async def machines(stores: Stores, databases: Databases) -> AsyncIterator[Machines]:
    await _budget(stores.shop, "40.00")
    async with AsyncExitStack() as stack:
        yield Machines(stores, databases, stack)


async def _budget(shop: Shop, total: str) -> None:
    await shop.budget("hot", total)
    await shop.put("BudgetPromotions", budget_id=identity("hot"), promotion_id=identity("off"))


async def _refuse_uploads(shop: Shop) -> None:
    refused = update(table("sync_uploads")).values(rejected_at=shop.now[0], reason="COUPON_ALREADY_CLAIMED: spent")
    await shop.context.database.write(lambda session: session.rowcount(refused), tenant=shop.tenant)


async def test_a_store_on_a_new_machine_has_what_it_had(stores: Stores, machines: Machines) -> None:
    old = await machines.start()
    await old.keep()
    await old.sell("T1", 400, "hot")
    await old.report()
    new = await machines.start()
    await new.keep()
    assert await new.rest("hot") == await stores.outstanding("hot") == Decimal("7.50")
    await stores.check("hot")


async def test_a_restored_store_spends_no_more_than_the_cloud_has_for_it(stores: Stores, machines: Machines) -> None:
    old = await machines.start()
    await old.keep()
    copy = machines.copy()
    await old.sell("T1", 300, "hot")
    await old.report()
    restored = await machines.start(copy)
    await restored.sell("T2", 100, "hot")
    await restored.keep()
    assert await restored.rest("hot") == 9  # the cloud does not know the unsent sales: nothing is compared yet
    await restored.report()
    await restored.keep()
    assert await restored.rest("hot") == await stores.outstanding("hot") == 6
    sent = len(restored.wire.sent)
    await restored.keep()
    assert len(restored.wire.sent) == sent
    await stores.check("hot")


async def test_a_restored_store_also_reconciles_usage_limits(stores: Stores, machines: Machines) -> None:
    await stores.shop.change("Promotions", "off", max_applications_total=40)
    old = await machines.start()
    await old.shop.change("Promotions", "off", max_applications_total=0)
    await old.keep()
    copy = machines.copy()
    assert (await old.shop.row("Promotions", "off")).max_applications_total == 10
    # nine of the ten are left, and two of those are no longer needed
    await stores.release("north", promotions=["off"])
    await stores.uses("north", "PROMOTION", "off", -2)
    restored = await machines.start(copy)
    await restored.keep()
    outstanding = await stores.outstanding("off")
    assert (await restored.shop.row("Promotions", "off")).max_applications_total == outstanding == 7


async def test_a_share_is_left_to_what_was_refused_and_may_be_sent_again(stores: Stores, machines: Machines) -> None:
    old = await machines.start()
    await old.keep()
    await old.sell("T1", 300, "hot")
    await _refuse_uploads(old.shop)
    copy = machines.copy()
    restored = await machines.start(copy)
    await restored.keep()
    assert (await restored.rest("hot"), await stores.outstanding("hot")) == (Decimal(7), Decimal(10))


async def test_an_answer_that_was_lost_says_nothing_about_later_sales(stores: Stores, machines: Machines) -> None:
    store = await machines.start()
    await store.keep()
    await store.sell("T1", 600, "hot")
    await store.report()
    stores.shop.later(minutes=5)
    store.wire.faults = ["after"]
    assert not await store.keep()
    await store.sell("T2", 300, "hot")
    await store.report()
    assert await store.keep()
    assert await store.rest("hot") == await stores.outstanding("hot")
    await stores.check("hot")


async def test_codes_issued_or_spent_after_the_copy_are_not_issued_again(stores: Stores, machines: Machines) -> None:
    await stores.shop.coupon_type("gift")
    for number in range(20):
        await stores.shop.coupon(f"GIFT-{number}", "gift")
    old = await machines.start()
    await old.shop.coupon_type("gift")
    gift = {"action_type": "COUPON", "discount_type": "PERCENTAGE", "discount_value": Decimal(1), "sequence": 1}
    await old.shop.put("DiscountActions", promotion_id=identity("off"), target_coupon_type_id=identity("gift"), **gift)
    await old.keep()
    copy = machines.copy()
    assert await old.shop.count("CouponCodes") == 20
    await stores.shop.change("CouponCodes", "GIFT-3", issued_at=stores.shop.now[0], customer_id="C-1")
    await stores.shop.change("CouponCodes", "GIFT-4", status="REDEEMED", redeemed_transaction_id="T9")
    restored = await machines.start(copy)
    await restored.keep()
    kept = {row.code for row in await restored.shop.rows("CouponCodes")}
    assert kept == {f"GIFT-{number}" for number in range(20) if number not in {3, 4}}
    await restored.keep()
    assert await stores.status("GIFT-3") == "ACTIVE"  # its customer may spend it anywhere
    assert await stores.status("GIFT-4") == "REDEEMED"
    sent = len(restored.wire.sent)
    await restored.keep()
    assert len(restored.wire.sent) == sent


async def test_a_code_spent_after_the_copy_is_good_for_nothing_in_the_restored_store(
    stores: Stores, machines: Machines
) -> None:
    await stores.shop.coupon_type("save")
    for code in ("SAVE-1", "SAVE-2"):
        await stores.shop.coupon(code, "save")
    old = await machines.start()
    await old.shop.coupon_type("save")
    assert await hold_codes(old.shop.context, old.shop.tenant, ["SAVE-1", "SAVE-2"]) == {}
    copy = machines.copy()
    await stores.shop.change("CouponCodes", "SAVE-1", status="REDEEMED", redeemed_transaction_id="T9")
    restored = await machines.start(copy)
    await restored.keep()
    assert {row.code for row in await restored.shop.rows("CouponCodes")} == {"SAVE-2"}
