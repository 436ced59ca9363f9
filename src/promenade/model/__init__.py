"""Everything the service stores, each entity declared once; see `promenade.model.declare` for how."""

from __future__ import annotations

from promenade.model import articles, budgets, coupons, customers, jobs, logs, pos_groups, sync, webhooks
from promenade.model.access import clients, groups, people, tenants
from promenade.model.codelists import code_list, code_lists
from promenade.model.declare import EntityType, declared
from promenade.model.promotions import (
    actions,
    approvals,
    basket_tests,
    campaigns,
    conditions,
    forecasts,
    pilots,
    promotions,
    templates,
)
from promenade.model.reports import advice as advice_reports
from promenade.model.reports import aggregator
from promenade.model.reports import arm as arm_reports
from promenade.model.reports import money as money_reports
from promenade.model.reports import usage as usage_reports

__all__ = ["EntityType", "code_list", "code_lists", "entities", "entity"]

_MODULES = (
    promotions, conditions, actions, campaigns, templates, pilots, articles, pos_groups, customers, budgets, coupons,
    logs, forecasts, approvals, basket_tests, jobs, webhooks, sync, tenants, clients, people, groups, usage_reports,
    money_reports, arm_reports, advice_reports, aggregator,
)  # fmt: skip


def entities() -> tuple[EntityType, ...]:
    """Return all entities, in the order of their modules."""
    known = declared()
    return tuple(known[name] for module in _MODULES for name in module.__all__ if name in known)


def entity(set_name: str) -> EntityType:
    """Return the entity served as ``set_name``. Raises KeyError."""
    return declared()[set_name]
