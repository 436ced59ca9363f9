"""Evaluate and simulate over HTTP, as a till sees them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.web.conftest import PROMOTION_ID, SHOP_ID, Shop, basket, item


def exact(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


def test_a_basket_is_priced_to_the_cent(shop: Shop) -> None:
    answer = shop.call("/pos/v2/evaluate", basket(header={"transactionId": "exact-1", "receiptId": "R-1"}))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert '"lineDiscount":{"value":1.00,"currency":"EUR"}' in answer.text
    shown = exact(answer.text)
    assert shown["minorVersion"] == 8
    assert shown["meta"]["header"] == {"transactionId": "exact-1", "transactionCounter": 1, "receiptId": "R-1"}
    assert shown["meta"]["source"] == "btp"
    assert shown["meta"]["tenantId"] == "acme"
    assert shown["meta"]["isSimulation"] is False
    (line,) = shown["lineItems"]
    assert line["lineReference"] == "1"
    assert line["quantity"] == {"value": 2, "unit": "PCE"}
    assert line["lineNet"] == {"value": Decimal("9.00"), "currency": "EUR"}
    assert line["discounts"][0]["promotionId"] == PROMOTION_ID
    assert shown["totals"]["grandTotal"]["value"] == Decimal("9.00")


def test_each_evaluation_is_a_new_iteration_and_a_simulation_is_none(shop: Shop) -> None:
    request = basket(header={"transactionId": "count-1"})
    counters = [
        shop.call(path, request).json()["meta"]["header"].get("transactionCounter")
        for path in ("/pos/v2/evaluate", "/pos/v2/simulate", "/pos/v2/evaluate")
    ]
    assert counters == [1, None, 2]
    assert shop.call("/pos/v2/simulate", request).json()["meta"]["isSimulation"] is True


def test_without_a_transaction_the_server_names_one(shop: Shop) -> None:
    header = shop.call("/pos/v2/evaluate", basket()).json()["meta"]["header"]
    assert str(UUID(header["transactionId"])) == header["transactionId"]
    assert header["transactionCounter"] == 1


@pytest.mark.parametrize("path", ["/pos/evaluate", "/pos/PosService.evaluate"])
def test_the_action_address_gives_the_same_result(shop: Shop, path: str) -> None:
    alias = shop.call(path, basket(header={"transactionId": f"alias-{len(path)}"})).json()
    plain = shop.call("/pos/v2/evaluate", basket(header={"transactionId": f"plain-{len(path)}"})).json()
    for shown in (alias, plain):
        del shown["meta"]["evaluatedAt"], shown["meta"]["header"]["transactionId"]
    assert alias == plain


def test_unknown_fields_are_ignored(shop: Shop) -> None:
    request = basket(items=[item(colour="red", nested={"deep": [1, {"a": None}]})], loyaltyProgram={"x": 1})
    assert shop.call("/pos/v2/evaluate", {**request, "trace": True}).status_code == 200


def test_missing_line_references_are_filled_in_without_taking_a_given_one(shop: Shop) -> None:
    request = basket(items=[item(), item(lineReference="1"), item()])
    references = [line["lineReference"] for line in shop.call("/pos/v2/evaluate", request).json()["lineItems"]]
    assert references[1] == "1"
    assert len(set(references)) == 3


@pytest.mark.parametrize("quantity", [2, 2.000, "2", "2.0"])
def test_numbers_may_be_strings(shop: Shop, quantity: object) -> None:
    answer = shop.call("/pos/v2/simulate", basket(items=[item(quantity=quantity, unitPrice="5.00")]))
    assert exact(answer.text)["totals"]["grandTotal"]["value"] == Decimal("9.00")


def test_numbers_come_as_strings_to_clients_that_say_so(shop: Shop) -> None:
    answer = shop.call("/pos/v2/simulate", basket(), accept="application/json;IEEE754Compatible=true")
    assert answer.json()["totals"]["grandTotal"] == {"value": "9.00", "currency": "EUR"}


def test_missed_promotions_come_only_when_asked_for(shop: Shop) -> None:
    other = [item(articleNumber="B-2")]
    assert "missedPromotions" not in shop.call("/pos/v2/simulate", basket(items=other)).json()
    shown = shop.call("/pos/v2/simulate", basket(items=other, includeMissedPromotions=True)).json()
    assert [missed["promotionId"] for missed in shown["missedPromotions"]] == [PROMOTION_ID]


def test_the_pos_group_may_be_named_by_id_in_any_case(shop: Shop) -> None:
    request = {"request": {"posGroupId": SHOP_ID.upper(), "items": [item()]}}
    assert shop.call("/pos/v2/simulate", request).status_code == 200


def test_a_timestamp_decides_what_is_valid_and_has_any_offset(shop: Shop) -> None:
    for given in ("2026-05-01T12:00:00+02:00", "2026-05-01T10:00:00Z", "2026-05-01T10:00:00"):
        shown = shop.call("/pos/v2/simulate", basket(timestamp=given)).json()
        assert shown["meta"]["evaluatedAt"] == "2026-05-01T10:00:00.000Z"


def test_a_valid_correlation_id_is_echoed(shop: Shop) -> None:
    assert (
        shop.call("/pos/v2/simulate", basket(), x_correlation_id="till-7.42").headers["x-correlation-id"] == "till-7.42"
    )
    strange = shop.call("/pos/v2/simulate", basket(), x_correlation_id="a b;c").headers["x-correlation-id"]
    assert str(UUID(strange)) == strange


def test_odata_clients_are_told_the_version(shop: Shop) -> None:
    assert shop.call("/pos/evaluate", basket()).headers["odata-version"] == "4.0"
    assert shop.call("/pos/evaluate", basket(), odata_maxversion="4.01").headers["odata-version"] == "4.01"


def test_a_sale_is_confirmed_and_its_side_effects_are_followed(shop: Shop) -> None:
    header = shop.call("/pos/v2/evaluate", basket(header={"transactionId": "sale-1"})).json()["meta"]["header"]
    amount = {"value": 1.00, "currency": "EUR"}
    request = {
        "request": {
            "header": header,
            "transactionId": "sale-1",
            "appliedPromotions": [{"promotionId": PROMOTION_ID, "discountAmount": amount}],
            "items": [item(lineDiscount=amount)],
        }
    }
    first = shop.call("/pos/v2/confirm", request)
    assert first.status_code == 200, first.text
    assert first.json()["confirmed"] is True
    again = shop.call("/pos/confirm", request)
    assert again.content == first.content
    effects = shop.call("/pos/v2/transactions/sale-1/1/side-effects")
    assert effects.status_code == 200
    assert effects.json()["status"] in {"PENDING", "RUNNING", "COMPLETED"}
    assert effects.json()["transactionCounter"] == 1


def test_a_reformatted_confirm_is_a_repeat_and_another_amount_is_not(shop: Shop) -> None:
    header = shop.call("/pos/v2/evaluate", basket(header={"transactionId": "sale-2"})).json()["meta"]["header"]

    def confirm(amount: object) -> int:
        entry = {"promotionId": PROMOTION_ID.upper(), "totalDiscount": amount}
        body = {"request": {"header": header, "transactionId": "sale-2", "appliedPromotions": [entry]}}
        return shop.call("/pos/v2/confirm", body).status_code

    assert [confirm(1.0), confirm("1.00"), confirm(0.5)] == [200, 200, 409]
