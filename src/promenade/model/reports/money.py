"""Reports about money: who bears the cost of promotions, how budgets are used, and how coupons are used."""

from __future__ import annotations

from promenade.model.declare import (
    RO,
    Entity,
    code_of,
    computed_amount,
    currency_code,
    decimal,
    integer,
    long_integer,
    text,
    timestamp,
    uuid,
)

__all__ = ["BudgetUtilization", "CouponAnalytics", "StakeholderCostBreakdown"]


class StakeholderCostBreakdown(Entity, reporting=RO, key=("stakeholder_id", "budget_id"), managed=False, stored=False):
    """The cost that each stakeholder of a budget bears, and what the stakeholder has paid into it."""

    stakeholder_id = uuid("The stakeholder.", required=True, read_only=True)
    budget_id = uuid("The budget.", required=True, read_only=True)
    stakeholder_name = text(255, "What the stakeholder is called.", required=True, read_only=True, searchable=True)
    stakeholder_type = code_of("StakeholderTypes", "What the stakeholder is to the retailer.", read_only=True)
    budget_name = text(255, "What the budget is called.", required=True, read_only=True, searchable=True)
    share_percentage = decimal(5, 2, "The part of the cost that the stakeholder bears, in percent.", required=True,
                               read_only=True)  # fmt: skip
    total_budget_cost = computed_amount("What confirmed sales have taken from the budget, less what returns gave back.",
                                        required=True)  # fmt: skip
    stakeholder_cost = computed_amount("The stakeholder's part of it in the currency's minor unit, rounded so that the"
                                       " parts of all add up.", required=True)  # fmt: skip
    contributions_total = computed_amount("What the stakeholder has paid into the budget.", required=True)
    net_balance = computed_amount("contributionsTotal less stakeholderCost.", required=True)
    linked_promotions = integer("How many promotions are charged to the budget.", required=True, read_only=True)
    currency = currency_code("The currency of the amounts, which is the budget's.", required=True, read_only=True)


class BudgetUtilization(
    Entity, reporting=RO, key=("budget_id",), managed=False, stored=False
):  # fmt: skip
    """How much of a budget is used, how fast, and when it will be exhausted.

    Amounts are live; figures of sales (transactions, rates, times) follow within a minute.
    """

    budget_id = uuid("The budget.", required=True, read_only=True)
    budget_name = text(255, "What it is called.", required=True, read_only=True, searchable=True)
    status = code_of("BudgetStatuses", "Where it stands.", read_only=True)
    total_amount = computed_amount("What may be spent altogether.", required=True)
    consumed_amount = computed_amount("What confirmed sales have taken, less what returns gave back.", required=True)
    remaining_amount = computed_amount("What is left: total less consumed less what stores hold.", required=True)
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    utilization_pct = decimal(5, 2, "Percentage of the total that is consumed.", required=True, read_only=True)
    daily_burn_rate = computed_amount(
        "What was consumed per day, on average of the last 28 days: today and the 27 UTC days before it, or the time"
        " since the first consumption if that is shorter, which counts as a day at least.",
        required=True,
    )
    projected_exhaustion = timestamp(
        "When nothing will be left if it goes on like that; null: nothing burns, nothing is left, or the budget is"
        " EXHAUSTED or EXPIRED. It may lie after validTo: then the budget will not be used up.",
        read_only=True,
    )
    transaction_count = long_integer("How many confirmed transactions took from it or gave back to it.", required=True,
                                     read_only=True)  # fmt: skip
    linked_promotions = integer("How many promotions are charged to it.", required=True, read_only=True)
    uncovered_amount = computed_amount("What sales were granted and it could not cover.", required=True)
    reserved_amount = computed_amount("What stores were granted and have not reported yet.", required=True)
    valid_to = timestamp("Until when it can be consumed; null: for ever.", read_only=True)
    first_consumed_at = timestamp("When it was first consumed.", read_only=True)
    last_consumed_at = timestamp("When it was last consumed.", read_only=True)


class CouponAnalytics(
    Entity, reporting=RO, key=("coupon_type_id",), managed=False, stored=False
):  # fmt: skip
    """The use of the codes of a coupon type; they are counted every few seconds.

    For a GENERIC type, whose code many customers share, totalIssued counts how often it was issued, totalReserved the
    tills that hold it, and totalRedeemed how often it was redeemed.
    """

    coupon_type_id = uuid("The coupon type.", required=True, read_only=True)
    coupon_type_name = text(255, "What it is called.", required=True, read_only=True, searchable=True)
    total_issued = long_integer("Codes that have left the pool: issued to somebody, reserved or spent, and those from"
                                " outside.", required=True, read_only=True)  # fmt: skip
    total_active = long_integer("Codes that are ACTIVE, those in the pool among them.", required=True, read_only=True)
    total_reserved = long_integer("Codes that a till holds.", required=True, read_only=True)
    total_redeemed = long_integer("Codes that were spent.", required=True, read_only=True)
    total_expired = long_integer("Codes whose validity is over.", required=True, read_only=True)
    total_cancelled = long_integer("Codes that were cancelled.", required=True, read_only=True)
    redemption_rate = decimal(5, 2, "totalRedeemed as a percentage of totalIssued, at most 999.99; null: none issued.",
                              read_only=True)  # fmt: skip
    code_type = code_of("CouponCodeTypes", "Whether its code is shared by all.", read_only=True)
    total_created = long_integer("Codes that were issued and wait for their customers to activate them.",
                                 required=True, read_only=True)  # fmt: skip
    total_pooled = long_integer("Codes that are ACTIVE and have not been issued.", required=True, read_only=True)
    counted_at = timestamp("Since when the counts are what they are; null: not counted yet.", read_only=True)
