"""64 tills issue coupons, directly and through sales: never more than the limit, each once, all different."""

from __future__ import annotations

import json
import random
from collections import Counter

from tests.reliability.fights.arena import Arena, identity
from tests.reliability.fights.history import Call
from tests.reliability.fights.tills import all_at_once

CLIENTS = 64
ISSUED_MAX = 1000  # a minute (specification, Limits)


async def test_64_tills_at_the_limit_are_issued_a_thousand_different_codes_and_no_more(arena: Arena, seed: int) -> None:
    rng = random.Random(seed)
    arena.clock.move(minutes=2)  # past the window of earlier tests
    issued: list[Call] = []
    async with arena.tills() as tills:

        async def ask(number: int) -> Call:
            customers = [arena.name("C") for _ in range(number)]
            said = {"couponTypeId": identity("issued"), "customerIds": customers, "reason": arena.name("fight")}
            call = await tills.call("issue", said)
            if call.outcome == "ok":
                assert (call.answer["issuedCount"], call.answer["failedCount"]) == (number, 0)
                issued.append(call)
            else:
                assert (call.status, call.code) == (429, "ISSUE_LIMIT_REACHED")
                assert 1 <= int(call.retry_after) <= 60
            return call

        async def fight(_: int) -> None:
            while (await ask(rng.randint(1, 40))).outcome == "ok":
                pass
            while (await ask(1)).outcome == "ok":
                pass

        await all_at_once(CLIENTS, fight)
        given = [one for call in issued for one in call.answer["issuedCoupons"]]
        assert len(given) == ISSUED_MAX
        arena.clock.move(seconds=61)
        assert (await ask(1)).outcome == "ok"
    codes = {row.code: row for row in await arena.rows("CouponCodes", coupon_type_id=identity("issued"))}
    assert len({one["code"] for one in given}) == ISSUED_MAX
    assert all(codes[one["code"]].customer_id == one["customerId"] for one in given)
    assert len(codes) == ISSUED_MAX + 1
    logged = Counter(row.coupon_code_id for row in await arena.rows("RedemptionLogs", action="ISSUED"))
    assert {logged[row.id] for row in codes.values()} == {1}
    told = await arena.rows("outbox_events", kind="COUPON_ISSUED")
    about = [json.loads(row.payload)["data"] for row in told]
    assert sum(one["couponTypeId"] == identity("issued") for one in about) == ISSUED_MAX + 1
    assert not any(code in row.payload.decode() for row in told for code in list(codes)[:20])


async def test_a_sale_that_is_confirmed_many_times_gives_its_coupon_once(arena: Arena) -> None:
    async with arena.tills() as tills:
        names = [arena.name("G") for _ in range(8)]
        sales = {name: await tills.price(name, "G-1", "5.00", customer=name) for name in names}
        sold: list[Call] = []

        async def confirm(till: int) -> None:
            sold.append(await tills.confirm(sales[names[till % len(names)]]))

        await all_at_once(CLIENTS, confirm)
        assert {call.outcome for call in sold} == {"ok"}
        for name in names:
            path = f"/pos/v2/transactions/{name}/1/side-effects"
            while (told := (await tills.call("status", path=path)).answer)["status"] != "COMPLETED":
                pass
            assert [one["customerId"] for one in told["postPurchaseCoupons"]] == [name]
    given = [row.issuing_transaction_id for row in await arena.rows("CouponCodes", coupon_type_id=identity("gift"))]
    assert sorted(given) == sorted(names)
