"""Coupon codes on their way to a customer: out of the pool, or made for the purpose."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = ["CodeShape", "Issue", "IssuedCode", "IssuingType", "add_issued", "codes_by_id", "issued_for", "read_type",
           "take_from_pool"]  # fmt: skip

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_CONFIGURATIONS = table("CouponCodeConfigurations")


@dataclass(frozen=True, slots=True)
class CodeShape:
    """What generated codes of a type look like."""

    prefix: str | None
    suffix: str | None
    length: int
    alphabet: str
    check_character: bool


@dataclass(frozen=True, slots=True)
class IssuingType:
    """A coupon type as issuing needs it; ``shape`` None: it has no configuration of its own."""

    id: str
    code_type: str
    generic_code: str | None
    valid_to: datetime | None
    validity_days: int | None
    requires_activation: bool
    shape: CodeShape | None


@dataclass(frozen=True, slots=True)
class Issue:
    """To whom, for what and until when a code is issued."""

    coupon_type_id: str
    promotion_id: str
    transaction_id: str
    customer_id: str | None
    status: str  # ACTIVE, or CREATED until its customer activates it
    issued_at: datetime
    valid_until: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedCode:
    """A code in a customer's hands. The code itself is a secret: it is shown to the till that earned it only."""

    id: str
    code: str


async def read_type(session: Session, coupon_type_id: str) -> IssuingType | None:
    """The coupon type with its code configuration, or None."""
    rows = await session.execute(
        select(
            _TYPES.c.id,
            _TYPES.c.code_type,
            _TYPES.c.generic_code,
            _TYPES.c.valid_to,
            _TYPES.c.validity_days,
            _TYPES.c.requires_activation,
            _CONFIGURATIONS.c.id.label("configuration_id"),
            _CONFIGURATIONS.c.prefix,
            _CONFIGURATIONS.c.suffix,
            _CONFIGURATIONS.c.length,
            _CONFIGURATIONS.c.alphabet,
            _CONFIGURATIONS.c.check_character,
        )
        .join_from(_TYPES, _CONFIGURATIONS, _CONFIGURATIONS.c.coupon_type_id == _TYPES.c.id, isouter=True)
        .where(_TYPES.c.id == coupon_type_id)
    )
    if not rows:
        return None
    row = rows[0]
    shape = None
    if row.configuration_id is not None:
        shape = CodeShape(row.prefix, row.suffix, row.length, row.alphabet, row.check_character)
    return IssuingType(
        row.id, row.code_type, row.generic_code, row.valid_to, row.validity_days, row.requires_activation, shape
    )


async def issued_for(
    session: Session, transaction_id: str, promotion_id: str, coupon_type_id: str
) -> IssuedCode | None:
    """The one code of this transaction, promotion and type, if it has been issued."""
    rows = await session.execute(
        select(_CODES.c.id, _CODES.c.code).where(
            _CODES.c.issuing_transaction_id == transaction_id,
            _CODES.c.issuing_promotion_id == promotion_id,
            _CODES.c.coupon_type_id == coupon_type_id,
        )
    )
    return IssuedCode(*tuple(rows[0])) if rows else None


def _columns(issue: Issue) -> dict[str, Any]:
    return {
        "status": issue.status,
        "customer_id": issue.customer_id,
        "issued_at": issue.issued_at,
        "issuing_promotion_id": issue.promotion_id,
        "issuing_transaction_id": issue.transaction_id,
        "issuance_channel": "POST_PURCHASE",
        "modified_at": issue.issued_at,
        # Without an end of its own the code keeps the one it may have from the pool.
        **({} if issue.valid_until is None else {"valid_until": issue.valid_until}),
    }


async def take_from_pool(session: Session, issue: Issue) -> IssuedCode | None:
    """Issue an unissued code of the type; None: the pool is dry. Codes from outside are never taken."""
    pooled = (
        select(_CODES.c.id)
        .where(
            _CODES.c.coupon_type_id == issue.coupon_type_id,
            _CODES.c.status == "ACTIVE",
            _CODES.c.issued_at.is_(None),
            _CODES.c.source != "EXTERNAL",
            (_CODES.c.valid_until.is_(None)) | (_CODES.c.valid_until > issue.issued_at),
        )
        .limit(1)
    )
    if session.dialect == "postgresql":
        pooled = pooled.with_for_update(skip_locked=True)  # two workers take two codes
    rows = await session.execute(
        update(_CODES)
        .where(_CODES.c.id == pooled.scalar_subquery(), _CODES.c.issued_at.is_(None))
        .values(**_columns(issue), version=_CODES.c.version + 1)
        .returning(_CODES.c.id, _CODES.c.code)
    )
    return IssuedCode(*tuple(rows[0])) if rows else None


async def add_issued(session: Session, code_id: str, code: str, issue: Issue) -> IssuedCode | None:
    """Make and issue a code; None: the tenant has a code of this text already, draw another."""
    row = {
        "id": code_id,
        "coupon_type_id": issue.coupon_type_id,
        "code": code,
        "created_at": issue.issued_at,
        **_columns(issue),
    }
    added = upsert(session.dialect, _CODES).on_conflict_do_nothing(index_elements=[_CODES.c.tenant_id, _CODES.c.code])
    return IssuedCode(code_id, code) if await session.rowcount(added, row) == 1 else None


async def codes_by_id(session: Session, code_ids: list[str]) -> dict[str, str]:
    """The secret codes themselves, by ID."""
    rows = await session.execute(select(_CODES.c.id, _CODES.c.code).where(_CODES.c.id.in_(code_ids)))
    return {row.id: row.code for row in rows}


async def generic_codes(session: Session, coupon_type_ids: list[str]) -> dict[str, str]:
    """The shared codes of GENERIC types, by the type's ID."""
    rows = await session.execute(select(_TYPES.c.id, _TYPES.c.generic_code).where(_TYPES.c.id.in_(coupon_type_ids)))
    return {row.id: row.generic_code for row in rows if row.generic_code is not None}
