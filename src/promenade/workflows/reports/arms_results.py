"""The results of a trial's arms as shown in reports: averages, rates, uplifts, and significance tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from promenade.engine.money import divide, minor_digits
from promenade.store.reports.arms import ArmSums, DaySums, Sample
from promenade.store.reports.trials import CONTROL, EXPERIMENT, PILOT
from promenade.workflows.reports import intervals
from promenade.workflows.reports.arms_past import Past, Pasts
from promenade.workflows.reports.statistics import (
    BeforeAfter,
    Finding,
    chi_squared,
    expected_mean,
    gain_over_control,
    gap,
    gap_of_gains,
    is_significant,
    tested,
    uplift_percent,
)

_CHANGE_MAX = Decimal(10) ** 15
_STATISTIC_MAX = 1e11


def amount(thousandths: Fraction | None, currency: str | None) -> Decimal | None:
    """Round half up to whole minor units of the currency; None without one."""
    if thousandths is None or currency is None:
        return None
    digits = minor_digits(currency)
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


def _bounds(name: str, bounds: tuple[Decimal | None, Decimal | None]) -> dict[str, Decimal | None]:
    return {f"{name}_low": bounds[0], f"{name}_high": bounds[1]}


def _percents(name: str, interval: intervals.Interval | None) -> dict[str, Decimal | None]:
    """Return the columns of an interval in percent."""
    return _bounds(name, (None, None) if interval is None else (percent(interval[0]), percent(interval[1])))


def _amounts(name: str, interval: intervals.Interval | None, currency: str | None) -> dict[str, Decimal | None]:
    """Return the columns of an interval in thousandths of a currency."""
    low, high = (None, None) if interval is None else interval
    return _bounds(name, (amount(low, currency), amount(high, currency)))


Sums = Mapping[str, DaySums]
"""The sums of both arms of a trial by currency."""


def result_of(promotion_id: str, sums: Sums, pasts: Pasts, level: Decimal, at: datetime) -> dict[str, Any]:
    """Build the row of ABTestResults; ``level`` is that of significance."""
    return _result(promotion_id, sums, _compared_currency(sums), pasts, level) | {"computed_at": at}


def results_by_currency(
    promotion_id: str, sums: Sums, pasts: Pasts, level: Decimal, at: datetime
) -> list[dict[str, Any]]:
    """Build the rows of ABTestResultsByCurrency."""
    found = (_result(promotion_id, {one: sums[one]}, one, pasts, level) for one in sorted(sums))
    return [one | {"computed_at": at} for one in found]


def _result(promotion_id: str, sums: Sums, currency: str | None, pasts: Pasts, level: Decimal) -> dict[str, Any]:
    """Compare the arms: counts of all ``sums``, amounts of those in ``currency``; None: no amounts."""
    money = _money(sums, currency)
    past = None if currency is None else pasts.get(currency)
    treated, control = (_Counts.of(arm) for arm in _arms(sums))
    found = gap(money.treated.baskets, money.control.baskets)
    revenue = tested(found)
    converted = chi_squared(treated.hits, treated.baskets, control.hits, control.baskets)
    return {
        "promotion_id": promotion_id,
        "control_avg_basket": amount(money.control.baskets.mean, currency),
        "experiment_avg_basket": amount(money.treated.baskets.mean, currency),
        "revenue_uplift": percent(uplift_percent(money.treated.baskets.mean, money.control.baskets.mean)),
        "revenue_t_statistic": statistic(revenue),
        "revenue_p_value": probability(revenue),
        "revenue_is_significant": is_significant(revenue, level),
        "control_conversion_rate": percent(control.rate),
        "experiment_conversion_rate": percent(treated.rate),
        "uplift": percent(uplift_percent(treated.rate, control.rate)),
        "chi_squared": statistic(converted),
        "p_value": probability(converted),
        "is_significant": is_significant(converted, level),
        "currency": currency,
        "trial": money.trial,
        "control_transactions": control.baskets,
        "experiment_transactions": treated.baskets,
        "control_conversions": control.hits,
        "experiment_conversions": treated.hits,
        "total_discount": None if currency is None else Decimal(money.treated.discount).scaleb(-3),
        "significance_level": level,
        "kept_name": money.promotion_name,
        **_percents("revenue_uplift", intervals.of_uplift(found, money.control.baskets.mean)),
        **_adjusted(money, past, currency, level),
    }


def _adjusted(money: DaySums, past: Past | None, currency: str | None, level: Decimal) -> dict[str, Any]:
    """Compare the arms with their own past; None: there is none."""
    treated = BeforeAfter(Sample() if past is None else past.treated, money.treated.baskets)
    control = BeforeAfter(Sample() if past is None else past.control, money.control.baskets)
    found = gap_of_gains(treated, control)
    test = tested(found)
    return {
        "past_from": None if past is None else past.first,
        "past_to": None if past is None else past.last,
        "past_days": None if past is None else past.days,
        "control_past_avg_basket": amount(control.before.mean, currency),
        "experiment_past_avg_basket": amount(treated.before.mean, currency),
        "adjusted_uplift": percent(gain_over_control(treated, control)),
        "adjusted_p_value": probability(test),
        "adjusted_is_significant": is_significant(test, level),
        **_percents("adjusted_uplift", intervals.of_uplift(found, expected_mean(treated, control))),
    }


def comparisons_of(result: Mapping[str, Any], sums: Sums) -> list[dict[str, Any]]:
    """Build the rows of PromotionAbComparison from that of ABTestResults: the treated arm and its control arm."""
    names = ("promotion_id", "currency", "trial", "significance_level", "computed_at", "kept_name")
    shared = {name: result[name] for name in names}
    compared = {
        "uplift": result["revenue_uplift"],
        "p_value": result["revenue_p_value"],
        "is_significant": result["revenue_is_significant"],
        **{name: result[name] for name in ("adjusted_uplift", "adjusted_p_value", "adjusted_is_significant")},
        "conversion_uplift": result["uplift"],
        "conversion_p_value": result["p_value"],
    }
    money = _money(sums, result["currency"])
    return [
        {**shared, **compared, "arm": result["trial"], **_arm(result, "experiment", money.treated)},
        {**shared, **dict.fromkeys(compared), "arm": CONTROL, **_arm(result, "control", money.control)},
    ]


def _arm(result: Mapping[str, Any], side: str, money: ArmSums) -> dict[str, Any]:
    has_amounts = result["currency"] is not None
    return {
        "transactions": result[f"{side}_transactions"],
        "avg_basket": result[f"{side}_avg_basket"],
        "conversion_rate": result[f"{side}_conversion_rate"],
        "conversions": result[f"{side}_conversions"],
        "revenue": Decimal(money.baskets.total).scaleb(-3) if has_amounts else None,
        "total_discount": Decimal(money.discount).scaleb(-3) if has_amounts else None,
        **_amounts("avg_basket", intervals.of_mean(money.baskets), result["currency"]),
        **_percents(
            "conversion_rate", intervals.of_rate(result[f"{side}_conversions"], result[f"{side}_transactions"])
        ),
    }


def extra_revenue(day: DaySums, currency: str) -> Decimal | None:
    """The treated arm's revenue minus that of as many average control baskets; None without control baskets."""
    usual = day.control.baskets.mean
    if usual is None:
        return None
    return amount(day.treated.baskets.total - usual * day.treated.baskets.count, currency)


@dataclass(frozen=True, slots=True)
class _Counts:
    """The baskets of an arm in all currencies, and how many of them are converted."""

    baskets: int
    hits: int

    @classmethod
    def of(cls, arms: Sequence[ArmSums]) -> _Counts:
        return cls(sum(one.baskets.count for one in arms), sum(one.conversions for one in arms))

    @property
    def rate(self) -> Fraction | None:
        """The conversion rate in percent."""
        return Fraction(self.hits * 100, self.baskets) if self.baskets else None


def _arms(sums: Sums) -> tuple[list[ArmSums], list[ArmSums]]:
    return [one.treated for one in sums.values()], [one.control for one in sums.values()]


def _compared_currency(sums: Sums) -> str | None:
    """Return the currency whose amounts are compared; None: there are several, see `results_by_currency`.

    With several currencies it is the only one in which both arms have sales, so that like is compared with like.
    """
    if len(sums) == 1:
        return next(iter(sums))
    shared = [name for name, one in sums.items() if one.treated.baskets.count and one.control.baskets.count]
    return shared[0] if len(shared) == 1 else None


def _money(sums: Sums, currency: str | None) -> DaySums:
    """Return the sums in one currency, none without one; with the trial and the name of all."""
    # If the trial was ever an experiment, it counts as one.
    money = DaySums(EXPERIMENT if any(one.trial == EXPERIMENT for one in sums.values()) else PILOT)
    if currency is not None:
        money.join(sums[currency])
    names = [one.promotion_name for one in sums.values() if one.promotion_name]
    return replace(money, promotion_name=names[-1] if names else None)
