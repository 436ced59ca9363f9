"""The expected report figures: computed sale by sale from the logs, to compare with the tables of aggregates."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from promenade.store.driver.schema import table
from promenade.store.driver.types import Timestamp
from promenade.store.driver.unit import Database
from promenade.workflows.reports.folds import folds
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.reliability.crashing import DyingDatabase
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop

__all__ = ["Breaking", "Broken", "Till", "kept", "reckoned", "shown"]

PROMOTIONS = ("off", "deal", "gift", "trial")
BUDGETS = ("marketing", "supplier")
Figures = dict[str, dict[Any, Any]]


class Broken(Exception):
    """The unit of work was interrupted here."""


class Breaking(DyingDatabase):
    """A database whose ``last``-th statement in writes fails instead of being executed; COMMIT counts as one."""

    def __init__(self, inner: Database, last: int) -> None:
        super().__init__(inner, last)

    def _step(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise Broken


@dataclass
class Till:
    """Makes random sales: several lines and promotions, less than was granted, returns, sales reported days late."""

    shop: Shop
    random: random.Random
    sold: list[str] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)

    async def open(self) -> None:
        for name in PROMOTIONS:
            await self.shop.promotion(name)
        for name in BUDGETS:
            await self.shop.budget(name, "100000.00")

    async def sell(self, sales: int) -> None:
        for _ in range(sales):
            name = f"T{len(self.sold)}"
            self.sold.append(name)
            await self._sell(name)

    async def _sell(self, name: str) -> None:
        draw = self.random
        granted = Counter[str]()
        lines = []
        for place in range(draw.randint(1, 4)):
            taken = {one: draw.randint(1, 99) for one in draw.sample(PROMOTIONS[:3], draw.randint(0, 2))}
            granted.update(taken)
            shares = (discount(one, ((1, amount),)) for one, amount in sorted(taken.items()))
            lines.append(line(f"{draw.randint(1, 5)}{place}", 1000, draw.randint(300, 900), *shares))
        if draw.random() < 0.2:
            lines.append(line("9", -1000, -draw.randint(100, 200)))
        entries = [applied(one, amount, budget_ids=BUDGETS[: draw.randint(0, 2)]) for one, amount in granted.items()]
        priced = outcome(tuple(lines), (*entries, applied("gift", points=3)) if "gift" not in granted else (*entries,))
        if draw.random() < 0.3:
            priced = replace(priced, control_arms=("trial",))
        customer = draw.choice((None, "C1", "C2"))
        first = (self.sold[0], f"{draw.randint(1, 5)}0")
        counter = await self.shop.price(name, priced, customer_id=customer, sales={"9": first})
        said = [one if draw.random() < 0.7 else (one, f"{Decimal(most) / 200:.2f}") for one, most in granted.items()]
        await self.shop.confirm(name, counter, *said, timestamp=self._moment())
        self.counters[name] = counter

    async def cancel(self, sales: int) -> None:
        """Cancel some of the sales made so far, perhaps one twice."""
        for name in self.random.choices(sorted(self.counters), k=sales):
            await cancel(self.shop.context, self.shop.tenant, CancelCommand(name, self.counters[name]))

    def _moment(self) -> datetime | None:
        """Return the current or an earlier time."""
        if self.random.random() < 0.6:
            return None
        return self.shop.now[0] - timedelta(minutes=self.random.randint(1, 10_000))


async def kept(shop: Shop) -> dict[str, list[Any]]:
    """Return all rows kept by folds, by table, without the times at which they were written."""
    found = {}
    for name in sorted({name for one in folds().values() for name in one.tables}):
        columns = [column.name for column in table(name).c if not _is_of_writing(column)]
        rows = [tuple(row._mapping[one] for one in columns) for row in await shop.rows(name)]
        found[name] = sorted(rows, key=repr)
    return found


def _is_of_writing(column: Any) -> bool:
    return isinstance(column.type, Timestamp) and column.name in {"changed_at", "read_at", "reckoned_at", "updated_at"}


async def reckoned(shop: Shop) -> Figures:
    """Compute the figures from the logs, one sale after the other."""
    logs = {row.id: row for row in await shop.rows("CalculationLogs", status="CALCULATED")}
    figures: Figures = {name: {} for name in ("promotions", "days", "articles", "sales", "budgets")}
    for row in await shop.rows("CalculationLogPromotions"):
        if row.pilot_arm == "CONTROL" or row.log_id not in logs:
            continue
        at = logs[row.log_id].confirmed_at
        _add(figures["promotions"], row.promotion_id, 1, row.total_discount)
        _add(figures["days"], (row.promotion_id, at.date()), 1, row.total_discount)
    for row in await shop.rows("CalculationLogItems"):
        if row.line_discount and row.log_id in logs:
            _add(figures["articles"], row.article_number, 0, row.line_discount)
    for log in logs.values():
        square = int(log.grand_total * 1000) ** 2
        _add(figures["sales"], log.confirmed_at.date(), 1, log.grand_total, square)
    for row in await shop.rows("BudgetConsumptions"):
        _add(figures["budgets"], row.budget_id, 0, row.amount)
    return figures


async def shown(shop: Shop) -> Figures:
    """Return the same figures from the aggregates of the folds."""
    figures: Figures = {name: {} for name in ("promotions", "days", "articles", "sales", "budgets")}
    for row in await shop.rows("PromotionPerformance"):
        _add(figures["promotions"], row.promotion_id, row.applications_count, row.total_discount_given)
    for row in await shop.rows("PromotionUsageByDay"):
        _add(figures["days"], (row.promotion_id, row.day), row.applications, row.total_discount)
    for row in await shop.rows("promotion_article_sums"):
        _add(figures["articles"], row.article_number, 0, row.total_discount)
    for row in await shop.rows("basket_days", pos_group_id=""):
        square = row.squares_0 + (row.squares_1 << 40) + (row.squares_2 << 80)
        if row.transactions:
            _add(figures["sales"], row.day, row.transactions, row.revenue, square)
    for row in await shop.rows("budget_totals"):
        _add(figures["budgets"], row.budget_id, 0, row.consumed)
    return figures


def _add(to: dict[Any, Any], key: Any, *amounts: Any) -> None:
    to[key] = tuple(before + more for before, more in zip(to.get(key, (0,) * len(amounts)), amounts, strict=True))
