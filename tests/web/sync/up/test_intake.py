"""Who may upload when many stores come back: bounded, fair, and nobody starves (decision 36)."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from promenade.errors import TooMany
from promenade.web.sync import intake as intake_module
from promenade.web.sync.intake import COME_BACK_SECONDS_MAX, Intake


async def turns(number: int) -> None:
    """Let the others go on, so many times."""
    for _ in range(number):
        await asyncio.sleep(0)


@dataclass
class Load:
    """Stores that send their uploads one after the other, and come back when they are told to."""

    intake: Intake
    most: Counter[str] = field(default_factory=Counter)  # seen at the same time, by what
    done: list[str] = field(default_factory=list)
    longest: int = 0  # seconds that a store was told to wait

    async def send(self, store: str, number: int, tenant: str = "t") -> None:
        while number:
            try:
                async with self.intake.admitted((tenant, store)):
                    self.most["working"] = max(self.most["working"], self.intake.working)
                    self.most["waiting"] = max(self.most["waiting"], self.intake.waiting)
                    await turns(3)
                    number -= 1
                    self.done.append(store)
            except TooMany as busy:
                self.longest = max(self.longest, busy.retry_after_seconds)
                await turns(10 * busy.retry_after_seconds)


async def test_three_hundred_stores_are_served_within_bounds_and_none_starves() -> None:
    load = Load(Intake(random.Random(1).random, at_once=3, of_tenant=3, room=8))
    await asyncio.gather(*(load.send(f"S{number}", 2) for number in range(300)))
    assert Counter(load.done) == {f"S{number}": 2 for number in range(300)}
    assert load.most["working"] <= 3
    assert load.most["waiting"] <= 8
    assert 1 <= load.longest <= COME_BACK_SECONDS_MAX


async def test_a_store_with_one_sale_does_not_wait_for_weeks_of_others() -> None:
    load = Load(Intake(random.Random(1).random, at_once=1, of_tenant=1, room=100))
    weeks = [asyncio.create_task(load.send(f"week {number}", 50)) for number in range(10)]
    await turns(30)
    await load.send("small", 1)
    served = Counter(load.done)
    assert max(served[f"week {number}"] for number in range(10)) - min(served.values()) <= 2
    assert sum(served.values()) < 60
    for one in weeks:
        one.cancel()


async def test_who_was_sent_away_is_served_before_those_who_came_later() -> None:
    intake = Intake(random.Random(1).random, at_once=1, of_tenant=1, room=1)
    order: list[str] = []

    async def take(store: str) -> None:
        async with intake.admitted(("t", store)):
            order.append(store)
            await turns(30)

    working = asyncio.create_task(take("first"))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(take("second"))
    await asyncio.sleep(0)
    with pytest.raises(TooMany):
        await take("third")
    await working
    later = asyncio.create_task(take("fourth"))
    await asyncio.sleep(0)
    again = asyncio.create_task(take("third"))  # it came first, so it takes the place in the room
    results = await asyncio.gather(waiting, later, again, return_exceptions=True)
    assert order == ["first", "second", "third"]
    assert [isinstance(one, TooMany) for one in results] == [False, True, False]


async def test_a_tenant_leaves_room_for_others_and_a_store_that_has_gone_leaves_its_place() -> None:
    intake = Intake(random.Random(1).random, at_once=2, of_tenant=1, room=10)
    held = asyncio.Event()
    begun: list[str] = []

    async def take(tenant: str, store: str) -> str:
        async with intake.admitted((tenant, store)):
            begun.append(store)
            await held.wait()
            return store

    slow = [asyncio.create_task(take("slow", f"S{number}")) for number in range(4)]
    await asyncio.sleep(0)
    other = asyncio.create_task(take("other", "S"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (begun, intake.working, intake.waiting) == (["S0", "S"], 2, 3)
    slow[1].cancel()
    slow[0].cancel()
    await asyncio.sleep(0)
    held.set()
    assert await asyncio.gather(other, *slow[2:]) == ["S", "S2", "S3"]
    await asyncio.sleep(0)
    assert (intake.working, intake.waiting) == (0, 0)


async def test_a_store_that_goes_as_its_turn_comes_leaves_its_place() -> None:
    intake = Intake(random.Random(1).random, at_once=1, of_tenant=1, room=10)

    async def take() -> None:
        async with intake.admitted(("t", "other")):
            raise AssertionError

    async with intake.admitted(("t", "first")):
        other = asyncio.create_task(take())
        await asyncio.sleep(0)
    assert intake.working == 1, "its turn has come, and it does not know yet"
    other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await other
    assert (intake.working, intake.waiting) == (0, 0)


async def test_nobody_waits_long_with_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "WAIT_SECONDS", 0.01)
    intake = Intake(random.Random(1).random, at_once=1, of_tenant=1, room=10)
    async with intake.admitted(("t", "slow")):
        with pytest.raises(TooMany) as busy:
            async with intake.admitted(("t", "other")):
                raise AssertionError
    assert busy.value.code == "UPLOADS_BUSY"
    async with intake.admitted(("t", "other")):
        assert intake.working == 1


async def test_a_turn_that_comes_as_the_wait_ends_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "WAIT_SECONDS", 0.0)
    intake = Intake(random.Random(1).random, at_once=1, of_tenant=1, room=10)

    async def take() -> str:
        async with intake.admitted(("t", "other")):
            return "served"

    async with intake.admitted(("t", "slow")):
        other = asyncio.create_task(take())
        await asyncio.sleep(0)  # its time is up in the loop's next turn, in which the place becomes free as well
    assert await other == "served"
    assert intake.working == 0


async def test_who_does_not_come_back_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    intake = Intake(lambda: 0.999, at_once=1, of_tenant=1, room=0)
    told = []
    async with intake.admitted(("t", "slow")):
        for number in range(300):
            if number == 299:
                monkeypatch.setattr(intake_module, "KNOWN_SECONDS", 0.0)
            with pytest.raises(TooMany) as busy:
                await intake.admitted(("t", f"S{number}")).__aenter__()
            told.append(busy.value.retry_after_seconds)
    assert told[0] == 1
    assert max(told) > 1
    assert told[-1] == 1


async def test_a_tenant_does_not_fill_the_room_for_others() -> None:
    intake = Intake(random.Random(1).random, at_once=2, of_tenant=1, room=4)
    held = asyncio.Event()

    async def take(tenant: str, store: str) -> str:
        async with intake.admitted((tenant, store)):
            await held.wait()
            return store

    many = [asyncio.create_task(take("many", f"S{number}")) for number in range(5)]
    few = []
    for number in range(3):
        await asyncio.sleep(0)
        few.append(asyncio.create_task(take("few", f"F{number}")))
    await turns(3)
    held.set()
    assert await asyncio.gather(*few) == ["F0", "F1", "F2"]
    results = await asyncio.gather(*many, return_exceptions=True)
    assert [isinstance(one, TooMany) for one in results] == [False, False, False, True, True]
