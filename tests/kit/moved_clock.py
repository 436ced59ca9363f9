"""The command `promenade` with a clock that tests move: `python -m tests.kit.moved_clock serve ...`.

CLOCK_FILE in the environment names the file that holds how far the clock is off. All processes that are given one file
tell one time, before and after they are killed.
"""

from __future__ import annotations

import mmap
import os
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path

from promenade import app
from promenade.cli import main

__all__ = ["MovedClock"]

_OFFSET = struct.Struct("q")  # microseconds; written and read in one piece, as the machine does with its own words


class MovedClock:
    """The time, as far off as the file at ``path`` says; a file that is missing is made and says not at all."""

    def __init__(self, path: Path) -> None:
        with path.open("ab") as file:
            if not file.tell():
                file.write(_OFFSET.pack(0))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _OFFSET.size)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(microseconds=_OFFSET.unpack_from(self._shared)[0])

    def move(self, **by: float) -> None:
        """Let so much time pass at once, or take it back."""
        passed = _OFFSET.unpack_from(self._shared)[0] + timedelta(**by) // timedelta(microseconds=1)
        _OFFSET.pack_into(self._shared, 0, passed)


if __name__ == "__main__":
    vars(app)["clock"] = MovedClock(Path(os.environ["CLOCK_FILE"]))
    main()
