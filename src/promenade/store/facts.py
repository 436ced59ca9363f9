"""What only the store knows at the moment of pricing: coupons presented, budgets left, usage so far."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from promenade.engine.basket import BudgetFact, CouponFact, UsageFact
from promenade.engine.money import minor_digits
from promenade.store.fact_statements import Budget, CouponCode
from promenade.store.surroundings import CouponType, Surroundings
from promenade.store.unit import Look

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
    look: Look, tenant_id: str, codes: Sequence[str], surroundings: Surroundings, presented: Presented
) -> tuple[CouponFact, ...]:
    """One fact per presented code, in order; a refused one carries its reason (pricing semantics, section 10)."""
    found = await look("coupon codes", (tenant_id, sorted(set(codes)))) if codes else ()
    rows = {row.code: row for row in (CouponCode(*one) for one in found)}
    types: dict[str, CouponType] = {}
    for code in codes:
        row = rows.get(code)
        kind = (
            surroundings.generic_codes.get(code) if row is None else surroundings.coupon_types.get(row.coupon_type_id)
        )
        if kind is not None:
            types[code] = kind
    limited = {one.id for one in types.values() if _is_limited(one)}
    uses = await _uses(look, "coupon usage", tenant_id, limited, presented.customer_id) if limited else {}
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


def _is_limited(kind: CouponType) -> bool:
    return kind.max_redemptions is not None or kind.max_redemptions_per_customer is not None


async def _uses(
    look: Look, statement: str, tenant_id: str, owners: Collection[str], customer_id: str | None
) -> Mapping[tuple[str, str], int]:
    """Confirmed uses by (owner, customer), where the customer ALL_CUSTOMERS stands for all of them."""
    customers = [ALL_CUSTOMERS] if customer_id is None else [ALL_CUSTOMERS, customer_id]
    rows = await look(statement, (tenant_id, sorted(owners), customers))
    return {(owner, customer): count for owner, customer, count in rows}


def _type_refusal(kind: CouponType, at: datetime) -> str | None:
    if kind.status != "ACTIVE" or (kind.valid_from is not None and at < kind.valid_from):
        return "NOT_ACTIVE"
    return "EXPIRED" if kind.valid_to is not None and at >= kind.valid_to else None


def _code_refusal(row: CouponCode, presented: Presented) -> str | None:
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


async def read_budgets(look: Look, tenant_id: str, budget_ids: Collection[str], at: datetime) -> dict[str, BudgetFact]:
    """What the budgets have left, their status judged at ``at``; unknown ones are left out."""
    rows = await look("budgets", (tenant_id, sorted(budget_ids)))
    return {row[0]: _budget(Budget(*row), at) for row in rows}


def _budget(row: Budget, at: datetime) -> BudgetFact:
    status = row.status
    if status in _RUNNING_BUDGETS:
        if row.valid_to is not None and at >= row.valid_to:
            status = "EXPIRED"
        elif row.valid_from is not None and at < row.valid_from:
            status = "SCHEDULED"
        else:
            status = "ACTIVE"
    # Below a minor unit nothing can be given: what is left of one is cut off.
    return BudgetFact(row.id, status, max(0, int(row.left.scaleb(minor_digits(row.currency)))), row.currency)


async def read_usage(
    look: Look, tenant_id: str, promotion_ids: Collection[str], customer_id: str | None
) -> dict[str, UsageFact]:
    """Confirmed transactions in which each promotion applied, in all and of the customer; never used ones left out."""
    counts = await _uses(look, "promotion usage", tenant_id, promotion_ids, customer_id)
    return {
        one: UsageFact(
            counts.get((one, ALL_CUSTOMERS), 0), 0 if customer_id is None else counts.get((one, customer_id), 0)
        )
        for one in sorted({promotion_id for promotion_id, _ in counts})
    }
