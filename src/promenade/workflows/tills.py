"""Whether tills are asking this process for prices right now; what can wait makes way for them."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Tills"]

GONE_SECONDS = 1.0  # a shop that sells asks more often


class Tills:
    """When a till was last heard of. ``monotonic`` gives seconds that only move on."""

    __slots__ = ("_monotonic", "_seen_at")

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._seen_at = float("-inf")

    def seen(self) -> None:
        """A basket has come."""
        self._seen_at = self._monotonic()

    def are_there(self) -> bool:
        """Whether a basket came within the last second."""
        return self._monotonic() - self._seen_at < GONE_SECONDS
