"""The command `promenade` with a clock that tests move and imports that pause after every few rows:
`python -m tests.reliability.imports.kills.resting worker ...`.

For workers that must be killed in the middle of a job, however busy the machine that watches their progress is: after
as many rows as the environment variable ROWS_MAX says, a worker does not go on.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from promenade import app
from promenade.cli import main
from promenade.worker import imports, pace
from promenade.workflows.pace import Rest
from promenade.workflows.tills import Tills
from tests.kit.moved_clock import MovedClock

ROWS = 64
REST_SECONDS = 0.2


def always(_tills: Tills) -> bool:
    """Report that tills are active, so that imports always pause."""
    return True


class _EndingPace(pace.ImportPace):
    """A pace whose next rest has no end once so many rows were stored."""

    __slots__ = ("_left",)

    def __init__(self, tills: Tills) -> None:
        super().__init__(tills)
        self._left = int(os.environ["ROWS_MAX"])

    def worked(self, rows: int, seconds: float) -> None:
        super().worked(rows, seconds)
        self._left -= rows

    async def _rest(self, rest: Rest) -> None:
        if self._left <= 0:
            await asyncio.Event().wait()
        await super()._rest(rest)


if __name__ == "__main__":
    vars(pace).update(
        ROWS_MAX=ROWS,
        BETWEEN_SLICES=Rest(seconds_min=REST_SECONDS, seconds_max=REST_SECONDS),
        WITHIN_A_TRANSACTION=Rest(times=0.0, busy_times=1.0, seconds_max=REST_SECONDS),
    )
    vars(imports).update(ImportPace=_EndingPace)
    Tills.are_there = always  # type: ignore[method-assign, assignment]
    vars(app)["clock"] = MovedClock(Path(os.environ["CLOCK_FILE"]))
    main()
