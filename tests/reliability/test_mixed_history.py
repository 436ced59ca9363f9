"""A mix of concurrent sales, exchanges and returns that use the same budgets, coupons, counters and customers."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

from promenade.engine.basket import CouponFact
from promenade.engine.outcome import Outcome
from tests.reliability.load import at_once, budget_state, event_count
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

PROMOTIONS = ("off", "saver", "third")
BUDGETS = ("left", "right")
SALES, ROUNDS, GENERIC_MAX = 30, 2, 20


def a_sale(rng: random.Random, *, returns: bool) -> tuple[Outcome, tuple[str, ...]]:
    """Return a sale of up to three promotions on a line each, charged to one or both budgets, one triggered by a
    coupon.
    """
    chosen = rng.sample(PROMOTIONS, rng.randint(1, 3))
    lines, promotions = [], []
    for number, name in enumerate(chosen):
        pieces, each = rng.randint(1, 4), rng.randint(1, 99)
        code = "SAVE" if name == "saver" else None
        lines.append(line(str(number), pieces * 1000, pieces * 500, discount(name, ((pieces, each),), code)))
        budgets = tuple(rng.sample(BUDGETS, rng.randint(1, 2)))
        promotions.append(applied(name, pieces * each, points=pieces, coupon_code=code, budget_ids=budgets))
    if returns:
        back = [line(f"r{number}", -rng.randint(1, 3) * 1000, -500) for number in range(2)]
        return outcome((*lines, *back), tuple(promotions), base_points=1), tuple(chosen)
    return outcome(tuple(lines), tuple(promotions), base_points=1), tuple(chosen)


async def test_a_mixed_history_balances_to_the_cent_and_to_the_point(shop: Shop, seed: int) -> None:
    rng = random.Random(seed)
    await shop.promotion("third")
    for name in BUDGETS:
        await shop.budget(name, "60.00")
    await shop.coupon_type("save", code_type="GENERIC", generic_code="SAVE", max_redemptions=GENERIC_MAX)
    fact = CouponFact("SAVE", identity("save"), "save")
    sold: list[str] = []
    outcomes: Counter[str] = Counter()
    claimed = 0
    for turn in range(ROUNDS):
        calls, names, with_coupon = [], [], []
        for number in range(SALES):
            name = f"T{turn}-{number}"
            priced, promotions = a_sale(rng, returns=bool(sold))
            originals = {f"r{n}": (rng.choice(sold), str(rng.randint(0, 2))) for n in range(2)} if sold else None
            counter = await shop.price(
                name, priced, coupons=[fact], customer_id=f"C{rng.randint(0, 2)}", sales=originals
            )
            calls.append(shop.confirm(name, counter, *promotions))
            names.append(name)
            with_coupon.append("saver" in promotions)
        made = await at_once(calls)
        outcomes.update(call.outcome for call in made)
        assert {call.code for call in made} <= {"", "COUPON_LIMIT_REACHED"}
        sold += [name for name, call in zip(names, made, strict=True) if call.outcome == "ok"]
        claimed += sum(used and call.outcome == "ok" for used, call in zip(with_coupon, made, strict=True))
        for budget in BUDGETS:
            (await budget_state(shop, budget)).check()
    assert outcomes["unknown"] == 0  # no deadlock
    assert await shop.count("coupon_claims") == claimed <= GENERIC_MAX
    assert await shop.count("confirmations") == len(sold) == outcomes["ok"]
    await shop.work()
    assert {row.status for row in await shop.rows("side_effect_jobs")} == {"COMPLETED"}
    booked: Counter[str] = Counter()
    for row in await shop.rows("LoyaltyTransactions"):
        booked[row.customer_id] += row.points
    assert booked == {row.customer_id: row.points for row in await shop.rows("loyalty_balances")}
    # Everything left is returned, twice: no more comes back than was charged.
    every = [(name, str(number)) for name in sold for number in range(3)]
    for again in range(2):
        back = outcome(tuple(line(str(number), -9000, -4500) for number in range(len(every))), ())
        sales = {str(number): one for number, one in enumerate(every)}
        await shop.confirm(f"R{again}", await shop.price(f"R{again}", back, sales=sales))
    await shop.work()
    for budget in BUDGETS:
        state = await budget_state(shop, budget)
        state.check()
        assert state.consumed == Decimal(0)
        assert state.status == "ACTIVE"
    assert await event_count(shop, "TRANSACTION_CONFIRMED") == len(sold) + 2
    assert {row.points for row in await shop.rows("loyalty_balances")} == {0}
