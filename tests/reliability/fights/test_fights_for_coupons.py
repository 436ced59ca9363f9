"""C1 to C3 over HTTP: 64 tills compete for the same code (reliability.md, Coupons)."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Row

from tests.reliability.fights.arena import Arena, identity
from tests.reliability.fights.history import Call, explain
from tests.reliability.fights.models import IndividualCode, check_limits, spent
from tests.reliability.fights.tills import NOT_SENT, Tills, all_at_once

CLIENTS = 64
SOAK = (pytest.mark.soak, pytest.mark.timeout(1800))
MINUTE = timedelta(minutes=1)


class Brawl:
    """Tills that perform every operation on a few codes, each with its own transactions and with those of others."""

    def __init__(self, arena: Arena, tills: Tills, codes: list[str], rng: random.Random) -> None:
        self.arena, self.tills, self.codes, self.rng = arena, tills, codes, rng
        self.by_code: dict[str, list[Call]] = {code: [] for code in codes}
        self.known: dict[str, list[Call]] = {code: [] for code in codes}  # reservations returned to any till
        self.sold: set[str] = set()  # transactions that a till has tried to confirm

    async def turn(self, transaction: str) -> None:
        """Perform one random operation on one of the codes."""
        code = self.rng.choice(self.codes)
        does = self.rng.choices(
            (self.reserve, self.redeem, self.cancel, self.sell, self.validate), weights=(10, 2, 8, 1, 3)
        )[0]
        await does(code, transaction)

    async def do(self, to: str, kind: str, **body: str) -> Call:
        call = await self.tills.call(kind, dict(body))
        self.by_code[to].append(call)
        return call

    async def validate(self, code: str, transaction: str) -> None:
        await self.do(code, "validate", code=code)

    async def reserve(self, code: str, transaction: str) -> None:
        call = await self.do(code, "reserve", code=code, transactionId=transaction)
        if call.outcome == "ok":
            self.known[code].append(call)

    async def redeem(self, code: str, transaction: str) -> None:
        """Redeem one of the latest reservations; one in three times with the wrong transaction."""
        if self.known[code]:
            made = self.rng.choice(self.known[code][-3:])
            said = transaction if self.rng.random() < 1 / 3 else made.said["transactionId"]
            await self.do(code, "redeem", reservationId=made.answer["reservationId"], transactionId=said)

    async def cancel(self, code: str, transaction: str) -> None:
        if self.known[code]:
            made = self.rng.choice(self.known[code][-3:])
            await self.do(code, "cancel", reservationId=made.answer["reservationId"])

    async def sell(self, code: str, transaction: str) -> None:
        """Sell with the code, in a transaction that may already hold it.

        A transaction is sold once: a second confirm is refused whatever its code, of which the answer tells nothing.
        """
        if transaction in self.sold:
            return
        priced = await self.tills.price(transaction, "A-1", "5.00", coupons=[code])
        self.by_code[code].append(priced)
        if priced.outcome == "ok" and priced.answer["appliedCoupons"]:
            self.sold.add(transaction)
            self.by_code[code].append(await self.tills.confirm(priced))

    async def spend(self, code: str) -> None:
        """Act as the last customer, after every reservation has expired: an unspent code must be available."""
        await self.reserve(code, f"{code}-last")
        if self.by_code[code][-1].outcome == "ok":
            reservation = self.by_code[code][-1].answer["reservationId"]
            await self.do(code, "redeem", reservationId=reservation, transactionId=f"{code}-last")

    def saw(self, code: str, row: Row[Any]) -> None:
        """Record the final row of the code as the last answer of the history."""
        now, moment = self.arena.clock(), time.perf_counter()
        found = {name: getattr(row, name) for name in ("redeemed_transaction_id", "reservation_ref")}
        self.by_code[code].append(Call("found", {}, moment, moment, now, now, "ok", answer=found))

    def told(self, code: str) -> IndividualCode:
        """Return the final state of the code according to the history; raise Contradiction if its answers cannot all
        be true.
        """
        sent = [call for call in self.by_code[code] if call.code != NOT_SENT]
        return explain(sent, IndividualCode(), IndividualCode.step)

    async def each_edge(self, code: str) -> None:
        """Perform each operation on an uncontested code, once accepted and once refused, as chance may leave some
        out.
        """
        await self.reserve(code, f"{code}-first")
        await self.reserve(code, f"{code}-second")
        reservation = {"reservationId": self.known[code][-1].answer["reservationId"]}
        await self.do(code, "cancel", **reservation)
        await self.do(code, "redeem", **reservation, transactionId=f"{code}-first")
        await self.spend(code)
        await self.do(code, "cancel", reservationId=self.known[code][-1].answer["reservationId"])

    async def settle(self) -> None:
        """Wait until the worker has finished the effects of all sales."""
        for sold in self.tills.of("confirm", outcome="ok"):
            header = sold.said["header"]
            path = f"/pos/v2/transactions/{header['transactionId']}/{header['transactionCounter']}/side-effects"
            while (await self.tills.call("status", path=path)).answer["status"] != "COMPLETED":
                pass

    async def check(self, code: str) -> IndividualCode:
        """Check every answer against the database, and the logs against both."""
        told = self.told(code)
        (row,) = await self.arena.rows("CouponCodes", code=code)
        logs = await self.arena.rows("RedemptionLogs", coupon_code_id=identity(code))
        calls = self.by_code[code]
        assert (row.redeemed_transaction_id or "") == told.spent_by
        assert (row.status == "REDEEMED") == bool(told.spent_by)
        assert row.redemption_count == bool(told.spent_by)
        assert [log.transaction_id for log in logs if log.action == "REDEEMED"] == [told.spent_by] * bool(told.spent_by)
        if told.hold is not None:
            assert row.reservation_ref in {told.hold.id, None}  # None if it has expired and been swept
        given = {(call.answer["reservationId"], call.said["transactionId"]) for call in self.known[code]}
        reserved = Counter(log.transaction_id for log in logs if log.action == "RESERVED")
        assert reserved == Counter(transaction for _, transaction in given)
        cancelled = sum(call.kind == "cancel" and call.outcome == "ok" for call in calls)
        swept = sum(log.action == "CANCELLED" for log in logs) - cancelled
        assert 0 <= swept <= len(given)
        return told


@pytest.mark.parametrize(("codes", "turns"), [(6, 14), pytest.param(20, 300, marks=SOAK)])
async def test_c1_c2_c3_whatever_64_tills_do_to_a_code_their_answers_are_those_of_one_till(
    arena: Arena, seed: int, codes: int, turns: int
) -> None:
    rng = random.Random(seed)
    async with arena.tills() as tills:
        brawl = Brawl(arena, tills, [arena.code() for _ in range(codes)], rng)

        async def fight(till: int) -> None:
            for turn in range(turns):
                await brawl.turn(f"{brawl.codes[0]}-{till}-{turn % 4}")
                if rng.random() < 0.02:
                    arena.clock.move(seconds=rng.choice((15, 30, 61)))

        await all_at_once(CLIENTS, fight)
        arena.clock.move(seconds=61)
        for code in brawl.codes:
            await brawl.spend(code)
        quiet = Brawl(arena, tills, [arena.code()], rng)
        await quiet.each_edge(quiet.codes[0])
        await brawl.settle()
        told = [await each.check(code) for each in (brawl, quiet) for code in each.codes]
    assert all(one.spent_by for one in told), "a code was left that nobody could spend"
    for call in tills.of("reserve", outcome="ok"):
        assert datetime.fromisoformat(call.answer["expiresAt"]) <= call.until + MINUTE
    outcomes = {(call.kind, call.outcome) for call in tills.history}
    assert "unknown" not in {outcome for _, outcome in outcomes}  # nobody was refused because others were busy
    assert {(kind, ended) for kind in ("reserve", "redeem", "cancel") for ended in ("ok", "refused")} <= outcomes


async def test_c1_only_one_of_64_calls_that_redeem_or_cancel_a_reservation_succeeds(arena: Arena, seed: int) -> None:
    rng = random.Random(seed)
    async with arena.tills() as tills:
        for _ in range(4):
            code = arena.code()
            made = await tills.call("reserve", {"code": code, "transactionId": code})
            said = {"reservationId": made.answer["reservationId"]}
            calls = [made]

            async def end(_: int, said: dict[str, str] = said, code: str = code, calls: list[Call] = calls) -> None:
                if rng.random() < 0.5:
                    calls.append(await tills.call("cancel", dict(said)))
                else:
                    calls.append(await tills.call("redeem", said | {"transactionId": code}))

            await all_at_once(CLIENTS, end)
            assert "unknown" not in {call.outcome for call in calls}
            won = [call.kind for call in calls[1:] if call.outcome == "ok"]
            assert len(won) == 1
            told = explain(calls, IndividualCode(), IndividualCode.step)
            (row,) = await arena.rows("CouponCodes", code=code)
            logs = await arena.rows("RedemptionLogs", coupon_code_id=identity(code))
            expected = {"redeem": ("REDEEMED", code, "REDEEMED"), "cancel": ("ACTIVE", None, "CANCELLED")}[won[0]]
            assert (row.status, row.redeemed_transaction_id, told.spent_by or None) == (*expected[:2], expected[1])
            assert Counter(log.action for log in logs) == {"RESERVED": 1, expected[2]: 1}


async def test_c3_a_reservation_cannot_be_redeemed_at_or_after_its_end(arena: Arena) -> None:
    async with arena.tills() as tills:
        code = arena.code()
        made = await tills.call("reserve", {"code": code, "transactionId": "late"})
        said = {"reservationId": made.answer["reservationId"], "transactionId": "late"}
        ends = datetime.fromisoformat(made.answer["expiresAt"])
        arena.clock.move(seconds=(ends - arena.clock()).total_seconds())

        async def redeem(_: int) -> None:
            assert (await tills.call("redeem", said)).code in {"RESERVATION_EXPIRED", "RESERVATION_NOT_FOUND"}

        await all_at_once(CLIENTS, redeem)
        again = await tills.call("reserve", {"code": code, "transactionId": "next"})
        assert again.outcome == "ok"
        assert again.answer["reservationId"] != said["reservationId"]
        assert (await tills.call("redeem", said)).outcome == "refused"


@pytest.mark.parametrize("turns", [3, pytest.param(40, marks=SOAK)])
async def test_c1_a_shared_code_with_reservations_is_spent_as_often_as_its_limits_say(
    arena: Arena, seed: int, turns: int
) -> None:
    rng = random.Random(seed)
    most, most_per_customer = 24, 3
    code = arena.generic(maxRedemptions=most, maxRedemptionsPerCustomer=most_per_customer)
    calls: list[Call] = []
    async with arena.tills() as tills:

        async def fight(till: int) -> None:
            customer = f"{code}-{till % 12}"
            for turn in range(turns):
                transaction = f"{code}-{till}-{turn}"
                if rng.random() < 0.3:
                    priced = await tills.price(transaction, "A-1", "5.00", coupons=[code], customer=customer)
                    if priced.answer["appliedCoupons"]:
                        sold = await tills.confirm(priced)
                        calls.append(replace(sold, said=sold.said | {"customerId": customer}))
                    continue
                said = {"code": code, "transactionId": transaction, "customerId": customer}
                made = await tills.call("reserve", said)
                calls.append(made)
                if made.outcome == "ok":
                    calls.extend(await _end(tills, made, rng))

        await all_at_once(CLIENTS, fight)
        for till in range(CLIENTS):  # cancelled reservations make the code available again
            said = {"code": code, "transactionId": f"{code}-{till}-last", "customerId": f"{code}-{till % 12}"}
            made = await tills.call("reserve", said)
            calls.append(made)
            if made.outcome == "ok":
                calls.extend(await _end(tills, made, None))
    assert "unknown" not in {call.outcome for call in tills.history}
    assert {(call.kind, call.code) for call in calls if call.outcome == "refused"} <= {
        ("reserve", "USAGE_LIMIT_REACHED"),
        ("redeem", "USAGE_LIMIT_REACHED"),
        ("confirm", "COUPON_LIMIT_REACHED"),
    }
    check_limits(calls, most, most_per_customer)
    left = Counter(use.customer for use in spent(calls))
    assert left.total() == most
    (kind,) = await arena.rows("CouponTypes", generic_code=code)
    claims = await arena.rows("coupon_claims", coupon_type_id=kind.id)
    assert Counter(claim.customer_id for claim in claims) == left
    assert not await arena.rows("coupon_reservations", coupon_type_id=kind.id, state="HELD")


async def _end(tills: Tills, made: Call, rng: random.Random | None) -> list[Call]:
    """End a reservation: usually redeem it, otherwise cancel it."""
    reservation = {"reservationId": made.answer["reservationId"]}
    calls = []
    if rng is None or rng.random() < 0.6:
        calls.append(await tills.call("redeem", reservation | {"transactionId": made.said["transactionId"]}))
    if not calls or calls[0].outcome == "refused":
        calls.append(await tills.call("cancel", reservation))
    return [replace(call, said=call.said | {"customerId": made.said["customerId"]}) for call in calls]
