"""Reporting: sales and advice are aggregated, and aggregates become reports (specification, Reporting Service)."""

from __future__ import annotations

from promenade.workflows.reports import advice, arms, budgets, coupons, usage
from promenade.workflows.reports.exports import Export, Period, exports
from promenade.workflows.reports.folds import Fold, folds

__all__ = ["Export", "Fold", "Period", "exports", "folds"]

_REPORTS = (usage, budgets, coupons, arms, advice)
"""The modules that register folds and exports."""
