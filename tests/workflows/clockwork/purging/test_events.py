"""Old events and finished deliveries are deleted; those still needed are kept."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from promenade.workflows.clockwork import paced, purges
from promenade.workflows.context import Retention
from tests.workflows.clockwork.purging.attic import Attic
from tests.workflows.shop import NOON, open_shop

OLD = NOON - timedelta(days=31)


async def test_an_event_is_deleted_thirty_days_after_it_happened(attic: Attic) -> None:
    await attic.event(at=NOON - timedelta(days=30, microseconds=1))
    kept = await attic.event(at=NOON - timedelta(days=30))
    assert await attic.purge("events") == 1
    assert await attic.ids("outbox_events") == {kept}


async def test_an_event_that_was_not_dispatched_stays(attic: Attic) -> None:
    kept = await attic.event(at=OLD, dispatched=False)
    await attic.event(at=OLD)
    await attic.purge("events")
    assert await attic.ids("outbox_events") == {kept}


async def test_an_event_that_a_delivery_waits_for_stays(attic: Attic) -> None:
    """A dead receiver is retried for days, and a manual replay puts old events back into the queue."""
    waiting, finished = await attic.event(at=OLD), await attic.event(at=OLD)
    again = await attic.delivery(waiting, at=OLD, status="RETRYING", subscription=None)
    await attic.delivery(finished, at=OLD, status="DELIVERED", subscription=None)
    await attic.queued(again, waiting, NOON)
    await attic.purge("events")
    assert await attic.ids("outbox_events") == {waiting}


async def test_many_that_stay_hold_up_none_that_go(attic: Attic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purges, "UNIT_ROWS", 4)
    # at one moment, and more than fit into a unit
    kept = {await attic.event(at=OLD, dispatched=False) for _ in range(6)}
    await attic.event(at=OLD + timedelta(hours=1))
    assert await attic.purge("events") == 1
    assert await attic.ids("outbox_events") == kept


async def test_each_tenant_has_its_turn(attic: Attic, monkeypatch: pytest.MonkeyPatch) -> None:
    other = await open_shop(attic.shop.context.database, "tenant-b")
    await other.put("Tenants", id="tenant-b", tenant_id="tenant-b", name="B")
    for shop in (attic.shop, other):
        for _ in range(3):
            await shop.put(
                "outbox_events", id=str(uuid.uuid4()), kind="X", payload=b"{}", created_at=OLD, dispatched_at=OLD
            )
    monkeypatch.setattr(paced, "RUN_SECONDS", 0.02)
    assert await attic.purge("events") == 6
    assert await attic.ids("outbox_events") == set()


async def test_a_finished_delivery_is_deleted_after_ninety_days(attic: Attic) -> None:
    subscriptions = [str(uuid.uuid4()), str(uuid.uuid4()), None]
    gone = NOON - timedelta(days=90, microseconds=1)
    kept = set()
    for subscription in subscriptions:
        for status in ("DELIVERED", "DEAD_LETTER"):
            await attic.delivery(str(uuid.uuid4()), at=gone, status=status, subscription=subscription)
            young = NOON - timedelta(days=90)
            kept.add(await attic.delivery(str(uuid.uuid4()), at=young, status=status, subscription=subscription))
        kept.add(await attic.delivery(str(uuid.uuid4()), at=gone, status="RETRYING", subscription=subscription))
    assert await attic.purge("notifications") == 6
    assert await attic.ids("NotificationLogs") == kept


async def test_a_delivery_stays_as_long_as_its_event(attic: Attic) -> None:
    """An event without a delivery counts as missed, and a replay would send it again."""
    attic.retention = Retention(events=200)
    event = await attic.event(at=NOON - timedelta(days=199))
    kept = await attic.delivery(event, at=NOON - timedelta(days=199), status="DELIVERED", subscription=None)
    queued = await attic.delivery(
        str(uuid.uuid4()), at=NOON - timedelta(days=300), status="DEAD_LETTER", subscription=None
    )
    await attic.queued(queued, str(uuid.uuid4()), NOON)
    await attic.delivery(str(uuid.uuid4()), at=NOON - timedelta(days=201), status="DELIVERED", subscription=None)
    assert await attic.purge("notifications") == 1
    assert await attic.ids("NotificationLogs") == {kept, queued}


async def test_a_purge_deletes_more_deliveries_than_one_unit_holds(
    attic: Attic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purges, "UNIT_ROWS", 4)
    for subscription in (str(uuid.uuid4()), str(uuid.uuid4())):
        for _ in range(9):
            await attic.delivery(
                str(uuid.uuid4()), at=NOON - timedelta(days=91), status="DELIVERED", subscription=subscription
            )
    assert await attic.purge("notifications") == 18
