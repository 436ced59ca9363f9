"""An erased customer is found nowhere any more, and no sum shows it."""

from __future__ import annotations

import random
from dataclasses import replace

import msgspec
import pytest
import sqlalchemy as sa

from promenade.errors import Conflict, Invalid, NotFound
from promenade.store.access import erasures as requests
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.verification.sums import read_differences
from promenade.workflows.access.erasures import forget_erasure, list_erasures
from promenade.workflows.clockwork import erasures
from promenade.workflows.coupons.repeated_issues import IssueOrder
from promenade.workflows.coupons.till_issue import issue_at_till
from promenade.workflows.imports.importing import NumberedRow
from promenade.workflows.imports.rows import importer_for
from promenade.workflows.replica.uploads import UploadedCoupon
from promenade.workflows.sync.sales import ACCEPTED, Sender, take_uploads
from tests.workflows.clockwork.erasures.ledgers import (
    ERASED,
    OTHERS,
    ask,
    books,
    branches,
    erase,
    give_back,
    live,
    naming,
    pseudonym_of,
    rebuild,
    run,
    sell,
    settle,
    stored,
    take_back,
)
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import Shop, identity


async def two(database: Database, seed: int) -> tuple[Shop, Shop]:
    """Two tenants with the same customers and the same history."""
    here, there = await branches(database, "tenant-a", "tenant-b")
    await live([here, there], seed)
    return here, there


async def differences(database: Database) -> list[str]:
    _, found = await database.read(read_differences, system=True)
    return [f"{one.check}: {one.examples}" for one in found]


def differing(some: dict[str, list[str]], others: dict[str, list[str]]) -> dict[str, tuple[list[str], list[str]]]:
    """Return the rows that only one of two tenants has."""
    return {
        name: (sorted(set(rows) - set(others[name])), sorted(set(others[name]) - set(rows)))
        for name, rows in some.items()
        if rows != others[name]
    }


async def test_nothing_stored_names_an_erased_customer_and_all_sums_stay(database: Database, seed: int) -> None:
    here, there = await two(database, seed)
    assert naming(await stored(here), ERASED)
    await erase(here)
    found = await stored(here)
    assert naming(found, ERASED) == []
    name = pseudonym_of(found)
    assert differing(books(found, (name, ERASED)), books(await stored(there))) == {}
    assert naming(await stored(there), name) == []
    assert await differences(database) == []
    (told,) = await list_erasures(database, here.tenant)
    assert (told.status, told.customer_id, told.pseudonym) == ("COMPLETED", None, None)
    assert told.changed_rows > 0


@pytest.mark.check
async def test_returns_cancels_and_a_rebuild_come_to_the_same_money_afterwards(database: Database, seed: int) -> None:
    here, there = await two(database, seed)
    for shop in (here, there):
        await sell(shop, "last", ERASED)
        await sell(shop, "cancelled", ERASED)
    await settle(here)
    await erase(here)
    for shop in (here, there):
        await give_back(shop, "back", "last", None)
        await take_back(shop, ("cancelled", 2))
        await take_back(shop, ("last", 2))
    await settle(here)
    for shop in (here, there):
        await rebuild(shop)
    found = await stored(here)
    assert naming(found, ERASED) == []
    assert differing(books(found, (pseudonym_of(found), ERASED)), books(await stored(there))) == {}
    assert await differences(database) == []


@pytest.mark.check
async def test_each_portion_leaves_all_sums_right_and_one_that_dies_nothing(
    database: Database, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = await two(database, seed)
    for number in range(18):
        for shop in (here, there):
            await sell(shop, f"more-{number}", ERASED)
    await settle(here)
    await ask(here)
    here.later(hours=2)
    monkeypatch.setattr(erasures, "SALES", 2)
    monkeypatch.setattr(erasures, "ROWS", 3)
    (erasure,) = await list_erasures(database, here.tenant)
    portions, more = 0, True
    while more:
        before = await stored(here)
        with monkeypatch.context() as broken:
            broken.setattr(requests, "note_changed", _dies)
            broken.setattr(requests, "complete", _dies)
            with pytest.raises(Killed):
                await erasures.portions(here.context, erasure)()
        assert await stored(here) == before
        _, more = await erasures.portions(here.context, erasure)()
        assert await differences(database) == []
        portions += 1
    assert portions > 8
    found = await stored(here)
    assert naming(found, ERASED) == []
    assert differing(books(found, (pseudonym_of(found), ERASED)), books(await stored(there))) == {}


class Killed(Exception):
    """The process of a portion is gone."""


async def _dies(*_: object, **__: object) -> None:
    raise Killed


@pytest.fixture
async def shop(database: Database) -> Shop:
    (opened,) = await branches(database, "tenant-a")
    return opened


async def test_what_somebody_still_works_on_waits(shop: Shop) -> None:
    """A till that may price the sale again, its side effects, its count in reports, its events: each comes first."""
    await sell(shop, "sale", ERASED)
    await ask(shop)
    shop.later(hours=2)
    await run(shop, "customers.erase")
    assert "calculation_logs.customer_id" in naming(await stored(shop), ERASED)
    (told,) = await list_erasures(shop.context.database, shop.tenant)
    assert (told.status, told.due_at) == ("PENDING", shop.now[0] + erasures.AGAIN_AFTER)
    await shop.work()
    shop.later(hours=2)  # the worker has told of points just now
    await run(shop, "customers.erase")
    assert "calculation_logs.customer_id" in naming(await stored(shop), ERASED)
    await settle(shop)
    await shop.price("sale", PRICED, customer_id=ERASED)
    shop.later(minutes=59)
    await run(shop, "customers.erase")
    assert "iterations.record" in naming(await stored(shop), ERASED)
    shop.later(minutes=10)
    await run(shop, "customers.erase")
    assert naming(await stored(shop), ERASED) == []


async def test_prices_of_one_sale_that_refer_to_each_other_can_be_read_afterwards(shop: Shop) -> None:
    """Whichever of them names the customer: the first one is the base of the others."""
    for name, customers in (("known", (ERASED, None)), ("found", (None, ERASED)), ("other", (OTHERS[0], ERASED))):
        for customer in customers:
            await shop.price(name, PRICED, customer_id=customer)
        await shop.confirm(name, await shop.price(name, PRICED, customer_id=ERASED), "off")
    await settle(shop)
    assert [row["base_counter"] for row in (await stored(shop))["iterations"]].count(1) == 6
    await erase(shop)
    found = await stored(shop)
    assert naming(found, ERASED) == []
    assert len([row for row in found["iterations"] if b"A-1" in row["record"]]) == 9
    assert "iterations.record" in naming(found, OTHERS[0])


async def test_an_event_that_is_being_delivered_is_sent_again_as_it_was(shop: Shop) -> None:
    await shop.put(
        "WebhookSubscriptions", id=identity("hook"), name="hook", callback_url="https://example.com", is_active=True,
        event_types=["*"], secret="whsec_x", failure_count=0,
    )  # fmt: skip
    await sell(shop, "sale", ERASED)
    await settle(shop)
    before = [row["payload"] for row in (await stored(shop))["outbox_events"]]
    assert (await stored(shop))["webhook_queue"]
    await erase(shop)
    assert [row["payload"] for row in (await stored(shop))["outbox_events"]] == before
    await shop.context.database.write(_answered, tenant=shop.tenant)
    shop.later(minutes=10)
    await run(shop, "customers.erase")
    found = await stored(shop)
    assert naming(found, ERASED) == []
    told = [msgspec.json.decode(row["payload"]) for row in found["outbox_events"]]
    assert {one["data"]["customerId"] for one in told} == {pseudonym_of(found)}
    (sale,) = (one for one in told if one["type"] == "TRANSACTION_CONFIRMED")
    assert sale["data"]["grandTotal"] == 8


async def _answered(session: Session) -> None:
    """Deliver everything; the receiver repeats whom it was about."""
    await session.rowcount(sa.delete(table("webhook_queue")))
    await session.rowcount(sa.update(table("NotificationLogs")).values(response_body=f"Thank you, {ERASED}."))


# ---- requests --------------------------------------------------------------------------------------------------------


async def test_a_second_request_is_the_same_erasure(shop: Shop) -> None:
    await sell(shop, "sale", ERASED)
    first = await ask(shop)
    shop.later(minutes=1)
    assert await ask(shop) == first
    await settle(shop)
    await erase(shop)
    again = await ask(shop)
    assert (again.id, again.status, again.requested_at) == (first.id, "PENDING", shop.now[0])
    assert again.pseudonym != first.pseudonym
    await run(shop, "customers.erase")
    (told,) = await list_erasures(shop.context.database, shop.tenant)
    assert told.status == "COMPLETED"


async def test_only_the_tenants_own_customer_is_erased(database: Database) -> None:
    here, there = await branches(database, "tenant-a", "tenant-b")
    for shop in (here, there):
        await sell(shop, "sale", ERASED)
    await settle(here)
    await ask(here)
    await settle(there)
    here.later(hours=2)
    await run(there, "customers.erase")
    assert naming(await stored(here), ERASED) == []
    assert "loyalty_balances.customer_id" in naming(await stored(there), ERASED)
    assert await list_erasures(database, there.tenant) == []


async def test_what_cannot_be_erased_or_forgotten_is_refused(shop: Shop) -> None:
    database = shop.context.database
    for customer, code in (("", "VALUE_REQUIRED"), ("x" * 51, "VALUE_TOO_LONG")):
        with pytest.raises(Invalid) as refused:
            await ask(shop, customer)
        assert (refused.value.code, refused.value.target) == (code, "customerId")
    with pytest.raises(NotFound) as unknown:
        await forget_erasure(database, shop.tenant, ERASED)
    assert unknown.value.code == "ERASURE_NOT_FOUND"
    await ask(shop)
    with pytest.raises(NotFound):
        await forget_erasure(database, shop.tenant, OTHERS[0])
    with pytest.raises(Conflict) as pending:
        await forget_erasure(database, shop.tenant, ERASED)
    assert pending.value.code == "ERASURE_PENDING"
    with pytest.raises(NotFound):
        await list_erasures(database, "nobody")


# ---- what comes later ------------------------------------------------------------------------------------------------


async def erased(shop: Shop) -> str:
    """Sell to a customer, erase them, and return the pseudonym."""
    await sell(shop, "sale", ERASED)
    await settle(shop)
    await erase(shop)
    return pseudonym_of(await stored(shop))


async def statuses(shop: Shop) -> list[str]:
    return [one.status for one in await list_erasures(shop.context.database, shop.tenant)]


async def test_a_sale_of_a_store_that_was_offline_is_erased_under_a_name_of_its_own(shop: Shop) -> None:
    first = await erased(shop)
    store = Shop(replace(shop.context, origin=identity("store")), shop.now, shop.tenant)
    await sell(store, "late", ERASED)
    assert await statuses(shop) == ["COMPLETED"]
    await settle(shop)
    assert await statuses(shop) == ["PENDING"]
    shop.later(hours=2)
    await run(shop, "customers.erase")
    found = await stored(shop)
    assert naming(found, ERASED) == []
    assert len(naming(found, first)) > 1
    customers = {row["transaction_id"]: row["customer_id"] for row in found["calculation_logs"]}
    assert customers["sale"] == first != customers["late"]
    assert await statuses(shop) == ["COMPLETED"]
    assert await differences(shop.context.database) == []


@pytest.mark.parametrize("names_the_customer", [True, False])
async def test_a_late_return_leads_from_nobody_to_the_erased_sale(shop: Shop, names_the_customer: bool) -> None:
    await erased(shop)
    await give_back(shop, "back", "sale", ERASED if names_the_customer else None)
    await settle(shop)
    shop.later(hours=2)
    await run(shop, "customers.erase")
    found = await stored(shop)
    assert naming(found, ERASED) == []
    assert sum(row["points"] for row in found["loyalty_balances"]) == 10
    assert await differences(shop.context.database) == []


async def test_points_that_somebody_else_returns_are_taken_from_nobody_who_is_known(shop: Shop) -> None:
    """The job of the return was made before the erasure, and names the customer whose points it takes back."""
    await sell(shop, "sale", ERASED)
    await settle(shop)
    await give_back(shop, "back", "sale", OTHERS[0])
    await settle(shop)
    await erase(shop)
    found = await stored(shop)
    assert naming(found, ERASED) == []
    assert sum(row["points"] for row in found["loyalty_balances"]) == 10


async def test_coupons_that_come_under_the_id_are_erased_too(shop: Shop) -> None:
    await erased(shop)
    order = IssueOrder(identity("gift"), None, (ERASED, OTHERS[0]))
    await issue_at_till(shop.context, shop.tenant, order, random.Random(1).choice)
    assert await statuses(shop) == ["PENDING"]
    assert len(naming(await stored(shop), ERASED)) > 3
    await settle(shop)
    shop.later(days=2)
    await run(shop, "purge.issue_keys")
    await run(shop, "customers.erase")
    assert naming(await stored(shop), ERASED) == []
    assert [row["customer_id"] for row in (await stored(shop))["coupon_codes"]].count(OTHERS[0]) == 1


async def test_a_code_that_is_imported_for_an_erased_customer_is_erased_too(shop: Shop) -> None:
    await erased(shop)
    importer = importer_for("CouponCodes", shop.context, tenant_id=shop.tenant, user="ann", source="BULK_IMPORT")
    row = {"code": "SECRET-1", "couponType_ID": identity("gift"), "customerId": ERASED}
    numbered = [NumberedRow(1, msgspec.json.encode(row))]
    portion = await shop.context.database.write(
        lambda session: importer.store(session, numbered, at=shop.now[0], keep_good=True), tenant=shop.tenant
    )
    assert (len(portion.stored), await statuses(shop)) == (1, ["PENDING"])
    await settle(shop)
    await run(shop, "customers.erase")
    assert naming(await stored(shop), ERASED) == []


async def test_a_coupon_that_a_store_has_redeemed_for_an_erased_customer_is_erased_too(shop: Shop) -> None:
    await erased(shop)
    fact = await shop.coupon("FROM-STORE", "gift")
    event = UploadedCoupon(
        identity("log"), "REDEEMED", identity("gift"), shop.now[0], fact.coupon_id, "till-1", customer_id=ERASED
    )
    sender = Sender(identity("store"), "store-1")
    assert await take_uploads(shop.context, shop.tenant, sender, [event]) == [ACCEPTED]
    assert await statuses(shop) == ["PENDING"]
    assert naming(await stored(shop), ERASED)
    await settle(shop)
    shop.later(hours=2)
    await run(shop, "customers.erase")
    assert naming(await stored(shop), ERASED) == []


async def test_a_forgotten_erasure_lets_the_customer_come_back(shop: Shop) -> None:
    await erased(shop)
    await forget_erasure(shop.context.database, shop.tenant, ERASED)
    assert await statuses(shop) == []
    await sell(shop, "new", ERASED)
    await settle(shop)
    shop.later(hours=2)
    await run(shop, "customers.erase")
    found = await stored(shop)
    assert [row["points"] for row in found["loyalty_balances"] if row["customer_id"] == ERASED] == [20]
