"""C4: codes can neither be guessed nor listed, and guessing does not affect other clients (reliability.md, Coupons)."""

from __future__ import annotations

from tests.reliability.fights.arena import Arena
from tests.reliability.fights.tills import Tills, all_at_once

CLIENTS = 64
FAILURES_MAX = 100  # a minute, of one client


async def exhaust(arena: Arena, tills: Tills, guesser: str) -> None:
    """Guess until the client is blocked; the block lasts a minute, so each test needs its own client."""

    async def guess(_: int) -> None:
        for _ in range(100):
            call = await tills.call("validate", {"code": arena.name("GUESS")}, client=guesser)
            if call.status == 429:
                return

    await all_at_once(CLIENTS, guess)


async def test_c4_guessing_from_one_client_is_limited_and_does_not_hinder_another(arena: Arena) -> None:
    async with arena.tills() as tills:
        await exhaust(arena, tills, "guesser")
        guesses = [call for call in tills.of("validate") if call.code != "NOT_SENT"]
        unknown = [call for call in guesses if call.code == "UNKNOWN_CODE"]
        limited = [call for call in guesses if call.status == 429]
        assert len(unknown) + len(limited) == len(guesses)
        # Without a shared cache each process counts separately; requests in progress are not blocked.
        assert FAILURES_MAX <= len(unknown) < len(arena.services) * FAILURES_MAX + CLIENTS
        assert {call.code for call in limited} == {"TOO_MANY_ATTEMPTS"}
        assert all(1 <= int(call.retry_after) <= 60 for call in limited)
        code = arena.code()
        for kind, body in (
            ("validate", {"code": code}),
            ("reserve", {"code": code, "transactionId": "guess"}),
            ("activate", {"code": code, "customerId": "C1"}),
        ):
            for _ in arena.services:
                assert (await tills.call(kind, body, client="guesser")).status == 429
        assert (await tills.call("validate", {"code": code})).outcome == "ok"
        assert (await tills.call("reserve", {"code": code, "transactionId": "honest"})).outcome == "ok"


async def test_c4_evaluate_still_prices_for_a_client_that_has_guessed_too_often(arena: Arena) -> None:
    async with arena.tills() as tills:
        await exhaust(arena, tills, "guesser with baskets")
        code = arena.code()
        request = {
            "posGroupCode": "BERLIN",
            "items": [{"articleNumber": "A-1", "quantity": 1, "unitPrice": "5.00"}],
            "coupons": [{"code": code}, {"code": arena.name("GUESS")}],
        }
        for _ in arena.services:
            priced = await tills.call("evaluate", request, client="guesser with baskets")
            assert priced.outcome == "ok"
            assert {one["reason"] for one in priced.answer["invalidCoupons"]} == {"TOO_MANY_ATTEMPTS"}
            assert priced.answer["totals"]["grandTotal"]["value"] == 5
        honest = await tills.call("evaluate", request)
        assert [one["code"] for one in honest.answer["appliedCoupons"]] == [code]


async def test_c4_a_code_of_another_tenant_is_answered_like_one_that_nobody_has(arena: Arena) -> None:
    async with arena.tills() as tills:
        code, nobodys = arena.code(), arena.name("GUESS")
        held = await tills.call("reserve", {"code": code, "transactionId": "ours"})
        assert held.outcome == "ok"
        for kind, body in (
            ("validate", {}),
            ("reserve", {"transactionId": "theirs"}),
            ("activate", {"customerId": "C1"}),
        ):
            answers = []
            for asked in (code, nobodys):
                call = await tills.call(kind, {**body, "code": asked}, client="foreign till")
                answers.append((call.status, str(call.answer).replace(asked, "...")))
                assert call.code == "UNKNOWN_CODE"
            assert answers[0] == answers[1]
        reservation = {"reservationId": held.answer["reservationId"]}
        for kind, body in (("redeem", {"transactionId": "ours"}), ("cancel", {})):
            call = await tills.call(kind, {**body, **reservation}, client="foreign till")
            assert call.code == "RESERVATION_NOT_FOUND"
        assert (await tills.call("redeem", reservation | {"transactionId": "ours"})).outcome == "ok"
