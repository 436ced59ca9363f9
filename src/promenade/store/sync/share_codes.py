"""Coupon codes leased to a store: reserved in the cloud under the lease's ID, without a transaction.

A leased code is redeemed without the cloud in the one store that holds it. No till of the cloud can take, cancel or
redeem such a reservation: it has no transaction, and it ends long after the store has stopped using it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, or_, select, update

from promenade.store.coupons.transitions import LEASE, LEASE_AGAIN, RETURN, RETURN_TO_SALE
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A code with the relevant columns of its type."""

    id: str
    code: str
    status: str
    customer_id: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    issued_at: datetime | None
    reservation_ref: str | None
    reserved_until: datetime | None
    reserved_by_transaction_id: str | None
    redeemed_transaction_id: str | None
    coupon_type_id: str
    type_status: str
    code_type: str
    type_valid_from: datetime | None
    type_valid_to: datetime | None


_COLUMNS = (
    _CODES.c.id,
    _CODES.c.code,
    _CODES.c.status,
    _CODES.c.customer_id,
    _CODES.c.valid_from,
    _CODES.c.valid_until,
    _CODES.c.issued_at,
    _CODES.c.reservation_ref,
    _CODES.c.reserved_until,
    _CODES.c.reserved_by_transaction_id,
    _CODES.c.redeemed_transaction_id,
    _CODES.c.coupon_type_id,
    _TYPES.c.status.label("type_status"),
    _TYPES.c.code_type,
    _TYPES.c.valid_from.label("type_valid_from"),
    _TYPES.c.valid_to.label("type_valid_to"),
)


async def ids_of_codes(session: Session, codes: Collection[str]) -> dict[str, str]:
    """Return the IDs of those codes that exist."""
    rows = await session.execute(select(_CODES.c.code, _CODES.c.id).where(_CODES.c.code.in_(sorted(codes))))
    return {row.code: row.id for row in rows}


async def hold_codes(session: Session, code_ids: Collection[str]) -> list[CodeRow]:
    """Lock and return the codes with these IDs."""
    if not code_ids:
        return []
    statement = (
        select(*_COLUMNS)
        .join_from(_CODES, _TYPES, _TYPES.c.id == _CODES.c.coupon_type_id)
        .where(_CODES.c.id.in_(sorted(code_ids)))
        .order_by(_CODES.c.id)
    )
    return [CodeRow(*tuple(row)) for row in await session.execute(statement.with_for_update(of=_CODES))]


async def lease(
    session: Session, code_ids: Collection[str], reference: str, until: datetime, at: datetime, *, own: Collection[str]
) -> set[str]:
    """Reserve codes for a store until ``until``: free ones, and its own under one of the references ``own``."""
    if not code_ids:
        return set()
    is_own = and_(LEASE_AGAIN.where, _CODES.c.reservation_ref.in_(sorted(own)))
    statement = (
        update(_CODES)
        .where(_CODES.c.id.in_(sorted(code_ids)), or_(LEASE.where, is_own) if own else LEASE.where)
        .values(LEASE.values)
        .returning(_CODES.c.id)
    )
    given = {"reservation": reference, "until": until, "at": at}
    return {row.id for row in await session.execute(statement, given)}


@dataclass(frozen=True, slots=True)
class PooledCode:
    """A code that has not been issued yet."""

    id: str
    code: str
    valid_from: datetime | None
    valid_until: datetime | None


async def pooled(session: Session, coupon_type_id: str, number: int, at: datetime) -> list[PooledCode]:
    """Lock and return codes of a type that can be issued, without external ones."""
    statement = (
        select(_CODES.c.id, _CODES.c.code, _CODES.c.valid_from, _CODES.c.valid_until)
        .where(
            _CODES.c.coupon_type_id == coupon_type_id,
            _CODES.c.status == "ACTIVE",
            _CODES.c.issued_at.is_(None),
            _CODES.c.source != "EXTERNAL",
            or_(_CODES.c.valid_until.is_(None), _CODES.c.valid_until > at),
        )
        .order_by(_CODES.c.issued_at)
        .limit(number)
    )
    # A unit of work that issues at the same time takes others.
    rows = await session.execute(statement.with_for_update(skip_locked=True))
    return [PooledCode(*tuple(row)) for row in rows]


async def codes_of_lease(session: Session, coupon_type_id: str, reference: str) -> list[PooledCode]:
    """Return the codes of a type that are leased under a reference."""
    rows = await session.execute(
        select(_CODES.c.id, _CODES.c.code, _CODES.c.valid_from, _CODES.c.valid_until)
        .where(
            _CODES.c.reservation_ref == reference,
            _CODES.c.coupon_type_id == coupon_type_id,
            _CODES.c.status == "RESERVED",
            _CODES.c.redeemed_transaction_id.is_(None),
        )
        .order_by(_CODES.c.id)
    )
    return [PooledCode(*tuple(row)) for row in rows]


async def return_codes(
    session: Session, leased: Sequence[tuple[str, str, str]], at: datetime, *, to_sale: bool
) -> None:
    """End leases (code, reference, the code's status afterwards) that have not ended yet.

    ``to_sale``: a sale of the store redeems the codes, at the sale's time: codes expired since become ACTIVE again.
    """
    given = [
        {"id": code_id, "reservation": reference, "status": status, "at": at}
        for code_id, reference, status in sorted(leased)
    ]
    await session.execute_many((RETURN_TO_SALE if to_sale else RETURN).one, given)
