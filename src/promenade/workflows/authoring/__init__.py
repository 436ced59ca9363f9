"""The rules of authoring in one place: what may be written, by whom, and what follows from it."""

from __future__ import annotations

from promenade.workflows.authoring import budgets, campaigns, conditions, coupons, jobs, places, promotions, webhooks
from promenade.workflows.authoring.authoring import Authoring, Upserted
from promenade.workflows.authoring.unit import Delta, Row

__all__ = ["Authoring", "Delta", "Row", "Upserted"]

_RULES = (budgets, campaigns, conditions, coupons, jobs, places, promotions, webhooks)
"""The modules that register rules."""
