"""An import makes way for tills of its process, and hurries where there are none."""

from __future__ import annotations

import asyncio

from promenade.worker.import_pace import ImportPace
from promenade.workflows.tills import Tills

SLICE = 0.01  # seconds that a slice may take beside tills
A_ROW = 0.002


def paced(tills: Tills, slices: int) -> list[int]:
    """The rows of each slice, of a job whose rows take two thousandths of a second each."""
    pace, sizes = ImportPace(tills), []
    for _ in range(slices):
        sizes.append(pace.rows)
        pace.worked(sizes[-1], sizes[-1] * A_ROW)
    return sizes


def test_slices_are_short_beside_tills_and_long_without() -> None:
    now = [100.0]
    tills = Tills(lambda: now[0])
    assert paced(tills, 8)[-1] == 0.1 / A_ROW
    tills.seen()
    assert paced(tills, 8)[-1] == SLICE / A_ROW
    now[0] += 1.5  # the shop has closed
    assert paced(tills, 8)[-1] == 0.1 / A_ROW


def test_the_first_slice_is_small_whatever_a_row_turns_out_to_take() -> None:
    assert ImportPace(Tills()).rows == 8


async def test_it_rests_longer_than_it_worked_while_tills_are_there() -> None:
    tills, loop = Tills(), asyncio.get_running_loop()
    tills.seen()
    pace = ImportPace(tills)
    pace.worked(10, 0.02)
    began = loop.time()
    await pace.rest()
    assert loop.time() - began >= 0.02
    began = loop.time()
    await pace.rest()  # it has worked no more
    assert loop.time() - began < 0.02


async def test_it_never_rests_without_tills() -> None:
    loop = asyncio.get_running_loop()
    pace = ImportPace(Tills())
    began = loop.time()
    for _ in range(20):
        pace.worked(250, 10.0)
        await pace.rest()
    assert loop.time() - began < 1.0
