"""Budgets, who pays for them, and what was consumed."""

from __future__ import annotations

from promenade.model.declare import (
    ADMIN,
    DRAFT,
    NONE,
    PLAIN,
    PUBLIC,
    REPORTING,
    RO,
    RW,
    Entity,
    back,
    boolean,
    code_of,
    computed_amount,
    currency_code,
    decimal,
    integer,
    money,
    percentage,
    text,
    timestamp,
    to_one,
)
from promenade.model.ui.criticality import status_criticality

__all__ = [
    "BudgetConsumptions",
    "BudgetNotifications",
    "BudgetPromotions",
    "BudgetStakeholders",
    "Budgets",
    "RechargeContributions",
    "StakeholderPromotions",
    "Stakeholders",
]

_EVERYWHERE = frozenset({PUBLIC, ADMIN, REPORTING})
_ADMIN_ONLY = frozenset({PUBLIC, REPORTING})


class Budgets(
    Entity,
    public=RW,
    admin=DRAFT,
    importable=True,
    natural_key=("code",),
    indexes=(("status", "valid_to"),),
    windows=(("valid_from", "valid_to"),),
    invariants={
        "covered": "consumed_amount >= 0 AND reserved_amount >= 0 AND consumed_amount + reserved_amount <= total_amount"
    },
):
    """Money for promotions: discounts are charged to the budget, and its promotions stop when nothing is left."""

    code = text(50, "Short unique code of the budget.", required=True, searchable=True)
    name = text(255, "What the budget is called.", required=True, searchable=True)
    description = text(1000, "What the budget is for.", searchable=True)
    status = code_of("BudgetStatuses", "Where the budget stands.", default="DRAFT")
    total_amount = money("What may be spent altogether.", required=True, stored_scale=3)
    consumed_amount = computed_amount("What confirmed sales have spent.", default="0")
    reserved_amount = computed_amount("What stores were granted and have not reported yet.", default="0")
    remaining_amount = decimal(18, 3, "What is left: total minus consumed minus reserved.", virtual=True)
    currency = currency_code("The currency of its amounts.", required=True)
    valid_from = timestamp("From when on it can be consumed; null: from ever.")
    valid_to = timestamp("Until when it can be consumed, this moment not included; null: for ever.")
    status_criticality = status_criticality()
    utilization = decimal(5, 2, "Percentage of the total that is consumed.", virtual=True, hidden_from=_ADMIN_ONLY)
    promotions = back("BudgetPromotions", "The promotions charged to it.", by="budget")
    stakeholders = back("BudgetStakeholders", "Who pays for it.", by="budget")
    notifications = back("BudgetNotifications", "At which use somebody is told.", by="budget")
    recharge_contributions = back("RechargeContributions", "What was paid in.", by="budget")
    consumptions = back("BudgetConsumptions", "What was spent.", by="budget")


class BudgetPromotions(Entity, public=RW, admin=PLAIN, unique=(("promotion_id", "budget_id"),)):
    """A promotion that is charged to a budget; if to several, each is charged in full."""

    budget = to_one("Budgets", "The budget.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)


class Stakeholders(Entity, public=RW, admin=DRAFT, importable=True, natural_key=("code",)):
    """Somebody who shares the cost of promotions."""

    code = text(50, "Short unique code of the stakeholder.", required=True, searchable=True)
    name = text(255, "What the stakeholder is called.", required=True, searchable=True)
    type = code_of("StakeholderTypes", "What the stakeholder is to the retailer.", default="SUPPLIER")
    contact_name = text(255, "Whom to ask there.", searchable=True)
    email = text(255, "E-mail address.", searchable=True)
    phone = text(50, "Telephone number.")
    is_active = boolean("Whether the stakeholder still takes part.", default=True)
    total_share_across_budgets = decimal(
        9, 2, "Sum of the stakeholder's shares over all budgets.", virtual=True, hidden_from=_ADMIN_ONLY
    )
    budgets = back("BudgetStakeholders", "The budgets it pays for.", by="stakeholder")


class BudgetStakeholders(Entity, public=RW, admin=PLAIN, unique=(("budget_id", "stakeholder_id"),)):
    """The part of a budget's cost that a stakeholder bears; the parts add up to 100 at most."""

    budget = to_one("Budgets", "The budget.", required=True)
    stakeholder = to_one("Stakeholders", "Who pays.", required=True)
    share_percentage = percentage("The part in percent.", required=True)


class BudgetNotifications(Entity, public=RW, admin=PLAIN, unique=(("budget_id", "threshold_percentage"),)):
    """A level of use of a budget at which somebody is notified, once each time it is reached."""

    budget = to_one("Budgets", "The budget.", required=True)
    threshold_percentage = percentage("The use in percent of the total.", required=True)
    last_notified_at = timestamp("When it was last reached.", read_only=True)


class RechargeContributions(Entity, public=RW, admin=PLAIN, indexes=(("budget_id", "contributed_at"),)):
    """Money that a stakeholder pays into a budget, which raises the budget's total."""

    budget = to_one("Budgets", "The budget.", required=True)
    stakeholder = to_one("Stakeholders", "Who pays.")
    amount = money("How much.", required=True, stored_scale=3)
    currency = currency_code("The currency, which is the budget's.")
    contributed_at = timestamp("When it was paid; the moment of the request if not given.")
    reference = text(100, "The payer's reference.", searchable=True)


class BudgetConsumptions(
    Entity,
    public=RO,
    admin=RO,
    unique=(("budget_id", "origin", "transaction_id", "transaction_counter", "promotion_id"),),
    indexes=(("origin", "transaction_id"),),
):
    """What a confirmed sale consumed of a budget for one promotion."""

    budget = to_one("Budgets", "The budget.", required=True, read_only=True)
    promotion = to_one("Promotions", "The promotion.", required=True, soft=True, indexed=False, read_only=True)
    transaction_id = text(50, "The till's transaction.", required=True, read_only=True, searchable=True)
    transaction_counter = integer("Its confirmed iteration.", required=True, read_only=True)
    amount = computed_amount("What was taken; below zero when a return gave it back.", required=True)
    uncovered_amount = computed_amount("What was granted but could not be taken: nothing was left.", default="0")
    currency = currency_code("The currency.", required=True, read_only=True)
    consumed_at = timestamp("When the sale was confirmed.", required=True, read_only=True)
    origin = text(36, "Who priced the sale.", default="cloud", read_only=True, hidden_from=_EVERYWHERE)


class StakeholderPromotions(
    Entity, public=RW, admin=NONE, deprecated=True, unique=(("stakeholder_id", "promotion_id"),)
):
    """The part of one promotion's cost that a stakeholder bears. Deprecated: use budgets and their stakeholders."""

    stakeholder = to_one("Stakeholders", "Who pays.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)
    share_percentage = percentage("The part in percent.", required=True)
