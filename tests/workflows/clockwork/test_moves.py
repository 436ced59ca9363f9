"""Time-driven changes of promotions, campaigns and budgets: punctual, once, with events and audit trail."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import insert, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from promenade.worker import Clockwork
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork import clock_jobs, passages
from tests.workflows.authoring.desk import OTHER, Desk
from tests.workflows.drafts.editor import Editor
from tests.workflows.shop import NOON, open_shop

TICK = timedelta(microseconds=1)
MOVING = ("promotions.expire", "campaigns.move", "budgets.move")


async def tick(desk: Desk) -> None:
    """Run everything due at the desk's time."""
    shop = await open_shop(desk.database, is_new=False)
    now = desk.now
    context = replace(shop.context, clock=lambda: now, new_id=lambda: str(uuid.uuid4()))
    for name in MOVING:
        cursor, more = None, True
        while more:
            ran = await clock_jobs()[name].run(context, cursor)
            cursor, more = ran.cursor, ran.more
            assert ran.trouble is None


async def news(desk: Desk) -> list[dict[str, Any]]:
    """Return events in chronological order, with their time."""
    rows = sorted(await desk.system_rows("outbox_events"), key=lambda row: row["created_at"])
    return [json.loads(row["payload"]) for row in rows]


async def told(desk: Desk, *kinds: str) -> list[tuple[str, str, str]]:
    """Return (kind, ID, actor) of the events of these kinds."""
    found = [one for one in await news(desk) if one["type"] in kinds]
    return [
        (one["type"], next(value for key, value in one["data"].items() if key.endswith("Id")), one["data"]["actor"])
        for one in found
    ]


async def trail(desk: Desk, entity_id: str) -> list[tuple[str, str, str | None]]:
    """Return the system's changes of a row according to its audit rows."""
    rows = await desk.rows("AuditLogs", entityId=entity_id, actor="system")
    return [(row["action"], row["entityType"], row["note"]) for row in sorted(rows, key=lambda row: row["timestamp"])]


async def live(desk: Editor, status: str = "ACTIVE", **row: Any) -> str:
    """Insert a promotion bypassing all rules, like a row that has been active for long."""
    columns = {"code": str(uuid.uuid4()), "name": "Spring", "status": status, "valid_to": NOON}
    return await desk.put("Promotions", **columns | row)


# --- promotions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["ACTIVE", "PILOT"])
async def test_a_promotion_expires_at_the_very_instant_its_validity_ends(desk: Editor, status: str) -> None:
    promotion = await live(desk, status)
    desk.now = NOON - TICK
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == status
    desk.now = NOON
    await tick(desk)
    row = await desk.row("Promotions", promotion)
    assert (row["status"], row["version"], row["modifiedBy"], row["modifiedAt"]) == ("EXPIRED", 2, "system", NOON)
    assert await told(desk, "PROMOTION_EXPIRED") == [("PROMOTION_EXPIRED", promotion, "system")]
    assert await trail(desk, promotion) == [("EXPIRE", "Promotions", "status")]
    (change,) = [row for row in await desk.system_rows("catalogue_changes") if row["entity_id"] == promotion]
    assert change["kind"] == "Promotions"


async def test_an_expired_promotion_whose_validity_is_prolonged_can_run_again(desk: Editor) -> None:
    """By hand: the clock does not reactivate what it has ended. At its new end it expires again."""
    promotion = await desk.given("Promotions")
    await desk.given("DiscountActions", promotion_ID=promotion, discountType="PERCENTAGE", discountValue="10")
    await desk.update("Promotions", promotion, validTo=NOON + timedelta(hours=1))
    await desk.transition("Promotions", promotion, "activate")
    desk.now = NOON + timedelta(hours=1)
    await tick(desk)
    await desk.update("Promotions", promotion, validTo=NOON + timedelta(hours=2))
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == "EXPIRED"
    await desk.transition("Promotions", promotion, "activate")
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == "ACTIVE"
    desk.now = NOON + timedelta(hours=2)
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == "EXPIRED"
    assert len(await told(desk, "PROMOTION_EXPIRED")) == 2


async def test_an_expired_promotion_expires_once(desk: Editor) -> None:
    await live(desk)
    for _ in range(3):
        await tick(desk)
    assert len(await news(desk)) == 1


@pytest.mark.parametrize("status", ["DRAFT", "PENDING_APPROVAL", "APPROVED", "REJECTED", "INACTIVE", "ARCHIVED"])
async def test_a_promotion_that_is_not_running_does_not_expire(desk: Editor, status: str) -> None:
    promotion = await live(desk, status)
    for_ever = await live(desk, valid_to=None)
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == status
    assert (await desk.row("Promotions", for_ever))["status"] == "ACTIVE"
    assert await news(desk) == []


async def test_a_locked_campaign_does_not_hinder_the_clock(desk: Editor) -> None:
    end = NOON + timedelta(hours=1)
    campaign = await desk.put(
        "Campaigns", code="C", name="C", status="SCHEDULED", locked=True, start_at=NOON, end_at=end
    )
    promotion = await live(desk, campaign_id=campaign)
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == "EXPIRED"
    assert (await desk.row("Campaigns", campaign))["status"] == "ACTIVE"
    desk.now = end
    await tick(desk)
    row = await desk.row("Campaigns", campaign)
    assert (row["status"], row["locked"]) == ("COMPLETED", True)


async def test_a_promotion_whose_definition_is_broken_expires_like_every_other(desk: Editor) -> None:
    broken = await live(desk)
    await desk.put("Conditions", promotion_id=broken, condition_type="NO_SUCH_CONDITION", sequence=1)
    await desk.put("DiscountActions", promotion_id=broken, action_type="NO_SUCH_ACTION")
    sound = await live(desk)
    await tick(desk)
    assert {(await desk.row("Promotions", one))["status"] for one in (broken, sound)} == {"EXPIRED"}


async def test_all_tenants_are_served_each_with_its_own_events(desk: Editor, database: Database) -> None:
    other = Editor(database, OTHER)
    await database.write(
        lambda session: session.rowcount(insert(table("Tenants")), {"tenant_id": OTHER, "name": "B"}), system=True
    )
    here, there = await live(desk), await live(other)
    await tick(desk)
    assert await told(desk, "PROMOTION_EXPIRED") == [("PROMOTION_EXPIRED", here, "system")]
    assert await told(other, "PROMOTION_EXPIRED") == [("PROMOTION_EXPIRED", there, "system")]


async def test_more_than_one_portion_goes_through_in_order(desk: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "PORTION", 3)
    monkeypatch.setattr(passages, "FOUND_MAX", 5)
    monkeypatch.setattr(passages, "RUN_SECONDS", 0)  # each portion is a run
    ids = {await live(desk) for _ in range(11)}
    shop = await open_shop(desk.database, is_new=False)
    context = replace(shop.context, new_id=lambda: str(uuid.uuid4()))
    cursor, runs = None, 0
    while True:
        ran = await clock_jobs()["promotions.expire"].run(context, cursor)
        cursor, runs = ran.cursor, runs + 1
        if not ran.more:
            break
    assert 4 <= runs <= 8
    assert {row["ID"] for row in await desk.rows("Promotions", status="EXPIRED")} == ids
    assert len(await news(desk)) == len(ids)


async def test_a_row_whose_status_cannot_change_is_named_and_stops_no_other(
    desk: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = await live(desk, name="Bad"), await live(desk, name="Good")
    original = Authoring.transition_many
    monkeypatch.setattr(passages, "RUN_SECONDS", 60)

    async def refuse(self: Any, set_name: str, ids: Any, *rest: Any, **named: Any) -> Any:
        if bad in ids:
            raise ValueError("it is odd")
        return await original(self, set_name, ids, *rest, **named)

    monkeypatch.setattr(Authoring, "transition_many", refuse)
    shop = await open_shop(desk.database, is_new=False)
    context = replace(shop.context, new_id=lambda: str(uuid.uuid4()))
    jobs = {"promotions.expire": clock_jobs()["promotions.expire"]}
    assert await Clockwork(context, jobs).run_once() == 1
    assert (await desk.row("Promotions", good))["status"] == "EXPIRED"
    (row,) = [one for one in await desk.system_rows("clockwork") if one["name"] == "promotions.expire"]
    assert bad in row["last_error"]
    assert good not in row["last_error"]
    assert row["due_at"] == NOON + timedelta(seconds=5), "the others do not wait for it"


async def test_a_promotion_prolonged_in_time_does_not_expire(desk: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was found to be due, and then somebody extended it by a week."""
    promotion = await live(desk)
    prolonged = False
    original = Authoring.begin

    async def begin(self: Any, *, alone: bool) -> None:
        nonlocal prolonged
        await original(self, alone=alone)
        if not prolonged:
            prolonged = True
            later = NOON + timedelta(days=7)
            rows = table("Promotions")
            await self._unit.session.rowcount(update(rows).where(rows.c.id == promotion).values(valid_to=later))

    monkeypatch.setattr(Authoring, "begin", begin)
    await tick(desk)
    assert prolonged
    assert (await desk.row("Promotions", promotion))["status"] == "ACTIVE"
    assert await news(desk) == []


# --- campaigns --------------------------------------------------------------------------------------------------------


async def campaign(desk: Editor, start: timedelta | None, end: timedelta | None, status: str = "SCHEDULED") -> str:
    row = {
        "startAt": None if start is None else NOON + start,
        "endAt": None if end is None else NOON + end,
        "status": status,
    }
    return await desk.create("Campaigns", code=str(uuid.uuid4()), name="Spring", **row)


async def test_a_campaign_starts_and_ends_at_its_window(desk: Editor) -> None:
    spring = await campaign(desk, timedelta(hours=1), timedelta(hours=2))
    seen = []
    for step in (timedelta(hours=1) - TICK, TICK, timedelta(hours=1) - TICK, TICK):
        desk.now += step
        await tick(desk)
        seen.append((await desk.row("Campaigns", spring))["status"])
    assert seen == ["SCHEDULED", "ACTIVE", "ACTIVE", "COMPLETED"]
    assert [kind for kind, _, actor in await told(desk, "CAMPAIGN_STARTED", "CAMPAIGN_ENDED") if actor == "system"] == [
        "CAMPAIGN_STARTED",
        "CAMPAIGN_ENDED",
    ]
    assert await trail(desk, spring) == [("START", "Campaigns", "status"), ("END", "Campaigns", "status")]


async def test_a_missed_campaign_window_is_started_and_ended_in_one_run(desk: Editor) -> None:
    spring = await campaign(desk, timedelta(hours=1), timedelta(hours=2))
    desk.now += timedelta(days=1)
    await tick(desk)
    assert (await desk.row("Campaigns", spring))["status"] == "COMPLETED"
    kinds = [kind for kind, _, _ in await told(desk, "CAMPAIGN_STARTED", "CAMPAIGN_ENDED")]
    assert sorted(kinds) == ["CAMPAIGN_ENDED", "CAMPAIGN_STARTED"]


@pytest.mark.parametrize(
    ("status", "start", "end", "becomes"),
    [
        ("SCHEDULED", None, None, "ACTIVE"),  # no start date: active already
        ("SCHEDULED", None, timedelta(days=9), "ACTIVE"),
        ("SCHEDULED", timedelta(hours=1), None, "ACTIVE"),
        ("SCHEDULED", timedelta(days=9), None, "SCHEDULED"),
        ("ACTIVE", None, None, "ACTIVE"),  # no end date: stays active
        ("ACTIVE", timedelta(days=9), None, "ACTIVE"),
        ("ACTIVE", None, timedelta(hours=1), "COMPLETED"),
        ("DRAFT", timedelta(hours=1), timedelta(hours=2), "DRAFT"),  # not released yet
        ("CANCELLED", timedelta(hours=1), timedelta(hours=2), "CANCELLED"),
        ("COMPLETED", timedelta(hours=1), timedelta(hours=2), "COMPLETED"),
    ],
)
async def test_a_campaign_changes_its_status_according_to_its_window(
    desk: Editor, status: str, start: timedelta | None, end: timedelta | None, becomes: str
) -> None:
    dates = {"start_at": start and NOON + start, "end_at": end and NOON + end}
    one = await desk.put("Campaigns", code="C", name="C", status=status, **dates)
    desk.now += timedelta(days=1)
    await tick(desk)
    assert (await desk.row("Campaigns", one))["status"] == becomes


# --- budgets ----------------------------------------------------------------------------------------------------------


async def budget(desk: Editor, status: str, start: timedelta | None, end: timedelta | None, **columns: Any) -> str:
    amounts = {"total_amount": Decimal(100), "consumed_amount": Decimal(40), "currency": "EUR"}
    dates = {"valid_from": start and NOON + start, "valid_to": end and NOON + end}
    code = str(uuid.uuid4())
    return await desk.put("Budgets", code=code, name="B", status=status, **amounts | dates | columns)


HOURLY = timedelta(hours=1)
DAILY = timedelta(days=1)


@pytest.mark.parametrize(
    ("status", "start", "end", "becomes", "verb"),
    [
        ("SCHEDULED", HOURLY, None, "ACTIVE", "START"),
        ("SCHEDULED", None, 2 * DAILY, "ACTIVE", "START"),
        ("SCHEDULED", 2 * DAILY, None, "SCHEDULED", None),
        ("SCHEDULED", HOURLY, 2 * HOURLY, "EXPIRED", "EXPIRE"),
        ("ACTIVE", None, DAILY, "EXPIRED", "EXPIRE"),
        ("EXHAUSTED", None, HOURLY, "EXPIRED", "EXPIRE"),
        ("ACTIVE", None, DAILY + TICK, "ACTIVE", None),
        ("ACTIVE", None, None, "ACTIVE", None),
        ("DRAFT", HOURLY, 2 * HOURLY, "DRAFT", None),
        ("EXPIRED", HOURLY, 2 * HOURLY, "EXPIRED", None),
    ],
)
async def test_a_budget_changes_its_status_according_to_its_validity(
    desk: Editor, status: str, start: timedelta | None, end: timedelta | None, becomes: str, verb: str | None
) -> None:
    one = await budget(desk, status, start, end)
    desk.now += DAILY
    await tick(desk)
    await tick(desk)
    row = await desk.row("Budgets", one)
    assert (row["status"], row["consumedAmount"], row["totalAmount"]) == (becomes, Decimal(40), Decimal(100))
    moved = [] if verb is None else [(verb, "Budgets", f"status: {status} -> {becomes}")]
    assert await trail(desk, one) == moved
    assert row["version"] == (1 if verb is None else 2)
    assert await news(desk) == []


async def test_a_budget_that_starts_empty_is_exhausted_with_one_event(desk: Editor) -> None:
    one = await budget(desk, "SCHEDULED", HOURLY, 2 * DAILY, consumed_amount=Decimal(100))
    desk.now += HOURLY
    await tick(desk)
    await tick(desk)
    assert (await desk.row("Budgets", one))["status"] == "EXHAUSTED"
    assert [told["type"] for told in await news(desk)] == ["BUDGET_EXHAUSTED"]
    desk.now += 2 * DAILY
    await tick(desk)
    assert (await desk.row("Budgets", one))["status"] == "EXPIRED"
    assert len(await news(desk)) == 1


# --- drafts, and others at the same time ------------------------------------------------------------------------------


async def test_a_draft_of_a_promotion_that_expires_survives_and_changes_what_it_changed(desk: Editor) -> None:
    promotion = await desk.given("Promotions", status="INACTIVE", validTo=NOON + DAILY)
    await desk.create("LoyaltyActions", promotion_ID=promotion, actionType="ADD_FIXED", points=Decimal(5))
    await desk.update("Promotions", promotion, status="ACTIVE")
    await desk.edit("Promotions", promotion)
    await desk.change("Promotions", promotion, name="Autumn", validTo=NOON + 9 * DAILY)
    desk.now += DAILY
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == "EXPIRED"
    await desk.activate("Promotions", promotion)
    row = await desk.row("Promotions", promotion)
    assert (row["status"], row["name"], row["validTo"]) == ("EXPIRED", "Autumn", NOON + 9 * DAILY)
    await desk.transition("Promotions", promotion, "activate")
    await tick(desk)
    assert (await desk.row("Promotions", promotion))["status"] == "ACTIVE", "prolonged, it runs once more"


async def test_a_draft_that_leaves_the_end_alone_does_not_revive_it(desk: Editor) -> None:
    promotion = await desk.given("Promotions", status="INACTIVE", validTo=NOON + DAILY)
    await desk.create("LoyaltyActions", promotion_ID=promotion, actionType="ADD_FIXED", points=Decimal(5))
    await desk.update("Promotions", promotion, status="ACTIVE")
    await desk.edit("Promotions", promotion)
    await desk.change("Promotions", promotion, description="Of daffodils.")
    desk.now += DAILY
    await tick(desk)
    await desk.activate("Promotions", promotion)
    row = await desk.row("Promotions", promotion)
    assert (row["status"], row["description"]) == ("EXPIRED", "Of daffodils.")
    assert [kind for kind, *_ in await told(desk, "PROMOTION_EXPIRED", "PROMOTION_ACTIVATED")] == [
        "PROMOTION_ACTIVATED",
        "PROMOTION_EXPIRED",
    ]


async def test_concurrent_workers_and_authors_change_each_status_once(desk: Editor) -> None:
    """Four workers on the same rows, and an author who deactivates some of them meanwhile."""
    ids = [await live(desk) for _ in range(40)]

    async def author(promotion: str) -> None:
        await desk.transition("Promotions", promotion, "deactivate")

    desk.now = NOON
    await asyncio.gather(*(tick(desk) for _ in range(4)), *(author(one) for one in ids[::4]))
    statuses = {row["ID"]: row["status"] for row in await desk.rows("Promotions")}
    events = await told(desk, "PROMOTION_EXPIRED", "PROMOTION_DEACTIVATED")
    expired = [key for kind, key, _ in events if kind == "PROMOTION_EXPIRED"]
    assert len(set(expired)) == len(expired)
    assert sorted(key for kind, key, _ in events if kind == "PROMOTION_DEACTIVATED") == sorted(ids[::4])
    assert all(statuses[one] == "INACTIVE" for one in ids[::4])
    assert all(statuses[one] == "EXPIRED" for one in ids if one not in ids[::4])
    assert set(expired) >= {one for one in ids if one not in ids[::4]}
