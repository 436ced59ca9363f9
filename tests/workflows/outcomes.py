"""Handwritten priced iterations in the form of the engine's results."""

from __future__ import annotations

from promenade.engine.outcome import AppliedPromotion, LineDiscount, LineOutcome, Outcome, UnitShare

__all__ = ["applied", "discount", "line", "outcome"]


def discount(promotion_id: str, units: tuple[tuple[int, int], ...], coupon_code: str | None = None) -> LineDiscount:
    """Return one promotion on a line; ``units`` are (count, amount in minor units)."""
    shares = tuple(UnitShare(count, amount) for count, amount in units)
    return LineDiscount(
        promotion_id=promotion_id,
        promotion_name=promotion_id,
        promotion_type="ARTICLE",
        discount_type="ABSOLUTE",
        discount_value_hundredths=100,
        amount_minor=sum(share.count * share.amount_minor for share in shares),
        coupon_code=coupon_code,
        units=shares,
    )


def line(
    reference: str, quantity_thousandths: int, total_minor: int, *discounts: LineDiscount, unit: str = "PCE"
) -> LineOutcome:
    taken = sum(one.amount_minor for one in discounts)
    return LineOutcome(
        reference=reference,
        article_number=f"A-{reference}",
        ean=None,
        article_group_id=None,
        manufacturer_id=None,
        quantity_thousandths=quantity_thousandths,
        unit=unit,
        unit_price_hundredths=abs(total_minor) * 1000 // abs(quantity_thousandths),
        total_minor=total_minor,
        discount_minor=taken,
        net_minor=max(total_minor - taken, 0),
        discounts=discounts,
    )


def applied(
    promotion_id: str,
    discount_minor: int = 0,
    *,
    points: int = 0,
    give_away_minor: int = 0,
    coupon_code: str | None = None,
    coupon_type_ids: tuple[str, ...] = (),
    budget_ids: tuple[str, ...] = (),
) -> AppliedPromotion:
    return AppliedPromotion(
        promotion_id=promotion_id,
        promotion_name=promotion_id,
        promotion_type="ARTICLE",
        definition_hash="00",
        version=1,
        discount_minor=discount_minor,
        give_away_minor=give_away_minor,
        line_references=(),
        coupon_code=coupon_code,
        applications=1,
        points=points,
        post_purchase_coupon_type_ids=coupon_type_ids,
        budget_ids=budget_ids,
    )


def outcome(
    lines: tuple[LineOutcome, ...],
    promotions: tuple[AppliedPromotion, ...],
    *,
    base_points: int = 0,
    currency: str = "EUR",
    exponent: int = 2,
) -> Outcome:
    subtotal = sum(one.total_minor for one in lines)
    taken = sum(one.discount_minor for one in promotions)
    return Outcome(
        currency=currency,
        exponent=exponent,
        lines=lines,
        granted=(),
        subtotal_minor=subtotal,
        discount_minor=taken,
        grand_total_minor=subtotal - taken,
        sale_subtotal_minor=sum(one.total_minor for one in lines if one.total_minor > 0),
        return_subtotal_minor=sum(one.total_minor for one in lines if one.total_minor < 0),
        applied=promotions,
        points=base_points + sum(one.points for one in promotions),
        base_points=base_points,
        coupons_used=(),
        coupons_refused=(),
        budget_limited=(),
        recommendations=(),
        missed=(),
        gaps=(),
        nudges=(),
        candidate_hashes=(),
    )
