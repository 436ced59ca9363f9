"""Condition types: one family per module, registered by being imported here."""

from __future__ import annotations

from promenade.engine.conditions import article, custom, customer, payment, receipt, time
from promenade.engine.conditions.registry import (
    Condition,
    Group,
    IndexKey,
    Params,
    condition,
    condition_codes,
    parse_conditions,
)

__all__ = [
    "Condition",
    "Group",
    "IndexKey",
    "Params",
    "article",
    "condition",
    "condition_codes",
    "custom",
    "customer",
    "parse_conditions",
    "payment",
    "receipt",
    "time",
]
