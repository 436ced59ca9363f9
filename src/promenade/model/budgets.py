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
    choice,
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
    "BudgetRequests",
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
    """Money for promotions: discounts are charged to the budget, and its promotions stop when no money is left."""

    code = text(50, "Short unique code of the budget.", required=True, searchable=True)
    name = text(255, "Name of the budget.", required=True, searchable=True)
    description = text(1000, "Purpose of the budget.", searchable=True)
    status = code_of("BudgetStatuses", "Status of the budget.", default="DRAFT")
    total_amount = money("The total amount that may be spent.", required=True, stored_scale=3)
    consumed_amount = computed_amount("The amount that confirmed sales have spent.", default="0")
    reserved_amount = computed_amount(
        "The amount granted to stores and not yet reported as spent or returned.", default="0"
    )
    remaining_amount = decimal(18, 3, "The amount left: total minus consumed minus reserved.", virtual=True)
    currency = currency_code("The currency of its amounts.", required=True)
    valid_from = timestamp("Start of its validity, inclusive; null: no start date.")
    valid_to = timestamp("End of its validity, exclusive; null: no end date.")
    status_criticality = status_criticality()
    utilization = decimal(5, 2, "Percentage of the total that is consumed.", virtual=True, hidden_from=_ADMIN_ONLY)
    promotions = back("BudgetPromotions", "The promotions charged to it.", by="budget")
    stakeholders = back("BudgetStakeholders", "The stakeholders who pay for it.", by="budget")
    notifications = back("BudgetNotifications", "The levels of use that trigger a notification.", by="budget")
    recharge_contributions = back("RechargeContributions", "The amounts paid into it.", by="budget")
    consumptions = back("BudgetConsumptions", "The amounts spent from it.", by="budget")


class BudgetPromotions(Entity, public=RW, admin=PLAIN, unique=(("promotion_id", "budget_id"),)):
    """A promotion that is charged to a budget; if it has several budgets, each is charged in full."""

    budget = to_one("Budgets", "The budget.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)


class BudgetRequests(Entity, admin=RO, indexes=(("promotion_id", "status"), ("status", "asked_at"))):
    """A request of somebody who plans a promotion for a budget, and the answer of those who give budgets."""

    promotion = to_one("Promotions", "The promotion that the budget is for; it may not be saved yet.", required=True,
                       soft=True, indexed=False, read_only=True)  # fmt: skip
    promotion_name = text(255, "Its name when the budget was asked for.", read_only=True, searchable=True)
    amount = money("The amount asked for.", required=True, minimum="0.01")
    currency = currency_code("The currency of the amount.", required=True)
    reason = text(1000, "What the budget is needed for.", searchable=True)
    status = choice(
        "OPEN", "GRANTED", "DECLINED", "WITHDRAWN", default="OPEN", read_only=True,
        doc="OPEN: it waits for an answer. WITHDRAWN: by whoever asked, or the promotion is gone.",
    )  # fmt: skip
    asked_at = timestamp("Time at which the budget was asked for.", read_only=True)
    asked_by = text(255, "User who asked for it.", read_only=True, searchable=True)
    budget = to_one("Budgets", "The budget that was given.", soft=True, indexed=False, read_only=True)
    answered_at = timestamp("Time at which it was granted, declined or withdrawn.", read_only=True)
    answered_by = text(255, "User who granted, declined or withdrew it.", read_only=True)
    answer = text(1000, "Reason why it was declined.", read_only=True)
    status_criticality = status_criticality()


class Stakeholders(Entity, public=RW, admin=DRAFT, importable=True, natural_key=("code",)):
    """An organization or department that shares the cost of promotions."""

    code = text(50, "Short unique code of the stakeholder.", required=True, searchable=True)
    name = text(255, "Name of the stakeholder.", required=True, searchable=True)
    type = code_of("StakeholderTypes", "The stakeholder's relationship to the retailer.", default="SUPPLIER")
    contact_name = text(255, "The contact person.", searchable=True)
    email = text(255, "E-mail address.", searchable=True)
    phone = text(50, "Telephone number.")
    is_active = boolean("Whether the stakeholder is active.", default=True)
    total_share_across_budgets = decimal(
        9, 2, "Sum of the stakeholder's shares over all budgets.", virtual=True, hidden_from=_ADMIN_ONLY
    )
    budgets = back("BudgetStakeholders", "The budgets it pays for.", by="stakeholder")


class BudgetStakeholders(Entity, public=RW, admin=PLAIN, unique=(("budget_id", "stakeholder_id"),)):
    """A stakeholder's share of a budget's cost; the shares of a budget add up to 100 percent at most."""

    budget = to_one("Budgets", "The budget.", required=True)
    stakeholder = to_one("Stakeholders", "The stakeholder who pays.", required=True)
    share_percentage = percentage("The share in percent.", required=True)


class BudgetNotifications(Entity, public=RW, admin=PLAIN, unique=(("budget_id", "threshold_percentage"),)):
    """A level of budget use that triggers a notification, once each time it is reached."""

    budget = to_one("Budgets", "The budget.", required=True)
    threshold_percentage = percentage("The amount used, as a percentage of the total.", required=True)
    last_notified_at = timestamp("Time at which the level was last reached.", read_only=True)


class RechargeContributions(Entity, public=RW, admin=PLAIN, indexes=(("budget_id", "contributed_at"),)):
    """Money that a stakeholder pays into a budget, which raises the budget's total."""

    budget = to_one("Budgets", "The budget.", required=True)
    stakeholder = to_one("Stakeholders", "The stakeholder who pays.")
    amount = money("The amount paid in.", required=True, stored_scale=3)
    currency = currency_code("The currency, which is the budget's.")
    contributed_at = timestamp("Time of payment; default: the time of the request.")
    reference = text(100, "The payer's payment reference.", searchable=True)


class BudgetConsumptions(
    Entity,
    public=RO,
    admin=RO,
    unique=(("budget_id", "origin", "transaction_id", "transaction_counter", "promotion_id", "is_cancellation"),),
    indexes=(("origin", "transaction_id"),),
):
    """The amount that a confirmed sale consumed from a budget for one promotion, or took back when it was cancelled."""

    budget = to_one("Budgets", "The budget.", required=True, read_only=True)
    promotion = to_one("Promotions", "The promotion.", required=True, soft=True, indexed=False, read_only=True)
    transaction_id = text(50, "ID of the till's transaction.", required=True, read_only=True, searchable=True)
    transaction_counter = integer(
        "Counter of the confirmed iteration of the transaction.", required=True, read_only=True
    )
    amount = computed_amount("The amount consumed; negative if a return or a cancellation gave it back.", required=True)
    uncovered_amount = computed_amount(
        "The part of the discount that the budget could not cover, because too little was left; negative if a "
        "cancellation took it back.",
        default="0",
    )
    currency = currency_code("The currency.", required=True, read_only=True)
    consumed_at = timestamp("Time at which the sale was confirmed.", required=True, read_only=True)
    is_cancellation = boolean("Whether it undoes what the sale consumed, because the sale was cancelled.",
                              read_only=True)  # fmt: skip
    origin = text(36, "The instance that priced the sale.", default="cloud", read_only=True, hidden_from=_EVERYWHERE)


class StakeholderPromotions(
    Entity, public=RW, admin=NONE, deprecated=True, unique=(("stakeholder_id", "promotion_id"),)
):
    """A stakeholder's share of one promotion's cost. Deprecated: use budgets and their stakeholders."""

    stakeholder = to_one("Stakeholders", "The stakeholder who pays.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)
    share_percentage = percentage("The share in percent.", required=True)
