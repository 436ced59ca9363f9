"""The cloud's record of what a store has done with coupon codes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, select, update

from promenade.store.coupons.pool import Issue
from promenade.store.coupons.transitions import REVIVE
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_LOGS = table("RedemptionLogs")
_CLAIMS = table("coupon_claims")
_SHARES = table("store_shares")


@dataclass(frozen=True, slots=True)
class CodeOf:
    """The text and type of a coupon code."""

    code: str
    coupon_type_id: str


async def codes_of(session: Session, code_ids: Collection[str]) -> dict[str, CodeOf]:
    """Return the existing codes with these IDs."""
    if not code_ids:
        return {}
    rows = await session.execute(
        select(_CODES.c.id, _CODES.c.code, _CODES.c.coupon_type_id).where(_CODES.c.id.in_(list(code_ids)))
    )
    return {row.id: CodeOf(row.code, row.coupon_type_id) for row in rows}


async def shared_types(session: Session, coupon_type_ids: Collection[str]) -> set[str]:
    """Return those types that are GENERIC: their code has no row."""
    if not coupon_type_ids:
        return set()
    rows = await session.execute(
        select(_TYPES.c.id).where(_TYPES.c.id.in_(list(coupon_type_ids)), _TYPES.c.code_type == "GENERIC")
    )
    return {row.id for row in rows}


async def shares_of(session: Session, deployment_id: str, entity_ids: Collection[str]) -> set[str]:
    """Return those budgets, coupon types, promotions and codes of which the store has or had a share."""
    if not entity_ids:
        return set()
    rows = await session.execute(
        select(_SHARES.c.entity_id).where(
            _SHARES.c.deployment_id == deployment_id, _SHARES.c.entity_id.in_(list(entity_ids))
        )
    )
    return {row.entity_id for row in rows}


async def logged(session: Session, log_ids: Collection[str]) -> set[str]:
    """Return those redemption logs that exist."""
    if not log_ids:
        return set()
    rows = await session.execute(select(_LOGS.c.id).where(_LOGS.c.id.in_(list(log_ids))))
    return {row.id for row in rows}


async def log_once(
    session: Session,
    log_id: str,
    *,
    coupon_id: str | None,
    coupon_type_id: str,
    action: str,
    transaction_id: str | None,
    customer_id: str | None,
    occurred_at: datetime,
    at: datetime,
) -> bool:
    """Write a redemption log; False: it exists, so the event has been processed.

    Waits for a concurrent writer of the same log.
    """
    row = {
        "id": log_id,
        "coupon_code_id": coupon_id,
        "coupon_type_id": coupon_type_id,
        "promotion_id": None,
        "action": action,
        "transaction_id": transaction_id,
        "customer_id": customer_id,
        "occurred_at": occurred_at,
        "created_at": at,
        "modified_at": at,
    }
    return await session.rowcount(upsert(session.dialect, _LOGS).on_conflict_do_nothing(), row) == 1


async def till_claims(session: Session, origin: str, transaction_id: str) -> set[str]:
    """Return the keys of the claims that the transaction's till redeemed before the sale."""
    rows = await session.execute(
        select(_CLAIMS.c.coupon_code_id).where(
            _CLAIMS.c.origin == origin,
            _CLAIMS.c.transaction_id == transaction_id,
            _CLAIMS.c.transaction_counter.is_(None),
        )
    )
    return {row.coupon_code_id for row in rows}


async def revive_leased(session: Session, deployment_id: str, code_ids: Collection[str], judged_at: datetime) -> None:
    """Reactivate codes that expired after a store had redeemed them, but before the cloud knew."""
    leased = select(_SHARES.c.entity_id).where(
        _SHARES.c.deployment_id == deployment_id, _SHARES.c.kind == "COUPON_CODE", _SHARES.c.outstanding > 0
    )
    revived = update(_CODES).where(_CODES.c.id.in_(list(code_ids)), _CODES.c.id.in_(leased), REVIVE.where)
    await session.rowcount(revived.values(REVIVE.values), {"at": judged_at})


async def mark_issued(
    session: Session, code_id: str, issue: Issue, customer_id: str | None, *, is_leased: bool
) -> bool:
    """Record that a code of the pool was issued; False: it was not available.

    A code leased to the store keeps its status: it remains leased until it is returned.
    """
    columns = issue.columns
    status = columns.pop("status")
    free = _CODES.c.status == "RESERVED" if is_leased else _CODES.c.status.in_(["ACTIVE", "REDEEMED"])
    statement = (
        update(_CODES)
        .where(
            _CODES.c.id == code_id,
            _CODES.c.coupon_type_id == issue.coupon_type_id,
            _CODES.c.issued_at.is_(None),
            _CODES.c.source != "EXTERNAL",
            free,
        )
        .values(
            **columns,
            customer_id=customer_id,
            status=case((_CODES.c.status == "ACTIVE", status), else_=_CODES.c.status),
            version=_CODES.c.version + 1,
        )
    )
    return await session.rowcount(statement) == 1
