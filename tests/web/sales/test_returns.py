"""What a till is told about goods that come back."""

from __future__ import annotations

from typing import Any

from tests.web.conftest import PROMOTION_ID, Shop, basket, item


def confirmed(shop: Shop, transaction: str, **changes: Any) -> None:
    """Price a basket and confirm it with everything that it was given."""
    priced = shop.call("/pos/v2/evaluate", basket(header={"transactionId": transaction}, **changes)).json()
    header = {"transactionId": transaction, "transactionCounter": priced["meta"]["header"]["transactionCounter"]}
    promotions = [
        {"promotionId": one["promotionId"], "totalDiscount": one["totalDiscount"]["value"]}
        for one in priced["totals"]["savingsSummary"]["promotionBreakdown"]
    ]
    request = {"request": {"transactionId": transaction, "header": header, "appliedPromotions": promotions}}
    answer = shop.call("/pos/v2/confirm", request)
    assert answer.status_code == 200, answer.text


def back(sale: str, line: str, quantity: int = -1) -> dict[str, Any]:
    names = {"originalTransactionId": sale, "originalLineReference": line}
    fields = [{"key": key, "value": value} for key, value in names.items()]
    return item(quantity=quantity, additionalFields=fields)


def test_a_return_is_told_what_was_paid_and_what_changes_hands(shop: Shop) -> None:
    confirmed(shop, "back-1", items=[item(quantity=3, unitPrice=4.99, lineReference="a")])  # 14.97, 1.50 off
    lines = [back("back-1", "a"), back("back-1", "a", -3), back("back-9", "a"), item(articleNumber="B-1")]
    for address in ("/pos/v2/simulate", "/pos/v2/evaluate"):
        answer = shop.call(address, basket(items=lines)).json()
        first, second, third, last = answer["lineItems"]
        assert first["refund"] == {
            "status": "MATCHED",
            "amount": {"value": 4.49, "currency": "EUR"},
            "discountTakenBack": {"value": 0.5, "currency": "EUR"},
            "unitShares": [{"promotionId": PROMOTION_ID, "count": 1, "amount": {"value": 0.5, "currency": "EUR"}}],
            "pointsTakenBack": 0,
            "budgetGivenBack": {"value": 0, "currency": "EUR"},
        }
        assert (second["refund"]["status"], second["refund"]["left"]) == ("OVER_RETURNED", 2)
        assert second["refund"]["amount"]["value"] == 8.98
        assert (third["refund"]["status"], third["refund"]["amount"]["value"]) == ("UNKNOWN_SALE", 5)
        assert "refund" not in last
        totals = answer["totals"]
        assert (totals["refundTotal"]["value"], totals["payable"]["value"]) == (18.47, -8.47)
        assert totals["returnSubtotal"]["value"] == -25  # the prices that the till sends


def test_without_returns_the_totals_are_as_before(shop: Shop) -> None:
    assert {"refundTotal", "payable"}.isdisjoint(shop.call("/pos/v2/simulate", basket()).json()["totals"])
