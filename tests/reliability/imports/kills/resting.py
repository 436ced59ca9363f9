"""The command `promenade` with a clock that tests move, whose imports rest after each few rows:
`python -m tests.reliability.imports.kills.resting worker ...`.

For workers that are to be killed in the middle of a job, however busy the machine is that watches how far they are.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from promenade import app
from promenade.cli import main
from promenade.worker import import_pace
from tests.kit.moved_clock import MovedClock

ROWS = 64
REST_SECONDS = 0.2


async def rest(*_: object) -> None:
    """In place of a pause as long as tills need one."""
    with suppress(TimeoutError):
        async with asyncio.timeout(REST_SECONDS):
            await asyncio.Event().wait()


if __name__ == "__main__":
    vars(import_pace)["ROWS_MAX"] = ROWS
    import_pace.ImportPace._rest = rest  # type: ignore[method-assign, assignment]
    vars(app)["clock"] = MovedClock(Path(os.environ["CLOCK_FILE"]))
    main()
