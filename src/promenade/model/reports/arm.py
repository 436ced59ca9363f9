"""Pilots, experiments and uplift: the results of their arms, and how certain they are.

The *treated* arm is where a promotion was on trial: the treated POS groups of a pilot, the experiment's own POS group.
Baskets are the net grand totals of confirmed transactions; a return counts negative. A basket is *converted* if it has
a line which the promotion targets. Statistics that cannot be computed, because there are too few baskets or all are
equal, are null.
"""

from __future__ import annotations

from dataclasses import replace

from promenade.model.declare import (
    RO,
    Entity,
    Field,
    Fields,
    boolean,
    calendar_date,
    choice,
    code_of,
    computed_amount,
    currency_code,
    decimal,
    integer,
    long_integer,
    percentage,
    text,
    timestamp,
    uuid,
)
from promenade.model.shape import EVERY_SERVICE

__all__ = [
    "ABTestROI",
    "ABTestResults",
    "ABTestResultsByCurrency",
    "DailyABTestAggregates",
    "PilotComparisonReports",
    "PromotionAbComparison",
    "PromotionUpliftAnalysis",
    "PromotionUpliftByCurrency",
]


def _unseen(field: Field) -> Field:
    """Return the field hidden from every service."""
    return replace(field, hidden_from=EVERY_SERVICE)


_LEVEL = decimal(4, 3, "The tenant's level of significance when this was computed; a p-value below it is significant.")
_PROMOTION = uuid("The promotion.")
_LAST_NAME = text(255, "Name of the promotion; if it is deleted, its last name.")
_NAME = replace(_LAST_NAME, virtual=True)
_KEPT_NAME = _unseen(text(255, "Name of the promotion when this was last computed."))
_COMPUTED_AT = timestamp("Time at which this was computed.", required=True)
_TRIAL = choice("PILOT", "EXPERIMENT", doc="Whether the trial is a pilot or an experiment.", required=True)
_COMPARED_CURRENCY = currency_code(
    "The currency of the amounts: the only one or, of several, the only one with sales on both sides; null: there are"
    " several, see ABTestResultsByCurrency, and amounts and their statistics are null."
)


def _change(doc: str) -> Field:
    """Return a field for the percentage by which a value is higher."""
    return decimal(18, 2, doc)


def _statistic(doc: str) -> Field:
    return decimal(18, 6, doc)


def _probability(doc: str) -> Field:
    return decimal(11, 10, doc)


def _significance(of: str) -> Field:
    return boolean(f"Whether {of} is below significanceLevel; null: there is no p-value.", default=None)


def _number(doc: str) -> Field:
    return long_integer(doc, required=True)


_INTERVAL = "its 95 % confidence interval"


def _low(of: str) -> Field:
    return _change(f"{of}: lower bound of {_INTERVAL}, whose base counts as certain.")


def _high(of: str) -> Field:
    return _change(f"{of}: upper bound of {_INTERVAL}, whose base counts as certain.")


class _Trial(Fields):
    promotion_id = _PROMOTION
    promotion_name = _NAME


class ResultFields(Fields):
    """The comparison of the two arms of a trial: amounts are in one currency."""

    control_avg_basket = computed_amount("Average basket of the control arm.")
    experiment_avg_basket = computed_amount("Average basket of the treated arm.")
    revenue_uplift = _change("(experimentAvgBasket - controlAvgBasket) / controlAvgBasket, in percent.")
    revenue_t_statistic = _statistic(
        "Welch's t-statistic of the baskets; positive if those of the treated arm are larger."
    )
    revenue_p_value = _probability("Two-sided p-value of revenueTStatistic.")
    revenue_is_significant = _significance("revenuePValue")
    control_conversion_rate = percentage("Percentage of converted baskets in the control arm.")
    experiment_conversion_rate = percentage("Percentage of converted baskets in the treated arm.")
    uplift = _change("(experimentConversionRate - controlConversionRate) / controlConversionRate, in percent.")
    chi_squared = _statistic(
        "Pearson's chi-squared statistic of the baskets by arm and conversion, one degree of freedom."
    )
    p_value = _probability("p-value of chiSquared.")
    is_significant = _significance("pValue")


class _OneCurrency(Fields):
    currency = currency_code("The currency of the amounts.", required=True)


class TrialFields(Fields):
    """What else is told of the result of a trial."""

    trial = _TRIAL
    control_transactions = _number("Number of baskets in the control arm.")
    experiment_transactions = _number("Number of baskets in the treated arm.")
    control_conversions = _number("Number of converted baskets in the control arm.")
    experiment_conversions = _number("Number of converted baskets in the treated arm.")
    total_discount = computed_amount("Discounts of the promotion in the treated arm.")
    past_from = calendar_date(
        "First day of the past with which both arms are compared: as many days before the trial as it has run, at least"
        " 28, from the first sale on; null: the POS groups of an arm sold nothing before it."
    )
    past_to = calendar_date("Last day of this past: the day before the trial began.")
    past_days = integer("Number of days of this past.")
    control_past_avg_basket = computed_amount("Average basket of the control arm's POS groups in this past.")
    experiment_past_avg_basket = computed_amount("Average basket of the treated arm's POS groups in this past.")
    adjusted_uplift = _change(
        "Difference in differences: by how many percent experimentAvgBasket is above experimentPastAvgBasket +"
        " controlAvgBasket - controlPastAvgBasket, what it would be if it had changed as the control arm's has."
    )
    adjusted_p_value = _probability(
        "Two-sided p-value of the difference in differences: Welch's t-test of four samples."
    )
    adjusted_is_significant = _significance("adjustedPValue")
    revenue_uplift_low = _low("revenueUplift")
    revenue_uplift_high = _high("revenueUplift")
    adjusted_uplift_low = _low("adjustedUplift")
    adjusted_uplift_high = _high("adjustedUplift")
    significance_level = _LEVEL
    computed_at = _COMPUTED_AT
    kept_name = _KEPT_NAME


class ABTestResults(TrialFields, ResultFields, _Trial, Entity, reporting=RO, key=("promotion_id",)):
    """The results of the two arms of a pilot or an experiment, and whether chance alone explains the difference.

    The main result is revenue: Welch's t-test, two-sided, of the baskets of both arms. The second one is conversion:
    Pearson's chi-squared test without correction. Baskets are counted in all currencies; amounts and their statistics
    are those of sales in `currency`. The arms are different POS groups: adjustedUplift removes what distinguished them
    before the trial. Tests treat baskets as independent of each other.
    """

    currency = _COMPARED_CURRENCY


class ABTestResultsByCurrency(
    TrialFields, _OneCurrency, ResultFields, _Trial, Entity, reporting=RO, key=("promotion_id", "currency")
):
    """The same as ABTestResults for each currency, from the baskets in that currency alone."""


class ArmFields(Fields):
    """The results of one arm of a trial.

    Baskets are counted in all currencies; amounts and their statistics are those of sales in `currency`.
    """

    promotion_id = _PROMOTION
    arm = choice("PILOT", "EXPERIMENT", "CONTROL", doc="The arm.")
    transactions = _number("Number of its baskets.")
    avg_basket = computed_amount("Its average basket.")
    conversion_rate = percentage("Percentage of its converted baskets.")
    uplift = _change("Uplift of its average basket over the control arm's, in percent; null for the control arm.")
    p_value = _probability(
        "Two-sided p-value of Welch's t-test against the control arm's baskets; null for the control arm."
    )
    is_significant = _significance("pValue")
    adjusted_uplift = _change(
        "Uplift of its average basket over what its own past and the control arm let expect, in percent, as in"
        " ABTestResults; null for the control arm."
    )
    adjusted_p_value = _probability("p-value of the difference in differences; null for the control arm.")
    adjusted_is_significant = _significance("adjustedPValue")
    conversion_uplift = _change(
        "Uplift of its conversion rate over the control arm's, in percent; null for the control arm."
    )
    conversion_p_value = _probability(
        "p-value of the chi-squared test of both arms' conversions; null for the control arm."
    )
    currency = _COMPARED_CURRENCY
    conversions = _number("Number of its converted baskets.")
    revenue = computed_amount("Sum of its baskets.")
    total_discount = computed_amount("Discounts of the promotion in this arm.")
    avg_basket_low = computed_amount(f"avgBasket: lower bound of {_INTERVAL}.")
    avg_basket_high = computed_amount(f"avgBasket: upper bound of {_INTERVAL}.")
    conversion_rate_low = percentage(f"conversionRate: lower bound of {_INTERVAL} (Wilson's).")
    conversion_rate_high = percentage(f"conversionRate: upper bound of {_INTERVAL} (Wilson's).")
    significance_level = _LEVEL


class PromotionAbComparison(ArmFields, Entity, reporting=RO, key=("promotion_id", "arm")):
    """The arms of pilots and experiments side by side, one entry per arm."""

    promotion_name = _NAME
    trial = _TRIAL
    computed_at = _COMPUTED_AT
    kept_name = _KEPT_NAME


class PilotComparisonReports(ArmFields, Entity, reporting=RO, key=("promotion_id", "arm"), stored=False):
    """The arms of pilots compared with the plan; one entry per arm.

    Entries remain after the pilot has ended. The planned values are null once the pilot's configuration is deleted.
    """

    promotion_name = _LAST_NAME
    promotion_status = code_of("PromotionStatuses", "Status of the promotion.")
    pilot_start_at = timestamp("Start of the pilot.")
    pilot_end_at = timestamp("End of the pilot.")
    auto_promote = boolean("Whether the promotion is activated automatically.")
    auto_promote_threshold = decimal(5, 2, "Minimum uplift, in percent, for automatic activation.")


_DAY = ("day", "promotion_id", "currency")


class TrialDayFields(Fields):
    """A day of a trial. The names are those of all daily aggregates; here "shown" refers to the promotion itself."""

    day = calendar_date("The day, in the POS group's time zone.")
    promotion_id = _PROMOTION
    promotion_name = _LAST_NAME
    currency = currency_code("The currency of the amounts.")
    shown = _number("Number of transactions in the treated arm, where the promotion was available.")
    converted = _number("Number of these transactions with a line that the promotion targets.")
    extra_revenue = computed_amount(
        "Revenue of the treated arm minus the revenue of the same number of average baskets of the control arm on this "
        "day; null if the control arm had none."
    )
    total_discount = computed_amount("Discounts of the promotion.", required=True)


class DailyABTestAggregates(TrialDayFields, Entity, reporting=RO, key=_DAY, stored=False):
    """The results of the arms of pilots and experiments, by day."""

    trial = _TRIAL
    revenue = computed_amount("Sum of the treated arm's baskets.", required=True)
    control_transactions = _number("Number of transactions in the control arm.")
    control_converted = _number("Number of these transactions with a line that the promotion targets.")
    control_revenue = computed_amount("Sum of the control arm's baskets.", required=True)


class ABTestROI(TrialDayFields, Entity, reporting=RO, key=_DAY, stored=False):
    """The return of trials by day, compared with the discounts of their promotions.

    Baskets are net, so extraRevenue is the revenue after the discount.
    """

    conversion_rate = decimal(5, 2, "`converted` as a percentage of `shown`.")
    return_on_discount = decimal(
        5, 2, "extraRevenue as a percentage of totalDiscount, at most 999.99; 0 if no discount was given or "
        "extraRevenue is not positive."
    )  # fmt: skip


class UpliftFields(Fields):
    """Both periods of a promotion, compared in one currency."""

    baseline_from = calendar_date("First day of the baseline; null: there were no sales before the promotion.")
    baseline_to = calendar_date("Last day of the baseline: the day before the promotion began.")
    promotion_from = calendar_date("First day of the promotion.")
    promotion_to = calendar_date("Last day of the promotion so far.")
    baseline_days = integer(
        "Number of days of the baseline: fewer than promotionDays if the first sale that was seen is more recent."
    )
    promotion_days = integer("Number of days of the promotion so far.")
    baseline_avg_basket = computed_amount("Average basket of the baseline.")
    promotion_avg_basket = computed_amount("Average basket while the promotion ran.")
    baseline_revenue_per_day = computed_amount("Average revenue per day of the baseline.")
    promotion_revenue_per_day = computed_amount("Average revenue per day while the promotion ran.")
    uplift_pct = _change("(promotionAvgBasket - baselineAvgBasket) / baselineAvgBasket, in percent.")
    p_value = _probability("Two-sided p-value of Welch's t-test of the baskets of both periods.")
    is_significant = _significance("pValue")
    revenue_per_day_uplift_pct = _change(
        "(promotionRevenuePerDay - baselineRevenuePerDay) / baselineRevenuePerDay, in percent."
    )
    revenue_per_day_p_value = _probability("Two-sided p-value of Welch's t-test of the daily revenues.")
    baseline_transactions = _number("Number of transactions of the baseline.")
    promotion_transactions = _number("Number of transactions while the promotion ran.")
    significance_level = _LEVEL


class PromotionUpliftAnalysis(
    UpliftFields, Entity, reporting=RO, key=("promotion_id",), indexes=(("is_stale", "promotion_id"), ("due_at",))
):
    """Sales while a promotion ran, compared with a baseline of as many days before it, where the promotion runs.

    Days are whole days in the time zones of the POS groups, including the last one. Today, days after the
    promotion's end and days before the first sale of these POS groups do not count. All sales count, whether the
    promotion applied to them or not; amounts are those of sales in `currency`.
    """

    promotion_id = _PROMOTION
    promotion_name = _NAME
    currency = currency_code(
        "The currency of the amounts: the only one or, of several, the only one with sales in both periods; null:"
        " there are several, see PromotionUpliftByCurrency, and amounts and what is computed from them are null."
    )
    computed_at = timestamp("Time at which this was computed.")
    kept_name = _KEPT_NAME
    wanted_from = _unseen(calendar_date("First day of the baseline if there were sales on all days; null: no days."))
    first_applied_on = _unseen(calendar_date("The first day on which it applied.", required=True))
    is_stale = _unseen(boolean("Whether it must be computed again.", default=True))
    due_at = _unseen(timestamp("End of its next day; null: no more days."))


class PromotionUpliftByCurrency(_OneCurrency, UpliftFields, Entity, reporting=RO, key=("promotion_id", "currency")):
    """The same as PromotionUpliftAnalysis for each currency, from the sales in that currency alone."""

    promotion_id = _PROMOTION
    promotion_name = _NAME
    computed_at = _COMPUTED_AT
