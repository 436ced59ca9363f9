"""Tracks whether tills are requesting prices from this process right now, so that other work can yield to them."""

from __future__ import annotations

import time
from collections.abc import Callable

GONE_SECONDS = 1.0  # a shop in operation asks more often


class Tills:
    """The time of the last request from a till. ``monotonic`` returns seconds that never go back."""

    __slots__ = ("_monotonic", "_seen_at")

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._seen_at = float("-inf")

    def seen(self) -> None:
        """Record that a basket has arrived."""
        self._seen_at = self._monotonic()

    def are_there(self) -> bool:
        """Return whether a basket arrived within the last second."""
        return self._monotonic() - self._seen_at < GONE_SECONDS
