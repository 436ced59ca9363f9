"""The size of measurements: for results, for a quick look, or only to check that a part still runs."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

__all__ = ["Scale"]

T = TypeVar("T")


class Scale(Enum):
    """Figures of `FULL` are results; those of `TINY`, which takes seconds, mean nothing."""

    FULL = 0
    QUICK = 1
    TINY = 2

    def of(self, full: T, quick: T, tiny: T) -> T:
        """Return the value for this scale."""
        return (full, quick, tiny)[self.value]
