"""The results of a forecast, as columns of the forecast and of its children."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from promenade.engine.forecasting import BudgetTally, CurrencyTally, OtherTally, Tally
from promenade.engine.money import minor_digits
from promenade.workflows.settlement.rules import money

Columns = dict[str, Any]


def so_far(tally: Tally, total: int, at: datetime) -> Columns:
    """The columns of a forecast in progress; amounts and the rest are set when it is finished."""
    done = tally.baskets + tally.skipped
    return {
        "status": "RUNNING",
        "progress": min(99, 100 * done // max(total, 1)),
        "baskets_total": max(total, done),
        "baskets_replayed": tally.baskets,
        "baskets_skipped": tally.skipped,
        "modified_at": at,
    }


def finished(tally: Tally, customers: int, at: datetime, kept_since: datetime | None = None) -> Columns:
    """The columns of a finished forecast; ``kept_since``: earlier sales of its period may be gone."""
    return {
        "status": "COMPLETED",
        "progress": 100,
        "baskets_total": tally.baskets + tally.skipped,
        "baskets_replayed": tally.baskets,
        "baskets_skipped": tally.skipped,
        "baskets_affected": tally.affected,
        "applications": tally.applications,
        "customers_affected": customers,
        "points": tally.points,
        "message": _message(tally, kept_since),
        "completed_at": at,
        "modified_at": at,
    }


def _message(tally: Tally, kept_since: datetime | None) -> str:
    since = "" if kept_since is None else f" Logs of sales are kept since {kept_since:%Y-%m-%d}."
    if not tally.baskets + tally.skipped:
        return f"There is no sale of this period.{since}" if since else "No sale was confirmed in this period."
    message = f"The promotion would have applied to {tally.affected} of {tally.baskets} sales.{since}"
    if tally.skipped:
        message += f" Left out: {tally.skipped}, because their pricing data is not stored here."
    return message


def children_of(forecast_id: str, tally: Tally, at: datetime, new_id: Callable[[], str]) -> Mapping[str, list[Columns]]:
    """The rows of a finished forecast by entity set, in a stable order."""

    def row(columns: Columns) -> Columns:
        return {"id": new_id(), "forecast_id": forecast_id, "created_at": at, "modified_at": at, **columns}

    return {
        "PromotionForecastAmounts": [
            row(_amounts(currency, sums)) for currency, sums in sorted(tally.currencies.items())
        ],
        "PromotionForecastBudgets": [row(_budget(key, budget)) for key, budget in sorted(tally.budgets.items())],
        "PromotionForecastDisplacements": [
            row(_displacement(currency, key, other))
            for currency, others in sorted(tally.others.items())
            for key, other in sorted(others.items())
        ],
    }


def _amounts(currency: str, sums: CurrencyTally) -> Columns:
    exponent = sums.exponent
    return {
        "currency": currency,
        "baskets_replayed": sums.baskets,
        "baskets_affected": sums.affected,
        "discount": money(sums.discount_minor, exponent),
        "give_away_value": money(sums.give_away_minor, exponent),
        "discount_without": money(sums.discount_without_minor, exponent),
        "discount_with": money(sums.discount_with_minor, exponent),
        "discount_change": money(sums.discount_with_minor - sums.discount_without_minor, exponent),
        "net_sales_without": money(sums.net_without_minor, exponent),
        "net_sales_with": money(sums.net_with_minor, exponent),
    }


def _budget(budget_id: str, budget: BudgetTally) -> Columns:
    exponent = minor_digits(budget.currency)
    return {
        "budget_id": budget_id,
        "budget_name": budget.name,
        "currency": budget.currency,
        "remaining_before": money(budget.before_minor, exponent),
        "consumption": money(budget.consumed_minor, exponent),
        "consumption_by_others": money(budget.others_minor, exponent),
        "remaining_after": money(budget.left_with_minor, exponent),
        "exhausted_on": budget.exhausted_on,
        "baskets_limited": budget.limited,
    }


def _displacement(currency: str, promotion_id: str, other: OtherTally) -> Columns:
    return {
        "promotion_id": promotion_id,
        "promotion_name": other.name,
        "currency": currency,
        "applications_lost": other.lost,
        "applications_gained": other.gained,
        "discount_lost": money(other.lost_minor, other.exponent),
        "discount_gained": money(other.gained_minor, other.exponent),
    }
