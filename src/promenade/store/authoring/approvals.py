"""Approvals in the database: the tenant's policy, what is submitted and approved, and what forecasts say it costs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select

from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.driver.recurring import parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_TENANTS = table("Tenants")
_PROMOTIONS = table("Promotions")
_APPROVALS = table("PromotionApprovals")
_FORECASTS = table("PromotionForecasts")
_AUTHORS = table("promotion_authors")


@dataclass(frozen=True, slots=True)
class Policy:
    """Which promotions run only with an approval, and whose: those that cost ``from_amount`` or more; None: all."""

    is_binding: bool
    from_amount: Decimal | None
    currency: str | None
    approver_scope: str


async def read_policy(session: Session) -> Policy:
    """Return the policy of the session's tenant."""
    wanted = (
        _TENANTS.c.approval,
        _TENANTS.c.approval_from_amount,
        _TENANTS.c.approval_currency,
        _TENANTS.c.approver_scope,
    )
    rows = await session.execute(select(*wanted).where(_TENANTS.c.tenant_id == session.tenant))
    if not rows:
        return Policy(False, None, None, "")
    row = rows[0]
    return Policy(row.approval == "BINDING", row.approval_from_amount, row.approval_currency, row.approver_scope)


async def read_agents_may_activate(session: Session) -> bool:
    """Return whether the session's tenant lets agents run promotions."""
    rows = await session.execute(select(_TENANTS.c.agents_may_activate).where(_TENANTS.c.tenant_id == session.tenant))
    return bool(rows and rows[0].agents_may_activate)


async def read_promotions_of(session: Session, campaign_ids: Collection[str]) -> set[str]:
    """Return the IDs of the campaigns' promotions."""
    of_campaigns = (_PROMOTIONS.c.campaign_id,)
    return {row.id for row in await read_among(session, of_campaigns, sorted(campaign_ids), _identified)}


def _identified(condition: ColumnElement[bool]) -> Select[Any]:
    return select(_PROMOTIONS.c.id).where(condition)


async def read_open(session: Session, promotion_ids: Collection[str]) -> list[Columns]:
    """Return the approvals that are pending or hold, the latest submissions last."""
    names = _APPROVALS.c.keys()
    found = await read_among(session, (_APPROVALS.c.promotion_id,), sorted(promotion_ids), _open)
    rows = [dict(zip(names, row, strict=True)) for row in found]
    return sorted(rows, key=lambda row: (row["submitted_at"], row["id"]))


def _open(condition: ColumnElement[bool]) -> Select[Any]:
    return select(_APPROVALS).where(condition, _APPROVALS.c.status.in_(("PENDING", "APPROVED")))


async def read_waiting(session: Session) -> tuple[list[str], list[Columns]]:
    """Return the tenant's promotions in PENDING_APPROVAL by ID, and the approvals that are pending."""
    waiting = await session.execute(select(_PROMOTIONS.c.id).where(_PROMOTIONS.c.status == "PENDING_APPROVAL"))
    rows = await session.execute(select(_APPROVALS).where(_APPROVALS.c.status == "PENDING"))
    return [row.id for row in waiting], [dict(zip(_APPROVALS.c.keys(), row, strict=True)) for row in rows]


# ---- authors ------------------------------------------------------------------------------------------------------


async def add_authors(session: Session, authors: Collection[tuple[str, str]]) -> None:
    """Remember who has changed the content of promotions: pairs of promotion ID and user."""
    rows = [{"promotion_id": promotion_id, "author": user} for promotion_id, user in sorted(authors)]
    await session.execute_many(upsert(session.dialect, _AUTHORS).on_conflict_do_nothing(), rows)


async def read_authors(session: Session, promotion_id: str) -> set[str]:
    """Return who has changed the content of a promotion since it was last approved."""
    rows = await session.execute(select(_AUTHORS.c.author).where(_AUTHORS.c.promotion_id == promotion_id))
    return {row.author for row in rows}


async def forget_authors(session: Session, promotion_ids: Collection[str]) -> None:
    """Begin anew to remember the authors of promotions."""
    for promotion_id in sorted(promotion_ids):
        await session.rowcount(delete(_AUTHORS).where(_AUTHORS.c.promotion_id == promotion_id))


# ---- forecasts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompletedForecast:
    """A completed forecast: its columns, its amounts by currency and its budgets."""

    row: Columns
    amounts: Sequence[Columns]
    budgets: Sequence[Columns]


async def read_latest_forecasts(
    session: Session, contents: dict[str, str], *, days_min: int, ended_since: date
) -> dict[str, CompletedForecast]:
    """Return the latest completed forecast of each promotion, of those that are about its content in ``contents``.

    Only forecasts count that cover at least ``days_min`` days, none after the request, and the last of which is not
    before ``ended_since``.
    """
    names = _FORECASTS.c.keys()
    latest: dict[str, Columns] = {}
    wanted = sorted(contents)
    for found in await read_among(session, (_FORECASTS.c.promotion_id,), wanted, _completed, since=ended_since):
        row = dict(zip(names, found, strict=True))
        is_long = (row["date_to"] - row["date_from"]).days + 1 >= days_min
        # Somewhere it was already the next day.
        is_past = row["date_to"] <= row["created_at"].date() + timedelta(days=1)
        if is_long and is_past and row["content_hash"] == contents[row["promotion_id"]]:
            latest[row["promotion_id"]] = row
    ids = [row["id"] for row in latest.values()]
    amounts = await _by_forecast(session, "PromotionForecastAmounts", ids)
    budgets = await _by_forecast(session, "PromotionForecastBudgets", ids)
    return {
        key: CompletedForecast(row, amounts.get(row["id"], ()), budgets.get(row["id"], ()))
        for key, row in latest.items()
    }


def _completed(condition: ColumnElement[bool]) -> Select[Any]:
    since = parameter("since", _FORECASTS.c.date_to.type)
    is_counted = (_FORECASTS.c.status == "COMPLETED") & (_FORECASTS.c.date_to >= since)
    return select(_FORECASTS).where(condition, is_counted).order_by(_FORECASTS.c.created_at, _FORECASTS.c.id)


async def _by_forecast(session: Session, set_name: str, ids: Collection[str]) -> dict[str, list[Columns]]:
    found: dict[str, list[Columns]] = {}
    for row in await read_rows(session, set_name, "forecast_id", ids) if ids else ():
        found.setdefault(row["forecast_id"], []).append(row)
    return found
