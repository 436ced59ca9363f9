"""Work that takes a while: a few pieces at a time, beside the event loop, so that tills go on; too many are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from promenade.errors import TooMany

__all__ = ["RETRY_AFTER_SECONDS", "AtOnce"]

T = TypeVar("T")
_WAITING_MAX = 20
RETRY_AFTER_SECONDS = 5
"""When to send a request again that was refused because too many wait."""


class AtOnce:
    """Runs up to ``number`` pieces of work at the same time in this process; up to 20 more wait.

    ``refusal`` makes the error for one more.
    """

    def __init__(self, number: int, refusal: Callable[[], TooMany]) -> None:
        self._threads = ThreadPoolExecutor(number, "at-once")
        self._asked_max = number + _WAITING_MAX
        self._asked = 0
        self._refusal = refusal

    async def run(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, or raise what it raises. Raises TooMany while too many wait."""
        if self._asked >= self._asked_max:
            raise self._refusal()
        self._asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._asked -= 1
