"""C1 to C3: codes are spent once, by their holder, while valid."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.reliability.soak.books import Books, group
from tests.reliability.soak.history import Redeemed

__all__ = ["check_coupons"]


async def check_coupons(books: Books) -> None:
    """Check all coupon invariants."""
    await _spent_once(books)
    await _answers(books)
    await _shared_codes(books)
    await _usage(books)


async def _spent_once(books: Books) -> None:
    """C1, C3: an individual code has at most one claim, made before its end; its row and its log agree."""
    claims = group(await books.rows("coupon_claims"), "tenant_id", "coupon_code_id")
    redeemed = Counter(
        (row.tenant_id, row.coupon_code_id)
        for row in await books.rows("RedemptionLogs", "tenant_id", "coupon_code_id", "action")
        if row.action == "REDEEMED" and row.coupon_code_id is not None
    )
    for code in await books.rows("CouponCodes"):
        key = (code.tenant_id, code.id)
        of_code = claims.get(key, [])
        books.expect("C1", len(of_code) <= 1, (key, of_code))
        books.expect("C1", code.redemption_count == len(of_code) == redeemed[key], (code, of_code, redeemed[key]))
        books.expect("C1", (code.status == "REDEEMED") == bool(of_code), (code, of_code))
        for claim in of_code:
            books.expect("C1", code.redeemed_transaction_id == claim.transaction_id, (code, claim))
            books.expect("C1", claim.redeemed_at is not None, ("a claim that was never finished", claim))
            books.expect("C3", code.valid_until is None or claim.claimed_at < code.valid_until, (code, claim))


async def _answers(books: Books) -> None:
    """C1, C2, T3: an acknowledged redemption is stored, for its transaction, and is the only one of its code."""
    rows = {(row.tenant_id, row.code): row for row in await books.rows("CouponCodes")}
    told = [one for one in books.history.redeemed if not one.code.startswith("ALL-")]
    for key, times in Counter((one.tenant, one.code) for one in told).items():
        books.expect("C1", times == 1, f"redeemed {times} times: {key}")
    for one in told:
        row = rows[one.tenant, one.code]
        books.expect("T3", row.redeemed_transaction_id == one.transaction_id, (one, row))
    by_id = {(row.tenant_id, row.id) for row in rows.values()}
    for issue in books.history.issued:
        for coupon_id in issue.coupon_ids:
            books.expect("T3", (issue.tenant, coupon_id) in by_id, ("an issued coupon is lost", coupon_id))
    _reservations_are_logged(books, await books.rows("RedemptionLogs", "tenant_id", "transaction_id", "action"))


def _reservations_are_logged(books: Books, logs: Any) -> None:
    held = {(row.tenant_id, row.transaction_id) for row in logs if row.action == "RESERVED"}
    for one in books.history.reserved:
        books.expect("T3", (one.tenant, one.transaction_id) in held, ("a reservation is lost", one))


async def _shared_codes(books: Books) -> None:
    """C1 of generic codes: claims do not exceed the limit, and each redemption has its reservation."""
    claims = group(await books.rows("coupon_claims"), "tenant_id", "coupon_type_id")
    for kind in await books.rows("CouponTypes"):
        of_type = claims.get((kind.tenant_id, kind.id), [])
        if kind.max_redemptions is not None:
            books.expect("C1", len(of_type) <= kind.max_redemptions, (kind, len(of_type)))
    states = {(row.tenant_id, row.id): row for row in await books.rows("coupon_reservations")}
    shared: list[Redeemed] = [one for one in books.history.redeemed if one.code.startswith("ALL-")]
    for one in shared:
        row = states.get((one.tenant, one.reservation_id))
        books.expect("C2", row is not None and row.state == "REDEEMED", (one, row))
        books.expect("C2", row is not None and row.transaction_id == one.transaction_id, (one, row))


async def _usage(books: Books) -> None:
    """The usage counters that later sales are checked against match the actual uses."""
    claimed: Counter[Any] = Counter()
    for row in await books.rows("coupon_claims"):
        claimed[row.tenant_id, row.coupon_type_id, ""] += 1
        if row.customer_id:
            claimed[row.tenant_id, row.coupon_type_id, row.customer_id] += 1
    for row in await books.rows("coupon_usage"):
        key = (row.tenant_id, row.coupon_type_id, row.customer_id)
        books.expect("C1", row._mapping["count"] == claimed[key], ("uses of a coupon type", key, row, claimed[key]))
    applied: Counter[Any] = Counter()
    sold = {(row.tenant_id, row.id): row for row in await books.rows("CalculationLogs") if row.status == "CALCULATED"}
    for row in await books.rows("CalculationLogPromotions"):
        log = sold.get((row.tenant_id, row.log_id))
        if log is None or row.pilot_arm == "CONTROL":
            continue
        applied[row.tenant_id, row.promotion_id, ""] += 1
        if log.customer_id is not None:
            applied[row.tenant_id, row.promotion_id, log.customer_id] += 1
    for row in await books.rows("promotion_usage"):
        key = (row.tenant_id, row.promotion_id, row.customer_id)
        books.expect("T4", row._mapping["count"] == applied.pop(key, 0), ("uses of a promotion", key, row))
    books.expect("T4", not applied, ("promotions that were not counted", applied))
    counted = {
        (row.tenant_id, row.promotion_id): row._mapping["count"]
        for row in await books.rows("promotion_usage")
        if not row.customer_id
    }
    for row in await books.rows("Promotions"):
        books.expect("T4", row.applications_count == counted.get((row.tenant_id, row.id), 0), row)
