"""Reporting: sales and advice become aggregates, aggregates become reports (specification, Reporting Service)."""

from __future__ import annotations

from promenade.workflows.reporting import advice, arms, money, usage
from promenade.workflows.reporting.exports import Export, Period, exports
from promenade.workflows.reporting.folds import Fold, folds

__all__ = ["Export", "Fold", "Period", "exports", "folds"]

_REPORTS = (usage, money, arms, advice)
"""The modules that register folds and exports."""
