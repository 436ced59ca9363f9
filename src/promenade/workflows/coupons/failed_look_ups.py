"""Codes that nobody knows, counted by who asked for them: codes cannot be guessed (reliability C4).

One counter for evaluate and for the coupon endpoints, so that whoever guesses at both is counted once.
"""

from __future__ import annotations

from promenade.errors import TooMany
from promenade.store.cache import Cache
from promenade.store.facts import FAILURES_MAX

__all__ = ["FailedLookUps"]

WINDOW_SECONDS = 60


class FailedLookUps:
    """The failed look-ups of one client within the last minute."""

    __slots__ = ("_cache", "_key")

    def __init__(self, cache: Cache, tenant_id: str, client_id: str) -> None:
        self._cache = cache
        self._key = f"coupon-failures:{tenant_id}:{client_id}"

    async def count(self) -> int:
        """How many there are."""
        return await self._cache.count(self._key, WINDOW_SECONDS, 0)

    async def add(self, number: int = 1) -> None:
        """Count ``number`` more."""
        await self._cache.count(self._key, WINDOW_SECONDS, number)

    async def require_room(self) -> None:
        """Raise TooMany (TOO_MANY_ATTEMPTS) beyond 100: not even a code that exists is told of then."""
        if await self.count() >= FAILURES_MAX:
            text = f"More than {FAILURES_MAX} codes were unknown within a minute; wait before the next."
            raise TooMany("TOO_MANY_ATTEMPTS", text, WINDOW_SECONDS)
