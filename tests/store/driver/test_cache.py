"""The cache behaves the same in this process and on Valkey, and its absence does no harm (reliability A1)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from promenade.store.driver.cache import (
    ENTRIES_MAX,
    PATIENCE_SECONDS,
    PAUSE_SECONDS,
    Cache,
    LocalCache,
    Pour,
    RedisCache,
    open_cache,
)
from tests.kit.valkey import ValkeyServer

SECRET = bytes(range(32))


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["local", "valkey"])
async def cache(request: pytest.FixtureRequest) -> AsyncIterator[Cache]:
    url = request.getfixturevalue("valkey_url") if request.param == "valkey" else None
    # Results are tested here, not response times: on a busy machine 50 ms can pass for no reason.
    opened = LocalCache() if url is None else open_cache(url, SECRET, patience=10)
    yield opened
    await opened.close()


async def test_values_are_cached_until_they_expire(cache: Cache) -> None:
    key = str(uuid4())
    assert await cache.get(key) is None
    await cache.put(key, b"\x00value", 30)
    assert await cache.get(key) == b"\x00value"
    await cache.put(key, b"other", 30)
    assert await cache.get(key) == b"other"
    assert await cache.ping()


async def test_counters_add_up_and_reading_starts_none(cache: Cache) -> None:
    key = str(uuid4())
    assert [await cache.count(key, 60, by) for by in (0, 1, 1, 5, 0)] == [0, 1, 2, 7, 7]


async def test_concurrent_increments_are_all_counted(cache: Cache) -> None:
    key = str(uuid4())
    await asyncio.gather(*(cache.count(key, 60) for _ in range(8)))
    assert await cache.count(key, 60, 0) == 8


async def test_a_new_window_starts_at_zero() -> None:
    clock = Clock()
    cache = LocalCache(clock)
    await cache.count("k", 60)
    clock.now += 59
    assert await cache.count("k", 60) == 2
    clock.now += 1
    assert await cache.count("k", 60) == 1
    await cache.put("v", b"x", 10)
    clock.now += 10
    assert await cache.get("v") is None


async def test_the_local_cache_is_bounded() -> None:
    cache = LocalCache()
    for number in range(ENTRIES_MAX + 10):
        await cache.put(str(number), b"", 60)
        await cache.count(str(number), 60)
    assert await cache.get("0") is None
    assert await cache.get(str(ENTRIES_MAX)) == b""
    assert await cache.count("0", 60, 0) == 0


async def test_a_window_on_valkey_expires_automatically(valkey_url: str) -> None:
    cache = RedisCache(valkey_url, SECRET, patience=10)
    key = str(uuid4())
    await cache.count(key, 60)
    await cache.count(key, 60)
    assert 0 < await cache._redis.ttl(cache._name(key)) <= 60
    await cache.close()


async def test_names_on_valkey_tell_their_kind_and_not_whom_they_are_of(valkey_server: ValkeyServer) -> None:
    cache = RedisCache(valkey_server.url, SECRET, patience=10)
    await cache.count("attempts:token:203.0.113.7 till-of-berlin", 60)
    await cache.put("side-effects:4:acme:T-1", b"{}", 60)
    await cache.fill([Pour("limits:4:acme:till-of-berlin", 0, 1)], 60)
    names = {name.decode() for name in await cache._redis.keys("*") if isinstance(name, bytes)}
    assert {name.partition(":")[0] for name in names} == {"attempts", "side-effects", "limits"}
    for hidden in ("203", "acme", "till", "T-1"):
        assert not any(hidden in name for name in names), names
    lasting = [await cache._redis.pttl(name) for name in names]
    assert all(0 < left <= 60_000 for left in lasting), lasting
    await cache.close()


async def test_processes_with_the_same_key_share_names_and_others_do_not(valkey_url: str) -> None:
    key = str(uuid4())
    for secret, expected in ((SECRET, 1), (SECRET, 2), (bytes(32), 1)):
        cache = RedisCache(valkey_url, secret, patience=10)
        assert await cache.count(key, 60) == expected
        await cache.close()


async def test_a_bucket_on_valkey_takes_what_fits_and_drains(valkey_url: str) -> None:
    cache = RedisCache(valkey_url, SECRET, patience=10)
    full, half = str(uuid4()), str(uuid4())

    async def fill(*pours: Pour) -> tuple[bool, list[float]]:
        filled = await cache.fill(pours, 3600)
        assert filled is not None
        return filled.has_fitted, [round(level, -1) for level in filled.levels]

    assert await fill(Pour(full, 0, wanted=3600), Pour(half, 0, more=1800)) == (True, [3600, 1800])
    assert await fill(Pour(full, 0, wanted=60), Pour(half, 0, wanted=60)) == (False, [3600, 1800])
    assert await fill(Pour(half, 0, wanted=600)) == (True, [2400])
    assert await fill(Pour(half, 3000)) == (True, [3000]), "what a process knows counts if it is more"
    assert await fill(Pour(half, 1000)) == (True, [3000])
    assert await fill(Pour(half, 0, more=1e6)) == (True, [7200]), "nobody waits longer than for two full buckets"
    await cache.close()


async def test_in_the_process_alone_there_is_no_shared_bucket() -> None:
    assert await LocalCache().fill([Pour("limits:x", 0)], 60) is None


async def test_counting_continues_locally_during_an_outage_of_valkey_and_then_returns(
    valkey_server: ValkeyServer,
) -> None:
    cache = RedisCache(valkey_server.url, SECRET, Clock(), patience=10)
    assert await cache.count("k", 60) == 1
    valkey_server.stop()
    assert await cache.count("k", 60) == 1
    assert await cache.count("k", 60) == 2
    await cache.put("v", b"x", 60)
    assert await cache.get("v") is None
    assert not await cache.ping()
    valkey_server.start()
    assert await cache.ping()
    await cache.put("v", b"x", 60)
    assert await cache.get("v") == b"x"
    await cache.close()


@pytest.mark.alone
async def test_an_outage_of_valkey_does_not_delay_callers(valkey_server: ValkeyServer) -> None:
    cache = RedisCache(valkey_server.url, SECRET, Clock())
    await cache.ping()
    valkey_server.stop()
    started = time.monotonic()
    await cache.count("k", 60)
    await cache.count("k", 60)
    await cache.put("v", b"x", 60)
    await cache.get("v")
    assert not await cache.ping()
    assert time.monotonic() - started < 20 * PATIENCE_SECONDS
    await cache.close()


async def test_an_unresponsive_valkey_delays_at_most_one_call_per_second() -> None:
    asked: list[asyncio.StreamReader] = []

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(reader)
        await reader.read(-1)  # until the other end closes
        writer.close()

    clock = Clock()
    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        cache = RedisCache(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}", SECRET, clock)
        assert [await cache.count("k", 60) for _ in range(3)] == [1, 2, 3]
        await cache.put("v", b"x", 60)
        assert await cache.get("v") is None
        assert len(asked) == 1
        clock.now += PAUSE_SECONDS
        assert [await cache.count("k", 60) for _ in range(3)] == [4, 5, 6]
        assert len(asked) == 2
        assert not await cache.ping()
        assert len(asked) == 3  # an availability check always asks
        await cache.close()
