"""An office for the author of the budgets that the shop's sales are charged to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from promenade.engine.outcome import Outcome
from tests.workflows.authoring.desk import Desk
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

__all__ = ["Office", "spending"]


def spending(minor: int, *budgets: str, currency: str = "EUR", exponent: int = 2, units: int = 1) -> Outcome:
    """Return a sale of ``units`` with a discount of ``minor`` on each, charged to budgets by their names."""
    lines = (line("1", units * 1000, 100_000 * units, discount("off", ((units, minor),))),)
    promotions = (applied("off", minor * units, budget_ids=budgets),)
    return outcome(lines, promotions, currency=currency, exponent=exponent)


@dataclass
class Office:
    """Budgets are named as in the shop; amounts are in major units."""

    shop: Shop
    desk: Desk
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def sell(self, minor: int, budget: str, *, units: int = 1, **money: Any) -> str:
        """Sell and confirm; return the transaction."""
        name = f"S{next(self._numbers)}"
        counter = await self.shop.price(name, spending(minor, budget, units=units, **money))
        await self.shop.confirm(name, counter, "off")
        return name

    async def take_back(self, sale: str, units: int = 1) -> None:
        """Return units of a sale."""
        name = f"R{next(self._numbers)}"
        back = outcome((line("9", -1000 * units, -100_000 * units),), ())
        await self.shop.confirm(name, await self.shop.price(name, back, sales={"9": (sale, "1")}))

    async def exchange(self, sale: str, minor: int, budget: str) -> None:
        """Return a unit of a sale and buy another in one transaction."""
        name = f"X{next(self._numbers)}"
        lines = (line("9", -1000, -100_000), line("1", 1000, 100_000, discount("off", ((1, minor),))))
        priced = outcome(lines, (applied("off", minor, budget_ids=(budget,)),))
        await self.shop.confirm(name, await self.shop.price(name, priced, sales={"9": (sale, "1")}), "off")

    async def recharge(self, budget: str, amount: str) -> str:
        """Recharge a budget; return the contribution."""
        return await self.desk.create("RechargeContributions", budget_ID=identity(budget), amount=Decimal(amount))

    async def budget(self, name: str) -> Any:
        """Return the row of a budget."""
        return await self.shop.row("Budgets", name)

    async def status(self, name: str) -> str:
        return str((await self.budget(name)).status)

    async def told(self, kind: str) -> list[dict[str, Any]]:
        """Return the data of the events of a kind, in order; amounts are exact."""
        rows = sorted(await self.shop.rows("outbox_events", kind=kind), key=lambda row: row.created_at)
        decoder = msgspec.json.Decoder(float_hook=Decimal)
        return [decoder.decode(row.payload)["data"] for row in rows]

    async def exhausted(self, name: str) -> int:
        """Return the number of BUDGET_EXHAUSTED events of a budget."""
        return [one["budgetId"] for one in await self.told("BUDGET_EXHAUSTED")].count(identity(name))

    async def reached(self) -> list[Decimal]:
        """Return the reached thresholds according to the events, lowest first."""
        return sorted(Decimal(one["thresholdPercentage"]) for one in await self.told("BUDGET_THRESHOLD_REACHED"))

    async def trail(self, name: str) -> list[tuple[str, str, str]]:
        """Return (actor, action, note) of the audit rows about a budget's status."""
        rows = await self.shop.rows("AuditLogs", entity_type="Budgets", entity_id=identity(name))
        moves = [row for row in rows if row.note is not None and row.note.startswith("status: ")]
        return [(row.actor, row.action, row.note) for row in sorted(moves, key=lambda row: row.timestamp)]
