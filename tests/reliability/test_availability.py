"""A1 and A4: the cache stops under load, and the clock is set back or forward by an hour (reliability.md)."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.kit.databases import Databases
from tests.kit.processes import until
from tests.kit.receiver import Answer, Receiver
from tests.kit.service import Service
from tests.kit.valkey import ValkeyServer
from tests.reliability.fights.arena import ARENAS, Arena, ArenaKind, identity, opened_arena
from tests.reliability.fights.test_fights_for_coupons import Brawl
from tests.reliability.fights.tills import Tills, all_at_once

TILLS = 16
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ALLOWED = ("--webhook-allow", "127.0.0.1")


@pytest.fixture(params=ARENAS)
def kind(request: pytest.FixtureRequest) -> ArenaKind:
    """SQLite, PostgreSQL, and PostgreSQL with two processes."""
    chosen: ArenaKind = request.param
    return chosen


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as started:
        yield started


def subscribe(arena: Arena, receiver: Receiver, path: str = "/all", *kinds: str) -> None:
    arena.api.make(
        "WebhookSubscriptions", name=path, callbackUrl=f"{receiver.url}{path}", eventTypes=list(kinds or "*"),
        secret=SECRET,
    )  # fmt: skip


def health(arena: Arena) -> list[dict[str, Any]]:
    """Return the health of every service."""
    answers = [httpx2.get(f"{service.url}/health", timeout=30) for service in arena.services]
    assert {answer.status_code for answer in answers} == {200}
    return [answer.json() for answer in answers]


def delivers(service: Service) -> bool:
    """Return whether the service's last log entry about the cache says that it is available again."""
    said = service.output()
    return said.rfind("delivery.resumed") > said.rfind("delivery.waits_for_the_cache")


def is_well(told: dict[str, Any]) -> bool:
    return (told["status"], told["checks"]["webhookDelivery"]) == ("UP", {"status": "active"})


async def trade(arena: Arena, tills: Tills, sales: int) -> None:
    """Every till sells, and has a code reserved and redeemed: all of it must succeed."""

    async def till(_: int) -> None:
        for _ in range(sales):
            sold = await tills.confirm(await tills.price(arena.name("S"), "A-1", "5.00"))
            code = arena.code()
            made = await tills.call("reserve", {"code": code, "transactionId": code})
            said = {"reservationId": made.answer["reservationId"], "transactionId": code}
            spent = await tills.call("redeem", said)
            assert {call.outcome for call in (sold, made, spent)} == {"ok"}, (sold, made, spent)

    await all_at_once(TILLS, till)


async def event_ids(arena: Arena) -> set[str]:
    return {row.id for row in await arena.rows("outbox_events")}


async def test_a1_without_the_cache_tills_go_on_and_events_wait_until_it_is_back(
    databases: Databases, kind: ArenaKind, logs: Path, tmp_path: Path, valkey_server: ValkeyServer, receiver: Receiver
) -> None:
    options = ("--redis-url", valkey_server.url, *ALLOWED)
    with opened_arena(databases, kind, logs, tmp_path, *options) as arena:
        subscribe(arena, receiver)
        async with arena.tills() as tills:
            await trade(arena, tills, 2)
            before = await event_ids(arena)
            await receiver.waited(len(before) // 2)
            valkey_server.stop()
            await trade(arena, tills, 3)  # immediately: tills notice nothing
            while any(map(delivers, arena.services)):
                assert (await tills.price(arena.name("S"), "A-1", "5.00")).outcome == "ok"
            for told in health(arena):
                assert told["status"] == "DEGRADED"
                assert (told["checks"]["cache"]["status"], told["checks"]["database"]["status"]) == ("DOWN", "UP")
                assert told["checks"]["webhookDelivery"] == {"status": "inactive"}
            known = await event_ids(arena)
            await trade(arena, tills, 2)
            waiting = await event_ids(arena) - known
            assert len(waiting) >= 2 * TILLS
            assert not waiting & {one.headers["webhook-id"] for one in receiver.requests()}
            valkey_server.start()
            until(lambda: all(is_well(told) for told in health(arena)))
            await trade(arena, tills, 1)
            for sold in tills.of("confirm"):
                await settled(tills, sold.said["transactionId"])
        every = await event_ids(arena)
        received = Counter(one.headers["webhook-id"] for one in await receiver.waited(len(every)))
        assert set(received) == every
        assert set(received.values()) == {1}  # no worker died, so nothing must be sent twice


async def settled(tills: Tills, transaction: str) -> dict[str, Any]:
    """Return the outcome of a sale's side effects, once they are finished."""
    path = f"/pos/v2/transactions/{transaction}/1/side-effects"
    while (told := (await tills.call("status", path=path)).answer)["status"] not in {"COMPLETED", "FAILED"}:
        pass
    assert told["status"] == "COMPLETED", told
    return told


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a4_sales_and_deliveries_do_not_stand_still_for_an_hour(
    databases: Databases, kind: ArenaKind, logs: Path, tmp_path: Path, receiver: Receiver, hours: int
) -> None:
    options = ("--webhook-retry-schedule", "2,2,2,2,2,2", *ALLOWED)
    with opened_arena(databases, kind, logs, tmp_path, *options) as arena:
        subscribe(arena, receiver, "/flaky", "TRANSACTION_CONFIRMED")
        receiver.answers("/flaky", *[Answer(500)] * 4, Answer(204))
        async with arena.tills() as tills:
            names = [arena.name("A4") for _ in range(12)]
            for number, name in enumerate(names):
                sold = await tills.confirm(await tills.price(name, "G-1", "5.00", customer=name))
                assert sold.outcome == "ok"
                if number == len(names) // 2:
                    await receiver.waited(1, path="/flaky")  # at least one delivery waits for its next attempt
                    arena.clock.move(hours=hours)
            for name in names:
                assert len((await settled(tills, name))["postPurchaseCoupons"]) == 1
        told = await arena.rows("outbox_events", kind="TRANSACTION_CONFIRMED")
        await receiver.waited(len(names) + 4, path="/flaky")
        assert {row.id for row in told} == {one.headers["webhook-id"] for one in receiver.requests("/flaky")}
        given = [row.issuing_transaction_id for row in await arena.rows("CouponCodes", coupon_type_id=identity("gift"))]
        assert sorted(given) == sorted(names)


async def test_a4_reservations_are_swept_and_coupons_issued_after_the_clock_was_set_back(
    databases: Databases, kind: ArenaKind, logs: Path, tmp_path: Path
) -> None:
    with opened_arena(databases, kind, logs, tmp_path) as arena:
        async with arena.tills() as tills:
            thousand = {"couponTypeId": identity("issued"), "customerIds": [str(number) for number in range(1000)]}
            assert (await tills.call("issue", thousand)).answer["issuedCount"] == 1000
            arena.clock.move(hours=-1)
            refused = await tills.call("issue", thousand)
            # less than a minute has passed on every clock
            assert (refused.status, refused.code) == (429, "ISSUE_LIMIT_REACHED")
            assert int(refused.retry_after) <= 60
            arena.clock.move(seconds=61)
            assert (await tills.call("issue", thousand)).answer["issuedCount"] == 1000
            code = arena.code()
            assert (await tills.call("reserve", {"code": code, "transactionId": "left"})).outcome == "ok"
            arena.clock.move(seconds=61)
            while not await arena.rows("RedemptionLogs", action="CANCELLED"):
                pass
            (row,) = await arena.rows("CouponCodes", code=code)
            assert row.status == "ACTIVE"


async def test_a4_nothing_redeems_twice_while_the_clock_jumps_an_hour_back_and_forward(
    databases: Databases, kind: ArenaKind, logs: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    with opened_arena(databases, kind, logs, tmp_path) as arena:
        async with arena.tills() as tills:
            brawl = Brawl(arena, tills, [arena.code() for _ in range(8)], rng)
            ahead = 0

            async def fight(till: int) -> None:
                nonlocal ahead
                for turn in range(12):
                    await brawl.turn(f"{brawl.codes[0]}-{till}-{turn % 4}")
                    if rng.random() < 0.03:
                        hours = rng.choice([jump for jump in (-1, 1) if -2 <= ahead + jump <= 2])
                        ahead += hours
                        arena.clock.move(hours=hours)

            await all_at_once(64, fight)
            await brawl.settle()
            for code in brawl.codes:
                spent = {
                    call.said["transactionId"]
                    for call in brawl.by_code[code]
                    if call.kind in {"redeem", "confirm"} and call.outcome == "ok"
                }
                (row,) = await arena.rows("CouponCodes", code=code)
                logs_ = await arena.rows("RedemptionLogs", coupon_code_id=identity(code), action="REDEEMED")
                assert len(spent) <= 1
                assert [log.transaction_id for log in logs_] == list(spent)
                assert (row.redeemed_transaction_id, row.redemption_count) == (next(iter(spent), None), len(spent))
        told = [json.loads(row.payload)["data"] for row in await arena.rows("outbox_events", kind="COUPON_REDEEMED")]
        assert {1} >= set(Counter(one["couponId"] for one in told).values())
