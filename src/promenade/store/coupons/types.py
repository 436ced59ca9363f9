"""Reads of coupon types for authoring."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import literal, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_TYPES = table("CouponTypes")
_CODES = table("CouponCodes")


async def types_with_codes(session: Session, coupon_type_ids: Collection[str]) -> set[str]:
    """Return those of the types that have at least one code, in any status; a type may have a million."""
    first = (
        select(literal(1))
        .where(_CODES.c.tenant_id == _TYPES.c.tenant_id, _CODES.c.coupon_type_id == _TYPES.c.id)
        .limit(1)
        .scalar_subquery()
    )
    statement = select(_TYPES.c.id).where(_TYPES.c.id.in_(sorted(coupon_type_ids)), first.is_not(None))
    return {row.id for row in await session.execute(statement)}
