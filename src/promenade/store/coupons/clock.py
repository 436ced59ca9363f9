"""Time-triggered changes of coupons: expired codes and reservations, and pools that have run low.

Tenants are enumerated by the key of their rows, and the due rows of each are found by an index; so the cost depends on
what is due, plus a little for each tenant and each coupon type, not on the amount of stored data.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    String,
    Table,
    and_,
    cast,
    delete,
    func,
    literal,
    null,
    or_,
    select,
    type_coerce,
    union_all,
    update,
)

from promenade.store.authoring.statements import update_rows
from promenade.store.coupons.transitions import END_SHARED, EXPIRE, RELEASE, Transition
from promenade.store.driver.each_tenant import each_tenant
from promenade.store.driver.schema import table
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Session

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_RESERVATIONS = table("coupon_reservations")
_SCHEDULES = table("CouponRefillSchedules")
_BATCHES = table("CouponCodeBatches")

_KEPT = timedelta(days=1)  # how long a finished reservation can still be looked up
SYSTEM = "system"
_CLOCK_SKEW = timedelta(seconds=10)  # the assumed clock difference between two machines


@dataclass(frozen=True, slots=True)
class ExpiredItem:
    """A code or a reservation as it was when it expired; ``coupon_id`` None: the shared code of a type.

    ``transaction_id`` held it; ``is_held``: it was issued, or imported for a customer; ``valid_until`` is the earlier
    of the ends of the code and its type.
    """

    coupon_id: str | None
    coupon_type_id: str
    customer_id: str | None
    transaction_id: str | None
    is_held: bool = True
    valid_until: datetime | None = None


def _row_exists(first: ColumnElement[Any], *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return a condition "a row exists" that uses an index whose last column is ``first``.

    Not EXISTS: without statistics the planner turns that into a join and scans all rows.
    """
    return select(literal(1)).where(*conditions).order_by(first).limit(1).scalar_subquery().is_not(None)


def _portion(statement: Select[Any], of: Table, limit: int) -> Select[Any]:
    """``limit`` rows that no other unit of work holds, held until this one ends."""
    return statement.limit(limit).with_for_update(skip_locked=True, of=of)


# --- codes whose validity is over -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Due:
    """Expired codes of a tenant in one status: by their own end, or by that of the type ``coupon_type_id``."""

    tenant_id: str
    status: str
    coupon_type_id: str | None


async def due_codes(session: Session, at: datetime, limit: int) -> list[Due]:
    """Find tenants and statuses with codes that have expired at ``at``; needs a system session."""
    tenants = each_tenant(_TYPES)
    own = [
        select(tenants.c.tenant_id, literal(status), cast(null(), String)).where(
            _row_exists(
                _CODES.c.valid_until,
                _CODES.c.tenant_id == tenants.c.tenant_id,
                EXPIRE.in_state(status),
                _CODES.c.valid_until <= at,
            )
        )
        for status in EXPIRE.sources
    ]
    by_type = [
        select(_TYPES.c.tenant_id, literal(status), _TYPES.c.id).where(
            _TYPES.c.valid_to <= at,
            _row_exists(
                _CODES.c.issued_at,
                _CODES.c.tenant_id == _TYPES.c.tenant_id,
                _CODES.c.coupon_type_id == _TYPES.c.id,
                EXPIRE.in_state(status),
            ),
        )
        for status in EXPIRE.sources
    ]
    rows = await session.execute(union_all(*own, *by_type).limit(limit))
    return [Due(*tuple(row)) for row in rows]


async def end_codes(session: Session, due: Due, at: datetime, limit: int) -> list[ExpiredItem]:
    """Set up to ``limit`` of these codes to EXPIRED."""
    statement = select(
        _CODES.c.id,
        _CODES.c.coupon_type_id,
        _CODES.c.customer_id,
        _CODES.c.reserved_by_transaction_id,
        _CODES.c.issued_at,
        _CODES.c.valid_until,
    ).where(EXPIRE.in_state(due.status))
    if due.coupon_type_id is None:
        statement = statement.where(_CODES.c.valid_until <= at).order_by(_CODES.c.valid_until)
    elif any(end <= at for end in (await _ends(session, {due.coupon_type_id})).values()):
        statement = statement.where(_CODES.c.coupon_type_id == due.coupon_type_id).order_by(_CODES.c.issued_at)
    else:  # its validity was changed in the meantime
        return []
    rows = await session.execute(_portion(statement, _CODES, limit))
    await _change_codes(session, EXPIRE, [row.id for row in rows], at)
    ends = await _ends(session, {row.coupon_type_id for row in rows})
    return [
        ExpiredItem(
            row.id,
            row.coupon_type_id,
            row.customer_id,
            row.reserved_by_transaction_id,
            is_held=row.issued_at is not None or row.customer_id is not None,
            valid_until=min([end for end in (row.valid_until, ends.get(row.coupon_type_id)) if end is not None]),
        )
        for row in rows
    ]


async def _ends(session: Session, coupon_type_ids: Collection[str]) -> dict[str, datetime]:
    """Return the end of validity of those types that have one."""
    rows = await session.execute(
        select(_TYPES.c.id, _TYPES.c.valid_to).where(_TYPES.c.id.in_(coupon_type_ids), _TYPES.c.valid_to.is_not(None))
    )
    return {row.id: row.valid_to for row in rows}


async def _change_codes(session: Session, transition: Transition, ids: Sequence[str], at: datetime) -> None:
    """Update codes that were just read and locked, keeping who reserved them, for tills that still ask."""
    changes = {**transition.values, "modified_at": at, "modified_by": SYSTEM}
    await update_rows(session, "CouponCodes", [(code_id, changes) for code_id in ids])


# --- reservations that have run out -----------------------------------------------------------------------------------


async def due_reservations(session: Session, at: datetime, limit: int) -> list[str]:
    """Return the tenants with individual codes whose reservation has expired at ``at``; needs a system session."""
    tenants = each_tenant(_TYPES)
    over = _row_exists(_CODES.c.reserved_until, _CODES.c.tenant_id == tenants.c.tenant_id, RELEASE.in_state("RESERVED"))
    rows = await session.execute(select(tenants.c.tenant_id).where(over).limit(limit), {"at": at})
    return [row.tenant_id for row in rows]


async def end_reservations(session: Session, at: datetime, limit: int) -> list[ExpiredItem]:
    """Set up to ``limit`` codes with an expired reservation back to ACTIVE."""
    statement = (
        select(_CODES.c.id, _CODES.c.coupon_type_id, _CODES.c.customer_id, _CODES.c.reserved_by_transaction_id)
        .where(RELEASE.in_state("RESERVED"))
        .order_by(_CODES.c.reserved_until)
    )
    rows = await session.execute(_portion(statement, _CODES, limit), {"at": at})
    await _change_codes(session, RELEASE, [row.id for row in rows], at)
    return [ExpiredItem(*tuple(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class SharedReservations:
    """Reservations of a shared code: expired HELD ones, or (another ``state``) those that ended long ago."""

    tenant_id: str
    coupon_type_id: str
    state: str


def _over(state: str, at: datetime) -> ColumnElement[bool]:
    if state == "HELD":
        return END_SHARED.in_state(state)
    # The index contains their expiry times, which are rarely long after their actual end.
    gone = at - _KEPT
    return and_(
        _RESERVATIONS.c.state == state, _RESERVATIONS.c.reserved_until <= gone, _RESERVATIONS.c.ended_at <= gone
    )


async def due_shared(session: Session, at: datetime, limit: int) -> list[SharedReservations]:
    """Find expired reservations of shared codes at ``at``, of all tenants; needs a system session."""
    found = [
        select(_TYPES.c.tenant_id, _TYPES.c.id, literal(state)).where(
            _row_exists(
                _RESERVATIONS.c.reserved_until,
                _RESERVATIONS.c.tenant_id == _TYPES.c.tenant_id,
                _RESERVATIONS.c.coupon_type_id == _TYPES.c.id,
                _over(state, at),
            )
        )
        for state in ("HELD", "REDEEMED", "CANCELLED")
    ]
    rows = await session.execute(union_all(*found).limit(limit), {"at": at})
    return [SharedReservations(*tuple(row)) for row in rows]


async def end_shared(session: Session, due: SharedReservations, at: datetime, limit: int) -> list[ExpiredItem]:
    """Cancel up to ``limit`` expired reservations, or delete those that ended long ago."""
    statement = select(
        _RESERVATIONS.c.coupon_code_id,
        _RESERVATIONS.c.coupon_type_id,
        _RESERVATIONS.c.customer_id,
        _RESERVATIONS.c.transaction_id,
        _RESERVATIONS.c.id,
    ).where(_RESERVATIONS.c.coupon_type_id == due.coupon_type_id, _over(due.state, at))
    statement = statement.order_by(_RESERVATIONS.c.reserved_until)
    rows = await session.execute(_portion(statement, _RESERVATIONS, limit), {"at": at})
    mine = _RESERVATIONS.c.id.in_([row.id for row in rows])
    if rows and due.state == "HELD":
        await session.rowcount(update(_RESERVATIONS).where(mine).values(END_SHARED.values), {"at": at})
    elif rows:
        await session.rowcount(delete(_RESERVATIONS).where(mine))
    return [ExpiredItem(*tuple(row)[:4]) for row in rows]


# --- pools that have run low ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    """A refill schedule that is due, and its settings."""

    tenant_id: str
    id: str
    coupon_type_id: str
    minimum_pool_size: int
    refill_quantity: int


_SCHEDULE = (
    _SCHEDULES.c.tenant_id,
    _SCHEDULES.c.id,
    _SCHEDULES.c.coupon_type_id,
    _SCHEDULES.c.minimum_pool_size,
    _SCHEDULES.c.refill_quantity,
)


def _is_due(session: Session, at: datetime) -> ColumnElement[bool]:
    """Return the condition that the interval has passed, or the last run is in the future (a clock was set back)."""
    last, minutes = _SCHEDULES.c.last_run_at, _SCHEDULES.c.interval_minutes
    passed: ColumnElement[bool]
    if session.dialect == "postgresql":
        passed = last + func.make_interval(0, 0, 0, 0, 0, minutes) <= at
    else:
        passed = type_coerce(last, BigInteger) + minutes * 60_000_000 <= to_microseconds(at)
    return and_(_SCHEDULES.c.is_active.is_(True), or_(last.is_(None), last > at + _CLOCK_SKEW, passed))


async def due_schedules(session: Session, at: datetime, limit: int) -> list[Schedule]:
    """Return all tenants' schedules due at ``at``, the least recently run first; needs a system session."""
    statement = select(*_SCHEDULE).where(_is_due(session, at))
    rows = await session.execute(statement.order_by(_SCHEDULES.c.last_run_at.nulls_first()).limit(limit))
    return [Schedule(*tuple(row)) for row in rows]


async def pool_is_low(session: Session, schedule: Schedule, at: datetime) -> bool:
    """Return whether fewer codes than the minimum can be issued; counting stops at the minimum."""
    pooled = (
        select(literal(1))
        .where(
            _CODES.c.coupon_type_id == schedule.coupon_type_id,
            _CODES.c.status == "ACTIVE",
            _CODES.c.issued_at.is_(None),
            _CODES.c.source != "EXTERNAL",
            or_(_CODES.c.valid_until.is_(None), _CODES.c.valid_until > at),
        )
        .limit(schedule.minimum_pool_size)
        .subquery()
    )
    ((number,),) = await session.execute(select(func.count()).select_from(pooled))
    return bool(number < schedule.minimum_pool_size)


async def hold_schedule(session: Session, schedule_id: str, at: datetime) -> Schedule | None:
    """Lock and return the schedule; None: it is not due any more, or another worker has it."""
    statement = select(*_SCHEDULE).where(_SCHEDULES.c.id == schedule_id, _is_due(session, at))
    rows = await session.execute(_portion(statement, _SCHEDULES, 1))
    return Schedule(*tuple(rows[0])) if rows else None


async def is_being_filled(session: Session, coupon_type_id: str) -> bool:
    """Return whether the type has an unfinished batch."""
    unfinished = _BATCHES.c.status.in_(("QUEUED", "RUNNING"))
    return bool(
        await session.execute(
            select(_BATCHES.c.id).where(unfinished, _BATCHES.c.coupon_type_id == coupon_type_id).limit(1)
        )
    )


async def record_run(session: Session, schedule_id: str, at: datetime) -> None:
    """Record the run of a schedule."""
    await session.rowcount(
        update(_SCHEDULES)
        .where(_SCHEDULES.c.id == schedule_id)
        .values(last_run_at=at, version=_SCHEDULES.c.version + 1)
    )
