"""The command `promenade` with a clock that tests move, whose imports rest after each few rows:
`python -m tests.reliability.imports.kills.resting worker ...`.

For workers that are to be killed in the middle of a job, however busy the machine is that watches how far they are.
"""

from __future__ import annotations

import os
from pathlib import Path

from promenade import app
from promenade.cli import main
from promenade.worker import import_pace
from promenade.workflows.tills import Tills
from tests.kit.moved_clock import MovedClock

ROWS = 64
REST_SECONDS = 0.2


def always(_tills: Tills) -> bool:
    """Whether tills are there that it should rest for."""
    return True


if __name__ == "__main__":
    vars(import_pace).update(ROWS_MAX=ROWS, REST_SECONDS_MIN=REST_SECONDS, REST_SECONDS_MAX=REST_SECONDS)
    vars(import_pace).update(REST_WITHIN_SECONDS_MAX=REST_SECONDS)
    Tills.are_there = always  # type: ignore[method-assign, assignment]
    vars(app)["clock"] = MovedClock(Path(os.environ["CLOCK_FILE"]))
    main()
