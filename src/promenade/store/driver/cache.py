"""The cache: in this process, or in Redis or Valkey. It holds nothing that cannot be read again.

If Redis does not answer within 50 ms the call continues without it: reads miss, and counters are kept in this process
until it answers again. Evaluation never waits for the cache and never fails because of it (reliability A1).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from promenade import metrics

ENTRIES_MAX = 20_000
PATIENCE_SECONDS = 0.05
CONNECTIONS = 8
PAUSE_SECONDS = 1.0  # pause after a failure of Redis: an outage costs at most one timeout per second


class Cache(Protocol):
    """A cache of small, short-lived values. Keys include the tenant; see `Session` for why it is not added here."""

    async def get(self, key: str) -> bytes | None:
        """Return the value, or None if it is missing or expired or the cache does not answer."""

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        """Store ``value`` for ``seconds``; it may be evicted earlier."""

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        """Add ``by`` to a counter that resets ``seconds`` after its first count; return the sum. ``by`` 0 only
        reads.
        """

    async def ping(self) -> bool:
        """Return whether the cache answers."""

    async def close(self) -> None:
        """Close the connections."""


class LocalCache:
    """The cache of one process: always available and bounded; the oldest entries are evicted first."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._values: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    async def get(self, key: str) -> bytes | None:
        ends, value = self._values.get(key, (0.0, b""))
        return _counted(value if ends > self._monotonic() else None)

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        self._values[key] = (self._monotonic() + seconds, value)
        self._values.move_to_end(key)
        if len(self._values) > ENTRIES_MAX:
            self._values.popitem(last=False)

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        now = self._monotonic()
        ends, total = self._counts.get(key, (0.0, 0))
        if ends <= now:
            ends, total = now + seconds, 0
        if by:
            self._counts[key] = (ends, total + by)
            if len(self._counts) > ENTRIES_MAX:
                self._counts.popitem(last=False)
        return total + by

    async def ping(self) -> bool:
        return True

    async def close(self) -> None:
        self._values.clear()
        self._counts.clear()


class RedisCache:
    """Redis or Valkey, shared by all processes; a local cache keeps the counters while it is unavailable.

    ``patience`` is the timeout in seconds.
    """

    def __init__(
        self, url: str, monotonic: Callable[[], float] = time.monotonic, *, patience: float = PATIENCE_SECONDS
    ) -> None:
        # Imported here: the client takes half as long to load as a server needs to start, and most installations have
        # no Redis.
        import redis.asyncio  # noqa: PLC0415
        from redis.exceptions import RedisError  # noqa: PLC0415

        self._failures = (RedisError, OSError, TimeoutError)
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=patience,
            socket_timeout=patience,
            socket_connect_timeout=patience,
        )
        self._redis = redis.asyncio.Redis.from_pool(pool)
        self._monotonic = monotonic
        self._away_until = 0.0
        self._local = LocalCache(monotonic)

    @property
    def _away(self) -> bool:
        return self._away_until > self._monotonic()

    def _failed(self) -> None:
        self._away_until = self._monotonic() + PAUSE_SECONDS

    async def get(self, key: str) -> bytes | None:
        if self._away:
            return _counted(None)
        try:
            value = await self._redis.get(key)
        except self._failures:
            self._failed()
            return _counted(None)
        return _counted(value if isinstance(value, bytes) else None)

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        if self._away:
            return
        try:
            await self._redis.set(key, value, px=max(1, int(seconds * 1000)))
        except self._failures:
            self._failed()

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        if not self._away:
            try:
                return await self._count(key, seconds, by)
            except self._failures:
                self._failed()
        return await self._local.count(key, seconds, by)

    async def _count(self, key: str, seconds: int, by: int) -> int:
        if not by:
            return int(await self._redis.get(key) or 0)
        async with self._redis.pipeline(transaction=True) as steps:
            steps.set(key, 0, ex=seconds, nx=True)  # only the first count of a window sets its end
            steps.incrby(key, by)
            answers = await steps.execute()
        return int(answers[1])

    async def ping(self) -> bool:
        try:
            await self._redis.ping()
        except self._failures:
            self._failed()
            return False
        self._away_until = 0.0
        return True

    async def close(self) -> None:
        await self._redis.aclose()


def _counted(value: bytes | None) -> bytes | None:
    """Count the result of a lookup in cache_hit_total or cache_miss_total, and return it."""
    (metrics.cache_miss if value is None else metrics.cache_hit).inc()
    return value


def open_cache(url: str | None, *, patience: float = PATIENCE_SECONDS) -> Cache:
    """Open the cache at a ``redis://`` URL with a timeout of ``patience`` seconds; without a URL, the local cache."""
    return LocalCache() if url is None else RedisCache(url, patience=patience)
