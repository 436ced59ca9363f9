"""Rates, percentages and parts of amounts, exactly, as the reports about money have them."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from promenade.engine.money import minor_digits

__all__ = ["burn_per_day", "exhausted_at", "percentage", "share"]

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)
_SECONDS = 86400
_DAYS_MAX = Decimal(1_000_000)
_PERCENT_MAX = Decimal("999.99")
_HUNDREDTH = Decimal("0.01")
_THOUSANDTH = Decimal("0.001")
_DECIMALS = 3  # of amounts


def burn_per_day(consumed: Decimal, since: datetime, at: datetime) -> Decimal:
    """What was consumed per day from a moment to another, less than a day counting as one; to three decimals."""
    days = max(Decimal((at - since) // _MICROSECOND) / (_DAY // _MICROSECOND), Decimal(1))
    return (consumed / days).quantize(_THOUSANDTH, ROUND_HALF_UP)


def exhausted_at(remaining: Decimal, per_day: Decimal, at: datetime) -> datetime | None:
    """When an amount is gone that loses so much a day, some thousand years ahead at most; None: it never is, or is."""
    if per_day <= 0 or remaining <= 0:
        return None
    return at + timedelta(seconds=int(min(remaining / per_day, _DAYS_MAX) * _SECONDS))


def percentage(part: Decimal, whole: Decimal) -> Decimal | None:
    """What percentage of the whole a part is, rounded half up to two decimals, 999.99 at most; None: of nothing."""
    if whole <= 0:
        return None
    return min((part * 100 / whole).quantize(_HUNDREDTH, ROUND_HALF_UP), _PERCENT_MAX)


def share(amount: Decimal, percent: Decimal, currency: str, before: Decimal = Decimal(0)) -> Decimal:
    """So many percent of an amount in the minor unit of its currency, after others have got ``before`` percent.

    What all up to this one get is rounded half up (away from zero), and so is what those before get: parts add up.
    """
    unit = Decimal(1).scaleb(-min(minor_digits(currency), _DECIMALS))
    upto, others = ((amount * part / 100).quantize(unit, ROUND_HALF_UP) for part in (before + percent, before))
    return upto - others
