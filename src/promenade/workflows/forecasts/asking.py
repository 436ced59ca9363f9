"""Forecasts: what a promotion would have done to the sales of a period, had it run then.

Which sales count: every transaction confirmed on the days ``dateFrom`` to ``dateTo``, both included, by its time of
confirmation in the time zone of its POS group, once, with the iteration that was confirmed. Sales recorded after the
forecast was requested do not count. A sale with return lines counts like any other: promotions do not target return
lines, and later returns do not reduce the cost.

How they are priced: with the promotions as they were then. A stored iteration refers by hash to the definitions that
it depended on; the promotion is added to these as it is today, replacing its version of then if it already ran. The
basket, the facts about articles and coupons and the time stay those of the sale. The promotion's own status, validity
and campaign window are ignored; conditions, POS groups, exclusions, limits and budgets count.

- Coupons: a promotion with coupon types applies to baskets in which a valid code of one of them was presented.
- Usage limits are counted from zero, within the forecast.
- Budgets of the promotion start with what is left of them today, whatever their status and validity; they are spent in
  the order of confirmation, also by the other promotions of these sales that share them. Other budgets and limits have
  the values they had at the moment of the sale.
- Both sides are as evaluated: promotions that a till withdrew or changed at confirm are not treated differently.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import DefinitionError
from promenade.engine.forecasting import Tally, as_if_it_ran
from promenade.errors import Conflict, Invalid, NotFound, TooMany
from promenade.store.driver.unit import Session
from promenade.store.forecasts.runs import Plan, Subject, forget_before, insert_forecast, queue, read_subject
from promenade.store.forecasts.sales import Windows, count_sales, kept_in, read_windows
from promenade.workflows.context import Context
from promenade.workflows.forecasts.replay import Replaying
from promenade.workflows.forecasts.results import children_of, finished

DAYS_MAX = 366
UNFINISHED_MAX = 4
RETRY_SECONDS = 30
BASKETS_AT_ONCE = 1_000
SECONDS_AT_ONCE = 1.0
KEPT_DAYS = 90

_FIRST, _LAST = date(1970, 1, 2), date(9999, 12, 30)
_AT_ONCE = asyncio.Semaphore(1)  # only taken if free: other forecasts run in the background


@dataclass(frozen=True, slots=True)
class Period:
    """A range of days, both included."""

    date_from: date
    date_to: date


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast ready to be stored. ``tally`` is its result or, with ``is_done`` False, its initial state."""

    promotion_id: str
    content_hash: str
    plan: Plan
    windows: Windows
    tally: Tally
    at: datetime
    total: int | None
    customers: int
    is_done: bool


def check_period(date_from: date, date_to: date) -> Period:
    """Return the requested period. Raises Invalid (PERIOD_EMPTY, PERIOD_TOO_LONG, OUT_OF_RANGE)."""
    for name, day in (("dateFrom", date_from), ("dateTo", date_to)):
        if not _FIRST <= day <= _LAST:
            raise Invalid("OUT_OF_RANGE", f"{name} must be from {_FIRST} to {_LAST}.", name)
    if date_from > date_to:
        raise Invalid("PERIOD_EMPTY", "dateTo must not be before dateFrom.", "dateTo")
    if (date_to - date_from).days >= DAYS_MAX:
        raise Invalid("PERIOD_TOO_LONG", f"A forecast can cover at most {DAYS_MAX} days.", "dateTo")
    return Period(date_from, date_to)


async def prepare_forecast(
    context: Context,
    tenant_id: str,
    promotion_id: str,
    period: Period,
    *,
    baskets_max: int = BASKETS_AT_ONCE,
    seconds_max: float = SECONDS_AT_ONCE,
) -> Forecast:
    """Compute a short forecast, or the initial state of a long one. To be called outside of any unit of work.

    It stores nothing. Raises NotFound for an unknown promotion and Conflict (PROMOTION_CANNOT_RUN) for one that does
    not compile.
    """
    at = context.clock()

    async def work(session: Session) -> tuple[Subject | None, Windows, int]:
        subject = await read_subject(session, promotion_id)
        windows = await read_windows(session, period.date_from, period.date_to)
        return subject, windows, await count_sales(session, windows, at, baskets_max + 1)

    subject, windows, total = await context.database.read(work, tenant=tenant_id)
    if subject is None:
        raise NotFound("NOT_FOUND", "There is no such promotion.")
    try:
        compile_promotion(as_if_it_ran(subject.definition))
    except DefinitionError as error:
        message = f"The promotion cannot run: {error.message} ({error.target})"
        raise Conflict("PROMOTION_CANNOT_RUN", message) from error
    plan = Plan(subject.definition, period.date_from, period.date_to, subject.gifts)
    if total <= baskets_max and not _AT_ONCE.locked():
        async with _AT_ONCE:
            replaying = Replaying(context, tenant_id, "", plan, Tally(deepcopy(subject.budgets)))
            if await _replay_all(replaying, windows, at, seconds_max):
                return Forecast(
                    promotion_id,
                    subject.content_hash,
                    plan,
                    windows,
                    replaying.tally,
                    at,
                    total,
                    replaying.customers,
                    True,
                )
    counted = total if total <= baskets_max else None
    return Forecast(promotion_id, subject.content_hash, plan, windows, Tally(subject.budgets), at, counted, 0, False)


async def _replay_all(replaying: Replaying, windows: Windows, until: datetime, seconds_max: float) -> bool:
    """Replay every sale; False: it takes too long."""
    began, cursor, is_last = time.monotonic(), None, False
    while not is_last:
        if time.monotonic() - began > seconds_max:
            return False
        cursor, is_last = await replaying.page(windows, until, cursor)
    return True


async def store_forecast(session: Session, forecast: Forecast, *, user: str, new_id: Callable[[], str]) -> str:
    """Store a prepared forecast, finished or queued; return its ID.

    Raises TooMany (TOO_MANY_FORECASTS) if the tenant has the maximum number of unfinished forecasts.
    """
    forecast_id, at, plan = new_id(), forecast.at, forecast.plan
    await forget_before(session, at - timedelta(days=KEPT_DAYS))
    row: dict[str, Any] = {
        "id": forecast_id,
        "promotion_id": forecast.promotion_id,
        "promotion_name": plan.definition.name,
        "promotion_version": plan.definition.version,
        "content_hash": forecast.content_hash,
        "date_from": plan.date_from,
        "date_to": plan.date_to,
        "baskets_total": forecast.total,
        "status": "QUEUED",
        "created_at": at,
        "created_by": user,
        "modified_at": at,
        "modified_by": user,
    }
    if forecast.is_done:
        since = await kept_in(session, forecast.windows)
        row |= {"started_at": at, **finished(forecast.tally, forecast.customers, at, since)}
        await insert_forecast(session, row, children_of(forecast_id, forecast.tally, at, new_id))
        return forecast_id
    if not await queue(session, forecast_id, plan, forecast.tally, at=at, unfinished_max=UNFINISHED_MAX):
        message = f"{UNFINISHED_MAX} forecasts are not finished yet; try again when one of them is."
        raise TooMany("TOO_MANY_FORECASTS", message, RETRY_SECONDS)
    await insert_forecast(session, row, {})
    return forecast_id
