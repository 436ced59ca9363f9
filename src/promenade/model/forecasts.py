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

__all__ = [
    "PromotionForecastAmounts",
    "PromotionForecastBudgets",
    "PromotionForecastDisplacements",
    "PromotionForecasts",
]


class PromotionForecasts(Entity, admin=RO, indexes=(("promotion_id", "created_at"), ("created_at",))):
    """A promotion simulated on the confirmed sales of a period, each repriced with it and compared."""

    promotion = to_one("Promotions", "The promotion.", required=True, soft=True, read_only=True)
    promotion_name = text(255, "What it was called.", required=True, read_only=True, searchable=True)
    promotion_version = integer("Its version when the forecast was asked for; that is what was tried.", required=True,
                                read_only=True)  # fmt: skip
    date_from = calendar_date("The first day, on the clocks of each POS group.", read_only=True)
    date_to = calendar_date("The last day, this one included.", read_only=True)
    status = choice("QUEUED", "RUNNING", "COMPLETED", "FAILED", doc="Where the forecast stands.", default="QUEUED",
                    read_only=True)  # fmt: skip
    progress = integer("How much of it is done, in percent.", default=0, read_only=True)
    baskets_total = integer("Confirmed sales of the period; null until they are counted.", read_only=True)
    baskets_replayed = integer("Sales priced again so far.", default=0, read_only=True)
    baskets_skipped = integer("Sales left out, because what they were priced with is not kept here.", default=0,
                              read_only=True)  # fmt: skip
    baskets_affected = integer("Sales to which the promotion would have applied.", default=0, read_only=True)
    applications = long_integer("How often it would have applied, repetitions inside a basket counted.", default=0,
                                read_only=True)  # fmt: skip
    customers_affected = integer("Known customers who would have had it, each counted once.", default=0,
                                 read_only=True)  # fmt: skip
    points = long_integer("Loyalty points that it would have given.", default=0, read_only=True)
    message = text(1000, "What became of it, in a sentence.", read_only=True)
    started_at = timestamp("When work began.", read_only=True)
    completed_at = timestamp("When it ended, well or not.", read_only=True)
    amounts = children("PromotionForecastAmounts", "What it comes to, by currency.", by="forecast")
    budgets = children("PromotionForecastBudgets", "The promotion's budgets.", by="forecast")
    displacements = children("PromotionForecastDisplacements", "What other promotions lose to it or gain.",
                             by="forecast")  # fmt: skip


class PromotionForecastAmounts(Entity, admin=RO, unique=(("forecast_id", "currency"),)):
    """The sales of a forecast in one currency, with and without the promotion."""

    forecast = parent("PromotionForecasts", "The forecast.")
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    baskets_replayed = integer("Sales in this currency.", required=True, read_only=True)
    baskets_affected = integer("Sales to which the promotion would have applied.", required=True, read_only=True)
    discount = computed_amount("The promotion's own discount: its cost.", required=True)
    give_away_value = computed_amount("Worth of the items that it would have given on top of the basket.",
                                      required=True)  # fmt: skip
    discount_without = computed_amount("All discounts without the promotion.", required=True)
    discount_with = computed_amount("All discounts with it.", required=True)
    discount_change = computed_amount("How much more is given in all: less than its cost where it displaces others.",
                                      required=True)  # fmt: skip
    net_sales_without = computed_amount("What was to be paid without the promotion.", required=True)
    net_sales_with = computed_amount("What was to be paid with it.", required=True)


class PromotionForecastBudgets(Entity, admin=RO, unique=(("forecast_id", "budget_id"),)):
    """The amount a forecast takes from a budget of the promotion, based on what is left of the budget today."""

    forecast = parent("PromotionForecasts", "The forecast.")
    budget = to_one("Budgets", "The budget.", required=True, soft=True, read_only=True)
    budget_name = text(255, "What it is called.", required=True, read_only=True, searchable=True)
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    remaining_before = computed_amount("What it had left when the forecast was asked for.", required=True)
    consumption = computed_amount("What the promotion would take from it.", required=True)
    consumption_by_others = computed_amount("What the other promotions of these sales that share it would take.",
                                            required=True)  # fmt: skip
    remaining_after = computed_amount("What it would have left.", required=True)
    exhausted_on = calendar_date("The first day on which too little was left for a sale; null: it lasts.",
                                 read_only=True)  # fmt: skip
    baskets_limited = integer("Sales that went without the promotion because too little was left.", required=True,
                              read_only=True)  # fmt: skip


class PromotionForecastDisplacements(
    Entity, admin=RO, unique=(("forecast_id", "promotion_id", "currency"),), indexes=(("forecast_id", "currency"),)
):
    """What the promotion would take from another promotion, or add to it."""

    forecast = parent("PromotionForecasts", "The forecast.")
    promotion = to_one("Promotions", "The other promotion.", required=True, soft=True, indexed=False, read_only=True)
    promotion_name = text(255, "What it was called.", required=True, read_only=True, searchable=True)
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    applications_lost = integer("Sales to which it would no longer have applied.", required=True, read_only=True)
    applications_gained = integer("Sales to which it would have applied besides.", required=True, read_only=True)
    discount_lost = computed_amount("Discount that it would no longer have given.", required=True)
    discount_gained = computed_amount("Discount that it would have given besides.", required=True)
