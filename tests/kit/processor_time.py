"""Processor time of what a test does, without that of its process: what thousands of tests before it have left is not
searched for garbage meanwhile, as a service does not search what it started with."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Spent", "processor_time"]


@dataclass
class Spent:
    """``seconds`` of processor time, of all threads of the process; known once the block has ended."""

    seconds: float = 0.0


@contextmanager
def processor_time() -> Iterator[Spent]:
    """``with processor_time() as spent: ...``; garbage of the block itself is searched and counts."""
    spent = Spent()
    gc.freeze()
    began = time.process_time()
    try:
        yield spent
    finally:
        spent.seconds = time.process_time() - began
        gc.unfreeze()
