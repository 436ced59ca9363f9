"""Possible responses of the key endpoint, and what happens to the known keys when it returns something else."""

from __future__ import annotations

import asyncio
import gzip
import json
import select
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from promenade.errors import Unavailable
from promenade.web.access.keys import CachedKeys, fetch_jwks, public_keys
from tests.web.access.tokens.issuer import Asked, KeyServer, new_ec, new_rsa

RSA, EC = new_rsa("rsa-1"), new_ec("ec-1")
NEW = new_rsa("rsa-2")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def server() -> Iterator[KeyServer]:
    with KeyServer(RSA, EC) as started:
        yield started


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(server: KeyServer, clock: Clock) -> CachedKeys:
    return CachedKeys(fetch_jwks(server.url), clock)


def drip(asked: Asked) -> None:
    """Send one byte at a time for as long as the client reads."""
    asked.send_response(200)
    asked.end_headers()
    while not select.select([asked.connection], [], [], 0.2)[0]:
        asked.wfile.write(b" ")


def endless(asked: Asked) -> None:
    asked.send_response(200)
    asked.end_headers()
    for _ in range(200):
        asked.wfile.write(b" " * 65_536)


def tell(body: bytes, status: int = 200, **headers: str) -> Callable[[KeyServer], Callable[[Asked], None]]:
    return lambda server: lambda asked: server.tell(asked, body, status, **headers)


SET = json.dumps({"keys": [NEW.as_dict(private=False)]}).encode()
BOMB = gzip.compress(b" " * 50_000_000 + SET)
WRONG: dict[str, Callable[[KeyServer], Callable[[Asked], None]]] = {
    "500": tell(SET, 500),
    "404": tell(SET, 404),
    "204": tell(b"", 204),
    "301": tell(SET, 301, Location="/keys"),
    "302 elsewhere": tell(b"", 302, Location="http://127.0.0.1:1/keys"),
    "empty": tell(b""),
    "HTML": tell(b"<html></html>"),
    "half": tell(SET[:-10]),
    "a list": tell(b"[]"),
    "null": tell(b"null"),
    "keys null": tell(b'{"keys": null}'),
    "no keys": tell(b'{"keys": []}'),
    "keys of no use": tell(b'{"keys": [{"kty": "oct", "k": "AAAA"}, 1, null, [], {}]}'),
    "too many keys": tell(json.dumps({"keys": [NEW.as_dict(private=False)] * 101}).encode()),
    "deep": tell(b'{"keys": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "no text": tell(b"\xff\xfe{}"),
    "too large": tell(SET + b" " * 1_048_576),
    "endless": lambda _: endless,
    "a bomb": tell(BOMB, 200, Content_Encoding="gzip"),
    "no answer": lambda _: lambda asked: asked.connection.close(),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_answer_changes_no_key(server: KeyServer, clock: Clock, keys: CachedKeys, name: str) -> None:
    known = await keys.find("rsa-1", "RS256")
    assert known is not None
    server.answers = WRONG[name](server)
    clock.move(301)
    assert await keys.find("rsa-2", "RS256") is None
    assert server.asked == 2, "redirects are not followed"
    assert await keys.find("rsa-1", "RS256") is known
    server.answers, server.keys = None, [NEW]
    clock.move(31)
    assert await keys.find("rsa-2", "RS256") is not None
    assert await keys.find("rsa-1", "RS256") is None


@pytest.mark.alone
async def test_a_slowly_dripping_answer_is_abandoned(server: KeyServer, clock: Clock, keys: CachedKeys) -> None:
    await keys.find("rsa-1", "RS256")
    server.answers = drip
    clock.move(301)
    started = asyncio.get_running_loop().time()
    async with asyncio.timeout(8):
        assert await keys.find("rsa-2", "RS256") is None
        assert asyncio.get_running_loop().time() - started > 1, "it was not given up at once either"
        assert await keys.find("rsa-1", "RS256") is not None


async def test_without_any_key_the_failure_is_reported_and_soon_retried(clock: Clock, server: KeyServer) -> None:
    server.answers = tell(b"", 503)(server)
    keys = CachedKeys(fetch_jwks(server.url), clock)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await keys.find("rsa-1", "RS256")
    assert server.asked == 1
    server.answers = None
    clock.move(5)
    assert await keys.find("rsa-1", "RS256") is not None


async def test_concurrent_look_ups_share_one_load(server: KeyServer, keys: CachedKeys) -> None:
    found = await asyncio.gather(*(keys.find("rsa-1", "RS256") for _ in range(100)))
    assert len(set(map(id, found))) == 1
    assert server.asked == 1


async def test_a_key_that_stays_is_the_same_object(server: KeyServer, clock: Clock, keys: CachedKeys) -> None:
    before = await keys.find("ec-1", "ES256")
    server.keys.append(NEW)
    clock.move(31)
    assert await keys.find("rsa-2", "RS256") is not None
    assert await keys.find("ec-1", "ES256") is before is not None


@pytest.mark.parametrize(
    ("published", "asked_for", "is_found"),
    [
        ([RSA], (None, "RS256"), True),
        ([EC], (None, "ES256"), True),
        ([RSA], (None, "ES256"), False),
        ([RSA, NEW], (None, "RS256"), False),
        ([RSA, EC], (None, "RS256"), False),  # the owner of the key must be certain
        ([new_rsa(None)], (None, "RS256"), True),
        ([new_rsa(None), new_rsa(None)], (None, "RS256"), False),
        ([new_rsa(None)], ("rsa-1", "RS256"), False),
        ([new_rsa("same"), new_ec("same")], ("same", "RS256"), True),
        ([new_rsa("same"), new_ec("same")], ("same", "ES256"), True),
        ([RSA, new_rsa("same"), new_rsa("same")], ("same", "RS256"), False),  # ambiguous: two keys with the same ID
        ([RSA], ("rsa-1", "ES256"), False),
        ([RSA], ("", "RS256"), False),
    ],
    ids=range(13),
)
async def test_a_key_is_found_by_name_and_kind(
    clock: Clock, server: KeyServer, published: list[Any], asked_for: tuple[str | None, str], is_found: bool
) -> None:
    server.keys = [RSA.as_dict(private=False) | {"kid": "not-asked-for", "use": "enc"}, *published]
    keys = CachedKeys(fetch_jwks(server.url), clock)
    try:
        found = await keys.find(*asked_for)
    except Unavailable:
        found = None
    assert (found is not None) == is_found


GOOD = RSA.as_dict(private=False)
GOOD_EC = EC.as_dict(private=False)


@pytest.mark.parametrize(
    "entry",
    [
        {}, None, 1, "key", [GOOD], {"kty": "RSA"}, {**GOOD, "kty": "oct"}, {**GOOD, "kty": "OKP"},
        {**GOOD, "kty": ["RSA"]},
        {**GOOD, "n": 1}, {**GOOD, "n": ""}, {**GOOD, "n": "!"}, {**GOOD, "n": "é"}, {**GOOD, "e": None},
        {**GOOD, "n": GOOD["n"] * 30}, {**GOOD, "kid": ["a"]}, {**GOOD, "kid": 1}, {**GOOD, "use": "enc"},
        {**GOOD, "use": None}, {**GOOD, "alg": "RS512"}, {**GOOD, "alg": "ES256"}, {**GOOD, "alg": ["RS256"]},
        {**GOOD, "key_ops": ["encrypt"]}, {**GOOD, "key_ops": 1}, {**GOOD_EC, "crv": "P-521"}, {**GOOD_EC, "x": "AA"},
        {**GOOD_EC, "y": GOOD_EC["x"]}, {**GOOD_EC, "crv": None}, {**GOOD_EC, "alg": "RS256"}, {"kty": {}, "alg": {}},
        {"kty": "EC", "crv": "P-256"}, {"kty": "oct", "k": "AAAA", "kid": "x"},
    ],
    ids=range(32),
)  # fmt: skip
def test_an_unusable_key_entry_is_ignored(entry: Any) -> None:
    found = public_keys({"keys": [entry, {**GOOD_EC, "kid": "good", "alg": "ES256", "x5t": "x", "more": [1]}]})
    assert [key.kid for key in found] == ["good"]


async def test_a_key_of_our_own_that_was_made_a_moment_ago_is_waited_for(clock: Clock) -> None:
    """Another process created it, and its first token arrives before this process has reloaded the keys."""
    published = [RSA]

    async def load() -> list[Any]:
        return list(published)

    keys = CachedKeys(load, clock, own=True)
    assert await keys.find("rsa-1", "RS256") is not None
    published.append(NEW)
    moving = asyncio.get_running_loop().call_later(0.2, clock.move, 1.0)
    found = await asyncio.gather(*(keys.find("rsa-2", "RS256") for _ in range(20)))
    moving.cancel()
    assert None not in found


@pytest.mark.alone
def test_finding_a_known_key_takes_under_five_microseconds(server: KeyServer, clock: Clock) -> None:
    async def measured() -> float:
        keys = CachedKeys(fetch_jwks(server.url), clock)
        await keys.find("rsa-1", "RS256")
        loop, costs = asyncio.get_running_loop(), []
        for _ in range(50):
            started = loop.time()
            for _ in range(500):
                await keys.find("rsa-1", "RS256")
            costs.append((loop.time() - started) / 500)
        return min(costs)

    cost: Awaitable[float] = measured()
    assert asyncio.run(cost) < 5e-6  # type: ignore[arg-type]
