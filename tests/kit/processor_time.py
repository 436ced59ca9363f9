"""Measures the processor time of a test's own work.

Objects left by earlier tests are not garbage-collected meanwhile, just as a service does not collect what it loaded at
start.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Spent", "busy_seconds", "processor_time"]

_IDLE = (3, 4)  # of the numbers in /proc/stat: idle, and waiting for a disk


@dataclass
class Spent:
    """``seconds`` of processor time of all threads of the process; set when the block has ended."""

    seconds: float = 0.0


@contextmanager
def processor_time() -> Iterator[Spent]:
    """``with processor_time() as spent: ...``; collecting the block's own garbage counts."""
    spent = Spent()
    gc.freeze()
    began = time.process_time()
    try:
        yield spent
    finally:
        spent.seconds = time.process_time() - began
        gc.unfreeze()


def busy_seconds() -> float:
    """Return for how long the processors of the machine have worked since it started, whoever they worked for."""
    ticks = [int(one) for one in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]]
    return sum(tick for place, tick in enumerate(ticks) if place not in _IDLE) / os.sysconf("SC_CLK_TCK")
