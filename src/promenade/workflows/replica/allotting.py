"""How much of a budget or limit a store gets: what the sale at hand lacks, and a reserve for a time without a link.

A store sizes its reserve by its own past days. The cloud gives all of it while there is plenty. As the free rest
becomes scarce it halves every store's reserve, again and again, down to nothing: then stores fetch for each sale what
it lacks, and the last units can be sold anywhere. Decision 33 compares this policy with others; `benchmarks.stores`
simulates it.

Amounts are in the major units of the budget, or numbers of uses. Nothing here reads a clock or a database.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import ROUND_FLOOR, Decimal

PAUSE = timedelta(minutes=5)
"""Before the cloud is asked again to fill up a reserve."""
HALVINGS_MAX = 20
"""From then on stores hold nothing in reserve."""
_NONE = Decimal(0)
_WEIGHT = Decimal("0.25")  # of the latest day in the mean and the variance
_SPREADS = 3  # standard deviations above the mean, as few days are known
_DAYS_WITHOUT_USE_MAX = 60  # after so many nothing is left of what was known
_FILL_AFTER = timedelta(hours=6)
_FILL_BELOW = Decimal("0.75")
_OUT = 3  # parts of what is left that are with stores, for one that stays in the cloud
_UNKNOWN_PART = 2  # stores that know nothing of their use share a half of what is free


@dataclass(frozen=True, slots=True)
class Habit:
    """What a store uses in a day: mean and variance over its past days, and the use of the day that is under way.

    ``first`` is what it got before it knew anything. ``piece`` is what a sale that lacked some used, in the mean: a
    reserve of less is of no use.
    """

    day: date | None = None
    today: Decimal = _NONE
    mean: Decimal | None = None
    variance: Decimal = _NONE
    piece: Decimal = _NONE
    first: Decimal = _NONE

    def after(self, use: Decimal, day: date) -> Habit:
        """Return the habit with a further ``use`` on ``day``; days without use count, a day that is past does not."""
        if self.day is None or day <= self.day:
            return replace(self, day=self.day or day, today=self.today + use)
        mean, variance = self._with_today()
        for _ in range(min((day - self.day).days - 1, _DAYS_WITHOUT_USE_MAX)):
            mean, variance = _merge(mean, variance, _NONE)
        return Habit(day, use, _rounded(mean), _rounded(variance), self.piece, self.first)

    def lacking(self, use: Decimal) -> Habit:
        """Return the habit after a sale for whose ``use`` the share was not enough."""
        return replace(self, piece=_rounded(use if not self.piece else self.piece + _WEIGHT * (use - self.piece)))

    def _with_today(self) -> tuple[Decimal, Decimal]:
        if self.mean is not None:
            return _merge(self.mean, self.variance, self.today)
        mean = self.today + _WEIGHT * max(self.first - self.today, _NONE)
        return mean, (self.today / 2) ** 2  # one day says little about the spread

    @property
    def forecast(self) -> Decimal:
        """What one day without a link may need. Until a day is over: what the store got first; 0: nothing yet."""
        if self.mean is None:
            return self.first
        return _rounded(max(self.mean + _SPREADS * self.variance.sqrt(), self.today))


def _merge(mean: Decimal, variance: Decimal, value: Decimal) -> tuple[Decimal, Decimal]:
    off = value - mean
    return mean + _WEIGHT * off, (1 - _WEIGHT) * (variance + _WEIGHT * off * off)


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.001"))


# ---- in the cloud --------------------------------------------------------------------------------------------------


def halvings(free: Decimal, demand: Decimal) -> int:
    """Return how often each store's reserve is halved; ``demand`` is the sum of all stores' forecasts.

    So that about a quarter of what is left stays in the cloud.
    """
    for times in range(HALVINGS_MAX):
        if demand <= free * (_OUT << times):
            return times
    return HALVINGS_MAX


def first_reserve(free: Decimal, stores: int) -> Decimal:
    """Return what a store gets that knows nothing of its use yet."""
    return free / (_UNKNOWN_PART * max(stores, 1))


def allot(free: Decimal, lacking: Decimal, held: Decimal, target: Decimal) -> Decimal:
    """Return how much a store gets of the free amount: all that its sale lacks or nothing of it, and up to its reserve.

    ``held`` is what the store has left of its share. A part of what a sale lacks would be of no use to it, but to
    others.
    """
    given = lacking if lacking <= free else _NONE
    return given + max(min(target - held, free - given), _NONE)


# ---- in a store ----------------------------------------------------------------------------------------------------


def reserve(forecast: Decimal, piece: Decimal, times: int) -> Decimal:
    """Return what a store may hold: whole pieces of its forecast, which is halved so many times."""
    if times >= HALVINGS_MAX:
        return _NONE
    amount = forecast / (1 << times)
    return amount if not piece else (amount / piece).to_integral_value(ROUND_FLOOR) * piece


def should_fill(held: Decimal, target: Decimal, waited: timedelta) -> bool:
    """Return whether a store asks for its reserve ``waited`` after it last asked."""
    return held < target and (waited >= _FILL_AFTER or (held < target * _FILL_BELOW and waited >= PAUSE))


def should_give_back(held: Decimal, target: Decimal, times: int) -> bool:
    """Return whether a store holds more than it should, because it is idle or because others lack it."""
    return held > (target if times else target * 2)
