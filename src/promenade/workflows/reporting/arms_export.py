"""abTestResults as it is exported: what the arms came to within a period.

Whole days in UTC are read from what the aggregator has added up, which lacks the sales of the last seconds; what is
left of the period at both ends, from the logs themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from promenade.store.arm_report_periods import names_of, next_logs, promotions_of
from promenade.store.arm_report_sums import UTC_DAYS, DaySums, by_promotions, read_sums
from promenade.store.arm_report_trials import Trial, load_trials
from promenade.store.report_queue import read_parts
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reporting.arms_counting import add_up
from promenade.workflows.reporting.arms_results import result_of
from promenade.workflows.reporting.exports import Period, export
from promenade.workflows.reporting.reading import sales_of
from promenade.workflows.reporting.statistics import load

__all__ = ["COLUMNS", "rows"]

COLUMNS = (
    "promotionId", "promotionName", "controlAvgBasket", "experimentAvgBasket", "revenueUplift", "revenueTStatistic",
    "revenuePValue", "revenueIsSignificant", "controlConversionRate", "experimentConversionRate", "uplift",
    "chiSquared", "pValue", "isSignificant",
)  # fmt: skip
_FIELDS = (
    "promotion_id", "kept_name", "control_avg_basket", "experiment_avg_basket", "revenue_uplift",
    "revenue_t_statistic", "revenue_p_value", "revenue_is_significant", "control_conversion_rate",
    "experiment_conversion_rate", "uplift", "chi_squared", "p_value", "is_significant",
)  # fmt: skip

LOGS = 200  # that one unit of work reads
NAMES = 500
_PRICED_BEFORE = timedelta(days=7)  # a sale may have been priced so long before it was confirmed
_DAY = timedelta(days=1)

Sums = dict[str, dict[str, DaySums]]


@export("abTestResults", filename="ab-test-results.csv", columns=COLUMNS)
async def rows(context: Context, period: Period) -> AsyncIterator[Mapping[str, Any]]:
    """A row for each pilot or experiment with a sale in the period, by promotion ID."""
    sums = await _sums(context, period)
    await asyncio.to_thread(load)
    wanted = sorted(sums)
    for start in range(0, len(wanted), NAMES):
        ids = wanted[start : start + NAMES]

        async def names(session: Session, ids: list[str] = ids) -> dict[str, str]:
            return await names_of(session, ids)

        known = await context.database.read(names, tenant=period.tenant_id)
        for promotion_id in ids:
            result = result_of(promotion_id, sums[promotion_id], context.clock())
            result["kept_name"] = known.get(promotion_id, result["kept_name"])
            yield {column: result[name] for column, name in zip(COLUMNS, _FIELDS, strict=True)}


async def _sums(context: Context, period: Period) -> Sums:
    """What both arms came to, by promotion and currency."""
    first, last = _whole_days(period.since, period.until)
    edges = [(period.since, period.until)]
    found: Sums = {}
    if first < last:
        whole = (datetime.combine(first, time(), UTC), datetime.combine(last, time(), UTC))
        edges = [(period.since, whole[0]), (whole[1], period.until)]

    async def work(session: Session) -> tuple[set[str] | None, Sums]:
        narrowed = None if period.promotion_id is None else {period.promotion_id}
        if period.stakeholder_id is not None:
            paid = await promotions_of(session, period.stakeholder_id)
            narrowed = paid if narrowed is None else narrowed & paid
        ids = None if narrowed is None else sorted(narrowed)
        if first >= last or narrowed == set():
            return narrowed, {}
        return narrowed, by_promotions(await read_sums(session, UTC_DAYS, ids, first, last))

    narrowed, found = await context.database.read(work, tenant=period.tenant_id)
    for since, until in edges:
        if since < until and narrowed != set():
            await _add_logs(context, period.tenant_id, (since, until), narrowed, found)
    return found


def _whole_days(since: datetime, until: datetime) -> tuple[date, date]:
    """The first whole day in UTC, and the one after the last."""
    first = since.astimezone(UTC)
    day = first.date() if first.time() == time() else first.date() + _DAY
    return day, until.astimezone(UTC).date()


async def _add_logs(
    context: Context, tenant_id: str, edge: tuple[datetime, datetime], narrowed: set[str] | None, found: Sums
) -> None:
    since, until = edge

    async def trials_work(session: Session) -> tuple[Trial, ...]:
        return await load_trials(session, since - _PRICED_BEFORE, until + _DAY)

    trials = await context.database.read(trials_work, tenant=tenant_id)
    after: tuple[datetime, str] | None = None
    while True:

        async def work(
            session: Session, after: tuple[datetime, str] | None = after
        ) -> tuple[tuple[datetime, str] | None, Iterable[tuple[str, str, DaySums]]]:
            logs = await next_logs(session, since, until, after, LOGS)
            if not logs:
                return None, ()
            sales = sales_of(await read_parts(session, [log_id for _, log_id in logs]))
            local, _ = await add_up(session, tuple(sales.values()), trials)
            return logs[-1], [(promotion_id, currency, sums) for (promotion_id, _, currency), sums in local.items()]

        after, counted = await context.database.read(work, tenant=tenant_id)
        for promotion_id, currency, sums in counted:
            if narrowed is None or promotion_id in narrowed:
                found.setdefault(promotion_id, {}).setdefault(currency, DaySums(sums.trial)).join(sums)
        if after is None:
            return
