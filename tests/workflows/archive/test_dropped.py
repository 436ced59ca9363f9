"""An archive beside logs that are dropped: what a check notes, and what it says of months that are gone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from promenade.store.archive.reading import KINDS, Kind
from promenade.store.authoring.trail import Action
from promenade.store.driver.unit import Database
from promenade.workflows.archive.checking import check_archive
from promenade.workflows.archive.months import Month
from promenade.workflows.archive.places import Place, open_place
from promenade.workflows.archive.writing import write_archive
from tests.workflows.clockwork.erasures.ledgers import configure, run, sell, settle, take_back
from tests.workflows.clockwork.purging.test_dropping import DAYS, clean, names, shops, unarchived
from tests.workflows.clockwork.purging.test_redemptions import happen
from tests.workflows.clockwork.purging.test_trimming import note
from tests.workflows.shop import Shop

SALES, TRAIL, COUPONS = ([KINDS[name]] for name in ("calculation_logs", "audit_logs", "redemption_logs"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return open_place(str(tmp_path / "archive"))


async def write(
    shop: Shop, place: Place, *, kinds: Sequence[Kind] = SALES, again: bool = False
) -> set[tuple[str, str]]:
    told: set[tuple[str, str]] = set()
    await write_archive(
        shop.context.database, place, shop.tenant, kinds, at=shop.now[0], again=again,
        tell=lambda one: told.add((str(one.month), one.result)),
    )  # fmt: skip
    return told


async def check(shop: Shop, place: Place, *, kinds: Sequence[Kind] = SALES, **rest: Month) -> set[tuple[str, str]]:
    told: set[tuple[str, str]] = set()
    await check_archive(
        shop.context.database, place, shop.tenant, kinds, at=shop.now[0],
        tell=lambda one: told.add((str(one.month), one.verdict)), **rest,
    )  # fmt: skip
    return told


async def noted(shop: Shop) -> datetime | None:
    rows = await shop.rows("retention_marks")
    return rows[0].archived_before if rows else None


async def year(database: Database) -> Shop:
    """A shop that sells on the 2nd and the 20th of each month from March to July, on 10 August."""
    (shop,) = await shops(database, "tenant-a")
    for month in range(3, 8):
        for day in (2, 20):
            shop.now[0] = datetime(2026, month, day, 12, tzinfo=UTC)
            await sell(shop, f"{month}-{day}", None)
    await settle(shop)
    shop.now[0] = datetime(2026, 8, 10, tzinfo=UTC)
    return shop


async def test_months_are_written_checked_dropped_and_checked_again(database: Database, place: Place) -> None:
    shop = await year(database)
    await write(shop, place)
    await check(shop, place)
    assert await noted(shop) is None  # nothing is to be deleted
    await configure(shop, salesLogDays=DAYS)
    await check(shop, place, until=Month(2026, 5))
    assert await noted(shop) is None  # it was not all
    await take_back(shop, ("6-2", 2))
    await settle(shop)
    assert ("2026-06", "differs") in await check(shop, place)
    assert await noted(shop) == datetime(2026, 6, 1, tzinfo=UTC)
    shop.later(hours=2)
    await clean(shop)
    assert await names(shop) == {"6-2", "6-20", "7-2", "7-20"}
    dropped = {(f"2026-0{month}", "dropped") for month in (3, 4, 5)}
    assert await check(shop, place) == dropped | {("2026-06", "differs"), ("2026-07", "same")}
    assert await noted(shop) is None
    assert await write(shop, place, again=True) == {("2026-06", "replaced"), ("2026-07", "unchanged")}
    assert await check(shop, place) == dropped | {("2026-06", "same"), ("2026-07", "same")}
    assert await noted(shop) == datetime(2026, 8, 1, tzinfo=UTC)
    shop.later(hours=2)
    await clean(shop)
    assert await names(shop) == {"7-2", "7-20"}  # July is not old enough as a whole


async def test_a_month_that_was_dropped_in_part_is_compared_from_there_on(database: Database, place: Place) -> None:
    shop = await year(database)
    await write(shop, place)
    await unarchived(shop)
    shop.now[0] = datetime(2026, 8, 1, tzinfo=UTC)
    await clean(shop)
    assert await names(shop) == {"7-2", "7-20"}
    shop.now[0] = datetime(2026, 8, 10, tzinfo=UTC)
    await clean(shop)
    assert await names(shop) == {"7-20"}
    await configure(shop, salesLogsUnarchived="false")
    found = await check(shop, place)
    assert found == {(f"2026-0{month}", "dropped") for month in (3, 4, 5, 6)} | {("2026-07", "same")}
    assert await noted(shop) == datetime(2026, 8, 1, tzinfo=UTC)
    assert await write(shop, place, again=True) == set()
    assert await check(shop, place) == found


async def test_months_of_a_trail_that_was_trimmed(database: Database, place: Place) -> None:
    """What stays of a month that went, because it says when a promotion ran, is not compared."""
    (shop,) = await shops(database, "tenant-a")
    happened: list[tuple[int, Action]] = [(2, "ACTIVATE"), (4, "UPDATE"), (20, "UPDATE")]
    for month in (3, 4, 5):
        for day, action in happened:
            await note(shop, action, "off", at=datetime(2026, month, day, 12, tzinfo=UTC))
    shop.now[0] = datetime(2027, 4, 10, tzinfo=UTC)
    march, april, may = "2026-03", "2026-04", "2026-05"
    assert await write(shop, place, kinds=TRAIL) == {(one, "written") for one in (march, april, may)}
    await configure(shop, auditLogDays=365)
    await run(shop, "purge.audit")
    assert len(await shop.rows("AuditLogs", owner_type="Promotions")) == 6
    found = await check(shop, place, kinds=TRAIL)
    assert found == {(march, "dropped"), (april, "same"), (may, "same")}
    assert await write(shop, place, kinds=TRAIL, again=True) == {(may, "unchanged")}
    assert await check(shop, place, kinds=TRAIL) == found


async def test_months_of_events_of_coupon_codes_that_were_dropped(database: Database, place: Place) -> None:
    (shop,) = await shops(database, "tenant-a")
    for code, status in (("SPENT", "REDEEMED"), ("VALID", "ACTIVE")):
        await shop.coupon(code, "gift", status=status)
        for month in (3, 4):
            at = datetime(2026, month, 2, tzinfo=UTC)
            await happen(shop, "ISSUED", code, occurred_at=at, created_at=at)
    shop.now[0] = datetime(2027, 4, 10, tzinfo=UTC)
    march, april = "2026-03", "2026-04"
    assert await write(shop, place, kinds=COUPONS) == {(march, "written"), (april, "written")}
    await configure(shop, redemptionLogDays=365)
    await run(shop, "purge.redemptions")
    assert len(await shop.rows("RedemptionLogs")) == 3
    assert await check(shop, place, kinds=COUPONS) == {(march, "dropped"), (april, "same")}
    assert await write(shop, place, kinds=COUPONS, again=True) == {(april, "unchanged")}
