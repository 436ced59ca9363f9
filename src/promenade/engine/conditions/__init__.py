"""Condition types: one family per module; importing the module registers them."""

from __future__ import annotations

from promenade.engine.conditions import article, custom, customer, payment, receipt, time
from promenade.engine.conditions.registry import condition_codes, condition_types, parse_conditions

__all__ = [
    "article",
    "condition_codes",
    "condition_types",
    "custom",
    "customer",
    "parse_conditions",
    "payment",
    "receipt",
    "time",
]
