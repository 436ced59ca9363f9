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
from promenade.model.shape import adding_up

__all__ = ["BudgetUtilization", "CouponAnalytics", "StakeholderCostBreakdown"]


class StakeholderCostBreakdown(Entity, reporting=RO, key=("stakeholder_id", "budget_id"), stored=False):
    """The cost that each stakeholder of a budget bears, and what the stakeholder has paid into it."""

    stakeholder_id = uuid("The stakeholder.")
    budget_id = uuid("The budget.")
    stakeholder_name = text(255, "Name of the stakeholder.", required=True, searchable=True)
    stakeholder_type = code_of("StakeholderTypes", "The stakeholder's relationship to the retailer.")
    budget_name = text(255, "Name of the budget.", required=True, searchable=True)
    share_percentage = decimal(5, 2, "The stakeholder's share of the cost in percent.", required=True)
    total_budget_cost = computed_amount(
        "The amount that confirmed sales have consumed, minus amounts returned.", required=True
    )
    stakeholder_cost = adding_up(
        computed_amount("The stakeholder's share of it, rounded to minor units so that shares add up.", required=True)
    )
    contributions_total = adding_up(
        computed_amount("The amount that the stakeholder has paid into the budget.", required=True)
    )
    net_balance = adding_up(computed_amount("contributionsTotal minus stakeholderCost.", required=True))
    linked_promotions = integer("Number of promotions that are charged to the budget.", required=True)
    currency = currency_code("The currency of the amounts, which is the budget's.", required=True)


class BudgetUtilization(Entity, reporting=RO, key=("budget_id",), stored=False):
    """The use of a budget: how much is consumed, how fast, and when it will be exhausted.

    Amounts are live; figures of sales (transactions, rates, times) follow within a minute.
    """

    budget_id = uuid("The budget.")
    budget_name = text(255, "Name of the budget.", required=True, searchable=True)
    status = code_of("BudgetStatuses", "Status of the budget.")
    total_amount = adding_up(computed_amount("The total amount that may be spent.", required=True))
    consumed_amount = adding_up(
        computed_amount("The amount that confirmed sales have consumed, minus amounts returned.", required=True)
    )
    remaining_amount = adding_up(
        computed_amount("The amount left: total minus consumed minus reserved by stores.", required=True)
    )
    currency = currency_code("The currency of its amounts.", required=True)
    utilization_pct = decimal(5, 2, "Percentage of the total that is consumed.", required=True)
    daily_burn_rate = computed_amount(
        "Average consumption per day over the last 28 days: today and the 27 UTC days before it. If the first"
        " consumption was later, the average is over the time since then, but at least one day.",
        required=True,
    )
    projected_exhaustion = timestamp(
        "Time at which the budget will be exhausted at this rate; null: the rate is 0, no money is left, or the budget"
        " is EXHAUSTED or EXPIRED. If it is after validTo, the budget will not be exhausted."
    )
    transaction_count = long_integer(
        "Number of confirmed transactions that used the budget or returned money to it.", required=True
    )
    linked_promotions = integer("Number of promotions that are charged to it.", required=True)
    uncovered_amount = adding_up(
        computed_amount("Discounts granted by sales that the budget could not cover.", required=True)
    )
    reserved_amount = adding_up(
        computed_amount("The amount granted to stores and not yet reported as spent or returned.", required=True)
    )
    valid_to = timestamp("End of its validity, exclusive; null: no end date.")
    first_consumed_at = timestamp("Time of the first consumption.")
    last_consumed_at = timestamp("Time of the last consumption.")


class CouponAnalytics(Entity, reporting=RO, key=("coupon_type_id",), stored=False):
    """The use of the codes of a coupon type; they are counted every few seconds.

    For a GENERIC type, whose code many customers share, totalIssued is the number of times it was issued,
    totalReserved the number of tills that hold it, and totalRedeemed the number of redemptions.
    """

    coupon_type_id = uuid("The coupon type.")
    coupon_type_name = text(255, "Name of the coupon type.", required=True, searchable=True)
    total_issued = adding_up(
        long_integer(
            "Number of codes that have left the pool: issued, reserved or redeemed codes, and imported external codes.",
            required=True,
        )
    )
    total_active = adding_up(
        long_integer("Number of codes in status ACTIVE, including those in the pool.", required=True)
    )
    total_reserved = adding_up(long_integer("Number of codes reserved by a till.", required=True))
    total_redeemed = adding_up(long_integer("Number of codes redeemed.", required=True))
    total_expired = adding_up(long_integer("Number of codes whose validity has ended.", required=True))
    total_cancelled = adding_up(long_integer("Number of codes cancelled.", required=True))
    redemption_rate = decimal(5, 2, "totalRedeemed as a percentage of totalIssued, at most 999.99; null: none issued.")
    code_type = code_of("CouponCodeTypes", "Whether each coupon has its own code or all share one.")
    total_created = adding_up(
        long_integer("Number of issued codes that their customers have not activated yet.", required=True)
    )
    total_pooled = adding_up(long_integer("Number of ACTIVE codes that have not been issued.", required=True))
    counted_at = timestamp("Time since which the counts are unchanged; null: not counted yet.")
