"""The cache: in this process, or in Redis or Valkey. It holds nothing that cannot be read again.

When Redis does not answer within 50 ms the call goes on without it: reads miss, and counters are kept in this process
until it answers again. Evaluation never waits for it and never fails with it (reliability A1).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

import redis.asyncio
from redis.exceptions import RedisError

from promenade import metrics

__all__ = ["Cache", "LocalCache", "RedisCache", "open_cache"]

ENTRIES_MAX = 20_000
PATIENCE_SECONDS = 0.05
CONNECTIONS = 8
PAUSE_SECONDS = 1.0  # after a failure Redis is left alone for so long: an outage costs one timeout a second

_FAILURES = (RedisError, OSError, TimeoutError)


class Cache(Protocol):
    """Small values for a short while. Keys carry the tenant; see `Session` for why that is not done here."""

    async def get(self, key: str) -> bytes | None:
        """The value, or None when it is not there, has run out, or the cache does not answer."""

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        """Keep ``value`` for ``seconds``; may be forgotten earlier."""

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        """Add ``by`` to a counter that starts afresh ``seconds`` after its first count; the sum. ``by`` 0 reads."""

    async def ping(self) -> bool:
        """Whether the cache answers."""

    async def close(self) -> None:
        """Let go of connections."""


class LocalCache:
    """The cache of one process: always reachable, bounded, oldest entries first to go."""

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
    """Redis or Valkey, shared by all processes; a local cache stands in for the counters while it is away.

    ``patience`` is how many seconds it may take to answer.
    """

    def __init__(
        self, url: str, monotonic: Callable[[], float] = time.monotonic, *, patience: float = PATIENCE_SECONDS
    ) -> None:
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
        except _FAILURES:
            self._failed()
            return _counted(None)
        return _counted(value if isinstance(value, bytes) else None)

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        if self._away:
            return
        try:
            await self._redis.set(key, value, px=max(1, int(seconds * 1000)))
        except _FAILURES:
            self._failed()

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        if not self._away:
            try:
                return await self._count(key, seconds, by)
            except _FAILURES:
                self._failed()
        return await self._local.count(key, seconds, by)

    async def _count(self, key: str, seconds: int, by: int) -> int:
        if not by:
            return int(await self._redis.get(key) or 0)
        async with self._redis.pipeline(transaction=True) as steps:
            steps.set(key, 0, ex=seconds, nx=True)  # only the first count of a window sets when it ends
            steps.incrby(key, by)
            answers = await steps.execute()
        return int(answers[1])

    async def ping(self) -> bool:
        try:
            await self._redis.ping()
        except _FAILURES:
            self._failed()
            return False
        self._away_until = 0.0
        return True

    async def close(self) -> None:
        await self._redis.aclose()


def _counted(value: bytes | None) -> bytes | None:
    """What a look-up found, counted in cache_hit_total or cache_miss_total."""
    (metrics.cache_miss if value is None else metrics.cache_hit).inc()
    return value


def open_cache(url: str | None, *, patience: float = PATIENCE_SECONDS) -> Cache:
    """The cache at a ``redis://`` URL, which may take ``patience`` seconds to answer; without one, this process's."""
    return LocalCache() if url is None else RedisCache(url, patience=patience)
