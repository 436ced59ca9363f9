"""What budgets were charged, by day, and how fast they burn (specification, Reporting Service: BudgetUtilization)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TypeVar

from promenade.store import money_report_sums as store
from promenade.store.money_report_sums import Burn, Burning, Charged, Sum
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reporting.folds import fold, refresher
from promenade.workflows.reporting.money_figures import burn_per_day
from promenade.workflows.reporting.sales import LoggedSale

__all__ = ["BURN_DAYS", "add", "reckon"]

BURN_DAYS = 28
"""Over how many UTC days a budget's burn is averaged: whole weeks, as one day of a week is not like another."""

PORTION = 200  # budgets of one unit of work
_DAY = timedelta(days=1)

K = TypeVar("K", bound=Hashable)


@fold("budgets", tables=("budget_totals", "budget_utc_days", "budget_promotion_utc_days"))
async def add(session: Session, sales: Sequence[LoggedSale], at: datetime) -> int:
    """Add what sales have taken from budgets, as BudgetConsumptions have it."""
    by_origin: dict[str, list[str]] = {}
    for sale in sales:
        if _may_charge(sale):
            by_origin.setdefault(sale.origin, []).append(sale.transaction_id)
    charged: list[Charged] = []
    for origin, transaction_ids in sorted(by_origin.items()):
        charged += await store.charged_by(session, origin, transaction_ids)
    if not charged:
        return 0
    return await store.add_sums(
        session,
        _summed([(one.budget_id, one) for one in charged]),
        _summed([((one.budget_id, one.day), one) for one in charged]),
        _summed([((one.promotion_id, one.budget_id, one.day), one) for one in charged]),
    )


def _may_charge(sale: LoggedSale) -> bool:
    """Whether a sale can have moved money of budgets: by a discount, or by something that came back."""
    return any(one.total_discount for one in sale.promotions) or any(line.quantity < 0 for line in sale.lines)


def _summed(charged: Iterable[tuple[K, Charged]]) -> dict[K, Sum]:
    """Sums by key; a sale that charged a key for several promotions is one transaction."""
    sums: dict[K, Sum] = {}
    seen: set[tuple[K, str, str]] = set()
    for key, one in charged:
        found = sums.get(key)
        if found is None:
            found = sums[key] = Sum(Decimal(0), Decimal(0), 0, one.at, one.at)
        found.consumed += one.amount
        found.uncovered += one.uncovered
        found.first_at = min(found.first_at, one.at)
        found.last_at = max(found.last_at, one.at)
        sale = (key, one.origin, one.transaction_id)
        if sale not in seen:
            seen.add(sale)
            found.transactions += 1
    return sums


@refresher("budget rates")
async def reckon(context: Context, tenant_id: str, at: datetime) -> int:
    """Reckon anew how fast budgets burn that were charged since, and once a day all that burn."""
    done, after = 0, ""

    async def portion(session: Session) -> list[Burning]:
        today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        since = today - (BURN_DAYS - 1) * _DAY
        found = await store.to_reckon(session, after, day=today, at=at, limit=PORTION)
        consumed = await store.consumed_since(session, [one.budget_id for one in found], since.date())
        burns = [
            Burn(one, burn_per_day(consumed.get(one.budget_id, Decimal(0)), max(since, one.first_at), at))
            for one in found
        ]
        await store.keep_burns(session, burns, at)
        return found

    while found := await context.database.write(portion, tenant=tenant_id, durable=False):
        done += len(found)
        after = found[-1].budget_id
    return done
