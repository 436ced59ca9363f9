"""Count look-ups of unknown codes per client, so that codes cannot be guessed (reliability C4).

Evaluate and the coupon endpoints share one counter, so that guesses at either count together.
"""

from __future__ import annotations

from promenade.errors import TooMany
from promenade.store.driver.cache import Cache
from promenade.store.pricing.facts import FAILURES_MAX

WINDOW_SECONDS = 60


class FailedLookups:
    """A client's failed look-ups within the last minute."""

    __slots__ = ("_cache", "_key")

    def __init__(self, cache: Cache, tenant_id: str, client_id: str) -> None:
        self._cache = cache
        self._key = f"coupon-failures:{tenant_id}:{client_id}"

    async def count(self) -> int:
        """Return the number of failed look-ups."""
        return await self._cache.count(self._key, WINDOW_SECONDS, 0)

    async def add(self, number: int = 1) -> None:
        """Count ``number`` more."""
        await self._cache.count(self._key, WINDOW_SECONDS, number)

    async def require_room(self) -> None:
        """Raise TooMany (TOO_MANY_ATTEMPTS) from 100 failures on; then even existing codes are not answered."""
        if await self.count() >= FAILURES_MAX:
            text = f"More than {FAILURES_MAX} codes were unknown within a minute; wait before the next."
            raise TooMany("TOO_MANY_ATTEMPTS", text, WINDOW_SECONDS)
