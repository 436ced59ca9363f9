"""Forecasts in the database: what one starts from, the unfinished ones as jobs under a lease, their results.

A job is a row of ``forecast_jobs`` as long as its forecast is not finished. A worker takes it for one stretch of work,
writes how far it came and what that came to in one unit of work, and ends its lease (`leases`). Without the lease
nothing is written, so a stretch counts once, whoever died in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import delete, func, insert, select, update

from promenade.engine.basket import ArticleFact
from promenade.engine.definition import PromotionDefinition
from promenade.engine.forecasting import BudgetTally, Tally
from promenade.engine.money import minor_digits
from promenade.store.driver.leases import FORECASTS
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.forecasts.sales import Cursor
from promenade.store.pricing.articles import read_articles
from promenade.store.pricing.definitions import PromotionRows
from promenade.store.pricing.promotion_rows import read_parts
from promenade.store.pricing.surroundings import load_places

_FORECASTS = table("PromotionForecasts")
_JOBS = table("forecast_jobs")
_CUSTOMERS = table("forecast_customers")
_PROMOTIONS = table("Promotions")
_BUDGETS = table("Budgets")

_NAMED_MAX = 500  # IDs in one statement

Columns = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """The input of a forecast: the promotion as of the request, and the articles that it may give away."""

    definition: PromotionDefinition
    date_from: date
    date_to: date
    gifts: dict[str, ArticleFact]


@dataclass(frozen=True, slots=True)
class Subject:
    """A promotion with the fingerprint of its content, its gift articles and the amounts left in its budgets."""

    definition: PromotionDefinition
    content_hash: str
    gifts: dict[str, ArticleFact]
    budgets: dict[str, BudgetTally]


@dataclass(frozen=True, slots=True)
class ForecastJob:
    """An unfinished forecast whose lease this worker holds."""

    tenant_id: str
    forecast_id: str
    plan: Plan
    tally: Tally
    recorded_until: datetime
    cursor: Cursor | None
    attempts: int
    lease_owner: str


_ENCODE = msgspec.msgpack.Encoder().encode
_PLAN = msgspec.msgpack.Decoder(Plan)
_TALLY = msgspec.msgpack.Decoder(Tally)


async def read_subject(session: Session, promotion_id: str) -> Subject | None:
    """Read the promotion, in any status, with all that pricing needs; None: it does not exist."""
    rows = await session.execute(select(_PROMOTIONS).where(_PROMOTIONS.c.id == promotion_id))
    if not rows:
        return None
    places = await load_places(session)
    read = PromotionRows(rows, await read_parts(session, [promotion_id]))
    definition = read.definitions(places)[promotion_id]
    given = [one.free_item_article_number for one in definition.actions if one.free_item_article_number]
    gifts = await read_articles(session, given, (), places.group_keys) if given else []
    budgets = await _budgets(session, definition.budget_ids)
    return Subject(definition, read.contents()[promotion_id], {one.article_number: one for one in gifts}, budgets)


async def _budgets(session: Session, budget_ids: Sequence[str]) -> dict[str, BudgetTally]:
    if not budget_ids:
        return {}
    rows = await session.execute(select(_BUDGETS).where(_BUDGETS.c.id.in_(list(budget_ids))).order_by(_BUDGETS.c.id))
    found: dict[str, BudgetTally] = {}
    for row in rows:
        left = row.total_amount - row.consumed_amount - row.reserved_amount
        # Only whole minor units can be spent, as in pricing.
        minor = max(0, int(left.scaleb(minor_digits(row.currency))))
        found[row.id] = BudgetTally(row.name, row.currency, minor, minor, minor)
    return found


# ---- forecasts ----------------------------------------------------------------------------------------------------


async def insert_forecast(session: Session, forecast: Columns, children: Mapping[str, Sequence[Columns]]) -> None:
    """Insert a forecast with its children by entity set; all as column values."""
    await session.rowcount(insert(_FORECASTS), forecast)
    await insert_children(session, children)


async def insert_children(session: Session, children: Mapping[str, Sequence[Columns]]) -> None:
    """Insert the children of a forecast, by entity set."""
    for set_name, rows in children.items():
        await session.execute_many(insert(table(set_name)), rows)


async def set_columns(session: Session, forecast_id: str, values: Columns) -> None:
    """Update columns of a forecast and raise its version."""
    statement = update(_FORECASTS).where(_FORECASTS.c.id == forecast_id)
    await session.rowcount(statement.values(**values, version=_FORECASTS.c.version + 1))


async def note_start(session: Session, forecast_id: str, at: datetime) -> None:
    """Set the start time of a forecast, unless it is set already."""
    statement = update(_FORECASTS).where(_FORECASTS.c.id == forecast_id, _FORECASTS.c.started_at.is_(None))
    await session.rowcount(statement.values(started_at=at))


async def read_total(session: Session, forecast_id: str) -> int | None:
    """Return the number of sales of a forecast; None: they have not been counted."""
    rows = await session.execute(select(_FORECASTS.c.baskets_total).where(_FORECASTS.c.id == forecast_id))
    return rows[0][0] if rows else None


async def is_promotion_there(session: Session, promotion_id: str) -> bool:
    """Return whether the promotion still exists."""
    return bool(await session.execute(select(_PROMOTIONS.c.id).where(_PROMOTIONS.c.id == promotion_id)))


async def forget_before(session: Session, moment: datetime) -> None:
    """Delete finished forecasts that were requested before ``moment``."""
    finished = _FORECASTS.c.status.in_(("COMPLETED", "FAILED"))
    await session.rowcount(delete(_FORECASTS).where(finished, _FORECASTS.c.created_at < moment))


# ---- jobs ---------------------------------------------------------------------------------------------------------


async def queue(
    session: Session, forecast_id: str, plan: Plan, tally: Tally, *, at: datetime, unfinished_max: int
) -> bool:
    """Queue a forecast; False: the tenant already has ``unfinished_max`` unfinished ones."""
    for _ in range(unfinished_max):
        rows = await session.execute(select(_JOBS.c.slot))
        free = sorted(set(range(1, unfinished_max + 1)) - {row.slot for row in rows})
        if not free:
            return False
        row = {
            "forecast_id": forecast_id,
            "slot": free[0],
            "plan": _ENCODE(plan),
            "tally": _ENCODE(tally),
            "recorded_until": at,
            "due_at": at,
            "attempts": 0,
        }
        # The primary key ensures that no two forecasts have the same slot; if another one took it first, try again.
        if await session.rowcount(upsert(session.dialect, _JOBS).on_conflict_do_nothing(), row) == 1:
            return True
    return False


async def is_anything_waiting(session: Session) -> bool:
    """Return whether any tenant has an unfinished forecast; needs a system session."""
    return bool(await session.execute(select(_JOBS.c.forecast_id).limit(1)))


async def claim(session: Session, *, lease_owner: str, at: datetime, lease_seconds: int) -> ForecastJob | None:
    """Claim the longest waiting forecast that is due or whose lease has expired; needs a system session."""
    until = at + timedelta(seconds=lease_seconds)
    rows = await FORECASTS.claim(session, lease_owner=lease_owner, at=at, until=until)
    if not rows:
        return None
    row = rows[0]
    return ForecastJob(
        tenant_id=row.tenant_id,
        forecast_id=row.forecast_id,
        plan=_PLAN.decode(row.plan),
        tally=_TALLY.decode(row.tally),
        recorded_until=row.recorded_until,
        cursor=None if row.cursor_id is None else Cursor(row.cursor_at, row.cursor_id),
        attempts=row.attempts,
        lease_owner=lease_owner,
    )


async def save(
    session: Session, job: ForecastJob, tally: Tally, cursor: Cursor, uses: Mapping[str, int], *, at: datetime
) -> bool:
    """Write the progress of the forecast and release its lease; False: the lease was lost, and nothing is written."""
    values = {"tally": _ENCODE(tally), "cursor_at": cursor.confirmed_at, "cursor_id": cursor.log_id, "attempts": 0}
    if not await release(session, job, at=at, **values):
        return False
    await _keep_uses(session, job.forecast_id, uses)
    return True


async def release(session: Session, job: ForecastJob, *, at: datetime, **values: Any) -> bool:
    """Release the lease of a forecast and make it due ``at``; False: the lease was lost."""
    return await FORECASTS.release(session, job, due_at=at, **values)


async def drop_job(session: Session, job: ForecastJob, uses: Mapping[str, int]) -> int | None:
    """Delete the job of a finished forecast and return its number of customers. None: the lease was lost."""
    if not await FORECASTS.drop(session, job):
        return None
    await _keep_uses(session, job.forecast_id, uses)
    own = _CUSTOMERS.c.forecast_id == job.forecast_id
    rows = await session.execute(select(func.count()).select_from(_CUSTOMERS).where(own))
    await session.rowcount(delete(_CUSTOMERS).where(own))
    return int(rows[0][0])


async def read_uses(session: Session, forecast_id: str, customer_ids: Collection[str]) -> dict[str, int]:
    """Return, by customer, the number of sales the promotion has applied to so far; zeros are left out."""
    wanted, found = sorted(customer_ids), dict[str, int]()
    for start in range(0, len(wanted), _NAMED_MAX):
        some = wanted[start : start + _NAMED_MAX]
        rows = await session.execute(
            select(_CUSTOMERS.c.customer_id, _CUSTOMERS.c.sales).where(
                _CUSTOMERS.c.forecast_id == forecast_id, _CUSTOMERS.c.customer_id.in_(some)
            )
        )
        found.update((row.customer_id, row.sales) for row in rows)
    return found


async def _keep_uses(session: Session, forecast_id: str, uses: Mapping[str, int]) -> None:
    statement = upsert(session.dialect, _CUSTOMERS)
    await session.execute_many(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "forecast_id", "customer_id"], set_={"sales": statement.excluded.sales}
        ),
        [
            {"forecast_id": forecast_id, "customer_id": customer_id, "sales": count}
            for customer_id, count in sorted(uses.items())
        ],
    )
