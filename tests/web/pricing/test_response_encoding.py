"""The encoding of an outcome: exact numbers, and no empty fields."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from promenade.engine.outcome import Addition, BestDeal, Gap, MissedPromotion, Outcome, Recommendation
from promenade.web.pricing.encode import encode_evaluation
from tests.web.pricing.outcomes import PROMOTION, a_discount, a_line, an_outcome, priced


def body(outcome: Outcome, *, missed: bool = False, quoted: bool = False, counter: int | None = 1) -> dict[str, Any]:
    raw = text(outcome, missed=missed, quoted=quoted, counter=counter)
    document: dict[str, Any] = json.loads(raw, parse_float=Decimal)
    return document


def text(outcome: Outcome, *, missed: bool = False, quoted: bool = False, counter: int | None = 1) -> str:
    return encode_evaluation(
        priced(outcome, counter=counter),
        tenant_id="acme",
        source="btp",
        instance_id="one",
        include_missed=missed,
        quoted=quoted,
    ).decode()


@pytest.mark.parametrize(
    ("currency", "exponent", "minor", "shown"),
    [
        ("EUR", 2, 1250, "12.50"),
        ("EUR", 2, 5, "0.05"),
        ("EUR", 2, -5, "-0.05"),
        ("JPY", 0, 1250, "1250"),
        ("KWD", 3, 1250, "1.250"),
        ("EUR", 2, 99_999_999_999_999_999, "999999999999999.99"),
    ],
)
def test_amounts_have_the_digits_of_their_currency(currency: str, exponent: int, minor: int, shown: str) -> None:
    outcome = an_outcome(a_line(total=minor), currency=currency, exponent=exponent)
    assert f'"lineTotal":{{"value":{shown},"currency":"{currency}"}}' in text(outcome)


def test_the_unit_price_keeps_two_decimals_in_any_currency() -> None:
    shown = text(an_outcome(a_line(total=13, price=1250), currency="JPY", exponent=0))
    assert '"unitPrice":{"value":12.50,"currency":"JPY"}' in shown


@pytest.mark.parametrize(
    ("thousandths", "shown"),
    [(1000, "1"), (1500, "1.5"), (-2000, "-2"), (125, "0.125"), (10_000, "10"), (-500, "-0.5")],
)
def test_quantities_have_no_needless_zeros(thousandths: int, shown: str) -> None:
    assert f'"quantity":{{"value":{shown},"unit":"PCE"}}' in text(an_outcome(a_line(quantity=thousandths)))


def test_clients_without_exact_numbers_get_strings() -> None:
    shown = text(an_outcome(a_line(discounts=(a_discount(100),))), quoted=True)
    assert '"lineDiscount":{"value":"1.00","currency":"EUR"}' in shown
    assert '"discountValue":"10.00"' in shown
    assert '"savingsPercent":"10.00"' in shown


def test_fields_without_a_value_are_left_out() -> None:
    shown = body(an_outcome(a_line()))
    assert "ean" not in shown["lineItems"][0]
    assert "freeItemPromotionId" not in shown["lineItems"][0]
    assert shown["lineItems"][0]["isFreeItem"] is False
    assert "missedPromotions" not in shown
    assert "saleSubtotal" not in shown["totals"]
    assert "receiptId" not in shown["meta"]["header"]
    assert "bestDeal" not in shown["meta"]
    for empty in ("grantedItems", "recommendations", "appliedCoupons", "invalidCoupons", "nudges", "thresholdGaps"):
        assert shown[empty] == []


def test_a_simulation_has_no_counter() -> None:
    shown = body(an_outcome(a_line()), counter=None)
    assert shown["meta"]["isSimulation"] is True
    assert shown["meta"]["header"] == {"transactionId": "T-1"}


def test_a_line_given_free_names_its_promotion() -> None:
    line = body(an_outcome(a_line(discounts=(a_discount(1000),), free=PROMOTION)))["lineItems"][0]
    assert line["isFreeItem"] is True
    assert line["freeItemPromotionId"] == PROMOTION
    assert line["lineNet"]["value"] == 0


def test_both_names_of_a_discount_amount_agree_and_a_coupon_is_named() -> None:
    (plain, triggered) = body(an_outcome(a_line(discounts=(a_discount(100), a_discount(50, coupon="SAVE")))))[
        "lineItems"
    ][0]["discounts"]
    assert plain["discountAmount"] == plain["totalDiscount"] == {"value": Decimal("1.00"), "currency": "EUR"}
    assert plain["triggeredByCoupon"] is False
    assert "couponCode" not in plain
    assert triggered["triggeredByCoupon"] is True
    assert triggered["couponCode"] == "SAVE"


def test_return_lines_split_the_subtotal() -> None:
    totals = body(an_outcome(a_line("1", total=1000), a_line("2", total=-300, quantity=-1000)))["totals"]
    assert totals["saleSubtotal"]["value"] == Decimal("10.00")
    assert totals["returnSubtotal"]["value"] == Decimal("-3.00")
    assert totals["subtotal"]["value"] == Decimal("7.00")


def test_the_savings_summary_lists_discounted_lines_and_promotions() -> None:
    summary = body(an_outcome(a_line("1", discounts=(a_discount(150),)), a_line("2")))["totals"]["savingsSummary"]
    assert summary["savingsPercent"] == Decimal("7.50")
    assert summary["promotionBreakdown"] == [
        {
            "promotionId": PROMOTION,
            "promotionName": "Ten off",
            "totalDiscount": {"value": Decimal("1.50"), "currency": "EUR"},
            "affectedItems": ["1"],
        }
    ]
    (saving,) = summary["itemSavings"]
    assert (saving["originalPrice"]["value"], saving["finalPrice"]["value"]) == (Decimal("10.00"), Decimal("8.50"))


@pytest.mark.parametrize(("off", "percent"), [(333, "33.30"), (1, "0.10"), (1000, "100.00"), (0, "0.00")])
def test_the_percentage_saved_is_of_the_sale(off: int, percent: str) -> None:
    discounts = (a_discount(off),) if off else ()
    shown = text(an_outcome(a_line("1", discounts=discounts), a_line("2", total=-900, quantity=-1000)))
    assert f'"savingsPercent":{percent}' in shown


def test_match_percent_is_only_on_near_misses() -> None:
    near = Recommendation("NEAR_MISS", "CONDITION_NOT_MET", (("gap", "2.00"),), "Almost", PROMOTION, "Ten off", 80)
    hint = Recommendation("HINT", "COUPON_REQUIRED", (), "A coupon", PROMOTION, "Ten off", None)
    shown = body(replace(an_outcome(a_line()), recommendations=(near, hint)))["recommendations"]
    assert shown[0]["matchPercent"] == 80
    assert shown[0]["params"] == [{"key": "gap", "value": "2.00"}]
    assert "matchPercent" not in shown[1]


def test_a_recommendation_tells_the_saving_that_is_promised_for_its_promotion() -> None:
    near = Recommendation("NEAR_MISS", "CONDITION_NOT_MET", (), "Almost", PROMOTION, "Ten off", 80)
    other = replace(near, promotion_id="other")
    more = Addition("1", "A-1", None, 2000, 500, False)
    gap = Gap(PROMOTION, "Ten off", "ITEM_QUANTITY", 200, 300, 100, 150, (more,))
    missed = MissedPromotion("other", "Other", "ARTICLE", "COUPON_REQUIRED", "A coupon", potential_saving_minor=70)
    outcome = replace(an_outcome(a_line()), recommendations=(near, other), gaps=(gap,), missed=(missed,))
    first, second = body(outcome)["recommendations"]
    assert first["potentialSaving"] == {"value": Decimal("1.50"), "currency": "EUR"}
    assert first["missing"] == [{"lineReference": "1", "articleNumber": "A-1", "quantity": 2}]
    assert second["potentialSaving"]["value"] == Decimal("0.70")
    assert "missing" not in second
    (alone,) = body(replace(outcome, recommendations=(near,), gaps=(), missed=()))["recommendations"]
    assert "potentialSaving" not in alone


def test_missed_promotions_are_shown_when_asked_for() -> None:
    missed = MissedPromotion(
        PROMOTION, "Ten off", "ARTICLE", "BLOCKED_BY_EXCLUSIVITY", "Another was better",
        blocked_by_id="w", blocked_by_name="Winner", difference_minor=-25, remedy="Leave out Winner",
    )  # fmt: skip
    outcome = replace(an_outcome(a_line()), missed=(missed,))
    (shown,) = body(outcome, missed=True)["missedPromotions"]
    assert shown["blockedBy"] == {
        "promotionId": "w",
        "promotionName": "Winner",
        "difference": {"value": Decimal("-0.25"), "currency": "EUR"},
        "remedy": "Leave out Winner",
    }
    assert "missedPromotions" not in body(outcome)


def test_threshold_gaps_have_two_decimals_whatever_the_currency() -> None:
    gap = Gap(PROMOTION, "Ten off", "RECEIPT_AMOUNT", 80_00, 100_00, 20_00, 10)
    shown = text(replace(an_outcome(a_line(), currency="JPY", exponent=0), gaps=(gap,)))
    assert '"currentValue":80.00,"threshold":100.00,"gap":20.00' in shown
    assert '"potentialSaving":{"value":10,"currency":"JPY"}' in shown


def test_a_best_deal_reports_what_was_searched_its_bound_and_whether_it_is_optimal() -> None:
    shown = body(replace(an_outcome(a_line()), best_deal=BestDeal(True, 150, 12, ("ORDER",))))["meta"]["bestDeal"]
    assert shown == {
        "optimal": True,
        "bound": {"value": Decimal("1.50"), "currency": "EUR"},
        "nodes": 12,
        "scope": ["ORDER"],
    }
