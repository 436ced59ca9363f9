"""Codes counted by coupon type, in portions of types: what the report about coupons is read of.

Codes are moved by many, each by its own row, and a sum that all of them changed would make them wait for each other. So
they are counted, a million of a type as entries of one index. Who a code without a moment of issue belongs to is not in
it: such codes are looked at when there are few, or when codes may have been imported since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal_column, or_, select

from odata_server.sql.connection import Kept
from promenade.store.recurring import among, parameter
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert
from promenade.store.usage import ALL_CUSTOMERS

__all__ = [
    "Counted",
    "Counts",
    "has_imported_since",
    "keep_counts",
    "read_codes",
    "read_shared",
    "read_types",
]

_TYPES = table("CouponTypes")
_CODES = table("CouponCodes")
_COUNTS = table("coupon_type_counts")
_USAGE = table("coupon_usage")
_RESERVATIONS = table("coupon_reservations")
_LOGS = table("RedemptionLogs")
_JOBS = table("ImportJobs")

_EXTERNAL = "EXTERNAL"
_LEFT_POOL = frozenset({"RESERVED", "REDEEMED"})
_COLUMNS = {
    "CREATED": "created",
    "ACTIVE": "active",
    "RESERVED": "reserved",
    "REDEEMED": "redeemed",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
}


@dataclass(slots=True)
class Counts:
    """How many codes of a type stand where, see `coupon_type_counts`. ``external``: those that nobody issued."""

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
        """All codes."""
        return self.created + self.active + self.reserved + self.redeemed + self.expired + self.cancelled

    def add(self, status: str, *, has_moment: bool, is_external: bool, count: int) -> None:
        """Count codes of a status. ``has_moment``: it is known when they were issued."""
        name = _COLUMNS.get(status)
        if name is None:
            return
        setattr(self, name, getattr(self, name) + count)
        if has_moment or is_external or status in _LEFT_POOL:
            self.issued += count
        elif status == "ACTIVE":
            self.pooled += count
        if is_external and not has_moment:
            self.external += count


@dataclass(frozen=True, slots=True)
class Counted:
    """A coupon type with what was counted of it before; ``before`` None: it never was."""

    coupon_type_id: str
    code_type: str
    before: Counts | None
    examined_at: datetime | None
    counted_at: datetime | None

    @property
    def is_shared(self) -> bool:
        """Whether many spend one code."""
        return self.code_type == "GENERIC"


_NAMES = tuple(one.name for one in fields(Counts))


async def read_types(session: Session, after: str, limit: int) -> list[Counted]:
    """Coupon types after one, by ID."""
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
    """Whether codes are being imported, or an import of codes has ended at a moment or later."""
    statement = (
        select(_JOBS.c.id)
        .where(_JOBS.c.entity == "CouponCodes", or_(_JOBS.c.completed_at.is_(None), _JOBS.c.completed_at >= at))
        .limit(1)
    )
    return bool(await session.execute(statement))


# ---- codes of one each ----------------------------------------------------------------------------------------------


async def read_codes(session: Session, type_ids: Sequence[str], *, examine: bool) -> dict[str, Counts]:
    """Codes counted by type; ``examine`` tells those from outside, for which every code is looked at."""
    found = {type_id: Counts() for type_id in type_ids}
    if type_ids:
        for row in await session.execute(*among((_CODES.c.coupon_type_id,), type_ids, _counting, examine)):
            is_external = examine and bool(row.is_external)
            counts = found[row.coupon_type_id]
            counts.add(row.status, has_moment=bool(row.has_moment), is_external=is_external, count=row.codes)
    return found


def _counting(condition: ColumnElement[bool], examine: bool) -> Select[Any]:
    kinds: list[ColumnElement[Any]] = [_CODES.c.issued_at.is_not(None).label("has_moment")]
    if examine:
        kinds.append((_CODES.c.source == literal_column(f"'{_EXTERNAL}'")).label("is_external"))
    keys = (_CODES.c.coupon_type_id, _CODES.c.status)
    return select(*keys, *kinds, func.count().label("codes")).where(condition).group_by(*keys, *kinds)


# ---- codes that many share ------------------------------------------------------------------------------------------


async def read_shared(session: Session, type_ids: Sequence[str], at: datetime) -> dict[str, Counts]:
    """Uses counted by type: how often its code was given to somebody, is held ``at`` a moment, and was spent."""
    if not type_ids:
        return {}
    found = await read_codes(session, type_ids, examine=True)
    for type_id, count in await _by_type(session, _LOGS.c.coupon_type_id, type_ids, _given):
        found[type_id].issued = count
    for row in await session.execute(*_held(type_ids, at)):
        found[row.coupon_type_id].reserved = row.uses
    for type_id, count in await _by_type(session, _USAGE.c.coupon_type_id, type_ids, _spent):
        found[type_id].redeemed = count
    return found


async def _by_type(session: Session, column: Any, type_ids: Sequence[str], build: Any) -> list[tuple[str, int]]:
    return [(row.coupon_type_id, row.uses) for row in await session.execute(*among((column,), type_ids, build))]


def _given(condition: ColumnElement[bool]) -> Select[Any]:
    counted = select(_LOGS.c.coupon_type_id, func.count().label("uses"))
    return counted.where(condition, _LOGS.c.action == "ISSUED").group_by(_LOGS.c.coupon_type_id)


def _spent(condition: ColumnElement[bool]) -> Select[Any]:
    counted = select(_USAGE.c.coupon_type_id, _USAGE.c["count"].label("uses"))
    return counted.where(condition, _USAGE.c.customer_id == ALL_CUSTOMERS)


def _held(type_ids: Sequence[str], at: datetime) -> tuple[Any, Mapping[str, Any]]:
    statement, params = among((_RESERVATIONS.c.coupon_type_id,), type_ids, _holding)
    return statement, {**params, "given_at": at}


def _holding(condition: ColumnElement[bool]) -> Select[Any]:
    live = _RESERVATIONS.c.reserved_until > parameter("given_at", _RESERVATIONS.c.reserved_until.type)
    counted = select(_RESERVATIONS.c.coupon_type_id, func.count().label("uses"))
    return counted.where(condition, _RESERVATIONS.c.state == "HELD", live).group_by(_RESERVATIONS.c.coupon_type_id)


# ---- written down ---------------------------------------------------------------------------------------------------


async def keep_counts(session: Session, counted: Sequence[tuple[Counted, Counts, datetime]], at: datetime) -> None:
    """Write down what types have come to ``at`` a moment, each with when its codes were last looked at."""
    rows = [
        {"given_coupon_type_id": seen.coupon_type_id, "given_examined_at": examined_at, "given_counted_at": at}
        | {f"given_{name}": value for name, value in asdict(counts).items()}
        for seen, counts, examined_at in counted
    ]
    await session.execute_many(_keeping(session.dialect), rows)


@cache
def _keeping(dialect: str) -> Kept:
    names = (*_NAMES, "examined_at", "counted_at")
    given = {name: parameter(f"given_{name}", _COUNTS.c[name].type) for name in ("coupon_type_id", *names)}
    first = upsert(dialect, _COUNTS).values(given)
    return Kept(
        first.on_conflict_do_update(
            index_elements=[_COUNTS.c.tenant_id, _COUNTS.c.coupon_type_id],
            set_={name: first.excluded[name] for name in names},
        )
    )
