"""Coupon codes counted by type, for portions of types: the data of the coupon report.

Codes are changed by many transactions, each in its own row; a common sum would make them wait for each other. So they
are counted instead, a million per type as entries of one index. The index does not contain who owns a code without an
issue time: such codes are read only if there are few, or if codes may have been imported since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, and_, exists, func, literal_column, or_, select

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import among, parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.reports.queries import QUERIES
from promenade.store.reports.sums import add_rows
from promenade.store.sales.usage import ALL_CUSTOMERS

_TYPES = table("CouponTypes")
_CODES = table("CouponCodes")
_COUNTS = table("coupon_type_counts")
_USAGE = table("coupon_usage")
_RESERVATIONS = table("coupon_reservations")
_CLAIMS = table("coupon_claims")
_LINKS = table("CouponTypePromotions")
_BUDGET_LINKS = table("BudgetPromotions")
_SHARES = table("BudgetStakeholders")
_LOGS = table("RedemptionLogs")
_JOBS = table("ImportJobs")

_STATUSES = ("CREATED", "ACTIVE", "RESERVED", "REDEEMED", "EXPIRED", "CANCELLED")
_SPENDING = ("RESERVED", "REDEEMED")
"""The statuses of codes that have left the pool."""

_IS_EXTERNAL = _CODES.c.source == literal_column("'EXTERNAL'")
_KINDS = (_CODES.c.issued_at.is_not(None).label("has_moment"), _IS_EXTERNAL.label("is_external"))


@dataclass(slots=True)
class Counts:
    """A type's codes counted by status, see `coupon_type_counts`. ``external``: those not issued by this service."""

    issued: int = 0
    pooled: int = 0
    created: int = 0
    active: int = 0
    reserved: int = 0
    redeemed: int = 0
    expired: int = 0
    cancelled: int = 0
    external: int = 0

    @property
    def total(self) -> int:
        """The number of all codes."""
        return sum(getattr(self, status.lower()) for status in _STATUSES)

    def add(self, status: str, *, has_moment: bool, is_external: bool, count: int) -> None:
        """Add a number of codes with a status. ``has_moment``: their issue time is known."""
        if status not in _STATUSES:
            return
        name = status.lower()
        setattr(self, name, getattr(self, name) + count)
        if has_moment or is_external or status in _SPENDING:
            self.issued += count
        elif status == "ACTIVE":
            self.pooled += count
        if is_external and not has_moment:
            self.external += count


@dataclass(frozen=True, slots=True)
class Counted:
    """A coupon type with its previous counts; ``before`` None: never counted."""

    coupon_type_id: str
    code_type: str
    before: Counts | None
    examined_at: datetime | None
    counted_at: datetime | None

    @property
    def is_shared(self) -> bool:
        """Whether the type has one shared code."""
        return self.code_type == "GENERIC"


_NAMES = tuple(one.name for one in fields(Counts))


async def read_types(session: Session, after: str, limit: int) -> list[Counted]:
    """Return coupon types after ``after``, by ID."""
    rows = await session.execute(_select_types(), {"after": after, "few": limit})
    return [
        Counted(
            row.id,
            row.code_type,
            None if row.counted_at is None else Counts(*[getattr(row, name) for name in _NAMES]),
            row.examined_at,
            row.counted_at,
        )
        for row in rows
    ]


@cache
def _select_types() -> Kept:
    joined = _TYPES.outerjoin(
        _COUNTS, and_(_COUNTS.c.tenant_id == _TYPES.c.tenant_id, _COUNTS.c.coupon_type_id == _TYPES.c.id)
    )
    shown = (_COUNTS.c[name] for name in (*_NAMES, "examined_at", "counted_at"))
    return Kept(
        select(_TYPES.c.id, _TYPES.c.code_type, *shown)
        .select_from(joined)
        .where(_TYPES.c.id > parameter("after", _TYPES.c.id.type))
        .order_by(_TYPES.c.id)
        .limit(parameter("few", _COUNTS.c.issued.type))
    )


async def has_imported_since(session: Session, at: datetime) -> bool:
    """Return whether codes are being imported, or an import of codes has ended at or after ``at``."""
    statement = (
        select(_JOBS.c.id)
        .where(_JOBS.c.entity == "CouponCodes", or_(_JOBS.c.completed_at.is_(None), _JOBS.c.completed_at >= at))
        .limit(1)
    )
    return bool(await session.execute(statement))


# ---- codes of one each ----------------------------------------------------------------------------------------------


async def read_codes(session: Session, type_ids: Sequence[str], *, examine: bool) -> dict[str, Counts]:
    """Count codes by type; ``examine`` also recognizes external codes, for which every code is read."""
    found = {type_id: Counts() for type_id in type_ids}
    kinds = _KINDS if examine else _KINDS[:1]
    if type_ids:
        for row in await session.execute(*among((_CODES.c.coupon_type_id,), type_ids, _by_status, *kinds)):
            is_external = examine and bool(row.is_external)
            counts = found[row.coupon_type_id]
            counts.add(row.status, has_moment=bool(row.has_moment), is_external=is_external, count=row.codes)
    return found


def _by_status(condition: ColumnElement[bool], *kinds: ColumnElement[Any]) -> Select[Any]:
    keys = (_CODES.c.coupon_type_id, _CODES.c.status, *kinds)
    return select(*keys, func.count().label("codes")).where(condition).group_by(*keys)


# ---- codes that many share ------------------------------------------------------------------------------------------


async def read_shared(session: Session, type_ids: Sequence[str], at: datetime) -> dict[str, Counts]:
    """Count uses of shared codes by type: how often they were issued, are reserved at ``at``, and were redeemed."""
    if not type_ids:
        return {}
    found = await read_codes(session, type_ids, examine=True)
    for row in await read_among(session, (_LOGS.c.coupon_type_id,), type_ids, _issued):
        found[row.coupon_type_id].issued = row.uses
    for row in await read_among(session, (_RESERVATIONS.c.coupon_type_id,), type_ids, _held, given_at=at):
        found[row.coupon_type_id].reserved = row.uses
    for row in await read_among(session, (_USAGE.c.coupon_type_id,), type_ids, _spent):
        found[row.coupon_type_id].redeemed = row.uses
    return found


def _uses(rows: Table, *where: ColumnElement[bool]) -> Select[Any]:
    """Count rows by coupon type."""
    counted = select(rows.c.coupon_type_id, func.count().label("uses"))
    return counted.where(*where).group_by(rows.c.coupon_type_id)


def _issued(condition: ColumnElement[bool], *where: ColumnElement[bool]) -> Select[Any]:
    return _uses(_LOGS, condition, _LOGS.c.action == "ISSUED", *where)


def _held(condition: ColumnElement[bool]) -> Select[Any]:
    live = _RESERVATIONS.c.reserved_until > parameter("given_at", _RESERVATIONS.c.reserved_until.type)
    return _uses(_RESERVATIONS, condition, _RESERVATIONS.c.state == "HELD", live)


def _spent(condition: ColumnElement[bool]) -> Select[Any]:
    counted = select(_USAGE.c.coupon_type_id, _USAGE.c["count"].label("uses"))
    return counted.where(condition, _USAGE.c.customer_id == ALL_CUSTOMERS)


# ---- written down ---------------------------------------------------------------------------------------------------


async def keep_counts(session: Session, counted: Sequence[tuple[Counted, Counts, datetime]], at: datetime) -> None:
    """Store the counts of types as of ``at``, each with the time when its codes were last examined."""
    rows = [
        {"coupon_type_id": seen.coupon_type_id, "examined_at": examined_at, "counted_at": at, **asdict(counts)}
        for seen, counts, examined_at in counted
    ]
    await add_rows(session, "coupon_type_counts", rows)


# ---- codes of a period ----------------------------------------------------------------------------------------------

# Codes issued in the period, by their current status; for shared codes, their uses. An external code, and one that went
# from the pool to a till without being issued, counts at its creation time.

# All statuses are listed, so that each uses its own time range in the index.
_LISTED = and_(_CODES.c.status.in_(_STATUSES), _CODES.c.issued_at.is_not(None))


async def types_after(
    session: Session, after: str, limit: int, *, promotion_id: str | None, stakeholder_id: str | None
) -> Sequence[Row[Any]]:
    """Return coupon types by ID: ``coupon_type_id``, ``coupon_type_name``, ``code_type`` and ``has_external``.

    Starts after ``after``. With a promotion: the types that trigger it; with a stakeholder: the types that trigger a
    promotion charged to a budget in which it has a share.
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
    """Count the codes issued in a period, by type; ``external_ids`` are the types that have external codes."""
    found = {type_id: Counts() for type_id in type_ids}
    if not type_ids:
        return found
    of_types = _CODES.c.coupon_type_id.in_(type_ids)
    issued = and_(of_types, _LISTED, _within(_CODES.c.issued_at, since, until))
    came = and_(_CODES.c.issued_at.is_(None), _within(_CODES.c.created_at, since, until))
    conditions = [issued, and_(of_types, _CODES.c.status.in_(_SPENDING), came)]
    if external_ids:
        others = _CODES.c.status.in_([one for one in _STATUSES if one not in _SPENDING])
        conditions.append(and_(_CODES.c.coupon_type_id.in_(external_ids), _IS_EXTERNAL, others, came))
    for condition in conditions:
        for row in await session.execute(_by_status(condition)):
            found[row.coupon_type_id].add(row.status, has_moment=True, is_external=False, count=row.codes)
    return found


def _within(moment: ColumnElement[Any], since: datetime, until: datetime) -> ColumnElement[bool]:
    return and_(moment >= since, moment < until)


async def used_between(
    session: Session, type_ids: Sequence[str], since: datetime, until: datetime, at: datetime
) -> dict[str, Counts]:
    """Count the uses of shared codes in a period, by type: issued, redeemed, and reserved and still held at ``at``.

    The uses are those of `read_shared`: the periods of all time together count what the report counts.
    """
    found = {type_id: Counts() for type_id in type_ids}
    if not type_ids:
        return found
    given = _issued(_LOGS.c.coupon_type_id.in_(type_ids), _within(_LOGS.c.occurred_at, since, until))
    for row in await session.execute(given):
        found[row.coupon_type_id].issued = row.uses
    held = _held(_RESERVATIONS.c.coupon_type_id.in_(type_ids)).where(_within(_RESERVATIONS.c.reserved_at, since, until))
    for row in await session.execute(held, {"given_at": at}):
        found[row.coupon_type_id].reserved = row.uses
    # The claims of the types' own shared codes, and those of their codes with rows.
    codes = select(_CODES.c.id).where(_CODES.c.coupon_type_id.in_(type_ids))
    for claimed in (_CLAIMS.c.coupon_code_id.in_(type_ids), _CLAIMS.c.coupon_code_id.in_(codes)):
        spent = _uses(_CLAIMS, claimed, _within(_CLAIMS.c.claimed_at, since, until))
        for row in await session.execute(spent):
            found[row.coupon_type_id].redeemed += row.uses
    return found
