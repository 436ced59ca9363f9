"""Forecasts in the database: what one starts from, the unfinished ones as jobs under a lease, their results.

A job is a row of ``forecast_jobs`` as long as its forecast is not finished. A worker takes it for one stretch of work,
writes how far it came and what that came to in one unit, and lets go of it. Nothing is written by who no longer holds
the lease (``lease_owner``, new with every claim, is the fencing token), so a stretch counts once, whoever died in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, tuple_, update

from promenade.engine.basket import ArticleFact
from promenade.engine.definition import PromotionDefinition
from promenade.engine.forecasting import BudgetTally, Tally
from promenade.engine.money import minor_digits
from promenade.store.articles import read_articles
from promenade.store.definitions import PromotionRows
from promenade.store.forecast_sales import Cursor
from promenade.store.promotion_rows import read_parts
from promenade.store.schema import table
from promenade.store.surroundings import load_places
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "ForecastJob",
    "Plan",
    "Subject",
    "claim",
    "drop_job",
    "forget_before",
    "give_back",
    "insert_children",
    "insert_forecast",
    "is_anything_waiting",
    "is_promotion_there",
    "note_start",
    "queue",
    "read_subject",
    "read_total",
    "read_uses",
    "save",
    "set_columns",
]

_FORECASTS = table("PromotionForecasts")
_JOBS = table("forecast_jobs")
_CUSTOMERS = table("forecast_customers")
_PROMOTIONS = table("Promotions")
_BUDGETS = table("Budgets")

_NAMED_MAX = 500  # IDs in one statement

Columns = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is tried: the promotion as it was when the forecast was asked for, and the articles that it may give."""

    definition: PromotionDefinition
    date_from: date
    date_to: date
    gifts: dict[str, ArticleFact]


@dataclass(frozen=True, slots=True)
class Subject:
    """A promotion with what its budgets have left now."""

    definition: PromotionDefinition
    gifts: dict[str, ArticleFact]
    budgets: dict[str, BudgetTally]


@dataclass(frozen=True, slots=True)
class ForecastJob:
    """An unfinished forecast that this worker holds."""

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
    """The promotion, in whatever status, with all that its price depends on; None: there is no such promotion."""
    rows = await session.execute(select(_PROMOTIONS).where(_PROMOTIONS.c.id == promotion_id))
    if not rows:
        return None
    places = await load_places(session)
    read = PromotionRows(rows, await read_parts(session, [promotion_id]))
    definition = read.definitions(places)[promotion_id]
    given = [one.free_item_article_number for one in definition.actions if one.free_item_article_number]
    gifts = await read_articles(session, given, (), places.group_keys) if given else []
    budgets = await _budgets(session, definition.budget_ids)
    return Subject(definition, {one.article_number: one for one in gifts}, budgets)


async def _budgets(session: Session, budget_ids: Sequence[str]) -> dict[str, BudgetTally]:
    if not budget_ids:
        return {}
    rows = await session.execute(select(_BUDGETS).where(_BUDGETS.c.id.in_(list(budget_ids))).order_by(_BUDGETS.c.id))
    found: dict[str, BudgetTally] = {}
    for row in rows:
        left = row.total_amount - row.consumed_amount - row.reserved_amount
        # Below a minor unit nothing can be given, as when a basket is priced.
        minor = max(0, int(left.scaleb(minor_digits(row.currency))))
        found[row.id] = BudgetTally(row.name, row.currency, minor, minor, minor)
    return found


# ---- forecasts ----------------------------------------------------------------------------------------------------


async def insert_forecast(session: Session, forecast: Columns, children: Mapping[str, Sequence[Columns]]) -> None:
    """Write a forecast with its children by entity set; all by their columns."""
    await session.rowcount(insert(_FORECASTS), forecast)
    await insert_children(session, children)


async def insert_children(session: Session, children: Mapping[str, Sequence[Columns]]) -> None:
    """Write the children of a forecast by entity set."""
    for set_name, rows in children.items():
        await session.execute_many(insert(table(set_name)), rows)


async def set_columns(session: Session, forecast_id: str, values: Columns) -> None:
    """Change columns of a forecast, which raises its version."""
    statement = update(_FORECASTS).where(_FORECASTS.c.id == forecast_id)
    await session.rowcount(statement.values(**values, version=_FORECASTS.c.version + 1))


async def note_start(session: Session, forecast_id: str, at: datetime) -> None:
    """Say since when a forecast is worked on, once."""
    statement = update(_FORECASTS).where(_FORECASTS.c.id == forecast_id, _FORECASTS.c.started_at.is_(None))
    await session.rowcount(statement.values(started_at=at))


async def read_total(session: Session, forecast_id: str) -> int | None:
    """How many sales a forecast has; None: they have not been counted."""
    rows = await session.execute(select(_FORECASTS.c.baskets_total).where(_FORECASTS.c.id == forecast_id))
    return rows[0][0] if rows else None


async def is_promotion_there(session: Session, promotion_id: str) -> bool:
    """Whether there still is such a promotion."""
    return bool(await session.execute(select(_PROMOTIONS.c.id).where(_PROMOTIONS.c.id == promotion_id)))


async def forget_before(session: Session, moment: datetime) -> None:
    """Delete finished forecasts that were asked for before ``moment``."""
    finished = _FORECASTS.c.status.in_(("COMPLETED", "FAILED"))
    await session.rowcount(delete(_FORECASTS).where(finished, _FORECASTS.c.created_at < moment))


# ---- jobs ---------------------------------------------------------------------------------------------------------


async def queue(
    session: Session, forecast_id: str, plan: Plan, tally: Tally, *, at: datetime, unfinished_max: int
) -> bool:
    """Put a forecast in the queue; False: the tenant has ``unfinished_max`` that are not finished."""
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
        # Who was quicker has the place: the key sees to it that no two have the same.
        if await session.rowcount(upsert(session.dialect, _JOBS).on_conflict_do_nothing(), row) == 1:
            return True
    return False


async def is_anything_waiting(session: Session) -> bool:
    """Whether there is an unfinished forecast of any tenant; needs a system session."""
    return bool(await session.execute(select(_JOBS.c.forecast_id).limit(1)))


async def claim(session: Session, *, lease_owner: str, at: datetime, lease_seconds: int) -> ForecastJob | None:
    """Take the forecast that has waited longest, if any is due or was left by its worker; needs a system session."""
    until = at + timedelta(seconds=lease_seconds)
    # A time farther ahead than any that is given now came from a clock that has been set back since (see `jobs.claim`).
    free = or_(_JOBS.c.lease_until.is_(None), _JOBS.c.lease_until <= at, _JOBS.c.lease_until > until)
    due = or_(_JOBS.c.due_at <= at, _JOBS.c.due_at > until)
    picked = select(_JOBS.c.tenant_id, _JOBS.c.forecast_id).where(free, due).order_by(_JOBS.c.due_at).limit(1)
    if session.dialect == "postgresql":
        picked = picked.with_for_update(skip_locked=True)
    one = picked.cte("one")  # a sub-query may be run more than once, and then takes more than one
    rows = await session.execute(
        update(_JOBS)
        .where(tuple_(_JOBS.c.tenant_id, _JOBS.c.forecast_id).in_(select(one.c.tenant_id, one.c.forecast_id)))
        .values(lease_owner=lease_owner, lease_until=until, attempts=_JOBS.c.attempts + 1)
        .returning(*_JOBS.c)
    )
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
    """Write how far the forecast came and let go of it; False: the lease is lost, and nothing is written."""
    values = {"tally": _ENCODE(tally), "cursor_at": cursor.confirmed_at, "cursor_id": cursor.log_id, "attempts": 0}
    if not await give_back(session, job, at=at, **values):
        return False
    await _keep_uses(session, job.forecast_id, uses)
    return True


async def give_back(session: Session, job: ForecastJob, *, at: datetime, **values: Any) -> bool:
    """Let go of a forecast that is due again ``at``; False: the lease is lost."""
    statement = update(_JOBS).where(_held(job)).values(lease_owner=None, lease_until=None, due_at=at, **values)
    return await session.rowcount(statement) == 1


async def drop_job(session: Session, job: ForecastJob, uses: Mapping[str, int]) -> int | None:
    """Delete the job of a forecast that is finished; how many customers it met. None: the lease is lost."""
    if await session.rowcount(delete(_JOBS).where(_held(job))) != 1:
        return None
    await _keep_uses(session, job.forecast_id, uses)
    own = _CUSTOMERS.c.forecast_id == job.forecast_id
    rows = await session.execute(select(func.count()).select_from(_CUSTOMERS).where(own))
    await session.rowcount(delete(_CUSTOMERS).where(own))
    return int(rows[0][0])


def _held(job: ForecastJob) -> ColumnElement[bool]:
    return and_(_JOBS.c.forecast_id == job.forecast_id, _JOBS.c.lease_owner == job.lease_owner)


async def read_uses(session: Session, forecast_id: str, customer_ids: Collection[str]) -> dict[str, int]:
    """To how many sales of each customer the promotion has applied so far; customers without any are left out."""
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
