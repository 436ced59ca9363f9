"""The command `promenade` with a clock that tests can move: `python -m tests.kit.moved_clock serve ...`.

The environment variable CLOCK_FILE names the file that holds the clock's offset. All processes with the same file share
the same time, even after they are killed and restarted.
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

_OFFSET = struct.Struct("q")  # microseconds; a machine word, so reads and writes are atomic


class MovedClock:
    """A clock shifted by the offset in the file at ``path``; a missing file is created with no offset."""

    def __init__(self, path: Path) -> None:
        with path.open("ab") as file:
            if not file.tell():
                file.write(_OFFSET.pack(0))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _OFFSET.size)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(microseconds=_OFFSET.unpack_from(self._shared)[0])

    def move(self, **by: float) -> None:
        """Move the clock forwards, or backwards."""
        self.set(microseconds=_OFFSET.unpack_from(self._shared)[0], **by)

    def set(self, **off: float) -> None:
        """Set the clock to so much before or behind the real time."""
        _OFFSET.pack_into(self._shared, 0, timedelta(**off) // timedelta(microseconds=1))


if __name__ == "__main__":
    vars(app)["clock"] = MovedClock(Path(os.environ["CLOCK_FILE"]))
    main()
