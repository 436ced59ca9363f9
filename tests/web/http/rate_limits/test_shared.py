"""Processes that share a Valkey keep one limit together, and each goes on with its own when it is gone."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
import redis
from hypothesis import example, given, settings
from hypothesis import strategies as st

from promenade.errors import TooMany
from promenade.store.driver import cache as caches
from promenade.store.driver.cache import PAUSE_SECONDS, Filled, Pour, RedisCache
from promenade.web.http.rate_limits import CREDIT, RateLimits, Use
from tests.kit.databases import Databases
from tests.kit.examples import examples
from tests.kit.service import Service
from tests.kit.tenants import make_clients
from tests.kit.valkey import ValkeyServer

OWN_CLOCK = "redis.call('TIME')"


class Moments:
    """A clock that tests advance."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Counted:
    """A cache that counts how often it is asked."""

    def __init__(self, cache: RedisCache) -> None:
        self.cache = cache
        self.asked = 0

    async def fill(self, pours: Sequence[Pour], full: float) -> Filled | None:
        self.asked += 1
        return await self.cache.fill(pours, full)


class House:
    """Several processes' limits on one Valkey, whose clock is that of the test."""

    def __init__(self, url: str, processes: int, limit: int, *, per_tenant: int = 0) -> None:
        self.waits: set[int] = set()  # that were asked for
        secret, self._clock = uuid4().bytes * 2, f"clock-{uuid4()}"
        self.now, self.server_now = Moments(), Moments(1_800_000_000.0)
        self.caches = [Counted(RedisCache(url, secret, patience=10)) for _ in range(processes)]
        self.limits = [
            RateLimits(per_tenant=per_tenant, per_client=limit, shared=one, seconds=self.now) for one in self.caches
        ]
        for one in self.caches:
            text = caches.FILL.replace(OWN_CLOCK, f"{{redis.call('GET', '{self._clock}'), 0}}")
            assert text != caches.FILL
            one.cache._fill = one.cache._redis.register_script(text)

    async def start(self) -> None:
        await self.caches[0].cache._redis.set(self._clock, f"{self.server_now.now:.6f}", ex=300)

    async def pass_(self, seconds: float, *, jump: float = 0.0) -> None:
        """Let time pass; Valkey's clock is set forward or back as well."""
        self.now.now += seconds
        self.server_now.now += seconds + jump
        await self.start()

    async def taken(self, process: int, requests: int, tenant: str = "acme", client: str = "till") -> int:
        """Return how many of this many requests, one after the other, get through in one process."""
        admitted = 0
        for _ in range(requests):
            try:
                await self.limits[process].take(tenant, client)
            except TooMany as refused:
                self.waits.add(refused.retry_after_seconds)
            else:
                admitted += 1
        return admitted

    async def quiet(self) -> None:
        """Wait until nothing is told in the background."""
        for one in self.limits:
            if one._telling is not None:
                await one._telling

    async def close(self) -> None:
        await self.quiet()
        for one in self.caches:
            await one.cache.close()


@asynccontextmanager
async def house(url: str, processes: int, limit: int, *, per_tenant: int = 0) -> AsyncIterator[House]:
    opened = House(url, processes, limit, per_tenant=per_tenant)
    try:
        await opened.start()
        yield opened
    finally:
        await opened.close()


async def in_turns(house: House, rounds: int, each: int = 1) -> int:
    """Let the processes take requests in turns; return how many got through."""
    admitted = 0
    for _ in range(rounds):
        for process in range(len(house.limits)):
            admitted += await house.taken(process, each)
    return admitted


# ---- one limit ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 7, 99])
async def test_a_small_limit_is_kept_exactly(valkey_url: str, limit: int) -> None:
    async with house(valkey_url, 3, limit) as shop:
        assert await in_turns(shop, limit + 2) == limit
        assert shop.waits == {-(-60 // limit)}
        await shop.pass_(60 / limit)
        assert await in_turns(shop, 2) == 1


async def test_a_small_limit_is_kept_when_all_ask_at_once(valkey_url: str) -> None:
    async with house(valkey_url, 2, 7) as shop:
        answers = [shop.taken(process % 2, 1) for process in range(60)]
        assert sum(await asyncio.gather(*answers)) == 7


@pytest.mark.parametrize("limit", [100, 1_000, 6_000])
async def test_a_large_limit_is_exceeded_by_at_most_a_hundredth_for_each_process(valkey_url: str, limit: int) -> None:
    async with house(valkey_url, 3, limit) as shop:
        assert limit <= await in_turns(shop, limit, 1) <= limit + 3 * limit // CREDIT
        await shop.quiet()
        # what was too much is made up for
        await shop.pass_(30)
        assert limit // 2 - 3 * limit // CREDIT <= await in_turns(shop, limit, 1) <= limit // 2 + 3 * limit // CREDIT


async def test_clients_of_a_tenant_share_its_limit_in_all_processes(valkey_url: str) -> None:
    async with house(valkey_url, 2, 6, per_tenant=10) as shop:
        assert [await shop.taken(process, 20, client="till") for process in (0, 1)] == [6, 0]
        assert [await shop.taken(process, 20, client="erp") for process in (1, 0)] == [4, 0]
        assert await shop.taken(0, 20, "globex", client="till") == 6, "another tenant's client is another"
        assert shop.limits[0].use("acme")[:2] == [Use(None, 10, 10, 34), Use("till", 6, 6)]


async def test_a_process_hears_of_the_others_within_a_second(valkey_url: str) -> None:
    async with house(valkey_url, 2, 6_000) as shop:
        assert [await shop.taken(process, requests) for process, requests in ((0, 3_000), (1, 1))] == [3_000, 1]
        await shop.quiet()
        assert await shop.taken(0, 20) == 20  # too few to be told of for their number
        await shop.pass_(1)  # in which a hundred drain
        for process in (0, 1):
            assert await shop.taken(process, 1) == 1
            await shop.quiet()
        assert shop.limits[1].use("acme")[1] == Use("till", 6_000, 2_923)


async def test_a_cache_is_asked_rarely(valkey_url: str) -> None:
    async with house(valkey_url, 1, 60_000, per_tenant=120_000) as shop:
        for _ in range(3_000):
            await shop.limits[0].take("acme", "till")
            if shop.limits[0]._telling is not None:
                await shop.limits[0]._telling
        assert shop.caches[0].asked <= 1 + 3_000 // 300
        for number in range(2_000):
            await shop.limits[0].take("acme", f"till-{number}")
        await shop.pass_(1)
        await shop.limits[0].take("acme", "till")
        await shop.quiet()
        assert shop.caches[0].asked <= 30, "of many clients it is told at once"


# ---- any order, any clock -------------------------------------------------------------------------------------------

steps = st.tuples(
    st.integers(0, 2),  # the process
    st.integers(0, 40),  # requests
    st.sampled_from([0.0, 0.0, 0.1, 3.0, 61.0]),  # seconds until the next
    st.sampled_from([0.0, 0.0, 0.0, 3600.0, -3600.0, 45.0, -45.0]),  # by which Valkey's clock is set
)


@given(limit=st.sampled_from([3, 20, 100, 450]), day=st.lists(steps, max_size=30), in_order=st.booleans())
@example(limit=3, day=[(0, 3, 0.0, -3600.0)], in_order=True)  # nobody is locked out
@example(limit=3, day=[(0, 3, 0.0, -45.0), (1, 3, 0.0, 45.0)], in_order=True)
@settings(max_examples=examples(40))
async def test_no_clock_and_no_order_admits_more_or_locks_out(
    valkey_url: str, limit: int, day: list[tuple[int, int, float, float]], in_order: bool
) -> None:
    async with house(valkey_url, 3, limit) as shop:
        level, most = 0.0, limit + 3 * (limit // CREDIT)
        for process, requests, pause, jump in day:
            if in_order:
                level += await shop.taken(process, requests)
            else:
                level += sum(await asyncio.gather(*(shop.taken(process, 1) for _ in range(requests))))
            assert level <= most + 0.01
            await shop.pass_(pause, jump=jump)
            # Forward, Valkey drains for so long; back, it forgets. So a step may admit another minute's requests.
            level = 0.0 if jump < 0 else max(0.0, level - (pause + jump) * limit / 60)
        await shop.quiet()
        await shop.pass_(65)
        assert await shop.taken(0, 1) == 1


# ---- without an answer ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [10, 1_000])
async def test_when_valkey_is_killed_each_goes_on_from_what_it_knew(valkey_server: ValkeyServer, limit: int) -> None:
    async with house(valkey_server.url, 2, limit) as shop:
        half = limit // 2
        assert await shop.taken(0, half) == half
        await shop.quiet()
        assert await shop.taken(1, 1) == 1
        await shop.quiet()
        valkey_server.stop()
        alone = await shop.taken(0, limit)
        assert alone in (limit - half - 1, limit - half), "its own limit, and nothing else, refuses"
        assert await shop.taken(1, limit) == limit - half - 1
        shop.now.now += 30
        assert await shop.taken(0, limit) == half
        valkey_server.start()
        await shop.pass_(0)
        for one in shop.caches:
            assert await one.cache.ping()
        # Valkey has lost everything, and the processes know: a request each, and both see it again.
        await shop.pass_(6)
        assert await in_turns(shop, limit) <= limit // 10 + 2 * max(1, limit // CREDIT)


async def test_a_valkey_that_does_not_answer_delays_one_request_a_second(tmp_path: Path) -> None:
    asked: list[asyncio.StreamReader] = []

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(reader)
        await reader.read(-1)
        writer.close()

    clock = Moments()
    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        address = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        cache = RedisCache(address, bytes(32), clock)
        limits = RateLimits(per_tenant=0, per_client=9, shared=cache, seconds=clock)
        for _ in range(9):
            await limits.take("acme", "till")
        assert len(asked) == 1
        with pytest.raises(TooMany):
            await limits.take("acme", "till")
        clock.now += 20 + PAUSE_SECONDS
        for _ in range(3):
            await limits.take("acme", "till")
        assert len(asked) == 2
        await cache.close()


async def test_requests_that_wait_for_a_lost_valkey_share_the_local_limit() -> None:
    together = asyncio.Barrier(20)

    class Lost:
        async def fill(self, pours: Sequence[Pour], full: float) -> Filled | None:
            await together.wait()  # no request gets an answer before all have asked
            return None

    limits = RateLimits(per_tenant=0, per_client=5, shared=Lost(), seconds=Moments())
    asking = asyncio.gather(*(limits.take("acme", "till") for _ in range(20)), return_exceptions=True)
    results = await asyncio.wait_for(asking, 60)
    assert [result is None for result in results].count(True) == 5
    assert [isinstance(result, TooMany) for result in results].count(True) == 15


async def test_a_request_that_is_given_up_while_it_waits_takes_no_credit() -> None:
    class Stuck:
        answers = False
        asked = asyncio.Queue[str]()

        async def fill(self, pours: Sequence[Pour], full: float) -> Filled | None:
            if not self.answers:
                self.asked.put_nowait("asked")
                await asyncio.Event().wait()
            return Filled(True, [pour.known + pour.more + pour.wanted for pour in pours])

    stuck = Stuck()
    limits = RateLimits(per_tenant=0, per_client=100, shared=stuck, seconds=Moments())
    await limits.take("acme", "till")
    await stuck.asked.get()  # in the background
    for _ in range(5):
        waiting = asyncio.create_task(limits.take("acme", "till"))
        await asyncio.wait_for(stuck.asked.get(), 60)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await given_up(limits)
    stuck.answers = True
    for _ in range(90):
        await asyncio.wait_for(limits.take("acme", "till"), 60)
    while limits._telling is not None:
        await limits._telling
    stuck.answers = False
    await asyncio.wait_for(limits.take("acme", "till"), 60)  # on credit, so without an answer
    await given_up(limits)


async def given_up(limits: RateLimits) -> None:
    assert limits._telling is not None
    limits._telling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await limits._telling


# ---- as processes ---------------------------------------------------------------------------------------------------


@dataclass
class Pair:
    """Two services on one database and one Valkey."""

    services: list[Service]
    headers: dict[str, str]
    names: dict[str, str]

    def ask(self, process: int, path: str = "/pos/heartbeat") -> httpx2.Response:
        return httpx2.get(f"{self.services[process].url}{path}", headers=self.headers, timeout=30)


OF_CLIENT = 30  # one more fits after two seconds


@pytest.fixture
def pair(databases: Databases, logs: Path, valkey_server: ValkeyServer) -> Iterator[Pair]:
    url = databases.create("postgresql")
    client_id, secret = make_clients(url, "kaufhaus-am-ring", {"till": ("svc.POSReader",)}, is_new=True)["till"]
    shared = ("--redis-url", valkey_server.url, "--public-url", "https://prices.example")
    options = ("--database-url", url, *shared, "--rate-limit-client", str(OF_CLIENT))
    services = [
        Service(
            logs / f"pair-{number}.log",
            *options,
            command=(sys.executable, "-m", "tests.reliability.processes.patient"),
        ).start()
        for number in range(2)
    ]
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    token = httpx2.post(f"{services[0].url}/oauth/token", data=form, timeout=30).json()["access_token"]
    names = {"client": client_id, "tenant": "kaufhaus-am-ring"}
    yield Pair(services, {"authorization": f"Bearer {token}"}, names)
    for service in services:
        service.kill()
    databases.drop(url)


def test_two_processes_keep_one_limit_and_go_on_alone(pair: Pair, valkey_server: ValkeyServer) -> None:
    began = time.monotonic()
    answers = [pair.ask(number % 2) for number in range(OF_CLIENT + 20)]
    admitted = [answer.status_code for answer in answers].count(200)
    drained = (time.monotonic() - began) * OF_CLIENT / 60
    assert OF_CLIENT <= admitted <= OF_CLIENT + drained + 1
    refused = next(answer for answer in answers if answer.status_code != 200)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "RATE_LIMITED")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    valkey_server.stop()
    for number in range(2):
        while (answer := pair.ask(number)).status_code != 200:  # the test's own timeout is the bound
            assert answer.status_code == 429


def test_valkey_is_told_no_address_and_no_name_and_forgets_all(pair: Pair, valkey_server: ValkeyServer) -> None:
    assert pair.ask(0).status_code == pair.ask(1).status_code == 200
    wrong = {"grant_type": "client_credentials", "client_id": pair.names["client"], "client_secret": "wrong"}
    for service in pair.services:
        assert httpx2.post(f"{service.url}/oauth/token", data=wrong, timeout=30).status_code == 401
        presented = {"code": "NO-SUCH-CODE"}
        answer = httpx2.post(f"{service.url}/pos/coupons/validate", json=presented, headers=pair.headers, timeout=30)
        assert answer.json()["reason"] == "UNKNOWN_CODE"
    with redis.Redis.from_url(valkey_server.url) as valkey:
        names = list(valkey.scan_iter())
        kept = b" ".join(names + [valkey.get(name) or b"" for name in names]).lower()
        assert {name.partition(b":")[0] for name in names} == {b"attempts", b"coupon-failures", b"limits"}
        for hidden in ("127.0.0.1", *pair.names.values(), "till", "no-such-code"):
            assert hidden.encode() not in kept
        assert [valkey.get(name) for name in names if name.startswith(b"attempts")].count(b"2") >= 2, "both counted"
        assert all(0 < valkey.pttl(name) <= 900_000 for name in names)
