"""Counting the sales of a pilot: each once, however many there are, including those reported late."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade.store.clockwork import pilots as pilot_sales
from promenade.workflows.clockwork import pilots
from tests.workflows.authoring.desk import NOON
from tests.workflows.clockwork.pilots.trial import Trial, around
from tests.workflows.counting import count_statements


def _watch(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """Record the time ranges that are summed from now on."""
    added: list[tuple[Any, Any]] = []
    original = pilot_sales.sum_sales

    async def watched(session: Any, pilot: Any, treated: Any, since: Any, until: Any) -> Any:
        added.append((since, until))
        return await original(session, pilot, treated, since, until)

    monkeypatch.setattr(pilots, "sum_sales", watched)
    return added


async def test_each_sale_is_counted_once_per_day(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    await trial.pilot()
    for _ in range(3):
        await trial.sold("PILOT", "10.00")
        await trial.sold("CONTROL", "10.00")
        trial.later(hours=1)
    await trial.run()
    added = _watch(monkeypatch)
    trial.later(minutes=1)
    await trial.run()
    assert min(since for since, _ in added) >= trial.now[0] - pilots.SETTLED - timedelta(minutes=1)
    (tally,) = await trial.tallies()
    assert tally["counted_until"] == trial.now[0] - pilots.SETTLED
    added.clear()
    trial.later(days=1)
    await trial.run()
    assert min(since for since, _ in added) == NOON


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_sums_do_not_depend_on_the_limits_of_portions(
    trial: Trial, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(pilots, "STRETCH", size)
    await trial.pilot(autoPromoteThreshold=Decimal("10"))
    for minute in range(10):
        at = NOON + timedelta(minutes=minute)
        await trial.sold("PILOT", *around("11.00", 4), at=at)  # at one moment, more than fit into one range
        await trial.sold("CONTROL", *around("10.00", 4), at=at)
    trial.later(hours=1)
    ran = await trial.run()
    while ran.more:
        ran = await trial.run(ran.cursor)
    assert await trial.status() == "ACTIVE"


async def test_the_latest_sales_count_at_once(trial: Trial) -> None:
    await trial.pilot()
    trial.later(minutes=1)
    await trial.sold("PILOT", *around("20.00"))
    await trial.sold("CONTROL", *around("10.00"))
    assert (await trial.run()).done == 1


async def test_a_pilot_goes_live_only_by_a_current_count(trial: Trial) -> None:
    """A till reports sales late that lower the uplift; the morning's count does not include them."""
    await trial.pilot()
    await trial.sold("PILOT", *around("10.90"))
    await trial.sold("CONTROL", *around("10.00"))
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    await trial.sold("PILOT", "1.00", at=NOON + timedelta(minutes=5))  # earlier than what was counted
    trial.later(hours=2)
    await trial.sold("PILOT", "16.00")  # with the late sale the uplift is 8.6 %, without it 11.1 %
    trial.later(minutes=1)
    assert (await trial.run()).done == 0
    assert await trial.status() == "PILOT"


async def test_a_changed_window_is_counted_from_the_beginning(trial: Trial) -> None:
    await trial.pilot()
    await trial.sold("PILOT", *around("10.00"))
    trial.later(hours=1)
    await trial.sold("PILOT", *around("20.00"))
    await trial.sold("CONTROL", *around("14.00"))
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    (config,) = await trial.office.rows("PromotionPilotConfigs")
    await trial.office.update("PromotionPilotConfigs", config["ID"], pilotStartAt=NOON + timedelta(minutes=30))
    assert (await trial.run()).done == 1


async def test_a_clock_set_back_an_hour_loses_no_sale(trial: Trial) -> None:
    await trial.pilot()
    trial.later(hours=3)
    await trial.run()  # counted up to now
    trial.later(hours=-1)
    await trial.sold("PILOT", *around("20.00"))
    await trial.sold("CONTROL", *around("10.00"))
    trial.later(minutes=1)
    assert (await trial.run()).done == 1


async def test_a_long_count_continues_where_it_stopped(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilots, "STRETCH", 4)
    monkeypatch.setattr(pilots, "RUN_SECONDS", 0.0)
    promotions = [await trial.pilot() for _ in range(3)]
    for promotion in promotions:
        trial.promotion = promotion
        for minute in range(15):
            await trial.sold("PILOT", *around("20.00", 2), at=NOON + timedelta(minutes=minute))
            await trial.sold("CONTROL", *around("10.00", 2), at=NOON + timedelta(minutes=minute))
    trial.later(hours=1)
    cursor, runs, done = None, 0, 0
    while True:
        ran = await trial.run(cursor)
        cursor, runs, done = ran.cursor, runs + 1, done + ran.done
        if not ran.more:
            break
        assert runs < 1000
    assert runs > 10
    assert done == 3
    assert [await trial.status(one) for one in promotions] == ["ACTIVE"] * 3


async def test_a_run_without_pilots_asks_once(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_statements(monkeypatch)
    assert (await trial.run()).done == 0
    assert asked() == 1
