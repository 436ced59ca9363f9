"""Reports about money: each module registers what it adds up, what it reckons and what it exports."""

from __future__ import annotations

from promenade.workflows.reporting import money_budgets, money_coupon_export, money_exports

__all__: list[str] = []

_REPORTS = (money_budgets, money_exports, money_coupon_export)
