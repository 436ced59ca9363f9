"""Coupon codes that a store holds: reserved in the cloud, for no transaction, under the ID of the lease.

A code of its own is redeemed without the cloud in the one store that holds it. No till of the cloud can take, cancel or
redeem such a reservation: it names no transaction, and it ends long after the store has stopped to use it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, and_, or_, select, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["CodeRow", "PooledCode", "codes_of_lease", "hold_codes", "ids_of_codes", "lease", "pooled", "return_codes"]

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A code with what its type says of all of them."""

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
    """The IDs of those codes that there are."""
    rows = await session.execute(select(_CODES.c.code, _CODES.c.id).where(_CODES.c.code.in_(sorted(codes))))
    return {row.code: row.id for row in rows}


async def hold_codes(session: Session, code_ids: Collection[str]) -> list[CodeRow]:
    """The codes of these IDs, held until the unit ends."""
    if not code_ids:
        return []
    statement = (
        select(*_COLUMNS)
        .join_from(_CODES, _TYPES, _TYPES.c.id == _CODES.c.coupon_type_id)
        .where(_CODES.c.id.in_(sorted(code_ids)))
        .order_by(_CODES.c.id)
    )
    held = statement if session.dialect == "sqlite" else statement.with_for_update(of=_CODES)
    return [CodeRow(*tuple(row)) for row in await session.execute(held)]


def _is_free(at: datetime) -> ColumnElement[bool]:
    """To be leased: nobody has spent or reserved it; or whoever had reserved it let that run out."""
    run_out = or_(_CODES.c.reserved_until.is_(None), _CODES.c.reserved_until <= at)
    return and_(
        _CODES.c.redeemed_transaction_id.is_(None),
        or_(_CODES.c.status.in_(("ACTIVE", "CREATED")), and_(_CODES.c.status == "RESERVED", run_out)),
    )


async def lease(
    session: Session, code_ids: Collection[str], reference: str, until: datetime, at: datetime, *, own: Collection[str]
) -> set[str]:
    """Reserve codes for a store until ``until``: those that were free, or its own by one of the references ``own``."""
    if not code_ids:
        return set()
    is_own = and_(
        _CODES.c.status == "RESERVED",
        _CODES.c.redeemed_transaction_id.is_(None),
        _CODES.c.reservation_ref.in_(sorted(own)),
    )
    statement = (
        update(_CODES)
        .where(_CODES.c.id.in_(sorted(code_ids)), or_(_is_free(at), is_own) if own else _is_free(at))
        .values(
            status="RESERVED",
            reservation_ref=reference,
            reserved_until=until,
            reserved_by_transaction_id=None,
            version=_CODES.c.version + 1,
            modified_at=at,
        )
        .returning(_CODES.c.id)
    )
    return {row.id for row in await session.execute(statement)}


@dataclass(frozen=True, slots=True)
class PooledCode:
    """A code that nobody has yet."""

    id: str
    code: str
    valid_from: datetime | None
    valid_until: datetime | None


async def pooled(session: Session, coupon_type_id: str, number: int, at: datetime) -> list[PooledCode]:
    """Codes of a type that may be issued, none from outside, held until the unit ends."""
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
    # Who issues at the same time takes others.
    rows = await session.execute(
        statement.with_for_update(skip_locked=True) if session.dialect == "postgresql" else statement
    )
    return [PooledCode(*tuple(row)) for row in rows]


async def codes_of_lease(session: Session, coupon_type_id: str, reference: str) -> list[PooledCode]:
    """Codes of a type that are leased under a reference."""
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


@cache
def _returning(to_sale: bool) -> Kept:
    sources = ("RESERVED", "EXPIRED") if to_sale else ("RESERVED",)
    return Kept(
        update(_CODES)
        .where(
            _CODES.c.id == parameter("returned_id", _CODES.c.id.type),
            _CODES.c.reservation_ref == parameter("returned_from", _CODES.c.reservation_ref.type),
            _CODES.c.reserved_by_transaction_id.is_(None),
            _CODES.c.redeemed_transaction_id.is_(None),
            or_(*[_CODES.c.status == one for one in sources]),  # IN cannot be run for many at once
        )
        .values(
            status=parameter("returned_as", _CODES.c.status.type),
            reservation_ref=None,
            reserved_until=None,
            reserved_by_transaction_id=None,
            version=_CODES.c.version + 1,
            modified_at=parameter("returned_at", _CODES.c.modified_at.type),
        )
    )


async def return_codes(
    session: Session, leased: Sequence[tuple[str, str, str]], at: datetime, *, to_sale: bool
) -> None:
    """End leases (code, reference, status of the code after it), where they have not been ended already.

    ``to_sale``: a sale of the store spends them, whose time counts: what has ended since is ACTIVE again.
    """
    given = [
        {
            "returned_id": code_id,
            "returned_from": reference,
            "returned_as": "ACTIVE" if to_sale else status,
            "returned_at": at,
        }
        for code_id, reference, status in sorted(leased)
    ]
    await session.execute_many(_returning(to_sale), given)
