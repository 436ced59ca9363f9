"""The ledger of points: whatever is sold and returned, each balance is the sum of its bookings."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from sqlalchemy import Row, select, update

from promenade.engine.outcome import Outcome
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.worker import Worker
from tests.workflows.outcomes import applied, line, outcome
from tests.workflows.shop import NOON, Shop, identity

CUSTOMERS = ("C1", "C2", "C3")


async def ledger(shop: Shop) -> tuple[dict[str, int], Sequence[Row[Any]]]:
    """Return balances and bookings in one snapshot."""
    balances, bookings = table("loyalty_balances"), table("LoyaltyTransactions")

    async def read(session: Session) -> tuple[dict[str, int], Sequence[Row[Any]]]:
        found = await session.execute(select(balances.c.customer_id, balances.c.points))
        return {row.customer_id: row.points for row in found}, await session.execute(select(bookings))

    return await shop.context.database.read(read, tenant=shop.tenant)


async def check(shop: Shop) -> dict[str, int]:
    """INVARIANT: a balance is the sum of its bookings, in any order; the last one holds it. Return the balances."""
    balances, rows = await ledger(shop)
    sums: Counter[str] = Counter()
    for row in sorted(rows, key=lambda row: row.awarded_at):
        sums[row.customer_id] += row.points
        assert row.balance_after == sums[row.customer_id], row
    assert dict(sums) == balances
    times = [(row.customer_id, row.awarded_at) for row in rows]
    assert len(times) == len(set(times)), "the order of a customer's bookings cannot be told"
    return balances


def sale(rng: random.Random) -> Outcome:
    """Return a sale of at most three lines, with points by the tenant and by two promotions, some of which deduct
    points.
    """
    lines = tuple(
        line(str(number), 1000 * rng.randint(1, 4), rng.choice((0, 99, 500, 1_000)))
        for number in range(rng.randint(1, 3))
    )
    return outcome(lines, (applied("off", points=rng.randint(0, 40)), applied("stamps", points=-rng.randint(0, 30))),
                   base_points=rng.randint(0, 50))  # fmt: skip


async def test_balances_are_right_after_any_sales_and_returns(shop: Shop, seed: int) -> None:
    rng = random.Random(seed)
    earned: dict[str, tuple[str, int]] = {}  # of each sale: its customer and points
    priced: dict[str, Outcome] = {}
    for number in range(25):
        customer, name = rng.choice(CUSTOMERS), f"S{number}"
        priced[name] = sale(rng)
        await shop.confirm(name, await shop.price(name, priced[name], customer_id=customer))
        earned[name] = customer, _points(priced[name])
        for turn in range(rng.randint(0, 3)):
            sold = rng.choice(sorted(priced))
            returned = rng.choice(priced[sold].lines)
            back = outcome((line("9", -1000 * rng.randint(1, 3), -100),), ())
            again = f"R{number}-{turn}"
            # Whoever returns it: the points are deducted from the customer who got them.
            named = {"9": (sold, returned.reference)}
            counter = await shop.price(again, back, sales=named, customer_id=rng.choice(CUSTOMERS))
            await shop.confirm(again, counter)
        if rng.random() < 0.4:
            await shop.work()
            await check(shop)
            shop.later(seconds=rng.choice((-3600, 0, 1)))  # clocks may be changed
    await shop.work()
    balances = await check(shop)
    for name, (customer, points) in earned.items():
        assert await _booked(shop, name) == points, (name, customer)
    assert all(value >= 0 for value in balances.values())  # no return deducted more than its sale carried
    for name, one in priced.items():
        for part in one.lines:  # and everything can be returned
            back = outcome((line("9", -part.quantity_thousandths, -100),), ())
            last = f"L-{name}-{part.reference}"
            await shop.confirm(last, await shop.price(last, back, sales={"9": (name, part.reference)}))
    await shop.work()
    assert set((await check(shop)).values()) <= {0}


def _points(priced: Outcome) -> int:
    """Return the points of a sale: never below zero; earlier points can be deducted by later promotions."""
    total = priced.base_points
    for one in priced.applied:
        total = max(0, total + one.points)
    return total


async def _booked(shop: Shop, transaction: str) -> int:
    return sum(row.points for row in await shop.rows("LoyaltyTransactions", transaction_id=transaction))


async def test_points_taken_back_by_partial_returns_add_up_to_those_of_the_sale(shop: Shop) -> None:
    """7 points on three pieces: 2, 2 and 3 go back, each time the proportional total so far, rounded down."""
    sold = outcome((line("1", 3000, 900),), (applied("stamps", points=7),))
    await shop.confirm("S", await shop.price("S", sold, customer_id="C1"))
    taken = []
    for number in range(5):
        back = outcome((line("9", -1000, -300),), ())
        await shop.confirm(f"R{number}", await shop.price(f"R{number}", back, sales={"9": ("S", "1")}))
        await shop.work()
        taken.append(-await _booked(shop, f"R{number}"))
    assert taken == [int(Fraction(7, 3)), 2, 3, 0, 0]
    assert await check(shop) == {"C1": 0}


async def test_points_for_what_cost_nothing_go_back_piece_by_piece(shop: Shop) -> None:
    gift = outcome((line("1", 3000, 0), line("2", 1000, 0)), (applied("stamps", points=8),))
    await shop.confirm("S", await shop.price("S", gift, customer_id="C1"))
    for number, (reference, left) in enumerate((("2", 6), ("1", 4), ("1", 2), ("1", 0))):
        back = outcome((line("9", -1000, 0),), ())
        await shop.confirm(f"R{number}", await shop.price(f"R{number}", back, sales={"9": ("S", reference)}))
        await shop.work()
        assert await check(shop) == {"C1": left}


async def test_points_that_are_taken_away_leave_no_sale_below_zero(shop: Shop) -> None:
    priced = outcome((line("1", 1000, 500),), (applied("off", points=3), applied("stamps", points=-10)), base_points=4)
    await shop.confirm("S", await shop.price("S", priced, customer_id="C1"))
    await shop.work()
    rows = sorted(await shop.rows("LoyaltyTransactions"), key=lambda row: row.awarded_at)
    assert [(row.promotion_id, row.points, row.balance_after) for row in rows] == [
        (None, 4, 4),
        (identity("off"), 3, 7),
        (identity("stamps"), -7, 0),
    ]
    assert await shop.rows("outbox_events", kind="LOYALTY_POINTS_AWARDED") == []  # nothing was earned


async def test_a_return_that_is_booked_first_takes_the_balance_below_zero_for_a_while(shop: Shop) -> None:
    sold = outcome((line("1", 1000, 500),), (applied("stamps", points=7),))
    await shop.confirm("S", await shop.price("S", sold, customer_id="C1"))
    jobs = table("side_effect_jobs")
    later = update(jobs).values(due_at=NOON + timedelta(seconds=60))
    await shop.context.database.write(lambda session: session.rowcount(later), tenant=shop.tenant)
    back = outcome((line("9", -1000, -500),), ())
    await shop.confirm("R", await shop.price("R", back, sales={"9": ("S", "1")}))
    await shop.work()
    assert await check(shop) == {"C1": -7}
    shop.later(seconds=61)
    await shop.work()
    assert await check(shop) == {"C1": 0}


@pytest.mark.parametrize("customers", [1, 64])
async def test_sixty_four_sales_at_once_are_each_awarded_once(shop: Shop, customers: int) -> None:
    """By three workers, one of whose clocks is an hour behind."""
    priced = outcome((line("1", 1000, 500),), (applied("off", points=3), applied("stamps", points=4)), base_points=2)
    names = [f"S{number}" for number in range(64)]
    counters = [
        await shop.price(name, priced, customer_id=f"C{number % customers}") for number, name in enumerate(names)
    ]
    done = asyncio.Event()

    async def watch() -> int:
        looks = 0
        while not done.is_set():
            await check(shop)
            looks += 1
        return looks

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(shop.confirm(name, counter) for name, counter in zip(names, counters, strict=True)))
    behind = replace(shop.context, clock=lambda: shop.now[0].replace(hour=11))
    workers = [Worker(shop.context), Worker(shop.context), Worker(behind)]
    while any(await asyncio.gather(*(worker.run_once() for worker in workers))):
        pass
    await shop.work()
    done.set()
    assert await watching > 0
    balances = await check(shop)
    assert set(balances.values()) == {64 * 9 // customers}
    events = await shop.rows("outbox_events", kind="LOYALTY_POINTS_AWARDED")
    told = [msgspec.json.decode(row.payload)["data"] for row in events]
    assert sorted(one["transactionId"] for one in told) == sorted(names)
    assert {one["points"] for one in told} == {9}
    if customers == 1:
        assert sorted(one["balanceAfter"] for one in told) == [9 * number for number in range(1, 65)]
