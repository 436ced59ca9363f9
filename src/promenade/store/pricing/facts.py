"""Facts that only the database has at pricing time: presented coupons, amounts left in budgets, usage so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from promenade.engine.basket import BudgetFact, CouponFact, UsageFact
from promenade.engine.money import minor_digits
from promenade.store.coupons.rules import code_refusal, limit_refusal, type_refusal
from promenade.store.coupons.shared_codes import shared_form
from promenade.store.driver.unit import Look
from promenade.store.pricing.fact_statements import Budget, CouponCode
from promenade.store.pricing.surroundings import CouponType, Surroundings

ALL_CUSTOMERS = ""
FAILURES_MAX = 100  # failed lookups per minute and client (reliability C4)

_RUNNING_BUDGETS = frozenset({"ACTIVE", "SCHEDULED"})


@dataclass(frozen=True, slots=True)
class Presented:
    """Who presents coupons, where and when: validity is checked at ``at``."""

    transaction_id: str
    customer_id: str | None
    at: datetime
    failed_before: int  # failed lookups of this client within the last minute
    origin: str


async def read_coupons(
    look: Look, tenant_id: str, codes: Sequence[str], surroundings: Surroundings, presented: Presented
) -> tuple[CouponFact, ...]:
    """Return one fact per presented code, in order; a refused one has its reason (pricing semantics, section 10)."""
    found = await look("coupon codes", (tenant_id, sorted(set(codes)))) if codes else ()
    rows = {row.code: row for row in (CouponCode(*one) for one in found)}
    types: dict[str, CouponType] = {}
    for code in codes:
        row = rows.get(code)
        kind = (
            surroundings.generic_codes.get(shared_form(code))
            if row is None
            else surroundings.coupon_types.get(row.coupon_type_id)
        )
        if kind is not None:
            types[code] = kind
    counted = await _counted(look, tenant_id, types.values(), presented)
    refusals = {code: _refusal(kind, rows.get(code), counted, presented) for code, kind in types.items()}
    if any(refusals.values()):
        await _forgive(look, tenant_id, types, rows, counted, presented, refusals)
    facts: list[CouponFact] = []
    shown: set[str] = set()
    failed = presented.failed_before
    for code in codes:
        kind, row = types.get(code), rows.get(code)
        if failed >= FAILURES_MAX:
            facts.append(CouponFact(code, refusal="TOO_MANY_ATTEMPTS"))
        elif kind is None:
            failed += 1
            facts.append(CouponFact(code, refusal="UNKNOWN_CODE"))
        else:
            key = kind.id if row is None else row.id
            refusal = "USAGE_LIMIT_REACHED" if key in shown else refusals[code]  # the same code presented twice
            shown.add(key)
            facts.append(CouponFact(code, kind.id, kind.name, None if row is None else row.id, refusal))
    return tuple(facts)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Redemptions of the limited types by (type, customer), and reservations by other transactions, by type."""

    uses: Mapping[tuple[str, str], int]
    held: Mapping[str, int]


async def _counted(look: Look, tenant_id: str, types: Iterable[CouponType], presented: Presented) -> _Counted:
    limited = {one.id: one for one in types if _is_limited(one)}
    if not limited:
        return _Counted({}, {})
    uses = await _uses(look, "coupon usage", tenant_id, limited, presented.customer_id)
    totals = sorted(key for key, one in limited.items() if one.max_redemptions is not None)
    held = await look("coupons held", (tenant_id, totals, presented.at, presented.transaction_id)) if totals else ()
    return _Counted(uses, {type_id: count for type_id, count in held})  # noqa: C416 - rows are no pairs


def _refusal(kind: CouponType, row: CouponCode | None, counted: _Counted, presented: Presented) -> str | None:
    refusal = type_refusal(kind, presented.at)
    if row is not None:
        refusal = refusal or code_refusal(row, presented.at, presented.transaction_id, presented.customer_id)
    return refusal or _limit_refusal(kind, counted, presented.customer_id)


def _limit_refusal(kind: CouponType, counted: _Counted, customer_id: str | None) -> str | None:
    uses = counted.uses.get((kind.id, ALL_CUSTOMERS), 0) + counted.held.get(kind.id, 0)
    return limit_refusal(kind, uses, 0 if customer_id is None else counted.uses.get((kind.id, customer_id), 0))


async def _forgive(
    look: Look,
    tenant_id: str,
    types: Mapping[str, CouponType],
    rows: Mapping[str, CouponCode],
    counted: _Counted,
    presented: Presented,
    refusals: dict[str, str | None],
) -> None:
    """Accept codes that this transaction's till has already redeemed; they are not counted against limits again."""
    claims = await look("redeemed by the till", (tenant_id, presented.origin, presented.transaction_id))
    customers: dict[str, str | None] = {key: customer for key, customer in claims}  # noqa: C416 - rows are no pairs
    for code, kind in types.items():
        row = rows.get(code)
        key = kind.id if row is None else row.id
        if key in customers:
            # A use is still to be counted only for a customer whom the till did not send and the sale does.
            is_named_now = customers[key] is None and presented.customer_id is not None
            each, uses = kind.max_redemptions_per_customer, counted.uses.get((kind.id, presented.customer_id or ""), 0)
            refusals[code] = "USAGE_LIMIT_REACHED" if is_named_now and each is not None and uses >= each else None


def _is_limited(kind: CouponType) -> bool:
    return kind.max_redemptions is not None or kind.max_redemptions_per_customer is not None


async def _uses(
    look: Look, statement: str, tenant_id: str, owners: Collection[str], customer_id: str | None
) -> Mapping[tuple[str, str], int]:
    """Return confirmed uses by (owner, customer); the customer ALL_CUSTOMERS stands for the total."""
    customers = [ALL_CUSTOMERS] if customer_id is None else [ALL_CUSTOMERS, customer_id]
    rows = await look(statement, (tenant_id, sorted(owners), customers))
    return {(owner, customer): count for owner, customer, count in rows}


async def read_budgets(look: Look, tenant_id: str, budget_ids: Collection[str], at: datetime) -> dict[str, BudgetFact]:
    """Return the amounts left in the budgets and their status as of ``at``; unknown budgets are left out."""
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
    # Only whole minor units can be spent, so the rest is cut off.
    return BudgetFact(row.id, status, max(0, int(row.left.scaleb(minor_digits(row.currency)))), row.currency)


async def read_usage(
    look: Look, tenant_id: str, promotion_ids: Collection[str], customer_id: str | None
) -> dict[str, UsageFact]:
    """Count confirmed transactions per promotion, in total and of the customer; unused promotions are left out."""
    counts = await _uses(look, "promotion usage", tenant_id, promotion_ids, customer_id)
    return {
        one: UsageFact(
            counts.get((one, ALL_CUSTOMERS), 0), 0 if customer_id is None else counts.get((one, customer_id), 0)
        )
        for one in sorted({promotion_id for promotion_id, _ in counts})
    }
