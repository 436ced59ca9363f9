"""Reports on the advice that was shown, and its effect."""

from __future__ import annotations

from promenade.model.declare import (
    RO,
    Entity,
    Fields,
    calendar_date,
    computed_amount,
    currency_code,
    decimal,
    long_integer,
    text,
    uuid,
)

__all__ = [
    "DailyFreeItemAggregates",
    "DailyNearMissAggregates",
    "DailyNudgesAggregates",
    "DailySavingsSummaryAggregates",
    "DailyThresholdGapAggregates",
    "NearMissROI",
    "ProgressiveNudgesROI",
    "SavingsSummaryROI",
    "ThresholdGapROI",
]

_KEY = ("day", "promotion_id", "currency")


class AdviceFields(Fields):
    """The counts of every kind of advice; a day is the POS group's day on which the advice was shown."""

    day = calendar_date("The day on which it was shown, in the POS group's time zone.")
    promotion_id = uuid("The promotion.")
    promotion_name = text(255, "Name of the promotion; if it is deleted, its last name.")
    currency = currency_code("The currency of the amounts.")
    shown = long_integer("Number of evaluations that returned it.", required=True)
    converted = long_integer("Number of sales of the same transaction or the same customer that followed the advice.",
                             required=True)  # fmt: skip
    extra_revenue = computed_amount("Total of these sales minus the baskets for which the advice was first shown.",
                                    required=True)  # fmt: skip
    total_discount = computed_amount("Discounts of the promotion in these sales.", required=True)


class ReturnFields(AdviceFields):
    """The return of advice compared with its cost."""

    conversion_rate = decimal(5, 2, "`converted` as a percentage of `shown`.", virtual=True)
    net_gain = computed_amount("extraRevenue minus totalDiscount.", required=True)
    return_on_discount = decimal(
        5, 2, "extraRevenue as a percentage of totalDiscount, at most 999.99; 0 if no discount was given.", virtual=True
    )


class DailyThresholdGapAggregates(AdviceFields, Entity, reporting=RO, key=_KEY, stored=False):
    """Threshold gaps that evaluations returned, by day and promotion, and their effect."""


class DailyNearMissAggregates(AdviceFields, Entity, reporting=RO, key=_KEY, stored=False):
    """Near misses that evaluations returned among their recommendations, by day and promotion."""


class DailySavingsSummaryAggregates(AdviceFields, Entity, reporting=RO, key=_KEY, stored=False):
    """Savings that evaluations returned in savingsSummary, by day and promotion; converted when the basket was paid."""


class DailyNudgesAggregates(AdviceFields, Entity, reporting=RO, key=_KEY, stored=False):
    """Nudges that evaluations returned, by day and promotion, and their effect."""


class DailyFreeItemAggregates(AdviceFields, Entity, reporting=RO, key=_KEY, stored=False):
    """Free items that evaluations granted, by day and promotion; converted when the sale was confirmed with them."""


class ThresholdGapROI(ReturnFields, Entity, reporting=RO, key=_KEY, stored=False):
    """The return of threshold gaps compared with the discounts of their promotions."""


class NearMissROI(ReturnFields, Entity, reporting=RO, key=_KEY, stored=False):
    """The return of near misses compared with the discounts of their promotions."""


class SavingsSummaryROI(ReturnFields, Entity, reporting=RO, key=_KEY, stored=False):
    """The return of shown savings compared with the discounts of their promotions."""


class ProgressiveNudgesROI(ReturnFields, Entity, reporting=RO, key=_KEY, stored=False):
    """The return of nudges compared with the discounts of their promotions."""
