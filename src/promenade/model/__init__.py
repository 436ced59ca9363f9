"""Everything the service keeps, each entity declared once; see `promenade.model.declare` for the language."""

from __future__ import annotations

from promenade.model import (
    actions,
    advice_reports,
    aggregator,
    arm_reports,
    articles,
    budgets,
    campaigns,
    conditions,
    coupons,
    forecasts,
    jobs,
    logs,
    money_reports,
    pilots,
    pos_groups,
    promotions,
    sync,
    templates,
    tenants,
    usage_reports,
    webhooks,
)
from promenade.model.codelists import CodeList, code_list, code_lists
from promenade.model.declare import EntityType, declared

__all__ = ["CodeList", "EntityType", "code_list", "code_lists", "entities", "entity"]

_MODULES = (
    promotions, conditions, actions, campaigns, templates, pilots, articles, pos_groups, budgets, coupons, logs,
    forecasts, jobs, webhooks, sync, tenants, usage_reports, money_reports, arm_reports, advice_reports, aggregator,
)  # fmt: skip


def entities() -> tuple[EntityType, ...]:
    """All entities, in the order of their modules."""
    known = declared()
    return tuple(known[name] for module in _MODULES for name in module.__all__ if name in known)


def entity(set_name: str) -> EntityType:
    """The entity served as ``set_name``. Raises KeyError."""
    return declared()[set_name]
