"""Automatic promotion of pilots with sufficient uplift (specification, PromotionPilotConfigs, States).

The uplift is the headline metric of ABTestResults: the percentage by which the average net grand total of confirmed
transactions is higher in the pilot arm than in the control arm, between pilotStartAt and pilotEndAt. It must reach the
threshold, and the average must be significantly higher: by Welch's t-test, at the tenant's level. Where both arms have
sold before the pilot, they are compared with their own past: the uplift is then adjustedUplift. A return counts as a
transaction with a negative total; refused confirms do not count. Currencies are judged one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from hashlib import sha256

from promenade.engine.pilots import treated_groups
from promenade.errors import PromenadeError, Unavailable
from promenade.log import Logger
from promenade.model.declare import Service
from promenade.store.authoring.statements import read_rows
from promenade.store.clockwork.pilots import (
    CONTROL,
    PILOT,
    ArmSums,
    RunningPilot,
    Sums,
    Tally,
    end_of_portion,
    find_tallies,
    read_pilots,
    store_tally,
    sum_sales,
)
from promenade.store.driver.leases import LeaseLost
from promenade.store.driver.unit import Session
from promenade.store.reports.arms import Sample
from promenade.store.reports.pasts import arm_groups
from promenade.store.reports.queue import read_state
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.context import Context
from promenade.workflows.reports.arms_past import Past, Pasts, read_past
from promenade.workflows.reports.statistics import (
    BeforeAfter,
    difference_in_differences,
    gain_over_control,
    is_significant,
    uplift_percent,
    welch,
)

SALES_MIN = 30  # in each arm: with fewer, the t-test says little about amounts of baskets
STRETCH = 5000  # logs totalled by one statement
RUN_SECONDS = 1.0
# Sales are counted by the till's confirmation time. Those of the last minutes are read again every time; sales that
# arrive even later are found when the count starts over: every day, and before a decision to go live.
SETTLED = timedelta(minutes=10)
COUNT_AGE_MAX = timedelta(days=1)
DECIDING_AGE_MAX = timedelta(hours=1)
FURTHEST_BEHIND = timedelta(hours=12)  # the time zone that is furthest behind UTC
USER = "system"

_log = Logger(__name__)


@clock_job("pilots.promote", every=timedelta(seconds=60))
async def promote(context: Context, cursor: str | None) -> JobResult:
    """Promote every pilot that is allowed to go live and has earned it; the result counts them.

    A pilot that cannot go live, for instance because its validity is over, does not hold up the others. A run that has
    taken a second continues in the next run, which is due at once.
    """
    at, now = context.clock(), asyncio.get_running_loop().time
    ends = now() + RUN_SECONDS
    pilots = await context.database.read(lambda session: read_pilots(session, at), system=True)
    tallies = await context.database.read(find_tallies, system=True) if pilots else {}
    done, trouble = 0, None
    for pilot in pilots:
        name = f"{pilot.tenant_id} {pilot.promotion_id}"
        if cursor is not None and name <= cursor:
            continue
        counting = _Counting(context, pilot, at)
        try:
            is_whole = await counting.count(tallies.get((pilot.tenant_id, pilot.promotion_id)), now, ends)
        except (Unavailable, LeaseLost):
            raise
        except Exception as error:  # an error in the sales of one pilot must not hold up the others
            _log.exception("pilot.not_counted", promotion=pilot.promotion_id)
            trouble = f"Sales of promotion {pilot.promotion_id} cannot be counted: {type(error).__name__}: {error}"
        else:
            if not is_whole:
                return JobResult(done, more=True, cursor=cursor, trouble=trouble)
        if is_earned(pilot, counting.sums, counting.pasts):
            went, reason = await _go_live(context, pilot, at)
            done, trouble = done + went, reason or trouble
        cursor = name
    return JobResult(done, trouble=trouble)


class _Counting:
    """The totals of one pilot at one time."""

    def __init__(self, context: Context, pilot: RunningPilot, at: datetime) -> None:
        self._context = context
        self._pilot = pilot
        self._at = at
        self._treated = treated_groups(pilot.row)
        self._until = min(pilot.row.ends_at, at + timedelta(microseconds=1))
        self.sums: Sums = {}
        self.pasts: Pasts | None = None

    async def count(self, tally: Tally | None, now: Callable[[], float], ends: float) -> bool:
        """Complete the totals in `sums`, and read `pasts`; False: the time is over, and the progress is stored.

        A count that would be decisive is repeated from the start unless it is recent.
        """
        if tally is None or not self._is_valid(tally, COUNT_AGE_MAX):
            tally = self._new_tally()
        self.pasts = await self._context.database.read(self._read_pasts, tenant=self._pilot.tenant_id)
        while True:
            tally, is_whole = await self._continue(tally, now, ends)
            if not is_whole:
                return False
            self.sums = await self._with_latest(tally)
            if self._is_valid(tally, DECIDING_AGE_MAX) or not is_earned(self._pilot, self.sums, self.pasts):
                return True
            tally = self._new_tally()

    async def _read_pasts(self, session: Session) -> Pasts | None:
        """Return what both arms sold before the pilot, by currency; None: reports are being counted anew."""
        if (await read_state(session)).rebuild is not None:
            return None
        # On the day before, by any clock on earth, the pilot had not started.
        first, last = (self._pilot.started_at - FURTHEST_BEHIND).date(), self._at.date()
        groups = await arm_groups(session, {self._pilot.promotion_id: PILOT})
        if self._pilot.promotion_id not in groups:
            return {}
        return await read_past(session, groups[self._pilot.promotion_id], first, max(first, last))

    def _new_tally(self) -> Tally:
        return Tally(self._basis(), self._at, self._pilot.row.starts_at, {})

    def _is_valid(self, tally: Tally, age_max: timedelta) -> bool:
        """Return whether the tally matches the pilot's current settings and is at most ``age_max`` old and not
        ahead.
        """
        return tally.basis == self._basis() and timedelta(0) <= self._at - tally.begun_at <= age_max

    def _basis(self) -> str:
        row = self._pilot.row
        facts = (row.starts_at, row.ends_at, self._pilot.started_at, self._pilot.currency, *sorted(self._treated))
        return sha256("/".join(str(one) for one in facts).encode()).hexdigest()

    async def _continue(self, tally: Tally, now: Callable[[], float], ends: float) -> tuple[Tally, bool]:
        """Total all settled sales and store the tally; return it and whether there was enough time."""
        settled = min(self._until, self._at - SETTLED)
        before = tally
        while tally.counted_until < settled and (tally is before or now() < ends):
            until, sums = await self._stretch(tally.counted_until, settled)
            tally = replace(tally, counted_until=until, sums=_merged_sums(tally.sums, sums))
        if tally is not before:
            kept, promotion_id = tally, self._pilot.promotion_id
            await self._context.database.write(
                lambda session: store_tally(session, promotion_id, kept), tenant=self._pilot.tenant_id, durable=False
            )
        return tally, tally.counted_until >= settled

    async def _with_latest(self, tally: Tally) -> Sums:
        since, sums = tally.counted_until, tally.sums
        while since < self._until:
            since, more = await self._stretch(since, self._until)
            sums = _merged_sums(sums, more)
        return sums

    async def _stretch(self, since: datetime, until: datetime) -> tuple[datetime, Sums]:
        async def work(session: Session) -> tuple[datetime, Sums]:
            end = await end_of_portion(session, since, until, STRETCH)
            return end, await sum_sales(session, self._pilot, self._treated, since, end)

        return await self._context.database.read(work, tenant=self._pilot.tenant_id)


def _merged_sums(one: Sums, other: Sums) -> Sums:
    """Return the totals of both, by currency and arm."""
    return {
        currency: {
            arm: one.get(currency, {}).get(arm, ArmSums()).plus(other.get(currency, {}).get(arm, ArmSums()))
            for arm in (PILOT, CONTROL)
        }
        for currency in one.keys() | other.keys()
    }


def is_earned(pilot: RunningPilot, sums: Sums, pasts: Pasts | None) -> bool:
    """Return whether the uplift reaches the threshold, is significant, and is based on enough sales.

    In several currencies this must hold in each of those in which both arms have sold. ``pasts`` None: not known now.
    """
    if pasts is None:
        return False
    pairs = {currency: (arms.get(PILOT, ArmSums()), arms.get(CONTROL, ArmSums())) for currency, arms in sums.items()}
    compared = [currency for currency, pair in pairs.items() if all(one.transactions for one in pair)]
    return bool(compared) and all(_is_earned_in(pilot, *pairs[one], pasts.get(one)) for one in compared)


def _is_earned_in(pilot: RunningPilot, treated: ArmSums, control: ArmSums, past: Past | None) -> bool:
    if min(treated.sales, control.sales) < SALES_MIN:
        return False
    baskets, usual = (Sample(one.transactions, one.total, one.squares) for one in (treated, control))
    uplift, test = uplift_percent(baskets.mean, usual.mean), welch(baskets, usual)
    if past is not None:
        both = BeforeAfter(past.treated, baskets), BeforeAfter(past.control, usual)
        uplift, test = gain_over_control(*both), difference_in_differences(*both)
    if uplift is None or test is None or uplift < Fraction(pilot.threshold):
        return False
    return test.statistic > 0 and is_significant(test, pilot.significance_level) is True


async def _go_live(context: Context, pilot: RunningPilot, at: datetime) -> tuple[int, str | None]:
    """Promote a pilot; return how many went live, and the reason if it could not."""

    async def work(session: Session) -> int:
        # A locked campaign prevents changes of the plan; going live by uplift is part of the plan.
        authoring = Authoring(session, user=USER, at=at, new_id=context.new_id, service=Service.ADMIN, by_clock=True)
        await authoring.begin(alone=False)
        if not await _is_unchanged(session, pilot):
            return 0
        await authoring.transition("Promotions", pilot.promotion_id, "promoteToActive")
        await authoring.finish()
        return 1

    try:
        return await context.database.write(work, tenant=pilot.tenant_id), None
    except (Unavailable, LeaseLost):
        raise
    except Exception as error:  # an error of one pilot must not hold up the others
        is_told = isinstance(error, PromenadeError)
        reason = error.message if isinstance(error, PromenadeError) else f"{type(error).__name__}: {error}"
        _log.warning("pilot.stays", promotion=pilot.promotion_id, reason=reason, exc_info=not is_told)
        return 0, f"Promotion {pilot.promotion_id} cannot go live: {reason}"


async def _is_unchanged(session: Session, pilot: RunningPilot) -> bool:
    """Lock the promotion and its pilot config; return whether they are still as they were counted."""
    promotions = await read_rows(session, "Promotions", "id", (pilot.promotion_id,), lock="update")
    configs = await read_rows(session, "PromotionPilotConfigs", "id", (pilot.row.config_id,), lock="share")
    if not promotions or promotions[0]["status"] != "PILOT" or not configs:
        return False
    config = configs[0]
    window = (config["pilot_start_at"], config["pilot_end_at"])
    return (
        config["auto_promote"] is True
        and config["auto_promote_threshold"] == pilot.threshold
        and window == (pilot.row.starts_at, pilot.row.ends_at)
    )
