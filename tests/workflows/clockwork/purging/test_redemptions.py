"""Events of coupon codes go after the days that a tenant has set; what is counted, spent and given back stays right."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from promenade.errors import Invalid
from promenade.store.clockwork import redemptions
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from promenade.store.reports.coupons import read_shared
from promenade.store.verification.references import read_dangling
from promenade.store.verification.sums import read_differences
from promenade.workflows.clockwork.redemptions import UNIT_ROWS
from promenade.workflows.context import Retention
from promenade.workflows.replica.uploads import UploadedCoupon
from promenade.workflows.sync.sales import Sender, take_uploads
from promenade.workflows.uplink import Uplink
from tests.workflows.clockwork.erasures.ledgers import (
    ERASED,
    OTHERS,
    books,
    configure,
    erase,
    naming,
    run,
    settle,
    spend,
    stored,
    take_back,
)
from tests.workflows.clockwork.purging.test_dropping import shops
from tests.workflows.shop import Shop, identity

LEFT_OUT = {table("RedemptionLogs").name, "arm_trials"}  # the latter is a cache
LIVING = {"CREATED", "ACTIVE", "RESERVED"}
Event = tuple[datetime, str, str | None, str | None]


async def open_shops(database: Database, *tenants: str) -> list[Shop]:
    """Shops with gifts that are valid again once their sale is undone, and a code that many share."""
    found = await shops(database, *tenants)
    for shop in found:
        await shop.change("CouponTypes", "gift", on_return="REACTIVATE")
        await shop.coupon_type("shared", code_type="GENERIC", generic_code="ALL")
    return found


async def happen(shop: Shop, action: str, code: str | None, kind: str = "gift", **columns: Any) -> None:
    """Write an event of a code, or of the code that a type shares."""
    code_id = None if code is None else identity(code)
    given = {"occurred_at": shop.now[0], "created_at": shop.now[0], **columns}
    await shop.put("RedemptionLogs", action=action, coupon_code_id=code_id, coupon_type_id=identity(kind), **given)


async def events(shop: Shop) -> list[Event]:
    rows = await shop.rows("RedemptionLogs")
    found = [(row.occurred_at, row.action, row.coupon_code_id, row.transaction_id) for row in rows]
    return sorted(found, key=repr)


async def actions(shop: Shop) -> list[str]:
    return [action for _, action, _, _ in await events(shop)]


async def mark(shop: Shop) -> datetime | None:
    return next((row.purged_before for row in await shop.rows("retention_marks") if row.kind == "redemptions"), None)


async def live(shops: Sequence[Shop], choose: random.Random, name: str, steps: int, sold: list[str]) -> None:
    """Let coupons be issued, spent and made valid again: the same in all shops, days apart."""
    for step in range(steps):
        shops[0].later(hours=choose.randint(1, 800))
        kind = choose.choice(["gift", "gift", "gift", "cancel", "issue", "shared"])
        of = sold.pop(choose.randrange(len(sold))) if kind == "cancel" and sold else None
        customer = choose.choice([ERASED, *OTHERS])
        for shop in shops:
            if of is not None:
                await take_back(shop, (of, 1))
            elif kind == "issue":
                await shop.coupon(f"{name}-{step}", "gift")
                await happen(shop, "ISSUED", f"{name}-{step}")
            elif kind == "shared":
                await happen(shop, "ISSUED", None, "shared")
            else:
                await spend(shop, f"{name}-{step}", customer)
        if of is None and kind in ("gift", "cancel"):
            sold.append(f"{name}-{step}")
    await settle(shops[0])
    await run(shops[0], "reports.coupons")


async def counted(shop: Shop) -> list[Any]:
    """Return all sums and sales, and how often codes were used."""
    kinds, at = [identity("shared")], shop.now[0]
    shared = await shop.context.database.read(lambda session: read_shared(session, kinds, at), tenant=shop.tenant)
    found = books(await stored(shop))
    return [shared, {name: rows for name, rows in found.items() if name not in LEFT_OUT}]


async def test_no_sum_shows_that_events_were_dropped(database: Database, seed: int) -> None:
    """Two tenants live the same life for years, and one of them drops its events again and again."""
    choose = random.Random(seed)
    here, there = await open_shops(database, "tenant-a", "tenant-b")
    await configure(here, redemptionLogDays=365)
    for shop in (here, there):  # an old sale that nothing undoes
        await spend(shop, "first", OTHERS[0])
    await settle(here)
    here.later(days=500)
    sold: list[str] = []
    gone: set[Any] = set()
    for round_ in range(4):
        await live([here, there], choose, f"r{round_}", 10, sold)
        await run(here, "purge.redemptions")
        since, all_, kept = await mark(here), await events(there), await events(here)
        living = {row.id for row in await there.rows("CouponCodes") if row.status in LIVING}
        if since is not None:
            assert (since <= here.now[0] - timedelta(days=365), since.day) == (True, 1)
            assert [one for one in kept if one[0] >= since] == [one for one in all_ if one[0] >= since]
            old = [one for one in all_ if one[0] < since]
            stays = {one for one in old if one[1] == "REACTIVATED" or one[2] is None or one[2] in living}
            # What went before its code became valid again does not come back.
            assert stays - gone <= set(kept) <= set(all_)
            gone = set(all_) - set(kept)
        assert await counted(here) == await counted(there)
        await run(here, "purge.redemptions")  # a repeat does nothing
        assert (await events(here), await mark(here)) == (kept, since)
    assert await mark(here) is not None
    assert len(await events(here)) < len(await events(there))
    for shop in (here, there):  # sales of any age can be undone, and their coupons are valid again
        for name in sold:
            await take_back(shop, (name, 1))
    await settle(here)
    assert await counted(here) == await counted(there)
    _, found = await database.read(read_differences, system=True)
    assert [f"{one.check}: {one.examples}" for one in found] == []
    assert (await database.read(read_dangling, system=True))[1] == []
    await erase(here)
    assert not [one for one in naming(await stored(here), ERASED) if one.startswith("redemption")]


async def old_shop(database: Database) -> Shop:
    """A shop with a code that was issued and spent on 2 March, on 10 April of the next year."""
    (shop,) = await open_shops(database, "tenant-a")
    await shop.coupon("SPENT", "gift", status="REDEEMED")
    for action in ("ISSUED", "REDEEMED"):
        await happen(shop, action, "SPENT")
    shop.now[0] = datetime(2027, 4, 10, tzinfo=UTC)
    return shop


async def test_without_a_setting_nothing_goes(database: Database) -> None:
    shop = await old_shop(database)
    await run(shop, "purge.redemptions")
    assert (await actions(shop), await mark(shop)) == (["ISSUED", "REDEEMED"], None)


async def test_events_go_by_whole_months(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, redemptionLogDays=400)
    await run(shop, "purge.redemptions")
    assert len(await events(shop)) == 2  # 400 days ago it was March
    assert await mark(shop) == datetime(2026, 3, 1, tzinfo=UTC)
    shop.now[0] = datetime(2027, 5, 6, tzinfo=UTC)
    await run(shop, "purge.redemptions")
    assert (await events(shop), await mark(shop)) == ([], datetime(2026, 4, 1, tzinfo=UTC))


async def test_the_operators_days_are_the_least(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, redemptionLogDays=365)
    shop.context = replace(shop.context, retention=Retention(iterations=1, sales=800))
    await run(shop, "purge.redemptions")
    assert len(await events(shop)) == 2


@pytest.mark.parametrize("days", [364, 36501])
async def test_a_year_is_the_least(database: Database, days: int) -> None:
    shop = await old_shop(database)
    with pytest.raises(Invalid) as caught:
        await configure(shop, redemptionLogDays=days)
    assert caught.value.target == "redemptionLogDays"


async def test_what_somebody_still_asks_for_stays(database: Database) -> None:
    shop = await old_shop(database)
    then = datetime(2026, 3, 2, tzinfo=UTC)
    for status in ("CREATED", "ACTIVE", "RESERVED", "EXPIRED", "CANCELLED"):
        await shop.coupon(status, "gift", status=status)
        await happen(shop, "ISSUED", status, occurred_at=then, created_at=then, transaction_id=status)
    for code in ("ALL", None):
        await happen(shop, "ISSUED", code, "shared", occurred_at=then, created_at=then, transaction_id="shared")
    await happen(shop, "REACTIVATED", "SPENT", occurred_at=then, created_at=then, transaction_id="again")
    await happen(shop, "REDEEMED", "SPENT", occurred_at=then, transaction_id="it came late")
    await happen(shop, "REDEEMED", "DELETED", occurred_at=then, created_at=then, transaction_id="without a row")
    await configure(shop, redemptionLogDays=365)
    await run(shop, "purge.redemptions")
    left = sorted(name or "" for *_, name in await events(shop))
    assert left == ["ACTIVE", "CREATED", "RESERVED", "again", "it came late", "shared", "shared"]


async def test_a_store_that_sends_an_event_again_changes_nothing(database: Database) -> None:
    """As if it had been restored from a backup that is older than the cloud's events."""
    (shop,) = await open_shops(database, "tenant-a")
    sender = Sender(identity("store"), "store-1")
    spent, issued = [(await shop.coupon(code, "gift")).coupon_id for code in ("SPENT", "ISSUED")]
    gift, at = identity("gift"), shop.now[0]
    sent = [
        UploadedCoupon(identity("1"), "REDEEMED", gift, at, spent, "till-1"),
        UploadedCoupon(identity("2"), "ISSUED", gift, at, issued, "till-2"),
        UploadedCoupon(identity("3"), "REDEEMED", identity("shared"), at, None, "till-3"),
    ]
    first = [one.status for one in await take_uploads(shop.context, shop.tenant, sender, sent)]
    assert first == ["accepted", "accepted", "accepted"]
    await shop.change("CouponCodes", "ISSUED", status="EXPIRED")
    shop.now[0] = datetime(2027, 4, 10, tzinfo=UTC)
    await configure(shop, redemptionLogDays=365)
    await run(shop, "purge.redemptions")
    assert [name for *_, name in await events(shop)] == ["till-3"]
    before = await stored(shop)
    again = [one.status for one in await take_uploads(shop.context, shop.tenant, sender, sent)]
    assert again == ["rejected", "rejected", "duplicate"]
    assert await stored(shop) == before


async def test_a_code_that_has_ended_since_is_found_a_month_later(database: Database) -> None:
    shop = await old_shop(database)
    await shop.change("CouponCodes", "SPENT", status="ACTIVE")
    await configure(shop, redemptionLogDays=365)
    await run(shop, "purge.redemptions")
    await shop.change("CouponCodes", "SPENT", status="EXPIRED")
    await run(shop, "purge.redemptions")
    assert len(await events(shop)) == 2
    shop.later(days=30)
    await run(shop, "purge.redemptions")
    assert await events(shop) == []


async def test_many_events_go_in_portions_wherever_a_run_ends(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run is over after a portion, and the next one goes on from there."""
    first, second, other = await open_shops(database, "tenant-a", "tenant-b", "tenant-c")
    for shop in (first, second, other):
        await shop.coupon("SPENT", "gift", status="REDEEMED")
        for _ in range(UNIT_ROWS + 3):
            await happen(shop, "REDEEMED", "SPENT")
    first.now[0] = datetime(2027, 4, 10, tzinfo=UTC)
    for shop in (first, second):
        await configure(shop, redemptionLogDays=365)
    monkeypatch.setattr("promenade.workflows.clockwork.redemptions.LOOKED", 7)
    monkeypatch.setattr("promenade.workflows.clockwork.redemptions.UNIT_ROWS", 4)
    monkeypatch.setattr("promenade.workflows.clockwork.paced.RUN_SECONDS", 0.001)
    await run(first, "purge.redemptions")
    assert [len(await events(shop)) for shop in (first, second, other)] == [0, 0, UNIT_ROWS + 3]


async def test_days_that_a_tenant_adds_hold_for_what_is_still_there(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, redemptionLogDays=365)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promenade.store.clockwork.redemptions.look", _fail)
        with pytest.raises(RuntimeError):
            await run(shop, "purge.redemptions")
    assert await mark(shop) == datetime(2026, 4, 1, tzinfo=UTC)  # a pass has begun
    await configure(shop, redemptionLogDays=1000)
    await run(shop, "purge.redemptions")
    assert len(await events(shop)) == 2


async def _fail(*_: Any) -> redemptions.Look:
    raise RuntimeError("power cut")


async def test_a_store_keeps_its_events(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, redemptionLogDays=365)
    await run(replace(shop, context=replace(shop.context, uplink=Uplink(run_id="r"))), "purge.redemptions")
    assert len(await events(shop)) == 2
