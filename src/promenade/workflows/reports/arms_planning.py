"""How long a trial must run to tell a difference of some size, at the present pace of sales."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from promenade.engine.money import divide
from promenade.errors import Invalid, NotFound
from promenade.store.access.tenants import significance_level
from promenade.store.driver.unit import Session
from promenade.store.reports.arms import TrialSize, read_size
from promenade.store.reports.pasts import arm_groups, trial_kind
from promenade.store.reports.subjects import knows_promotion
from promenade.workflows.reports.arms_past import DAYS_MIN, Past, read_past
from promenade.workflows.reports.arms_results import amount
from promenade.workflows.reports.intervals import POWER, days_to_tell

DIFFERENCE_MAX = 100  # percent


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """How many baskets, and days, a trial needs to tell a difference; None: that cannot be said.

    ``baskets`` and days are of the whole trial, ``more`` what is left of them; baskets are those of both arms.
    """

    trial: str | None
    currency: str | None = None
    difference: Decimal
    power: Decimal = POWER
    significance_level: Decimal
    pace_from: date | None = None
    pace_to: date | None = None
    avg_basket: Decimal | None = None
    baskets_per_day: Decimal | None = None
    baskets: int | None = None
    days: int | None = None
    baskets_so_far: int = 0
    more_baskets: int | None = None
    more_days: int | None = None

    def as_sent(self) -> dict[str, Any]:
        """Return the properties by their names on the wire."""
        words = {name: name.split("_") for name in asdict(self)}
        wires = {name: first + "".join(map(str.capitalize, rest)) for name, (first, *rest) in words.items()}
        return {wires[name]: value for name, value in asdict(self).items()}


async def plan_trial(session: Session, promotion_id: str, difference: Decimal, at: datetime) -> TrialPlan:
    """Plan the trial of a promotion, which may run already, for a difference in percent of the control arm's basket.

    The pace is that of both arms' POS groups in the 28 days before ``at``, whatever they sold. Raises NotFound, and
    Invalid (OUT_OF_RANGE) for a difference that is none.
    """
    if not 0 < difference <= DIFFERENCE_MAX:
        raise Invalid("OUT_OF_RANGE", f"difference must be above 0 and at most {DIFFERENCE_MAX}.", "difference")
    if not await knows_promotion(session, promotion_id):
        raise NotFound("NOT_FOUND", "There is no such promotion.", "promotionId")
    kind, level = await trial_kind(session, promotion_id), await significance_level(session)
    nothing = TrialPlan(trial=kind, difference=difference, significance_level=level)
    groups = {} if kind is None else await arm_groups(session, {promotion_id: kind})
    if promotion_id not in groups:
        return nothing
    pasts = await read_past(session, groups[promotion_id], at.date(), at.date())
    if not pasts:
        return nothing
    # Of several currencies, the one with most baskets.
    currency = max(sorted(pasts), key=lambda one: pasts[one].treated.count + pasts[one].control.count)
    return _planned(nothing, pasts[currency], currency, await read_size(session, promotion_id, currency))


def _planned(plan: TrialPlan, now: Past, currency: str, size: TrialSize | None) -> TrialPlan:
    """Complete a plan from what the arms sell ``now``; ``size`` None: the trial has no sale yet."""
    treated, control = now.treated, now.control
    so_far, has_past = (0, True) if size is None else size
    base = treated.mean if has_past else control.mean
    per_day = Fraction(treated.count + control.count, now.days)
    plan = replace(
        plan,
        currency=currency,
        pace_from=now.first,
        pace_to=now.last,
        avg_basket=amount(base, currency),
        baskets_per_day=Decimal(divide((per_day * 10).numerator, (per_day * 10).denominator)).scaleb(-1),
        baskets_so_far=so_far,
    )
    if base is None or base <= 0 or treated.variance is None or control.variance is None:
        return plan
    noise = now.days * (treated.variance / treated.count + control.variance / control.count)
    if not noise:
        return plan  # equal baskets are no sample of what will be sold
    wanted = base * Fraction(plan.difference) / 100
    days = days_to_tell(noise, wanted, plan.significance_level, DAYS_MIN if has_past else None)
    baskets = math.ceil(days * per_day)
    more = max(0, baskets - so_far)
    return replace(plan, baskets=baskets, days=math.ceil(days), more_baskets=more, more_days=math.ceil(more / per_day))
