"""Forecasts: how a promotion would have changed the sales of a period."""

from __future__ import annotations

from promenade.model.declare import (
    RO,
    Entity,
    calendar_date,
    children,
    choice,
    computed_amount,
    currency_code,
    integer,
    long_integer,
    parent,
    text,
    timestamp,
    to_one,
)
from promenade.model.shape import EVERY_SERVICE

__all__ = [
    "PromotionForecastAmounts",
    "PromotionForecastBudgets",
    "PromotionForecastDisplacements",
    "PromotionForecasts",
]


class PromotionForecasts(Entity, admin=RO, indexes=(("promotion_id", "created_at"), ("created_at",))):
    """A simulation of a promotion: the confirmed sales of a period are priced again with it and compared."""

    promotion = to_one("Promotions", "The promotion.", required=True, soft=True, read_only=True)
    promotion_name = text(255, "Its name at that time.", required=True, read_only=True, searchable=True)
    promotion_version = integer("The version that was simulated: the one at the time of the request.", required=True,
                                read_only=True)  # fmt: skip
    content_hash = text(64, "Fingerprint of the content that was simulated.", read_only=True, hidden_from=EVERY_SERVICE)
    date_from = calendar_date("The first day, in the time zone of each POS group.", read_only=True)
    date_to = calendar_date("The last day, inclusive.", read_only=True)
    status = choice("QUEUED", "RUNNING", "COMPLETED", "FAILED", doc="Status of the forecast.", default="QUEUED",
                    read_only=True)  # fmt: skip
    progress = integer("Progress in percent.", default=0, read_only=True)
    baskets_total = integer("Number of confirmed sales in the period; null until they are counted.", read_only=True)
    baskets_replayed = integer("Number of sales priced again so far.", default=0, read_only=True)
    baskets_skipped = integer("Number of sales skipped because the data they were priced with is not stored here.",
                              default=0, read_only=True)  # fmt: skip
    baskets_affected = integer("Number of sales to which the promotion would have applied.", default=0, read_only=True)
    applications = long_integer("Number of times it would have applied; repetitions within a basket count.", default=0,
                                read_only=True)  # fmt: skip
    customers_affected = integer("Number of known customers who would have received it, each counted once.", default=0,
                                 read_only=True)  # fmt: skip
    points = long_integer("Loyalty points that it would have granted.", default=0, read_only=True)
    message = text(1000, "The result, as a sentence.", read_only=True)
    started_at = timestamp("Time at which processing started.", read_only=True)
    completed_at = timestamp("Time at which processing ended, whether it succeeded or failed.", read_only=True)
    amounts = children("PromotionForecastAmounts", "The amounts, by currency.", by="forecast")
    budgets = children("PromotionForecastBudgets", "The promotion's budgets.", by="forecast")
    displacements = children("PromotionForecastDisplacements", "The gains and losses of other promotions.",
                             by="forecast")  # fmt: skip


class PromotionForecastAmounts(Entity, admin=RO, unique=(("forecast_id", "currency"),)):
    """The sales of a forecast in one currency, with and without the promotion."""

    forecast = parent("PromotionForecasts", "The forecast.")
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    baskets_replayed = integer("Number of sales in this currency.", required=True, read_only=True)
    baskets_affected = integer(
        "Number of sales to which the promotion would have applied.", required=True, read_only=True
    )
    discount = computed_amount("The promotion's own discount: its cost.", required=True)
    give_away_value = computed_amount("Value of the free items that it would have added to the basket.",
                                      required=True)  # fmt: skip
    discount_without = computed_amount("All discounts without the promotion.", required=True)
    discount_with = computed_amount("All discounts with the promotion.", required=True)
    discount_change = computed_amount("Increase of all discounts; less than its cost if it displaces other promotions.",
                                      required=True)  # fmt: skip
    net_sales_without = computed_amount("Net sales without the promotion.", required=True)
    net_sales_with = computed_amount("Net sales with the promotion.", required=True)


class PromotionForecastBudgets(Entity, admin=RO, unique=(("forecast_id", "budget_id"),)):
    """The amount a forecast takes from a budget of the promotion, based on what is left of the budget today."""

    forecast = parent("PromotionForecasts", "The forecast.")
    budget = to_one("Budgets", "The budget.", required=True, soft=True, read_only=True)
    budget_name = text(255, "Name of the budget.", required=True, read_only=True, searchable=True)
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    remaining_before = computed_amount("The amount left at the time of the request.", required=True)
    consumption = computed_amount("The amount the promotion would consume.", required=True)
    consumption_by_others = computed_amount("The amount that other promotions of these sales would consume from it.",
                                            required=True)  # fmt: skip
    remaining_after = computed_amount("The amount that would be left.", required=True)
    exhausted_on = calendar_date("The first day on which too little was left for a sale; null: it is sufficient.",
                                 read_only=True)  # fmt: skip
    baskets_limited = integer("Number of sales that did not get the promotion because too little was left.",
                              required=True, read_only=True)  # fmt: skip


class PromotionForecastDisplacements(
    Entity, admin=RO, unique=(("forecast_id", "promotion_id", "currency"),), indexes=(("forecast_id", "currency"),)
):
    """The effect of the promotion on another promotion."""

    forecast = parent("PromotionForecasts", "The forecast.")
    promotion = to_one("Promotions", "The other promotion.", required=True, soft=True, indexed=False, read_only=True)
    promotion_name = text(255, "Its name at that time.", required=True, read_only=True, searchable=True)
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    applications_lost = integer(
        "Number of sales to which it would no longer have applied.", required=True, read_only=True
    )
    applications_gained = integer(
        "Number of additional sales to which it would have applied.", required=True, read_only=True
    )
    discount_lost = computed_amount("Discount that it would no longer have given.", required=True)
    discount_gained = computed_amount("Additional discount that it would have given.", required=True)
