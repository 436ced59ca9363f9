"""Codes of a period: those that were issued in it, by where they stand now; of shared codes, their uses.

A code from outside, and one that went from the pool to a till without being issued, counts from when it came about.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, exists, func, literal_column, select

from promenade.store.money_report_coupons import Counts
from promenade.store.money_reports import QUERIES
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["issued_between", "types_after", "used_between"]

_CODES = table("CouponCodes")
_CLAIMS = table("coupon_claims")
_COUNTS = table("coupon_type_counts")
_LOGS = table("RedemptionLogs")
_LINKS = table("CouponTypePromotions")
_BUDGET_LINKS = table("BudgetPromotions")
_SHARES = table("BudgetStakeholders")
_RESERVATIONS = table("coupon_reservations")

# Named, all of them, so that each has its range of moments in the index.
_STATUSES = ("CREATED", "ACTIVE", "RESERVED", "REDEEMED", "EXPIRED", "CANCELLED")
_SPENDING = ("RESERVED", "REDEEMED")
_LISTED = and_(_CODES.c.status.in_(_STATUSES), _CODES.c.issued_at.is_not(None))


async def types_after(
    session: Session, after: str, limit: int, *, promotion_id: str | None, stakeholder_id: str | None
) -> Sequence[Row[Any]]:
    """Coupon types after one, by ID: ``coupon_type_id``, ``coupon_type_name``, ``code_type`` and ``has_external``.

    Of a promotion: those that trigger it; of a stakeholder: those that trigger a promotion that is charged to a budget
    that it shares.
    """
    rows = QUERIES["CouponAnalytics"]()
    has_external = exists().where(_COUNTS.c.coupon_type_id == rows.c.coupon_type_id, _COUNTS.c.external > 0)
    statement = (
        select(rows.c.coupon_type_id, rows.c.coupon_type_name, rows.c.code_type, has_external.label("has_external"))
        .where(rows.c.coupon_type_id > after)
        .order_by(rows.c.coupon_type_id)
        .limit(limit)
    )
    triggers = _LINKS.c.coupon_type_id == rows.c.coupon_type_id
    if promotion_id is not None:
        statement = statement.where(exists().where(triggers, _LINKS.c.promotion_id == promotion_id))
    if stakeholder_id is not None:
        shared = exists().where(
            triggers,
            _BUDGET_LINKS.c.promotion_id == _LINKS.c.promotion_id,
            _SHARES.c.budget_id == _BUDGET_LINKS.c.budget_id,
            _SHARES.c.stakeholder_id == stakeholder_id,
        )
        statement = statement.where(shared)
    return await session.execute(statement)


async def issued_between(
    session: Session, type_ids: Sequence[str], external_ids: Sequence[str], since: datetime, until: datetime
) -> dict[str, Counts]:
    """Codes issued in a period, by type; ``external_ids`` are those of the types that have codes from outside."""
    found = {type_id: Counts() for type_id in type_ids}
    if not type_ids:
        return found
    of_types = _CODES.c.coupon_type_id.in_(type_ids)
    issued = and_(of_types, _LISTED, _CODES.c.issued_at >= since, _CODES.c.issued_at < until)
    came = and_(_CODES.c.issued_at.is_(None), _CODES.c.created_at >= since, _CODES.c.created_at < until)
    taken = and_(of_types, _CODES.c.status.in_(_SPENDING), came)
    conditions = [issued, taken]
    if external_ids:
        others = [one for one in _STATUSES if one not in _SPENDING]
        is_external = and_(_CODES.c.source == literal_column("'EXTERNAL'"), _CODES.c.status.in_(others))
        conditions.append(and_(_CODES.c.coupon_type_id.in_(external_ids), is_external, came))
    for condition in conditions:
        for row in await session.execute(_by_status(condition)):
            found[row.coupon_type_id].add(row.status, has_moment=True, is_external=False, count=row.codes)
    return found


def _by_status(condition: ColumnElement[bool]) -> Select[Any]:
    keys = (_CODES.c.coupon_type_id, _CODES.c.status)
    return select(*keys, func.count().label("codes")).where(condition).group_by(*keys)


async def used_between(
    session: Session, type_ids: Sequence[str], since: datetime, until: datetime
) -> dict[str, Counts]:
    """Uses of shared codes in a period, by type: given to somebody, taken hold of and held still, and spent."""
    found = {type_id: Counts() for type_id in type_ids}
    if not type_ids:
        return found
    for row in await session.execute(_given(type_ids, since, until)):
        found[row.coupon_type_id].issued = row.uses
    for row in await session.execute(_held(type_ids, since, until)):
        found[row.coupon_type_id].reserved = row.uses
    for statement in _spent(type_ids, since, until):
        for row in await session.execute(statement):
            found[row.coupon_type_id].redeemed += row.uses
    return found


def _given(type_ids: Sequence[str], since: datetime, until: datetime) -> Select[Any]:
    in_period = and_(_LOGS.c.occurred_at >= since, _LOGS.c.occurred_at < until)
    counted = select(_LOGS.c.coupon_type_id, func.count().label("uses")).group_by(_LOGS.c.coupon_type_id)
    return counted.where(_LOGS.c.coupon_type_id.in_(type_ids), _LOGS.c.action == "ISSUED", in_period)


def _held(type_ids: Sequence[str], since: datetime, until: datetime) -> Select[Any]:
    rows = _RESERVATIONS
    in_period = and_(rows.c.reserved_at >= since, rows.c.reserved_at < until)
    counted = select(rows.c.coupon_type_id, func.count().label("uses")).group_by(rows.c.coupon_type_id)
    return counted.where(rows.c.coupon_type_id.in_(type_ids), rows.c.state == "HELD", in_period)


def _spent(type_ids: Sequence[str], since: datetime, until: datetime) -> tuple[Select[Any], Select[Any]]:
    """Claims of the code that a type has itself, and of those of its codes that have rows."""
    in_period = and_(_CLAIMS.c.claimed_at >= since, _CLAIMS.c.claimed_at < until)
    counted = select(_CLAIMS.c.coupon_type_id, func.count().label("uses")).group_by(_CLAIMS.c.coupon_type_id)
    own = counted.where(_CLAIMS.c.coupon_code_id.in_(type_ids), in_period)
    codes = select(_CODES.c.id).where(_CODES.c.coupon_type_id.in_(type_ids))
    return own, counted.where(_CLAIMS.c.coupon_code_id.in_(codes), in_period)
