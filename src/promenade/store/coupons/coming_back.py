"""Coupons of a sale that is returned as a whole or cancelled: those it spent, and those it had earned."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from promenade.store.coupons.claims import Claim
from promenade.store.coupons.transitions import END_EARNED, REACTIVATE, UNCOUNT
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_CLAIMS = table("coupon_claims")
_LOGS = table("RedemptionLogs")


@dataclass(frozen=True, slots=True)
class ReturnPolicy:
    """What a coupon type says about codes whose sale is undone."""

    on_return: str
    earned_on_return: str
    is_generic: bool
    status: str
    valid_to: datetime | None


@dataclass(frozen=True, slots=True)
class EarnedCode:
    """A code that was issued for a sale; ``is_spent``: redeemed, or claimed by another sale."""

    coupon_id: str
    coupon_type_id: str
    customer_id: str | None
    status: str
    is_spent: bool


async def policies_of(session: Session, coupon_type_ids: Collection[str]) -> dict[str, ReturnPolicy]:
    """Return the policies of those of the types that exist."""
    if not coupon_type_ids:
        return {}
    names = ("on_return", "earned_on_return", "code_type", "status", "valid_to")
    rows = await session.execute(
        select(_TYPES.c.id, *(_TYPES.c[name] for name in names)).where(_TYPES.c.id.in_(sorted(coupon_type_ids)))
    )
    return {
        row.id: ReturnPolicy(row.on_return, row.earned_on_return, row.code_type == "GENERIC", row.status, row.valid_to)
        for row in rows
    }


async def claims_of_sale(session: Session, origin: str, transaction_id: str) -> list[Claim]:
    """Return all coupons that a confirmed sale has spent, in the order in which confirms lock them."""
    rows = await session.execute(
        select(
            _CLAIMS.c.coupon_code_id,
            _CLAIMS.c.slot,
            _CLAIMS.c.coupon_type_id,
            _CLAIMS.c.promotion_id,
            _CLAIMS.c.customer_id,
        ).where(
            _CLAIMS.c.origin == origin,
            _CLAIMS.c.transaction_id == transaction_id,
            _CLAIMS.c.transaction_counter.is_not(None),
        )
    )
    claims = [Claim(*tuple(row)) for row in rows]
    return sorted(claims, key=lambda one: (one.coupon_type_id, one.coupon_code_id, one.slot))


async def reactivate(session: Session, claim: Claim, transaction_id: str, at: datetime) -> bool:
    """Make an individual code valid again; False: it has ended, or was changed since."""
    given = {"id": claim.coupon_code_id, "type": claim.coupon_type_id, "transaction": transaction_id, "at": at}
    return await session.rowcount(REACTIVATE.one, {**given, "tenant": session.tenant}) == 1


async def uncount_code(session: Session, coupon_id: str, at: datetime) -> None:
    """Count one redemption less on the row of a code that many share."""
    await session.rowcount(UNCOUNT.one, {"id": coupon_id, "at": at})


async def forget_code(session: Session, coupon_id: str) -> None:
    """Delete a code from a store's own rows: only the cloud has it now."""
    await session.rowcount(delete(_CODES).where(_CODES.c.id == coupon_id))


async def was_reactivated(session: Session, transaction_id: str) -> bool:
    """Whether a coupon that this transaction had spent was made valid again."""
    its = _LOGS.c.transaction_id == transaction_id, _LOGS.c.action == REACTIVATE.log
    return bool(await session.execute(select(_LOGS.c.id).where(*its).limit(1)))


async def delete_claim(session: Session, claim: Claim) -> None:
    """Delete a claim, so that the code may be spent again."""
    its = _CLAIMS.c.coupon_code_id == claim.coupon_code_id, _CLAIMS.c.slot == claim.slot
    await session.rowcount(delete(_CLAIMS).where(*its))


async def status_of(session: Session, coupon_id: str) -> tuple[str, datetime | None] | None:
    """Return status and end of validity of a code; None: it was deleted."""
    rows = await session.execute(select(_CODES.c.status, _CODES.c.valid_until).where(_CODES.c.id == coupon_id))
    return (rows[0].status, rows[0].valid_until) if rows else None


async def earned_codes(session: Session, issued_under: str) -> list[EarnedCode]:
    """Return the codes issued for a sale, locked until the unit of work ends, ordered by type."""
    rows = await session.execute(
        select(
            _CODES.c.id,
            _CODES.c.coupon_type_id,
            _CODES.c.customer_id,
            _CODES.c.status,
            _CODES.c.redeemed_transaction_id.is_not(None).label("is_spent"),
        )
        .where(_CODES.c.issuing_transaction_id == issued_under)
        .with_for_update()
    )
    # Sorted here: SQLite without statistics would read all codes of the tenant rather than sort these.
    rows = sorted(rows, key=lambda row: (row.coupon_type_id, row.id))
    return [EarnedCode(row.id, row.coupon_type_id, row.customer_id, row.status, bool(row.is_spent)) for row in rows]


async def end_earned(session: Session, coupon_id: str, at: datetime) -> bool:
    """Cancel an unspent code; False: it is spent, expired or cancelled already."""
    return await session.rowcount(END_EARNED.one, {"id": coupon_id, "at": at}) == 1
