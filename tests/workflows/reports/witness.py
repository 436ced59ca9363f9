"""A fold that records its input in a table, so that the record is rolled back with the unit of work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.workflows.context import Context
from promenade.workflows.reports.folds import Refresher, Write
from promenade.workflows.reports.sales import LoggedSale
from tests.workflows.shop import Shop

__all__ = ["Witness"]

_NOTED = table("forecast_customers")  # any table with a key of a short text and a number


@dataclass
class Witness:
    """``portions`` are the sizes of the attempted portions; ``refuses`` names transactions at which it fails."""

    portions: list[int] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    refreshed: list[datetime] = field(default_factory=list)
    refresh_fails: bool = False

    async def add(self, session: Session, sales: Sequence[LoggedSale], at: datetime, sign: int) -> Write:
        self.portions.append(len(sales))
        return partial(self._write, sales=sales)

    async def _write(self, session: Session, sales: Sequence[LoggedSale]) -> int:
        once_more = upsert(session.dialect, _NOTED).on_conflict_do_update(
            index_elements=list(_NOTED.primary_key), set_={"sales": _NOTED.c.sales + 1}
        )
        rows = [{"forecast_id": "witness", "customer_id": sale.transaction_id, "sales": 1} for sale in sales]
        await session.execute_many(once_more, rows)
        if self.refuses & {sale.transaction_id for sale in sales}:
            raise ArithmeticError("a sale that cannot be counted")
        return len(sales)

    async def counted(self, shop: Shop) -> dict[str, int]:
        """Return how often each sale of a shop was counted, by transaction."""
        return {row.customer_id: row.sales for row in await shop.rows("forecast_customers")}

    @property
    def refresher(self) -> Refresher:
        async def refresh(context: Context, tenant_id: str, at: datetime) -> int:
            self.refreshed.append(at)
            if self.refresh_fails:
                raise ArithmeticError("cannot be computed")
            return 1

        return Refresher("memory", refresh)
