"""T3 over HTTP: the service is killed repeatedly in the middle of a fight; its answers still hold (reliability.md)."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.kit.databases import Databases, Dialect
from tests.reliability.fights.arena import Arena, identity, opened_arena
from tests.reliability.fights.history import Call
from tests.reliability.fights.test_fights_for_coupons import Brawl
from tests.reliability.fights.tills import all_at_once

CLIENTS = 64
SOAK = (pytest.mark.soak, pytest.mark.timeout(1800))


class Riot(Brawl):
    """A brawl that also issues coupons and ends when the service is killed."""

    answers_left = 0

    async def issue(self, customers: int) -> None:
        said = {
            "couponTypeId": identity("issued"),
            "customerIds": [f"C{number}" for number in range(customers)],
            "reason": self.arena.name("riot"),
        }
        await self.tills.call("issue", said)

    async def join(self, till: int) -> None:
        turn = 0
        while self.arena.services[0].running:
            turn += 1
            if self.rng.random() < 0.1:
                await self.issue(self.rng.randint(1, 5))
            else:
                await self.turn(f"{self.codes[0]}-{till}-{turn % 4}")
            self.answers_left -= 1
            if self.answers_left == 0:  # the other calls are in progress
                self.arena.services[0].kill()


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=SOAK)])
async def test_t3_what_was_acknowledged_before_a_kill_is_there_and_nothing_is_there_in_part(
    databases: Databases, dialect: Dialect, logs: Path, tmp_path: Path, seed: int, kills: int
) -> None:
    rng, in_the_middle = random.Random(seed), 0
    with opened_arena(databases, dialect, logs, tmp_path) as arena:
        # on a busy machine all calls may just have been answered: then the kill interrupted none
        while in_the_middle < kills:
            async with arena.tills() as tills:
                await tills.token("till")
                riot = Riot(arena, tills, [arena.code() for _ in range(8)], rng)
                riot.answers_left = rng.randint(100, 400)
                await all_at_once(CLIENTS, riot.join)
                arena.services[0].restart()
                in_the_middle += any(call.outcome == "unknown" for call in tills.history)
                await check(riot)


async def check(riot: Riot) -> None:
    """After a restart: every answer is true, and each unanswered call was carried out completely or not at all."""
    history = riot.tills.history
    await riot.settle()
    for code in riot.codes:
        await check_code(riot, code)
    await check_issues(riot.arena, [call for call in history if call.kind == "issue"])
    await check_sales(riot.arena, [call for call in history if call.kind == "confirm"])


async def check_code(riot: Riot, code: str) -> None:
    """Add the final state of the code as one more answer that the history has to explain."""
    (row,) = await riot.arena.rows("CouponCodes", code=code)
    riot.saw(code, row)
    riot.told(code)
    logs = await riot.arena.rows("RedemptionLogs", coupon_code_id=identity(code))
    spent = [log.transaction_id for log in logs if log.action == "REDEEMED"]
    assert spent == ([row.redeemed_transaction_id] if row.redeemed_transaction_id else [])
    reserved = Counter(log.transaction_id for log in logs if log.action == "RESERVED")
    given = {(call.answer["reservationId"], call.said["transactionId"]) for call in riot.known[code]}
    surely = Counter(transaction for _, transaction in given)
    perhaps = Counter(
        call.said["transactionId"]
        for call in riot.by_code[code]
        if call.kind == "reserve" and call.outcome == "unknown"
    )
    assert surely <= reserved <= surely + perhaps


async def check_issues(arena: Arena, calls: list[Call]) -> None:
    rows = await arena.rows("CouponCodes", coupon_type_id=identity("issued"))
    by_reason: dict[str, set[str]] = {}
    for row in rows:
        by_reason.setdefault(row.issue_reason, set()).add(row.code)
    for call in calls:
        found = by_reason.get(call.said["reason"], set())
        if call.outcome == "ok":
            assert found == {one["code"] for one in call.answer["issuedCoupons"]}
        else:
            whole = len(call.said["customerIds"]) if call.outcome == "unknown" else 0
            assert len(found) in {0, whole}


async def check_sales(arena: Arena, calls: list[Call]) -> None:
    """T4 as well: a stored sale has its log, its job and its event."""
    confirmed = {row.transaction_id for row in await arena.rows("confirmations")}
    assert {call.said["transactionId"] for call in calls if call.outcome == "ok"} <= confirmed
    for name in ("side_effect_jobs", "coupon_claims"):
        found = {row.transaction_id for row in await arena.rows(name)}
        assert confirmed <= found
    logged = [row.transaction_id for row in await arena.rows("CalculationLogs") if row.status == "CALCULATED"]
    assert sorted(logged) == sorted(confirmed)
