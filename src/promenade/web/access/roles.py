"""Authorization in administration: one table, entity set -> scopes (specification, Roles and scopes).

An entity that another one owns is written by those who may change its owner. Entities in no table are for
administrators only.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import cache

from odata_server.edm import Function
from odata_server.hooks import Access
from promenade.model.declare import declared

ADMIN = "svc.Admin"
PROMOTION_MANAGER = "svc.PromotionManager"
BUDGET_MANAGER = "svc.BudgetManager"
ROLES = (ADMIN, PROMOTION_MANAGER, BUDGET_MANAGER)
"""The scopes that open administration; each of them reads everything."""

REPORT_READER = "svc.ReportReader"
REPORTS = (*ROLES, REPORT_READER)
"""The scopes that open reporting, where each of them reads everything."""

_PROMOTION_MANAGERS = frozenset(
    {
        "ArticleGroups", "BasketTests", "Campaigns", "CouponCodeBatches", "CouponCodeConfigurations",
        "CouponRefillSchedules", "CouponTypePromotions", "CouponTypes", "CustomerGroups", "LoyaltyTiers",
        "MutualExclusionGroups", "PosGroups", "PriorityGroupPromotions", "PriorityGroups", "PromotionPilotConfigs",
        "PromotionTemplates", "Promotions",
    }
)  # fmt: skip
"""What promotion managers create, change and delete, each with all that it owns."""

_BUDGET_MANAGERS = frozenset(
    {
        "BudgetNotifications", "BudgetPromotions", "BudgetRequests", "BudgetStakeholders", "Budgets",
        "RechargeContributions",
    }
)  # fmt: skip
"""What budget managers change; they neither create nor delete."""

OF_ISSUER = frozenset({"Clients", "People"})
"""What only a service that issues tokens writes."""

_LOOKING = frozenset({"check", "compareDocument"})
"""Actions that change nothing."""

_FOR_ADMINISTRATORS = frozenset({"certificates"})
"""Functions that tell what only administrators may know."""

_DECIDING = frozenset({"approve", "reject"})
"""Actions for which the tenant's settings name the role: `deciders`."""

_OWN = frozenset({"withdraw"})
"""Actions on what the caller has asked for, which the row tells."""


def scopes_for(access: Access) -> tuple[str, ...]:
    """Return the scopes of which one is required for ``access``."""
    if access.kind in {"metadata", "read"} or access.entity_set is None:
        return ROLES
    operation = access.operation
    if operation is not None and operation.name in _FOR_ADMINISTRATORS:
        return (ADMIN,)
    if operation is not None and (isinstance(operation, Function) or operation.name in _LOOKING):
        return ROLES
    if operation is not None and operation.name in _DECIDING | _OWN:
        return ROLES
    return _writers(access.entity_set.name, changes=access.kind in {"update", "invoke"} or access.of_draft)


def deciders(approver_scope: str | None) -> tuple[str, ...]:
    """Return the scopes of which one is required to approve or reject promotions.

    ``approver_scope``: the one that the tenant has named; None: approval is not binding.
    """
    if approver_scope is None:
        return _writers("Promotions", changes=True)
    return tuple(dict.fromkeys((ADMIN, approver_scope)))


def creators(set_name: str) -> tuple[str, ...]:
    """Return the scopes of which one is required to create rows of a set."""
    return _writers(set_name, changes=False)


def changers(set_name: str) -> tuple[str, ...]:
    """Return the scopes of which one is required to change rows of a set."""
    return _writers(set_name, changes=True)


def verbs_for(set_name: str, scopes: AbstractSet[str]) -> list[str]:
    """Return the operations (`create`, `update`, `delete`) that a caller with ``scopes`` may do on the rows of a
    set.
    """
    found = {"create": creators(set_name), "update": _writers(set_name, changes=True)}
    found["delete"] = found["create"]
    return [verb for verb, accepted in found.items() if not scopes.isdisjoint(accepted)]


@cache
def _writers(set_name: str, *, changes: bool) -> tuple[str, ...]:
    """Return the scopes that may write a set.

    ``changes``: existing rows are changed, which includes discarding one's own draft.
    """
    root = _root_of(set_name)
    found = [ADMIN]
    if root in _PROMOTION_MANAGERS:
        found.append(PROMOTION_MANAGER)
    if root in _BUDGET_MANAGERS and changes:
        found.append(BUDGET_MANAGER)
    return tuple(found)


def _root_of(set_name: str) -> str:
    """Return the entity set at the top of the ownership chain of this one."""
    entity = declared().get(set_name)
    while entity is not None and entity.owner is not None:
        entity = declared()[entity.owner.target]
    return set_name if entity is None else entity.set_name
