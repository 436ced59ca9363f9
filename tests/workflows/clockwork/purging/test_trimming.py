"""Entries of the audit trail go after the days that a tenant has set; reports still know when a promotion ran."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest
import sqlalchemy as sa

from promenade.errors import Invalid
from promenade.store.authoring.trail import STATES, Action, Subject, trail_entry
from promenade.store.clockwork.pilots import read_pilots
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.reports.trials import load_trials
from promenade.store.reports.uplift import note_applied, read_subjects
from promenade.workflows.clockwork.trimming import UNIT_ROWS
from promenade.workflows.uplink import Uplink
from tests.workflows.clockwork.erasures.ledgers import branches, configure, run
from tests.workflows.shop import Shop, identity

DAYS, DAY = 365, timedelta(days=1)


async def note(shop: Shop, action: Action, of: str, set_name: str = "Promotions", at: datetime | None = None) -> str:
    """Write an entry about a row; return its ID."""
    key = shop.context.new_id()
    entry = trail_entry(key, at or shop.now[0], "anna", action, Subject(set_name, identity(of), of))
    await shop.put("AuditLogs", **{**entry, "id": key})
    return key


async def noted(shop: Shop) -> list[tuple[datetime, str, str]]:
    """Return time, action and subject of what is in the trail, but for what the operator has set."""
    rows = await shop.rows("AuditLogs")
    return sorted((row.timestamp, row.action, row.entity_name) for row in rows if row.actor != "operator")


async def mark(shop: Shop) -> datetime | None:
    return next((row.purged_before for row in await shop.rows("retention_marks") if row.kind == "audit"), None)


async def delete(shop: Shop, name: str) -> None:
    for set_name in ("PromotionPilotConfigs", "Promotions"):
        rows = table(set_name)
        statement = sa.delete(rows).where(rows.c[{"Promotions": "id"}.get(set_name, "promotion_id")] == identity(name))

        async def work(session: Session, statement: Any = statement) -> int:
            return await session.rowcount(statement)

        await shop.context.database.write(work, tenant=shop.tenant)
    await note(shop, "DELETE", name)


async def what_reports_know(shop: Shop) -> list[Any]:
    """Return the trials of all time, when promotions ran, and since when pilots do."""
    since, until = datetime(2020, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)

    async def work(session: Session) -> list[Any]:
        subjects = [replace(one, definition=None) for one in await read_subjects(session, 100)]
        return [*await load_trials(session, since, until), *subjects]

    found = await shop.context.database.read(work, tenant=shop.tenant)
    pilots = await shop.context.database.read(lambda session: read_pilots(session, shop.now[0]), system=True)
    return [*found, *(replace(one, tenant_id="") for one in pilots if one.tenant_id == shop.tenant)]


async def live(shops: Sequence[Shop], choose: random.Random, steps: int) -> None:
    """Let promotions start, end, be changed and deleted: the same in all shops, days apart."""
    there = {row.name for row in await shops[0].rows("Promotions")}
    for step in range(steps):
        shops[0].later(hours=choose.randint(1, 400))
        (kind,) = choose.choices(["new", "move", "change", "delete"], [2, 8, 3, 1])
        name = choose.choice(sorted(there)) if there and kind != "new" else f"p{step}-{shops[0].now[0]:%Y%j}"
        action = choose.choice(sorted(STATES))
        for shop in shops:
            if name not in there:
                starts, ends = datetime(2025, 1, 1, tzinfo=UTC), datetime(2035, 1, 1, tzinfo=UTC)
                await shop.put("Promotions", id=identity(name), code=name, name=name, status="PILOT", currency="EUR",
                               is_experiment=False, created_at=shop.now[0])  # fmt: skip
                await shop.put("PromotionPilotConfigs", id=identity(f"pilot-{name}"), promotion_id=identity(name),
                               pilot_start_at=starts, pilot_end_at=ends, auto_promote=True, auto_promote_threshold=5,
                               created_at=shop.now[0])  # fmt: skip
                applied = partial(note_applied, applied={identity(name): (shop.now[0].date(), name)})
                await shop.context.database.write(applied, tenant=shop.tenant)
                await note(shop, "CREATE", name)
            elif kind == "delete":
                await delete(shop, name)
            else:
                await note(shop, cast("Action", action) if kind == "move" else "UPDATE", name)
        if name not in there:
            there.add(name)
        elif kind == "delete":
            there.remove(name)


async def test_reports_know_the_same_of_a_trail_that_was_trimmed(database: Database, seed: int) -> None:
    """Two tenants live the same life for years, and one of them trims its trail again and again."""
    choose = random.Random(seed)
    here, there = await branches(database, "tenant-a", "tenant-b")
    await configure(here, auditLogDays=DAYS)
    for _ in range(4):
        await live([here, there], choose, 30)
        await run(here, "purge.audit")
        since, all_, kept = await mark(here), await noted(there), await noted(here)
        living = {row.name for row in await here.rows("Promotions")}
        if since is not None:
            assert since <= here.now[0] - DAYS * DAY
            ended = {name for at, action, name in all_ if action == "DELETE" and at < since}
            assert [one for one in kept if one[0] >= since] == [one for one in all_ if one[0] >= since]
            old = [one for one in kept if one[0] < since]
            assert {action for _, action, _ in old} <= set(STATES)
            assert not ended & {name for _, _, name in old}
            moved = [one for one in all_ if one[0] < since and one[1] in STATES and one[2] in living]
            assert [one for one in old if one[2] in living] == moved
            assert set(old) <= set(all_)
        assert await what_reports_know(here) == await what_reports_know(there)
        await run(here, "purge.audit")  # a repeat does nothing
        assert (await noted(here), await mark(here)) == (kept, since)
    assert await mark(here) is not None
    assert await mark(there) is None


async def old_shop(database: Database) -> Shop:
    """A shop with entries of 2 and 3 March, 400 days later."""
    (shop,) = await branches(database, "tenant-a")
    await note(shop, "UPDATE", "first", "Budgets")
    shop.later(days=1)
    await note(shop, "UPDATE", "second", "Budgets")
    shop.later(days=399)
    return shop


async def names(shop: Shop) -> list[str]:
    return [name for _, _, name in await noted(shop)]


async def test_without_a_setting_nothing_goes(database: Database) -> None:
    shop = await old_shop(database)
    await run(shop, "purge.audit")
    assert (await names(shop), await mark(shop)) == (["first", "second"], None)


async def test_entries_go_by_whole_days(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, auditLogDays=400)
    await run(shop, "purge.audit")
    assert await names(shop) == ["first", "second"]  # the day was not over 400 days ago
    shop.later(hours=12)
    await run(shop, "purge.audit")
    assert (await names(shop), await mark(shop)) == (["second"], datetime(2026, 3, 3, tzinfo=UTC))
    await configure(shop, auditLogDays="365")
    await run(shop, "purge.audit")
    assert (await names(shop), await mark(shop)) == ([], datetime(2026, 3, 4, tzinfo=UTC))


async def test_a_year_is_the_least(database: Database) -> None:
    shop = await old_shop(database)
    for days in (364, 36501):
        with pytest.raises(Invalid) as caught:
            await configure(shop, auditLogDays=days)
        assert caught.value.target == "auditLogDays"


async def test_who_set_the_days_is_on_record(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, auditLogDays=365)
    await run(shop, "purge.audit")
    (entry,) = await shop.rows("AuditLogs")
    assert (entry.actor, entry.entity_type, "auditLogDays" in entry.changes) == ("operator", "TenantSettings", True)


async def test_days_that_a_tenant_adds_hold_for_what_is_still_there(database: Database) -> None:
    shop = await old_shop(database)
    for _ in range(UNIT_ROWS):
        await note(shop, "UPDATE", "third", "Budgets", shop.now[0] - 400 * DAY)
    marked = {"kind": "audit", "purged_before": datetime(2026, 3, 4, tzinfo=UTC),
              "spared_before": datetime(2026, 3, 3, tzinfo=UTC)}  # fmt: skip
    adding = sa.insert(table("retention_marks"))
    await database.write(lambda session: session.rowcount(adding, marked), tenant=shop.tenant)
    await configure(shop, auditLogDays=1000)
    before = await names(shop)
    await run(shop, "purge.audit")
    assert await names(shop) == before


async def test_an_entry_for_a_day_that_is_over_stays(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, auditLogDays=365)
    await run(shop, "purge.audit")
    await note(shop, "UPDATE", "late", "Budgets", datetime(2026, 3, 2, 12, tzinfo=UTC))
    shop.later(days=30)
    await run(shop, "purge.audit")
    assert await names(shop) == ["late"]


async def test_many_entries_go_in_portions_and_others_tenants_stay(database: Database) -> None:
    shop, other = await branches(database, "tenant-a", "tenant-b")
    for place in range(2 * UNIT_ROWS + 3):
        for one in (shop, other):
            await note(one, "UPDATE", f"b{place}", "Budgets")
    for action in ("ACTIVATE", "DELETE"):
        await note(shop, action, "gone")
    await note(shop, "ACTIVATE", "off")
    shop.later(days=400)
    await configure(shop, auditLogDays=365)
    await run(shop, "purge.audit")
    assert await names(shop) == ["off"]
    assert len(await names(other)) == 2 * UNIT_ROWS + 3


async def test_what_says_when_a_promotion_ran_goes_with_the_entry_of_its_end(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, auditLogDays=365)
    for action in ("ACTIVATE", "UPDATE"):
        await note(shop, action, "off", at=shop.now[0] - 398 * DAY)
    await note(shop, "UPDATE", "third", "Budgets", shop.now[0] - 397 * DAY)
    await run(shop, "purge.audit")
    assert [(action, name) for _, action, name in await noted(shop)] == [("ACTIVATE", "off")]
    await delete(shop, "off")
    for days, left in ((300, ["off", "off"]), (67, [])):
        shop.later(days=days)
        await run(shop, "purge.audit")
        assert await names(shop) == left


async def test_a_store_keeps_its_trail(database: Database) -> None:
    shop = await old_shop(database)
    await configure(shop, auditLogDays=365)
    await run(replace(shop, context=replace(shop.context, uplink=Uplink(run_id="r"))), "purge.audit")
    assert await names(shop) == ["first", "second"]


async def test_a_portion_that_fails_leaves_entries_and_mark(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = await old_shop(database)
    await configure(shop, auditLogDays=365)

    async def fail(*_: Any) -> int:
        raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr("promenade.store.clockwork.trimming.drop_entries", fail)
        with pytest.raises(RuntimeError):
            await run(shop, "purge.audit")
    assert (await names(shop), await mark(shop)) == (["first", "second"], None)
    await run(shop, "purge.audit")
    assert await names(shop) == []
