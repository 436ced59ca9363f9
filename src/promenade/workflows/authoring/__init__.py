"""The rules of authoring in one place: what may be written, by whom, and with which consequences."""

from __future__ import annotations

from promenade.workflows.authoring import (
    basket_tests,
    budget_requests,
    budgets,
    campaigns,
    coupons,
    jobs,
    pilots,
    places,
    promotions,
    webhooks,
)
from promenade.workflows.authoring.access import clients, groups, people
from promenade.workflows.authoring.unit import Delta, Row
from promenade.workflows.authoring.writing import Authoring, Upserted

__all__ = ["Authoring", "Delta", "Row", "Upserted"]

_RULES = (
    basket_tests, budget_requests, budgets, campaigns, clients, coupons, groups, jobs, people, pilots, places,
    promotions, webhooks,
)  # fmt: skip
"""The modules that register rules."""
