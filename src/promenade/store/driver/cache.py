"""The cache: in this process, or in Redis or Valkey. It holds nothing that cannot be read again.

If Redis does not answer within 50 ms the call continues without it: reads miss, and counters are kept in this process
until it answers again. Evaluation never waits for the cache and never fails because of it (reliability A1).

Names in Redis tell their kind, such as ``attempts``, and otherwise nothing: the rest, which may be an address or the
name of a client, is there as its HMAC by a key that only the database knows. Everything there expires.
"""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from promenade import metrics

ENTRIES_MAX = 20_000
PATIENCE_SECONDS = 0.05
CONNECTIONS = 8
PAUSE_SECONDS = 1.0  # pause after a failure of Redis: an outage costs at most one timeout per second


FILL = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = tonumber(ARGV[1])
local fits, levels = 1, {}
for i, name in ipairs(KEYS) do
  local known, more, wanted = tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1])
  local level, kept = 0, redis.call('GET', name)
  if kept then
    local before, at = string.match(kept, '^(%S+) (%S+)$')
    local passed = now - tonumber(at)
    if passed > -1000000 then level = math.max(0, tonumber(before) - math.max(0, passed)) end
  end
  levels[i] = math.min(math.max(level, known) + more, 2 * full)
  if wanted > 0 and levels[i] + wanted > full + 1 then fits = 0 end
end
local told = {fits}
for i, name in ipairs(KEYS) do
  local level = levels[i] + fits * tonumber(ARGV[3 * i + 1])
  redis.call('SET', name, string.format('%.3f %.0f', level, now), 'PX', math.ceil(level / 1000) + 1000)
  told[i + 1] = string.format('%.3f', level)
end
return told
"""
"""Fills leaky buckets, all or none with what is wanted; microseconds. Redis' own clock counts, so that all processes
have the same. If it is set forward, or back by more than a second, buckets are emptied too early; what the processes
know to be in them fills them again, and nobody is locked out.
"""
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Pour:
    """What goes into a shared leaky bucket that drains a second each second.

    ``known``: seconds that are known to be in it; ``more``: that go into it however full it is; ``wanted``: that go
    into it if they fit.
    """

    name: str
    known: float
    more: float = 0.0
    wanted: float = 0.0


@dataclass(frozen=True, slots=True)
class Filled:
    """Whether all that was wanted has fitted, if not nothing of it went in, and the seconds that are in each bucket."""

    has_fitted: bool
    levels: Sequence[float]


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

    async def fill(self, pours: Sequence[Pour], full: float) -> Filled | None:
        """Fill buckets that all processes share, and which are full at ``full`` seconds.

        None: no process shares this cache, or it does not answer.
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

    async def fill(self, pours: Sequence[Pour], full: float) -> Filled | None:
        return None

    async def ping(self) -> bool:
        return True

    async def close(self) -> None:
        self._values.clear()
        self._counts.clear()


class RedisCache:
    """Redis or Valkey, shared by all processes; a local cache keeps the counters while it is unavailable.

    ``secret`` is the key of the names, the same in all processes; ``patience`` is the timeout in seconds.
    """

    def __init__(
        self,
        url: str,
        secret: bytes,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        patience: float = PATIENCE_SECONDS,
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
        self._fill = self._redis.register_script(FILL)
        self._secret = secret
        self._monotonic = monotonic
        self._away_until = 0.0
        self._local = LocalCache(monotonic)

    @property
    def _away(self) -> bool:
        return self._away_until > self._monotonic()

    def _name(self, key: str) -> str:
        kind = key.partition(":")[0]
        return f"{kind}:{hmac.digest(self._secret, key.encode('utf-8', 'surrogatepass'), 'sha256').hex()}"

    def _failed(self) -> None:
        self._away_until = self._monotonic() + PAUSE_SECONDS

    async def get(self, key: str) -> bytes | None:
        if self._away:
            return _counted(None)
        try:
            value = await self._redis.get(self._name(key))
        except self._failures:
            self._failed()
            return _counted(None)
        return _counted(value if isinstance(value, bytes) else None)

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        if self._away:
            return
        try:
            await self._redis.set(self._name(key), value, px=max(1, int(seconds * 1000)))
        except self._failures:
            self._failed()

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        if not self._away:
            try:
                return await self._count(self._name(key), seconds, by)
            except self._failures:
                self._failed()
        return await self._local.count(key, seconds, by)

    async def _count(self, name: str, seconds: int, by: int) -> int:
        if not by:
            return int(await self._redis.get(name) or 0)
        async with self._redis.pipeline(transaction=True) as steps:
            steps.set(name, 0, ex=seconds, nx=True)  # only the first count of a window sets its end
            steps.incrby(name, by)
            answers = await steps.execute()
        return int(answers[1])

    async def fill(self, pours: Sequence[Pour], full: float) -> Filled | None:
        if self._away:
            return None
        numbers = [full]
        for pour in pours:
            numbers += (pour.known, pour.more, pour.wanted)
        values = [f"{number * _MICROSECONDS:.3f}" for number in numbers]
        try:
            has_fitted, *levels = await self._fill(keys=[self._name(pour.name) for pour in pours], args=values)
        except self._failures:
            self._failed()
            return None
        return Filled(has_fitted == 1, [float(level) / _MICROSECONDS for level in levels])

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


def open_cache(url: str, secret: bytes, *, patience: float = PATIENCE_SECONDS) -> Cache:
    """Open the cache at a ``redis://`` URL with a timeout of ``patience`` seconds; ``secret`` is the key of names."""
    return RedisCache(url, secret, patience=patience)
