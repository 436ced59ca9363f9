"""Measures the processor time of a test's own work.

Objects left by earlier tests are not garbage-collected meanwhile, just as a service does not collect what it loaded at
start.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Spent", "processor_time"]


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
