"""The results of a trial's arms as shown in reports: averages, rates, uplifts, and significance tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from promenade.engine.money import divide, minor_digits
from promenade.store.reports.arms import ArmSums, DaySums
from promenade.store.reports.trials import CONTROL, EXPERIMENT, PILOT
from promenade.workflows.reports.statistics import Finding, chi_squared, is_significant, uplift_percent, welch

FACE_VALUE_DIGITS = 2
_CHANGE_MAX = Decimal(10) ** 15
_STATISTIC_MAX = 1e11


def amount(thousandths: Fraction | None, currency: str | None) -> Decimal | None:
    """Round half up to whole minor units of the currency; None (several, at face value): to two decimals."""
    if thousandths is None:
        return None
    digits = FACE_VALUE_DIGITS if currency is None else minor_digits(currency)
    minor = thousandths * 10**digits / 1000
    return Decimal(divide(minor.numerator, minor.denominator)).scaleb(-digits)


def percent(value: Fraction | None) -> Decimal | None:
    """Round half up to two decimals; extreme values are capped."""
    if value is None:
        return None
    hundredths = Decimal(divide(value.numerator * 100, value.denominator)).scaleb(-2)
    return max(-_CHANGE_MAX, min(_CHANGE_MAX, hundredths))


def statistic(test: Finding | None) -> Decimal | None:
    """Round to six decimals; extreme values are capped."""
    if test is None:
        return None
    return Decimal(f"{max(-_STATISTIC_MAX, min(_STATISTIC_MAX, test.statistic)):.6f}")


def probability(test: Finding | None) -> Decimal | None:
    """Return the p-value, to ten decimals."""
    return None if test is None else Decimal(f"{test.p_value:.10f}")


def result_of(promotion_id: str, sums: Mapping[str, DaySums], level: Decimal, at: datetime) -> dict[str, Any]:
    """Build the row of ABTestResults from the sums of both arms by currency; ``level`` is that of significance."""
    whole, (currency, money) = _together(sums), _money(sums)
    treated, control = whole.treated, whole.control
    revenue = welch(money.treated.baskets, money.control.baskets)
    converted = chi_squared(treated.conversions, treated.baskets.count, control.conversions, control.baskets.count)
    return {
        "promotion_id": promotion_id,
        "control_avg_basket": amount(money.control.baskets.mean, currency),
        "experiment_avg_basket": amount(money.treated.baskets.mean, currency),
        "revenue_uplift": percent(_revenue_uplift(money)),
        "revenue_t_statistic": statistic(revenue),
        "revenue_p_value": probability(revenue),
        "revenue_is_significant": is_significant(revenue, level),
        "control_conversion_rate": percent(_rate(control)),
        "experiment_conversion_rate": percent(_rate(treated)),
        "uplift": percent(uplift_percent(_rate(treated), _rate(control))),
        "chi_squared": statistic(converted),
        "p_value": probability(converted),
        "is_significant": is_significant(converted, level),
        "currency": currency,
        "trial": whole.trial,
        "control_transactions": control.baskets.count,
        "experiment_transactions": treated.baskets.count,
        "control_conversions": control.conversions,
        "experiment_conversions": treated.conversions,
        "total_discount": Decimal(treated.discount).scaleb(-3),
        "significance_level": level,
        "computed_at": at,
        "kept_name": whole.promotion_name,
    }


def comparisons_of(result: Mapping[str, Any], sums: Mapping[str, DaySums]) -> list[dict[str, Any]]:
    """Build the rows of PromotionAbComparison from that of ABTestResults: the treated arm and its control arm."""
    whole = _together(sums)
    names = ("promotion_id", "currency", "trial", "significance_level", "computed_at", "kept_name")
    shared = {name: result[name] for name in names}
    compared = {
        "uplift": result["revenue_uplift"],
        "p_value": result["revenue_p_value"],
        "is_significant": result["revenue_is_significant"],
        "conversion_uplift": result["uplift"],
        "conversion_p_value": result["p_value"],
    }
    alone = dict.fromkeys(compared)
    return [
        {**shared, **compared, "arm": whole.trial, **_arm(whole.treated, result["experiment_avg_basket"])},
        {**shared, **alone, "arm": CONTROL, **_arm(whole.control, result["control_avg_basket"])},
    ]


def _arm(arm: ArmSums, average: Decimal | None) -> dict[str, Any]:
    return {
        "transactions": arm.baskets.count,
        "avg_basket": average,
        "conversion_rate": percent(_rate(arm)),
        "conversions": arm.conversions,
        "revenue": Decimal(arm.baskets.total).scaleb(-3),
        "total_discount": Decimal(arm.discount).scaleb(-3),
    }


def extra_revenue(day: DaySums, currency: str) -> Decimal | None:
    """The treated arm's revenue minus that of as many average control baskets; None without control baskets."""
    usual = day.control.baskets.mean
    if usual is None:
        return None
    return amount(day.treated.baskets.total - usual * day.treated.baskets.count, currency)


def _together(sums: Mapping[str, DaySums]) -> DaySums:
    """Both arms over all currencies, with money at face value."""
    whole = DaySums(PILOT)
    for one in sums.values():
        whole.join(one)
        if one.trial == EXPERIMENT:
            whole.trial = EXPERIMENT
    return whole


def _money(sums: Mapping[str, DaySums]) -> tuple[str | None, DaySums]:
    """Return the currency whose averages are compared, and its sums.

    With several currencies it is the only one in which both arms have sales, so that like is compared with like;
    otherwise all of them at face value, with currency None.
    """
    if len(sums) == 1:
        return next(iter(sums.items()))
    shared = [name for name, one in sums.items() if one.treated.baskets.count and one.control.baskets.count]
    return (shared[0], sums[shared[0]]) if len(shared) == 1 else (None, _together(sums))


def _revenue_uplift(whole: DaySums) -> Fraction | None:
    return uplift_percent(whole.treated.baskets.mean, whole.control.baskets.mean)


def _rate(arm: ArmSums) -> Fraction | None:
    """The conversion rate in percent."""
    return Fraction(arm.conversions * 100, arm.baskets.count) if arm.baskets.count else None
