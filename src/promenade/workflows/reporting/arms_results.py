"""What the arms of a trial came to, as reports show it: averages, rates, uplifts, and the tests of both arms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from promenade.engine.money import divide, minor_digits
from promenade.store.arm_report_sums import ArmSums, Baskets, DaySums
from promenade.store.arm_report_trials import CONTROL, EXPERIMENT, PILOT
from promenade.workflows.reporting.statistics import Finding, Sample, chi_squared, uplift_percent, welch

__all__ = ["amount", "comparisons_of", "extra_revenue", "percent", "probability", "result_of", "sample", "statistic"]

FACE_VALUE_DIGITS = 2
_CHANGE_MAX = Decimal(10) ** 15
_STATISTIC_MAX = 1e11


def sample(baskets: Baskets) -> Sample:
    """Baskets, in thousandths of their currency, as statistics take them."""
    return Sample(baskets.count, baskets.total, baskets.squares)


def amount(thousandths: Fraction | None, currency: str | None) -> Decimal | None:
    """Rounded half up to whole minor units of its currency; of several at face value, to two decimals."""
    if thousandths is None:
        return None
    digits = FACE_VALUE_DIGITS if currency is None else minor_digits(currency)
    minor = thousandths * 10**digits / 1000
    return Decimal(divide(minor.numerator, minor.denominator)).scaleb(-digits)


def percent(value: Fraction | None) -> Decimal | None:
    """Rounded half up to two decimals; what is beyond all measure is cut."""
    if value is None:
        return None
    hundredths = Decimal(divide(value.numerator * 100, value.denominator)).scaleb(-2)
    return max(-_CHANGE_MAX, min(_CHANGE_MAX, hundredths))


def statistic(test: Finding | None) -> Decimal | None:
    """To six decimals."""
    if test is None:
        return None
    return Decimal(f"{max(-_STATISTIC_MAX, min(_STATISTIC_MAX, test.statistic)):.6f}")


def probability(test: Finding | None) -> Decimal | None:
    """The p-value, to ten decimals."""
    return None if test is None else Decimal(f"{test.p_value:.10f}")


def result_of(promotion_id: str, sums: Mapping[str, DaySums], at: datetime) -> dict[str, Any]:
    """The row of ABTestResults, of what both arms came to by currency."""
    whole, (currency, money) = _together(sums), _money(sums)
    treated, control = whole.treated, whole.control
    revenue = welch(sample(money.treated.baskets), sample(money.control.baskets))
    converted = chi_squared(treated.conversions, treated.baskets.count, control.conversions, control.baskets.count)
    return {
        "promotion_id": promotion_id,
        "control_avg_basket": amount(sample(money.control.baskets).mean, currency),
        "experiment_avg_basket": amount(sample(money.treated.baskets).mean, currency),
        "revenue_uplift": percent(_revenue_uplift(money)),
        "revenue_t_statistic": statistic(revenue),
        "revenue_p_value": probability(revenue),
        "revenue_is_significant": revenue is not None and revenue.is_significant,
        "control_conversion_rate": percent(_rate(control)),
        "experiment_conversion_rate": percent(_rate(treated)),
        "uplift": percent(uplift_percent(_rate(treated), _rate(control))),
        "chi_squared": statistic(converted),
        "p_value": probability(converted),
        "is_significant": converted is not None and converted.is_significant,
        "currency": currency,
        "trial": whole.trial,
        "control_transactions": control.baskets.count,
        "experiment_transactions": treated.baskets.count,
        "control_conversions": control.conversions,
        "experiment_conversions": treated.conversions,
        "total_discount": Decimal(treated.discount).scaleb(-3),
        "computed_at": at,
        "kept_name": whole.promotion_name,
    }


def comparisons_of(promotion_id: str, sums: Mapping[str, DaySums], at: datetime) -> list[dict[str, Any]]:
    """The rows of PromotionAbComparison: the treated arm, and the control arm that it is compared with."""
    whole, (currency, money) = _together(sums), _money(sums)
    treated, control = whole.treated, whole.control
    revenue = welch(sample(money.treated.baskets), sample(money.control.baskets))
    converted = chi_squared(treated.conversions, treated.baskets.count, control.conversions, control.baskets.count)
    shared = {
        "promotion_id": promotion_id,
        "currency": currency,
        "trial": whole.trial,
        "computed_at": at,
        "kept_name": whole.promotion_name,
    }
    compared = {
        "uplift": percent(_revenue_uplift(money)),
        "p_value": probability(revenue),
        "is_significant": revenue is not None and revenue.is_significant,
        "conversion_uplift": percent(uplift_percent(_rate(treated), _rate(control))),
        "conversion_p_value": probability(converted),
    }
    alone = {**dict.fromkeys(compared), "is_significant": False}
    return [
        {
            **shared,
            **compared,
            "arm": whole.trial,
            **_arm(treated, amount(sample(money.treated.baskets).mean, currency)),
        },
        {**shared, **alone, "arm": CONTROL, **_arm(control, amount(sample(money.control.baskets).mean, currency))},
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
    """What the treated arm took beyond what as many baskets of the control arm came to; None without the latter."""
    usual = sample(day.control.baskets).mean
    if usual is None:
        return None
    return amount(day.treated.baskets.total - usual * day.treated.baskets.count, currency)


def _together(sums: Mapping[str, DaySums]) -> DaySums:
    """Both arms in all currencies together, money at face value."""
    whole = DaySums(PILOT)
    for one in sums.values():
        whole.join(one)
        if one.trial == EXPERIMENT:
            whole.trial = EXPERIMENT
    return whole


def _money(sums: Mapping[str, DaySums]) -> tuple[str | None, DaySums]:
    """What averages are compared of, and its currency.

    That is the only one; of several, the only one that both arms have sales in, so that like is compared with like;
    else all of them at face value, of which the currency is None.
    """
    if len(sums) == 1:
        return next(iter(sums.items()))
    shared = [name for name, one in sums.items() if one.treated.baskets.count and one.control.baskets.count]
    return (shared[0], sums[shared[0]]) if len(shared) == 1 else (None, _together(sums))


def _revenue_uplift(whole: DaySums) -> Fraction | None:
    return uplift_percent(sample(whole.treated.baskets).mean, sample(whole.control.baskets).mean)


def _rate(arm: ArmSums) -> Fraction | None:
    """In percent."""
    return Fraction(arm.conversions * 100, arm.baskets.count) if arm.baskets.count else None
