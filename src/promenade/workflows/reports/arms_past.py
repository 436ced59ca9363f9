"""What the arms of a trial sold before it: arms that differ by stores are compared with their own past.

The past has as many days as the trial so far, and at least four weeks; it begins when both arms were selling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from promenade.store.driver.unit import Session
from promenade.store.reports.arms import Sample
from promenade.store.reports.pasts import ArmGroups, BasketDays, arm_groups, arms_between, trial_days

DAYS_MIN = 28
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Past:
    """The baskets of both arms before a trial in one currency, from ``first`` to ``last``, both included."""

    first: date
    last: date
    treated: Sample
    control: Sample

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1


Pasts = Mapping[str, Past]
"""The past of a trial by currency."""


async def pasts_of(session: Session, promotion_ids: Sequence[str]) -> dict[str, Pasts]:
    """Return the pasts of the trials of these promotions."""
    trials = await trial_days(session, promotion_ids)
    groups = await arm_groups(session, {one: days.kind for one, days in trials.items()})
    return {one: await read_past(session, groups[one], trials[one].first, trials[one].last) for one in sorted(groups)}


async def read_past(session: Session, groups: ArmGroups, first: date, last: date) -> Pasts:
    """Return the past of a trial that has run from ``first`` to ``last``; of currencies in which both arms sold."""
    length = max(DAYS_MIN, (last - first).days + 1)
    until = first - _DAY
    treated, control = await arms_between(session, groups, first - length * _DAY, until)
    opened = (_opened(treated), _opened(control))
    begun = {currency: max(one[currency] for one in opened) for currency in opened[0].keys() & opened[1].keys()}
    return {
        currency: Past(begin, until, _sum(treated[currency], begin), _sum(control[currency], begin))
        for currency, begin in begun.items()
    }


def _opened(sold: BasketDays) -> dict[str, date]:
    """Return the first day with a sale in each currency: all sales of a day may have been cancelled."""
    days = {currency: [day for day, one in of_currency.items() if one.count] for currency, of_currency in sold.items()}
    return {currency: min(found) for currency, found in days.items() if found}


def _sum(days: Mapping[date, Sample], begin: date) -> Sample:
    whole = Sample()
    for day, baskets in days.items():
        if day >= begin:
            whole.join(baskets)
    return whole
