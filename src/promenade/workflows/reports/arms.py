"""Results of the arms of pilots and experiments: added up with every sale, compared afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from promenade.store.access.tenants import significance_level
from promenade.store.driver.unit import Session
from promenade.store.reports.arms import (
    DAYS,
    UTC_DAYS,
    DaySums,
    add_days,
    by_promotions,
    day_sums,
    drop_results,
    keep_extra_revenue,
    keep_results,
    names_of,
    next_logs,
    promotions_of,
    read_sums,
    stale_promotions,
    take_stale_days,
)
from promenade.store.reports.periods import Edge, Stretch
from promenade.store.reports.queue import read_logs
from promenade.store.reports.trials import load_trials, trials_for
from promenade.workflows.context import Context
from promenade.workflows.reports import uplift
from promenade.workflows.reports.arms_counting import add_up
from promenade.workflows.reports.arms_pace import in_portions
from promenade.workflows.reports.arms_past import Pasts, pasts_of
from promenade.workflows.reports.arms_results import (
    comparisons_of,
    extra_revenue,
    result_of,
    results_by_currency,
)
from promenade.workflows.reports.exports import Period, export, require_kept
from promenade.workflows.reports.folds import Write, fold, refresher
from promenade.workflows.reports.sales import LoggedSale, sales_of

_PARTS = (uplift,)
"""The modules that register the rest."""

PORTION = 10  # promotions compared per unit of work
BY_CURRENCY = "ABTestResultsByCurrency"


@fold("arms", tables=(DAYS, UTC_DAYS, "ABTestResults", BY_CURRENCY, "PromotionAbComparison"))
async def add(session: Session, sales: Sequence[LoggedSale], at: datetime, sign: int = 1) -> Write:
    """Add sales to their arms, or take cancelled ones out again."""
    moments = [one.evaluated_at for one in sales]
    trials = await trials_for(session, min(moments), max(moments), at)
    local, utc = await add_up(session, sales, trials)

    async def write(session: Session) -> int:
        return await add_days(session, DAYS, local, sign) + await add_days(session, UTC_DAYS, utc, sign)

    return write


@refresher("arms.compared")
async def refresh(context: Context, tenant_id: str, at: datetime) -> int:
    """Compare the arms of all trials with new sales; return the number of trials."""

    async def look(session: Session) -> tuple[Sequence[str], Mapping[str, Pasts]]:
        stale = await stale_promotions(session, PORTION)
        return stale, await pasts_of(session, stale) if stale else {}

    async def portion() -> int:
        stale, pasts = await context.database.read(look, tenant=tenant_id)
        if stale:
            comparing = partial(_compare, promotion_ids=stale, pasts=pasts, at=at)
            await context.database.write(comparing, tenant=tenant_id, durable=False)
        return len(stale)

    return await in_portions(context, tenant_id, portion, full=PORTION)


async def _compare(session: Session, promotion_ids: Sequence[str], pasts: Mapping[str, Pasts], at: datetime) -> None:
    days = await take_stale_days(session, promotion_ids)
    await keep_extra_revenue(
        session,
        [((row.promotion_id, row.day, row.currency), extra_revenue(day_sums(row), row.currency)) for row in days],
    )
    by_promotion = by_promotions(await read_sums(session, DAYS, promotion_ids))
    level = await significance_level(session)
    results = [result_of(one, sums, pasts.get(one, {}), level, at) for one, sums in by_promotion.items()]
    details = [
        row
        for one, sums in by_promotion.items()
        for row in results_by_currency(one, sums, pasts.get(one, {}), level, at)
    ]
    arms = [row for one in results for row in comparisons_of(one, by_promotion[one["promotion_id"]])]
    await keep_results(session, "ABTestResults", results, ("promotion_id",))
    await drop_results(session, BY_CURRENCY, promotion_ids)
    await keep_results(session, BY_CURRENCY, details, ("promotion_id", "currency"))
    await drop_results(session, "PromotionAbComparison", promotion_ids)
    await keep_results(session, "PromotionAbComparison", arms, ("promotion_id", "arm"))


# --- abTestResults as it is exported ----------------------------------------------------------------------------------

# Whole days in UTC are read from what the aggregator has added up, which lacks the sales of the last seconds; what is
# left of the period at both ends, from the logs themselves.

LOGS = 200  # read per unit of work
NAMES = 500
_PRICED_BEFORE = timedelta(days=7)  # maximum time between pricing and confirmation of a sale
_DAY = timedelta(days=1)

Sums = dict[str, dict[str, DaySums]]


@export("abTestResults")
async def rows(context: Context, period: Period) -> AsyncIterator[Mapping[str, Any]]:
    """Yield a row for each pilot or experiment and each currency with a sale in the period, by promotion ID."""
    sums = await _sums(context, period)
    level = await context.database.read(significance_level, tenant=period.tenant_id)
    wanted = sorted(sums)
    for start in range(0, len(wanted), NAMES):
        ids = wanted[start : start + NAMES]
        known = await context.database.read(partial(names_of, promotion_ids=ids), tenant=period.tenant_id)
        for promotion_id in ids:
            for row in results_by_currency(promotion_id, sums[promotion_id], {}, level, context.clock()):
                yield {**row, "promotion_name": known.get(promotion_id, row["kept_name"])}


async def _sums(context: Context, period: Period) -> Sums:
    """Return the sums of both arms, by promotion and currency."""
    stretch = Stretch.of(period.since, period.until)

    async def work(session: Session) -> tuple[set[str] | None, Sums]:
        narrowed = None if period.promotion_id is None else {period.promotion_id}
        if period.stakeholder_id is not None:
            paid = await promotions_of(session, period.stakeholder_id)
            narrowed = paid if narrowed is None else narrowed & paid
        ids = None if narrowed is None else sorted(narrowed)
        if not stretch.has_days or narrowed == set():
            return narrowed, {}
        return narrowed, by_promotions(await read_sums(session, UTC_DAYS, ids, stretch.first, stretch.end))

    narrowed, found = await context.database.read(work, tenant=period.tenant_id)
    for edge in stretch.edges if narrowed != set() else ():
        await _add_logs(context, period, edge, narrowed, found)
    return found


async def _add_logs(context: Context, period: Period, edge: Edge, narrowed: set[str] | None, found: Sums) -> None:
    tenant_id, (since, until) = period.tenant_id, edge
    loading = partial(load_trials, since=since - _PRICED_BEFORE, until=until + _DAY)
    trials = await context.database.read(loading, tenant=tenant_id)
    after: tuple[datetime, str] | None = None
    while True:

        async def work(
            session: Session, after: tuple[datetime, str] | None = after
        ) -> tuple[tuple[datetime, str] | None, Iterable[tuple[str, str, DaySums]]]:
            await require_kept(session, period)
            logs = await next_logs(session, since, until, after, LOGS)
            if not logs:
                return None, ()
            sales = sales_of(await read_logs(session, [log_id for _, log_id in logs]))
            local, _ = await add_up(session, tuple(sales.values()), trials)
            return logs[-1], [(promotion_id, currency, sums) for (promotion_id, _, currency), sums in local.items()]

        after, counted = await context.database.read(work, tenant=tenant_id)
        for promotion_id, currency, sums in counted:
            if narrowed is None or promotion_id in narrowed:
                found.setdefault(promotion_id, {}).setdefault(currency, DaySums(sums.trial)).join(sums)
        if after is None:
            return
