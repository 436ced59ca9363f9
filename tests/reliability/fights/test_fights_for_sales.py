"""T1, T3, T4 over HTTP: 64 tills confirm, return and cancel, and the service is killed meanwhile (reliability.md)."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.kit.databases import Databases, Dialect
from tests.reliability.fights.arena import Arena, identity, opened_arena
from tests.reliability.fights.history import Call
from tests.reliability.fights.tills import Tills, all_at_once

CLIENTS = 64
SOAK = (pytest.mark.soak, pytest.mark.timeout(1800))
DISCOUNT = Decimal("0.05")  # of each sale: the budget of 10.00 suffices for 200 of them


@dataclass
class Quarrel:
    """Tills that sell pieces at the cost of one budget, take them back, and cancel sales and returns."""

    arena: Arena
    tills: Tills
    rng: random.Random
    number: int
    sold: list[Call] = field(default_factory=list)
    returned: list[Call] = field(default_factory=list)
    confirmed: set[str] = field(default_factory=set)
    bodies: dict[str, set[str]] = field(default_factory=dict)

    async def turn(self) -> None:
        """Make one sale, and do one thing to any sale; perhaps several tills do it at once."""
        if len(self.sold) < 150:
            await self.sell()
        if not self.sold:
            return
        one = self.rng.choice(self.sold)
        match self.rng.randint(0, 3):
            case 0:
                await asyncio.gather(*(self.cancel(one) for _ in range(self.rng.choice((1, 3)))))
            case 1:
                await self.bring_back(one)
            case 2 if self.returned:
                await self.cancel(self.rng.choice(self.returned))
            case _:
                await self.confirm(one)

    async def sell(self) -> None:
        priced = await self.tills.price(self.arena.name("S"), f"B-{self.number}", "0.50")
        if priced.outcome == "ok" and await self.confirm(priced):
            self.sold.append(priced)

    async def confirm(self, priced: Call) -> bool:
        call = await self.tills.confirm(priced)
        assert call.outcome != "refused" or call.status == 0, call
        if call.outcome == "ok":
            self.confirmed.add(_name(priced))
        return call.outcome == "ok"

    async def bring_back(self, sale: Call) -> None:
        named = {"originalTransactionId": _name(sale), "originalLineReference": "1"}
        item = {
            "articleNumber": f"B-{self.number}",
            "quantity": -1,
            "unitPrice": "0.50",
            "additionalFields": [{"key": key, "value": value} for key, value in named.items()],
        }
        header = {"transactionId": self.arena.name("R")}
        priced = await self.tills.call("evaluate", {"header": header, "posGroupCode": "BERLIN", "items": [item]})
        if priced.outcome == "ok" and await self.confirm(priced):
            self.returned.append(priced)

    async def cancel(self, priced: Call) -> None:
        header = priced.answer["meta"]["header"]
        body = {name: header[name] for name in ("transactionId", "transactionCounter")}
        call = await self.tills.call("cancel sale", body, path="/pos/v2/cancel")
        assert call.outcome != "refused" or call.status == 0, call
        if call.outcome == "ok":
            self.bodies.setdefault(_name(priced), set()).add(json.dumps(call.answer))

    async def check(self) -> None:
        """Compare the books of the budget with what the sales, returns and cancels in the database come to."""
        assert all(len(bodies) == 1 for bodies in self.bodies.values())
        rows = {row.transaction_id: row for row in await self.arena.rows("confirmations")}
        assert self.confirmed <= rows.keys()
        cancelled = {row.transaction_id for row in await self.arena.rows("cancellations")}
        assert self.bodies.keys() <= cancelled
        for name in ("CalculationLogs", "side_effect_jobs"):
            marked = {row.transaction_id for row in await self.arena.rows(name) if row.status == "CANCELLED"}
            assert marked == cancelled
        events = [json.loads(row.payload)["data"] for row in await self.arena.rows("outbox_events")]
        told = Counter(one["transactionId"] for one in events if "couponsReactivated" in one)
        assert told == dict.fromkeys(cancelled, 1)
        names = {_name(call) for call in self.tills.of("evaluate", outcome="ok")}
        sales = [row for name, row in rows.items() if name in names and name.startswith("S")]
        kept = [row for row in sales if row.transaction_id not in cancelled and not _quantities(row.returned)]
        budget_id = identity(f"budget-{self.number}")
        consumed = sum((row.amount for row in await self.arena.rows("BudgetConsumptions", budget_id=budget_id)), 0)
        (budget,) = await self.arena.rows("Budgets", id=budget_id)
        assert budget.consumed_amount == consumed == DISCOUNT * len(kept)
        assert len(kept) < len(sales)
        (usage,) = await self.arena.rows("promotion_usage", promotion_id=identity(f"budget-{self.number}"))
        assert usage._mapping["count"] == sum(row.transaction_id not in cancelled for row in sales)


def _name(priced: Call) -> str:
    return str(priced.answer["meta"]["header"]["transactionId"])


def _quantities(returned: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.msgpack.decode(returned) if returned else {}
    return found


@pytest.mark.parametrize("turns", [2, pytest.param(40, marks=SOAK)])
async def test_t1_t4_64_tills_confirm_return_and_cancel_and_the_books_agree(
    arena: Arena, seed: int, turns: int
) -> None:
    async with arena.tills() as tills:
        quarrel = Quarrel(arena, tills, random.Random(seed), arena.budget())

        async def join(till: int) -> None:
            for _ in range(turns):
                await quarrel.turn()

        await all_at_once(CLIENTS, join)
        await quarrel.check()


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=SOAK)])
async def test_t3_a_kill_between_cancels_leaves_each_done_as_a_whole_or_not_at_all(
    databases: Databases, dialect: Dialect, logs: Path, tmp_path: Path, seed: int, kills: int
) -> None:
    rng, in_the_middle = random.Random(seed), 0
    with opened_arena(databases, dialect, logs, tmp_path) as arena:
        service = arena.services[0]
        while in_the_middle < kills:
            async with arena.tills() as tills:
                await tills.token("till")
                quarrel = Quarrel(arena, tills, rng, arena.budget())
                left = rng.randint(60, 150)

                async def join(till: int, quarrel: Quarrel = quarrel) -> None:
                    nonlocal left
                    while service.running:
                        await quarrel.turn()
                        left -= 1
                        if left == 0:
                            service.kill()

                await all_at_once(CLIENTS, join)
                service.restart()
                in_the_middle += any(call.outcome == "unknown" for call in tills.history)
                for one in quarrel.sold:  # a till that got no answer asks once more
                    if rng.random() < 0.3:
                        await quarrel.cancel(one)
                await quarrel.check()
