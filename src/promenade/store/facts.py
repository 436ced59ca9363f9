"""What only the store knows at the moment of pricing: coupons presented, budgets left, usage so far."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, and_, select

from promenade.engine.basket import BudgetFact, CouponFact, UsageFact
from promenade.engine.money import minor_digits
from promenade.store.schema import table
from promenade.store.surroundings import CouponType, Surroundings
from promenade.store.unit import Session

__all__ = ["Presented", "read_budgets", "read_coupons", "read_usage"]

ALL_CUSTOMERS = ""
ATTEMPTS_MAX = 100  # failed look-ups a minute from one client (reliability C4)

_RUNNING_BUDGETS = frozenset({"ACTIVE", "SCHEDULED"})


@dataclass(frozen=True, slots=True)
class Presented:
    """Who presents coupons, where and when: ``at`` is the time that validity is judged at."""

    transaction_id: str
    customer_id: str | None
    at: datetime
    failed_before: int  # look-ups of this client that failed within the last minute


async def read_coupons(
    session: Session, codes: Sequence[str], surroundings: Surroundings, presented: Presented
) -> tuple[CouponFact, ...]:
    """One fact per presented code, in order; a refused one carries its reason (pricing semantics, section 10)."""
    rows = {row.code: row for row in await session.execute(_individual(codes))} if codes else {}
    types: dict[str, CouponType] = {}
    for code in codes:
        row = rows.get(code)
        found = (
            surroundings.generic_codes.get(code) if row is None else surroundings.coupon_types.get(row.coupon_type_id)
        )
        if found is not None:
            types[code] = found
    limited = {one.id for one in types.values() if _is_limited(one)}
    uses = await _coupon_uses(session, limited, presented.customer_id) if limited else {}
    facts: list[CouponFact] = []
    failed = presented.failed_before
    for position, code in enumerate(codes):
        kind, row = types.get(code), rows.get(code)
        if failed >= ATTEMPTS_MAX:
            facts.append(CouponFact(code, refusal="TOO_MANY_ATTEMPTS"))
        elif kind is None:
            failed += 1
            facts.append(CouponFact(code, refusal="UNKNOWN_CODE"))
        else:
            refusal = "USAGE_LIMIT_REACHED" if code in codes[:position] else None  # the same code a second time
            refusal = refusal or _type_refusal(kind, presented.at)
            if row is not None:
                refusal = refusal or _code_refusal(row, presented)
            refusal = refusal or _limit_refusal(kind, uses, presented.customer_id)
            facts.append(CouponFact(code, kind.id, kind.name, None if row is None else row.id, refusal))
    return tuple(facts)


def _individual(codes: Sequence[str]) -> Any:
    coupons = table("CouponCodes")
    return select(
        coupons.c.id,
        coupons.c.code,
        coupons.c.status,
        coupons.c.coupon_type_id,
        coupons.c.customer_id,
        coupons.c.valid_from,
        coupons.c.valid_until,
        coupons.c.reserved_until,
        coupons.c.reserved_by_transaction_id,
        coupons.c.redeemed_transaction_id,
    ).where(coupons.c.code.in_(sorted(set(codes))))


def _is_limited(kind: CouponType) -> bool:
    return kind.max_redemptions is not None or kind.max_redemptions_per_customer is not None


async def _coupon_uses(
    session: Session, type_ids: Collection[str], customer_id: str | None
) -> Mapping[tuple[str, str], int]:
    usage = table("coupon_usage")
    customers = [ALL_CUSTOMERS] if customer_id is None else [ALL_CUSTOMERS, customer_id]
    rows = await session.execute(
        select(usage.c.coupon_type_id, usage.c.customer_id, usage.c["count"].label("uses")).where(
            usage.c.coupon_type_id.in_(sorted(type_ids)), usage.c.customer_id.in_(customers)
        )
    )
    return {(row.coupon_type_id, row.customer_id): row.uses for row in rows}


def _type_refusal(kind: CouponType, at: datetime) -> str | None:
    if kind.status != "ACTIVE" or (kind.valid_from is not None and at < kind.valid_from):
        return "NOT_ACTIVE"
    return "EXPIRED" if kind.valid_to is not None and at >= kind.valid_to else None


def _code_refusal(row: Row[Any], presented: Presented) -> str | None:
    """Why an individual code does not count; a reservation that has run out no longer holds it, swept or not."""
    at, status = presented.at, row.status
    if status == "REDEEMED" or (status == "RESERVED" and row.redeemed_transaction_id is not None):
        return "ALREADY_REDEEMED"
    if status == "EXPIRED" or (row.valid_until is not None and at >= row.valid_until):
        return "EXPIRED"
    if status in {"CREATED", "CANCELLED"} or (row.valid_from is not None and at < row.valid_from):
        return "NOT_ACTIVE"
    held = status == "RESERVED" and row.reserved_until is not None and at < row.reserved_until
    if held and row.reserved_by_transaction_id != presented.transaction_id:
        return "RESERVED_ELSEWHERE"
    if row.customer_id is not None and row.customer_id != presented.customer_id:
        return "WRONG_CUSTOMER"
    return None


def _limit_refusal(kind: CouponType, uses: Mapping[tuple[str, str], int], customer_id: str | None) -> str | None:
    total = kind.max_redemptions
    if total is not None and uses.get((kind.id, ALL_CUSTOMERS), 0) >= total:
        return "USAGE_LIMIT_REACHED"
    each = kind.max_redemptions_per_customer
    if each is not None and customer_id is not None and uses.get((kind.id, customer_id), 0) >= each:
        return "USAGE_LIMIT_REACHED"
    return None


async def read_budgets(session: Session, budget_ids: Collection[str], at: datetime) -> dict[str, BudgetFact]:
    """What the budgets have left, their status judged at ``at``; unknown ones are left out."""
    budgets = table("Budgets")
    rows = await session.execute(
        select(
            budgets.c.id,
            budgets.c.status,
            budgets.c.valid_from,
            budgets.c.valid_to,
            budgets.c.total_amount,
            budgets.c.consumed_amount,
            budgets.c.reserved_amount,
            budgets.c.currency,
        ).where(budgets.c.id.in_(sorted(budget_ids)))
    )
    return {row.id: _budget(row, at) for row in rows}


def _budget(row: Row[Any], at: datetime) -> BudgetFact:
    status = row.status
    if status in _RUNNING_BUDGETS:
        if row.valid_to is not None and at >= row.valid_to:
            status = "EXPIRED"
        elif row.valid_from is not None and at < row.valid_from:
            status = "SCHEDULED"
        else:
            status = "ACTIVE"
    left: Decimal = row.total_amount - row.consumed_amount - row.reserved_amount
    # Below a minor unit nothing can be given: what is left of one is cut off.
    return BudgetFact(row.id, status, max(0, int(left.scaleb(minor_digits(row.currency)))), row.currency)


async def read_usage(session: Session, promotion_ids: Collection[str], customer_id: str | None) -> dict[str, UsageFact]:
    """Confirmed transactions in which each promotion applied, in all and of the customer; never used ones left out."""
    usage = table("promotion_usage")
    customers = [ALL_CUSTOMERS] if customer_id is None else [ALL_CUSTOMERS, customer_id]
    rows = await session.execute(
        select(usage.c.promotion_id, usage.c.customer_id, usage.c["count"].label("uses")).where(
            and_(usage.c.promotion_id.in_(sorted(promotion_ids)), usage.c.customer_id.in_(customers))
        )
    )
    counts = {(row.promotion_id, row.customer_id): row.uses for row in rows}
    by_customer = customer_id if customer_id is not None else None
    return {
        one: UsageFact(
            counts.get((one, ALL_CUSTOMERS), 0), 0 if by_customer is None else counts.get((one, by_customer), 0)
        )
        for one in sorted({promotion_id for promotion_id, _ in counts})
    }
