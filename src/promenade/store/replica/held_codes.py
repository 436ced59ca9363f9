"""The coupon codes that a store holds: CouponCodes has a row only while the store holds a code or has spent it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, func, or_, select, update

from promenade.model.sync_sets import CANDIDATES
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.sync.shares import COUPON_CODE, COUPON_POOL

_CODES, _TYPES = table("CouponCodes"), table("CouponTypes")
_ACTIONS, _PROMOTIONS = table("DiscountActions"), table("Promotions")
_SHARES = table("store_shares")
ISSUED_AT_TILLS = "TILLS"
"""``reference`` of the last request for codes to issue: until it expires tills want such codes."""


@dataclass(frozen=True, slots=True)
class LeasedRow:
    """A code as leased from the cloud; ``valid_until`` is no later than the end of the lease."""

    id: str
    code: str
    coupon_type_id: str
    status: str
    customer_id: str | None
    valid_from: datetime | None
    valid_until: datetime
    issued_at: datetime | None


@dataclass(frozen=True, slots=True)
class HeldCode:
    """A code that the store holds; ``is_issued``: a customer has it, ``is_spent``: it was spent in this store."""

    id: str
    code: str
    coupon_type_id: str
    is_issued: bool
    is_spent: bool
    is_reserved: bool


async def known_types(session: Session, type_ids: Collection[str]) -> set[str]:
    """Return those of the coupon types that the store has."""
    rows = await session.execute(select(_TYPES.c.id).where(_TYPES.c.id.in_(sorted(type_ids))))
    return {row.id for row in rows}


async def insert_codes(session: Session, rows: Sequence[LeasedRow], at: datetime) -> None:
    """Insert codes that the store now holds; existing ones are not changed."""
    statement = upsert(session.dialect, _CODES).on_conflict_do_nothing()
    await session.execute_many(
        statement,
        [
            {
                "id": one.id,
                "code": one.code,
                "coupon_type_id": one.coupon_type_id,
                "status": one.status,
                "customer_id": one.customer_id,
                "valid_from": one.valid_from,
                "valid_until": one.valid_until,
                "issued_at": one.issued_at,
                "created_at": at,
                "modified_at": at,
            }
            for one in rows
        ],
    )


async def extend_validity(session: Session, code_id: str, valid_until: datetime, at: datetime) -> None:
    """Set a new end of validity for an unissued code after its lease was renewed."""
    statement = update(_CODES).where(_CODES.c.id == code_id, _CODES.c.issued_at.is_(None))
    await session.rowcount(statement.values(valid_until=valid_until, modified_at=at))


async def read_held(session: Session, at: datetime) -> dict[str, HeldCode]:
    """Return all leased codes, by ID."""
    rows = await session.execute(
        select(
            _CODES.c.id,
            _CODES.c.code,
            _CODES.c.coupon_type_id,
            _CODES.c.status,
            _CODES.c.issued_at,
            _CODES.c.reserved_until,
            _CODES.c.redeemed_transaction_id,
        ).where(_CODES.c.id.in_(select(_SHARES.c.entity_id).where(_SHARES.c.kind == COUPON_CODE)))
    )
    return {
        row.id: HeldCode(
            row.id,
            row.code,
            row.coupon_type_id,
            row.issued_at is not None,
            row.status == "REDEEMED" or row.redeemed_transaction_id is not None,
            row.status == "RESERVED" and row.reserved_until is not None and row.reserved_until > at,
        )
        for row in rows
    }


async def remove_unspent(session: Session, code_ids: Collection[str]) -> set[str]:
    """Delete the unspent ones of the codes, so that they cannot be used here any more; return their IDs."""
    if not code_ids:
        return set()
    statement = (
        delete(_CODES)
        .where(
            _CODES.c.id.in_(sorted(code_ids)), _CODES.c.redeemed_transaction_id.is_(None), _CODES.c.status != "REDEEMED"
        )
        .returning(_CODES.c.id)
    )
    return {row.id for row in await session.execute(statement)}


async def pooled_types(session: Session, at: datetime) -> set[str]:
    """Return the coupon types with single-use codes that are issued after purchases or by tills."""
    issued = (
        select(_ACTIONS.c.target_coupon_type_id)
        .join(_PROMOTIONS, _PROMOTIONS.c.id == _ACTIONS.c.promotion_id)
        .where(
            _ACTIONS.c.target_coupon_type_id.is_not(None),
            _PROMOTIONS.c.status.in_(CANDIDATES),
            or_(_PROMOTIONS.c.valid_to.is_(None), _PROMOTIONS.c.valid_to > at),
        )
    )
    by_tills = select(_SHARES.c.entity_id).where(
        _SHARES.c.kind == COUPON_POOL, _SHARES.c.reference == ISSUED_AT_TILLS, _SHARES.c.expires_at > at
    )
    rows = await session.execute(
        select(_TYPES.c.id).where(
            and_(_TYPES.c.status == "ACTIVE", _TYPES.c.code_type != "GENERIC"),
            or_(_TYPES.c.valid_to.is_(None), _TYPES.c.valid_to > at),
            or_(_TYPES.c.id.in_(issued), _TYPES.c.id.in_(by_tills)),
        )
    )
    return {row.id for row in rows}


async def count_free(session: Session, coupon_type_id: str, at: datetime) -> int:
    """Count the codes of a type that the store can issue."""
    rows = await session.execute(
        select(func.count().label("free")).where(
            _CODES.c.coupon_type_id == coupon_type_id,
            _CODES.c.status == "ACTIVE",
            _CODES.c.issued_at.is_(None),
            _CODES.c.source != "EXTERNAL",
            or_(_CODES.c.valid_until.is_(None), _CODES.c.valid_until > at),
        )
    )
    return int(rows[0].free)
