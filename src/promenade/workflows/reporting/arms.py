"""What the arms of pilots and experiments came to: counted with every sale, compared when sales were counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from promenade.store.arm_report_sums import (
    DAYS,
    UTC_DAYS,
    add_days,
    by_promotions,
    day_sums,
    drop_comparisons,
    keep_extra_revenue,
    keep_results,
    read_sums,
    stale_promotions,
    take_stale_days,
)
from promenade.store.arm_report_trials import trials_for
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reporting import arms_export, uplift
from promenade.workflows.reporting.arms_counting import add_up
from promenade.workflows.reporting.arms_pace import Pace
from promenade.workflows.reporting.arms_results import comparisons_of, extra_revenue, result_of
from promenade.workflows.reporting.folds import fold, refresher
from promenade.workflows.reporting.sales import LoggedSale
from promenade.workflows.reporting.statistics import load

__all__ = ["add", "refresh"]

_PARTS = (arms_export, uplift)
"""The modules that register the rest."""

PORTION = 10  # promotions that one unit of work compares


@fold("arms", tables=(DAYS, UTC_DAYS, "ABTestResults", "PromotionAbComparison"))
async def add(session: Session, sales: Sequence[LoggedSale], at: datetime) -> int:
    """Add sales to the arms that they are in."""
    moments = [one.evaluated_at for one in sales]
    trials = await trials_for(session, min(moments), max(moments), at)
    local, utc = await add_up(session, sales, trials)
    return await add_days(session, DAYS, local) + await add_days(session, UTC_DAYS, utc)


@refresher("arms.compared")
async def refresh(context: Context, tenant_id: str, at: datetime) -> int:
    """Compare the arms of all trials that sales were added to; the answer counts the trials."""
    done, pace = 0, Pace(context, tenant_id)
    while True:
        stale = await context.database.read(lambda session: stale_promotions(session, PORTION), tenant=tenant_id)
        if not stale:
            return done
        await asyncio.to_thread(load)

        async def work(session: Session, ids: Sequence[str] = tuple(stale)) -> None:
            await _compare(session, ids, at)

        await context.database.write(work, tenant=tenant_id, durable=False)
        done += len(stale)
        if len(stale) < PORTION or not await pace.goes_on():
            return done


async def _compare(session: Session, promotion_ids: Sequence[str], at: datetime) -> None:
    days = await take_stale_days(session, promotion_ids)
    await keep_extra_revenue(
        session,
        [((row.promotion_id, row.day, row.currency), extra_revenue(day_sums(row), row.currency)) for row in days],
    )
    by_promotion = by_promotions(await read_sums(session, DAYS, promotion_ids))
    results = [result_of(promotion_id, sums, at) for promotion_id, sums in by_promotion.items()]
    arms = [row for promotion_id, sums in by_promotion.items() for row in comparisons_of(promotion_id, sums, at)]
    await keep_results(session, "ABTestResults", results, ("promotion_id",))
    await drop_comparisons(session, promotion_ids)
    await keep_results(session, "PromotionAbComparison", arms, ("promotion_id", "arm"))
