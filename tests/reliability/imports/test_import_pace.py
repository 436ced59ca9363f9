"""An import yields to the tills of its process and runs at full speed without them."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from promenade.worker.pace import ImportPace
from promenade.workflows import pace as pacing
from promenade.workflows.imports.running import Busy
from promenade.workflows.tills import Tills

SLICE_SECONDS = 0.06
CONSTANT_SECONDS = 0.01  # of a slice, independent of its rows


def settled(seconds_a_row: float) -> int:
    """Return the slice size that results for a job with this time per row."""
    pace = ImportPace(Tills())
    for _ in range(30):
        pace.worked(pace.rows, CONSTANT_SECONDS + pace.rows * seconds_a_row)
    return pace.rows


def test_a_slice_takes_as_long_as_a_basket_may_wait_whatever_a_row_takes() -> None:
    for seconds_a_row in (0.0005, 0.001, 0.002):
        taken = CONSTANT_SECONDS + settled(seconds_a_row) * seconds_a_row
        assert 0.9 * SLICE_SECONDS < taken < 1.1 * SLICE_SECONDS


def test_a_slice_is_neither_larger_than_a_part_nor_a_handful_of_rows() -> None:
    assert (settled(0.000001), settled(0.5)) == (2_000, 16)


def test_the_first_slice_is_small_whatever_a_row_turns_out_to_take() -> None:
    assert ImportPace(Tills()).rows == 16


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the length of each pause without waiting for it."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(pacing, "asyncio", SimpleNamespace(sleep=sleep))
    return found


async def test_it_rests_for_much_longer_than_it_worked_while_tills_are_there(rests: list[float]) -> None:
    now = [100.0]
    tills = Tills(lambda: now[0])
    tills.seen()
    pace = ImportPace(tills)
    pace.worked(100, 0.08)
    await pace.rest()
    await pace.rest()  # no work since the last one
    pace.worked(100, 0.08)
    now[0] += 1.5  # no till is active any more
    await pace.rest()
    first, *others = rests
    assert first > 5 * 0.08
    assert others == [0, 0]


async def test_within_a_transaction_it_rests_for_as_long_as_it_worked(rests: list[float]) -> None:
    tills = Tills()
    tills.seen()
    pace = ImportPace(tills)
    pace.worked(100, 0.05)
    await pace.rest_within()
    assert rests == [0.05]


async def test_a_rest_pauses_for_as_long_as_the_work_took() -> None:
    tills, loop = Tills(), asyncio.get_running_loop()
    tills.seen()
    pace = ImportPace(tills)
    pace.worked(100, 0.05)
    began = loop.time()
    await pace.rest_within()
    assert loop.time() - began >= 0.05


@pytest.mark.alone
async def test_only_the_work_itself_counts_and_not_what_it_waits_for() -> None:
    async def work() -> str:
        began = time.thread_time()
        while time.thread_time() < began + 0.02:
            pass
        await asyncio.to_thread(threading.Event().wait, 0.2)
        with suppress(KeyError):
            await failing()
        return "done"

    async def failing() -> None:
        await asyncio.sleep(0)
        raise KeyError

    busy = Busy(work())
    assert await busy == "done"
    assert 0.02 <= busy.seconds < 0.1


async def test_work_that_is_called_off_may_tidy_up() -> None:
    tidied = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            tidied.set()

    async def measured() -> None:
        await Busy(work())

    task = asyncio.create_task(measured())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert tidied.is_set()
    assert task.cancelled()


async def test_it_never_rests_without_tills(rests: list[float]) -> None:
    pace = ImportPace(Tills())
    for _ in range(20):
        pace.worked(250, 10.0)
        await pace.rest()
    assert rests == [0] * 20
