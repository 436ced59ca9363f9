"""Outcomes made by hand, to test how they are encoded."""

from __future__ import annotations

from datetime import UTC, datetime

from promenade.engine.outcome import AppliedPromotion, LineDiscount, LineOutcome, Outcome, UnitShare
from promenade.workflows.pricing.evaluate import PricedIteration

PROMOTION = "11111111-2222-3333-4444-555555555555"


def a_discount(minor: int, *, coupon: str | None = None) -> LineDiscount:
    return LineDiscount(PROMOTION, "Ten off", "ARTICLE", "PERCENTAGE", 1000, minor, coupon, (UnitShare(1, minor),))


def a_line(
    reference: str = "1",
    *,
    total: int = 1000,
    discounts: tuple[LineDiscount, ...] = (),
    quantity: int = 1000,
    price: int = 1000,
    free: str | None = None,
    ean: str | None = None,
) -> LineOutcome:
    off = sum(discount.amount_minor for discount in discounts)
    return LineOutcome(
        reference,
        f"A{reference}",
        ean,
        None,
        None,
        quantity,
        "PCE",
        price,
        total,
        off,
        max(total - off, 0),
        discounts,
        free,
    )


def an_outcome(*lines: LineOutcome, currency: str = "EUR", exponent: int = 2) -> Outcome:
    off = sum(line.discount_minor for line in lines)
    total = sum(line.total_minor for line in lines)
    references = tuple(line.reference for line in lines if line.discount_minor)
    applied = AppliedPromotion(PROMOTION, "Ten off", "ARTICLE", "h", 1, off, 0, references, None, 1, 0, (), ())
    return Outcome(
        currency=currency,
        exponent=exponent,
        lines=lines,
        granted=(),
        subtotal_minor=total,
        discount_minor=off,
        grand_total_minor=total - off,
        sale_subtotal_minor=sum(line.total_minor for line in lines if line.quantity_thousandths > 0),
        return_subtotal_minor=sum(line.total_minor for line in lines if line.quantity_thousandths < 0),
        applied=(applied,) if off else (),
        points=0,
        base_points=0,
        coupons_used=(),
        coupons_refused=(),
        budget_limited=(),
        recommendations=(),
        missed=(),
        gaps=(),
        nudges=(),
        candidate_hashes=(),
    )


def priced(outcome: Outcome, *, counter: int | None = 1) -> PricedIteration:
    return PricedIteration(
        transaction_id="T-1",
        transaction_counter=counter,
        receipt_id=None,
        header_reference=None,
        evaluated_at=datetime(2026, 5, 1, 10, 0, tzinfo=UTC),
        data_age=None,
        outcome=outcome,
        is_simulation=counter is None,
    )
