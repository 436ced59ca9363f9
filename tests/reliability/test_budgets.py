"""B1 to B4: budgets under load (reliability.md, Money)."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from promenade.engine.outcome import Outcome
from promenade.errors import Conflict, Invalid
from promenade.store.authoring.statements import read_rows
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from tests.reliability.load import at_once, budget_state, event_count
from tests.workflows.authoring.desk import Desk
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

SOAK = (pytest.mark.soak, pytest.mark.timeout(900))


def granted(minor: int, *budgets: str) -> Outcome:
    return outcome(
        (line("1", 1000, 100_000, discount("off", ((1, minor),))),), (applied("off", minor, budget_ids=budgets),)
    )


@pytest.mark.parametrize("clients", [64, pytest.param(1000, marks=SOAK)])
async def test_b1_b3_a_hot_budget_is_spent_to_the_cent_and_exhausted_once(shop: Shop, seed: int, clients: int) -> None:
    rng = random.Random(seed)
    await shop.budget("hot", "10.00")
    await shop.budget("ample", "100000.00")
    amounts = {f"T{number}": rng.randint(1, 99) for number in range(clients)}
    priced = {name: await shop.price(name, granted(minor, "hot", "ample")) for name, minor in amounts.items()}
    done = asyncio.Event()

    watching = [asyncio.create_task(_watch(shop, name, done)) for name in ("hot", "ample")]
    try:
        calls = await at_once([shop.confirm(name, counter, "off") for name, counter in priced.items()])
    finally:
        done.set()
        looks = await asyncio.gather(*watching)
    assert min(looks) > 0
    assert {call.outcome for call in calls} == {"ok"}  # a completed sale is never refused because of its budget
    hot, ample = await budget_state(shop, "hot"), await budget_state(shop, "ample")
    hot.check()
    ample.check()
    wanted = Decimal(sum(amounts.values())) / 100
    assert (hot.consumed, ample.consumed) == (min(wanted, Decimal(10)), wanted)
    assert hot.status == ("EXHAUSTED" if wanted >= 10 else "ACTIVE")
    rows = await shop.rows("BudgetConsumptions", budget_id=identity("hot"))
    assert len(rows) == clients
    for row in rows:
        assert row.amount + row.uncovered_amount == Decimal(amounts[row.transaction_id]) / 100
    assert await event_count(shop, "BUDGET_EXHAUSTED") == (1 if wanted >= 10 else 0)


async def test_b2_a_confirm_replayed_five_times_consumes_once(shop: Shop, seed: int) -> None:
    rng = random.Random(seed)
    await shop.budget("hot", "1000.00")
    priced = {f"T{number}": await shop.price(f"T{number}", granted(30, "hot")) for number in range(12)}
    again = [name for name in priced for _ in range(3)]
    rng.shuffle(again)
    together = await at_once([shop.confirm(name, priced[name], "off") for name in again])
    bodies: dict[str, set[bytes]] = {}
    for name, call in zip(again, together, strict=True):
        bodies.setdefault(name, set()).add(call.body)
    for name, counter in priced.items():
        for _ in range(2):
            bodies[name].add((await shop.confirm(name, counter, "off")).body)
    assert all(len(each) == 1 for each in bodies.values())
    state = await budget_state(shop, "hot")
    state.check()
    assert state.consumed == Decimal("0.30") * 12
    assert await shop.count("BudgetConsumptions") == 12


async def test_b3_each_transition_sends_one_event_however_often_it_happens(shop: Shop) -> None:
    await shop.budget("hot", "1.00")
    for round_number in range(3):
        names = [f"T{round_number}-{number}" for number in range(8)]
        priced = {name: await shop.price(name, granted(50, "hot")) for name in names}
        await at_once([shop.confirm(name, counter, "off") for name, counter in priced.items()])
        assert await event_count(shop, "BUDGET_EXHAUSTED") == round_number + 1
        await shop.change("Budgets", "hot", status="ACTIVE", total_amount=Decimal(round_number + 2))


@pytest.mark.parametrize("clients", [64, pytest.param(1000, marks=SOAK)])
async def test_b3_whatever_is_done_to_a_budget_at_once_each_end_is_told_once(
    shop: Shop, seed: int, clients: int
) -> None:
    """Sales over the last cents, with returns, recharges, withdrawn recharges and lower totals in between."""
    rng = random.Random(seed)
    author = _Author(shop, Desk(shop.context.database, shop.tenant))
    await shop.budget("hot", "4.00")
    for percentage in (50, 100):
        await author.desk.create("BudgetNotifications", budget_ID=identity("hot"), thresholdPercentage=percentage)
    sold = [f"S{number}" for number in range(clients // 4)]
    for name in sold:
        await shop.confirm(name, await shop.price(name, granted(5, "hot")), "off")
    sales = {
        f"T{number}": await shop.price(f"T{number}", granted(rng.randint(1, 40), "hot")) for number in range(clients)
    }
    back = outcome((line("9", -1000, -99_995),), ())
    returns = {f"R{name}": await shop.price(f"R{name}", back, sales={"9": (name, "1")}) for name in sold}
    doings: list[Awaitable[object]] = [shop.confirm(name, counter, "off") for name, counter in sales.items()]
    doings += [shop.confirm(name, counter) for name, counter in returns.items()]
    doings += [author.recharge(Decimal(rng.randint(1, 99)) / 100) for _ in range(clients // 4)]
    doings += [author.take_a_recharge_back() for _ in range(clients // 8)]
    doings += [author.leave_nothing() for _ in range(clients // 8)]
    rng.shuffle(doings)
    done = asyncio.Event()
    watching = asyncio.create_task(_watch(shop, "hot", done))
    try:
        await asyncio.gather(*doings)
    finally:
        done.set()
        looks = await watching
    assert looks > 0
    await author.leave_nothing()
    state = await budget_state(shop, "hot")
    state.check()
    assert (state.status, state.consumed) == ("EXHAUSTED", state.total)
    trail = [row.note for row in await shop.rows("AuditLogs", entity_id=identity("hot"))]
    ended = trail.count("status: ACTIVE -> EXHAUSTED")
    assert ended - trail.count("status: EXHAUSTED -> ACTIVE") == 1
    assert await event_count(shop, "BUDGET_EXHAUSTED") == ended
    assert await event_count(shop, "BUDGET_THRESHOLD_REACHED") >= ended  # each time it was spent completely


async def _watch(shop: Shop, name: str, done: asyncio.Event) -> int:
    """Check B1 continuously until ``done``; return the number of checks."""
    looks = 0
    while not done.is_set():
        (await budget_state(shop, name)).check()
        looks += 1
    return looks


@dataclass
class _Author:
    """Recharges the budget "hot" and withdraws recharges."""

    shop: Shop
    desk: Desk
    paid: list[str] = field(default_factory=list)

    async def recharge(self, amount: Decimal) -> None:
        paid = await self.desk.create("RechargeContributions", budget_ID=identity("hot"), amount=amount)
        self.paid.append(paid)

    async def take_a_recharge_back(self) -> None:
        if self.paid:
            with contextlib.suppress(Conflict):  # it is spent already
                await self.desk.remove("RechargeContributions", self.paid.pop())

    async def leave_nothing(self) -> None:
        """Lower the total to the spent amount."""

        async def work(session: Session) -> None:
            (row,) = await read_rows(session, "Budgets", "id", (identity("hot"),), lock="update")
            context = self.shop.context
            authoring = Authoring(session, user="ann", at=context.clock(), new_id=context.new_id)
            await authoring.update("Budgets", row["id"], {"totalAmount": row["consumed_amount"]})
            await authoring.finish()

        await self.shop.context.database.write(work, tenant=self.shop.tenant)


@pytest.mark.parametrize("said", ["1000000000.00", "0.51", "0.50", "0.49", "0"])
async def test_b4_the_booked_amount_never_exceeds_the_granted_one(shop: Shop, said: str) -> None:
    await shop.budget("hot", "100.00")
    await shop.confirm("T1", await shop.price("T1", granted(50, "hot")), ("off", said))
    expected = min(Decimal(said), Decimal("0.50"))
    assert (await budget_state(shop, "hot")).consumed == expected
    (log,) = await shop.rows("CalculationLogs")
    assert (log.discount, log.discrepancy) == (expected, said != "0.50")


@pytest.mark.parametrize("said", ["-0.01", "-1e400", "NaN", "sNaN", "Infinity", "1e400"])
async def test_b4_an_invalid_amount_books_nothing(shop: Shop, said: str) -> None:
    await shop.budget("hot", "100.00")
    counter = await shop.price("T1", granted(50, "hot"))
    with pytest.raises(Invalid):
        await shop.confirm("T1", counter, ("off", said))
    assert (await budget_state(shop, "hot")).consumed == 0
    assert await shop.count("CalculationLogs") == 0


async def test_returns_at_once_bring_back_no_more_than_the_sale_carried(shop: Shop) -> None:
    await shop.budget("hot", "100.00")
    sold = outcome(
        (line("1", 10_000, 10_000, discount("off", ((10, 33),))),),
        (applied("off", 330, points=101, budget_ids=("hot",)),),
    )
    await shop.confirm("T1", await shop.price("T1", sold, customer_id="C1"), "off")
    returned = outcome((line("9", -1000, -967),), ())
    names = [f"R{number}" for number in range(24)]
    priced = {name: await shop.price(name, returned, sales={"9": ("T1", "1")}) for name in names}
    calls = await at_once([shop.confirm(name, counter) for name, counter in priced.items()])
    assert {call.outcome for call in calls} == {"ok"}
    await shop.work()
    state = await budget_state(shop, "hot")
    state.check()
    assert state.consumed == 0
    (balance,) = await shop.rows("loyalty_balances")
    assert balance.points == 0
