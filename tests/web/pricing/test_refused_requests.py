"""Every rule a request can break, with the code and target of its error; nothing of the request is stored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import PROMOTION_ID, Shop, basket, fault, faults, item

MILLION_DIGITS = "9" * 1_000_000


def one(**changes: Any) -> dict[str, Any]:
    return basket(items=[item(**changes)])


def without(name: str) -> dict[str, Any]:
    line = item()
    del line[name]
    return basket(items=[line])


EVALUATE = [
    ("no envelope", {"items": [item()]}, None, "request"),
    ("envelope null", {"request": None}, None, "request"),
    ("envelope array", {"request": []}, None, "request"),
    ("items missing", {"request": {"posGroupCode": "BERLIN"}}, "REQUIRED", "items"),
    ("items empty", basket(items=[]), "EMPTY", "items"),
    ("items null", basket(items=None), "REQUIRED", "items"),
    ("items object", basket(items={}), "WRONG_TYPE", "items"),
    ("items of numbers", basket(items=[1]), "WRONG_TYPE", "items[0]"),
    ("too many items", basket(items=[item()] * 5_001), "TOO_LONG", "items"),
    ("no POS group", {"request": {"items": [item()]}}, "POS_GROUP_REQUIRED", "posGroupId"),
    ("POS group no UUID", basket(posGroupId="Berlin"), "NOT_A_UUID", "posGroupId"),
    ("POS group code too long", basket(posGroupCode="x" * 21), "TOO_LONG", "posGroupCode"),
    ("coupons as strings", basket(coupons=["SAVE"]), "WRONG_TYPE", "coupons"),
    ("coupons as text", basket(coupons="SAVE"), "WRONG_TYPE", "coupons"),
    ("coupon without code", basket(coupons=[{}]), "REQUIRED", "coupons[0].code"),
    ("coupon code empty", basket(coupons=[{"code": ""}]), "EMPTY", "coupons[0].code"),
    ("third quantity zero", basket(items=[item(), item(), item(quantity=0)]), "QUANTITY_ZERO", "items[2].quantity"),
    ("quantity zero as text", one(quantity="0.000"), "QUANTITY_ZERO", "items[0].quantity"),
    ("quantity missing", without("quantity"), "REQUIRED", "items[0].quantity"),
    ("quantity null", one(quantity=None), "REQUIRED", "items[0].quantity"),
    ("quantity with four decimals", one(quantity=1.2345), "TOO_MANY_DECIMALS", "items[0].quantity"),
    ("quantity too great", one(quantity=10**12), "OUT_OF_RANGE", "items[0].quantity"),
    ("quantity a word", one(quantity="two"), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity a truth", one(quantity=True), "WRONG_TYPE", "items[0].quantity"),
    ("quantity NaN as text", one(quantity="NaN"), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity a signalling NaN", one(quantity="sNaN"), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity with an underscore", one(quantity="1_000"), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity with spaces", one(quantity=" 2 "), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity in full-width digits", one(quantity="\uff12"), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity with a plus", one(quantity="+2"), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity with a line end", one(quantity="2\n"), "NOT_A_NUMBER", "items[0].quantity"),
    ("quantity without a fraction", one(quantity="2."), "NOT_A_NUMBER", "items[0].quantity"),
    ("price in Arabic digits", one(unitPrice="\u0661.50"), "NOT_A_NUMBER", "items[0].unitPrice"),
    ("quantity infinite as text", one(quantity="-Infinity"), "OUT_OF_RANGE", "items[0].quantity"),
    ("price missing", without("unitPrice"), "REQUIRED", "items[0].unitPrice"),
    ("price with three decimals", one(unitPrice=1.005), "TOO_MANY_DECIMALS", "items[0].unitPrice"),
    ("price too great", one(unitPrice=10**13), "OUT_OF_RANGE", "items[0].unitPrice"),
    ("price below zero", one(unitPrice=-0.01), "NEGATIVE", "items[0].unitPrice"),
    ("regular price below zero", one(regularUnitPrice=-1), "NEGATIVE", "items[0].regularUnitPrice"),
    ("regular price a word", one(regularUnitPrice="more"), "NOT_A_NUMBER", "items[0].regularUnitPrice"),
    ("regular price a signalling NaN", one(regularUnitPrice="sNaN"), "NOT_A_NUMBER", "items[0].regularUnitPrice"),
    ("price a signalling NaN", one(unitPrice="sNaN", regularUnitPrice=1), "NOT_A_NUMBER", "items[0].unitPrice"),
    ("regular price of 3 decimals", one(regularUnitPrice=1.005), "TOO_MANY_DECIMALS", "items[0].regularUnitPrice"),
    (
        "goods that were worth too much",
        basket(items=[item(regularUnitPrice="9999999999999", quantity=2)]),
        "OUT_OF_RANGE",
        "items",
    ),
    ("article missing", without("articleNumber"), "REQUIRED", "items[0].articleNumber"),
    ("article empty", one(articleNumber=""), "EMPTY", "items[0].articleNumber"),
    ("article a number", one(articleNumber=5), "WRONG_TYPE", "items[0].articleNumber"),
    ("article too long", one(articleNumber="x" * 51), "TOO_LONG", "items[0].articleNumber"),
    ("ean too long", one(ean="1" * 19), "TOO_LONG", "items[0].ean"),
    ("articleGroup too long", one(articleGroup="x" * 101), "TOO_LONG", "items[0].articleGroup"),
    ("articleGroupId too long", one(articleGroupId="x" * 21), "TOO_LONG", "items[0].articleGroupId"),
    ("manufacturer too long", one(manufacturerId="x" * 256), "TOO_LONG", "items[0].manufacturerId"),
    ("line reference too long", one(lineReference="x" * 51), "TOO_LONG", "items[0].lineReference"),
    (
        "line reference repeated",
        basket(items=[item(lineReference="a"), item(), item(lineReference="a")]),
        "LINE_REFERENCE_REPEATED",
        "items[2].lineReference",
    ),
    ("field without value", one(additionalFields=[{"key": "a"}]), "REQUIRED", "items[0].additionalFields[0].value"),
    ("field value a number", one(additionalFields=[{"key": "a", "value": 1}]), "WRONG_TYPE",
     "items[0].additionalFields[0].value"),
    ("counter sent", basket(header={"transactionCounter": 1}), "COUNTER_NOT_ALLOWED", "header.transactionCounter"),
    ("transaction too long", basket(header={"transactionId": "x" * 51}), "TOO_LONG", "header.transactionId"),
    ("transaction empty", basket(header={"transactionId": ""}), "EMPTY", "header.transactionId"),
    ("receipt too long", basket(header={"receiptId": "x" * 51}), "TOO_LONG", "header.receiptId"),
    ("reference too long", basket(header={"headerReference": "x" * 101}), "TOO_LONG", "header.headerReference"),
    ("header a text", basket(header="T-1"), "WRONG_TYPE", "header"),
    ("timestamp a word", basket(timestamp="yesterday"), "NOT_A_TIMESTAMP", "timestamp"),
    ("timestamp a number", basket(timestamp=1_700_000_000), "NOT_A_TIMESTAMP", "timestamp"),
    ("timestamp without a time", basket(timestamp="2026-05-01"), "NOT_A_TIMESTAMP", "timestamp"),
    ("timestamp before time zones", basket(timestamp="0001-01-01T00:00:00+14:00"), "OUT_OF_RANGE", "timestamp"),
    ("channel too long", basket(channel="x" * 51), "TOO_LONG", "channel"),
    ("points a fraction", basket(customer={"loyalty": {"points": 1.5}}), "WRONG_TYPE", "customer.loyalty.points"),
    ("points below zero", basket(customer={"loyalty": {"points": -1}}), "OUT_OF_RANGE", "customer.loyalty.points"),
    ("customer too long", basket(customer={"customerId": "x" * 51}), "TOO_LONG", "customer.customerId"),
    ("includeInactive a text", basket(includeInactive="true"), "WRONG_TYPE", "includeInactive"),
    ("manual discount a truth", basket(manualDiscount=True), "WRONG_TYPE", "manualDiscount"),
    ("payment a text", basket(paymentInfo="CARD"), "WRONG_TYPE", "paymentInfo"),
]  # fmt: skip


@pytest.mark.parametrize("path", ["/pos/v2/evaluate", "/pos/v2/simulate"])
@pytest.mark.parametrize(("body", "code", "target"), [row[1:] for row in EVALUATE], ids=[row[0] for row in EVALUATE])
def test_evaluate_reports_what_is_wrong_with_a_request(
    shop: Shop, path: str, body: Any, code: str | None, target: str
) -> None:
    answer = shop.call(path, body)
    assert fault(answer) == (400, "VALIDATION_FAILED", target)
    if code is not None:
        assert faults(answer) == {(code, target)}


def test_an_unknown_pos_group_is_named(shop: Shop) -> None:
    assert fault(shop.call("/pos/v2/evaluate", basket(posGroupCode="MARS")))[1:] == (
        "POS_GROUP_NOT_FOUND",
        "posGroupCode",
    )


def test_all_faults_of_a_basket_are_reported_at_once(shop: Shop) -> None:
    body = basket(items=[{"quantity": 0}, item(unitPrice="x", lineReference=5)], coupons=["A"], timestamp=1)
    answer = shop.call("/pos/v2/evaluate", body)
    assert fault(answer) == (400, "VALIDATION_FAILED", "items[0].articleNumber")
    assert faults(answer) == {
        ("REQUIRED", "items[0].articleNumber"),
        ("QUANTITY_ZERO", "items[0].quantity"),
        ("REQUIRED", "items[0].unitPrice"),
        ("NOT_A_NUMBER", "items[1].unitPrice"),
        ("WRONG_TYPE", "items[1].lineReference"),
        ("WRONG_TYPE", "coupons"),
        ("NOT_A_TIMESTAMP", "timestamp"),
    }


def numbered(text: str) -> bytes:
    return b'{"request":{"posGroupCode":"BERLIN","items":[{"articleNumber":"A","quantity":%s,"unitPrice":1}]}}' % (
        text.encode()
    )


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("NaN", "NOT_A_NUMBER"),
        ("Infinity", "OUT_OF_RANGE"),
        ("-Infinity", "OUT_OF_RANGE"),
        ("1e400", "OUT_OF_RANGE"),
        ("-1e400", "OUT_OF_RANGE"),
        ("1e-400", "TOO_MANY_DECIMALS"),
        ("1e999999999999999999999", "OUT_OF_RANGE"),
        ('"1e999999999999999999999"', "NOT_A_NUMBER"),
        ("1e-999999999", "TOO_MANY_DECIMALS"),
        (MILLION_DIGITS, "OUT_OF_RANGE"),
        ("0." + MILLION_DIGITS, "TOO_MANY_DECIMALS"),
        ("0e999999999", "QUANTITY_ZERO"),
        ("1.00000000000000000000000000000000000000000000000000000000000001", "TOO_MANY_DECIMALS"),
    ],
    ids=lambda value: value[:24],
)
def test_numbers_out_of_range_are_refused(shop: Shop, number: str, code: str) -> None:
    answer = shop.call("/pos/v2/evaluate", numbered(number))
    assert fault(answer) == (400, "VALIDATION_FAILED", "items[0].quantity")
    assert faults(answer) == {(code, "items[0].quantity")}


def header_of(**changes: Any) -> dict[str, Any]:
    return {"transactionId": "T", "transactionCounter": 1, **changes}


def confirmation(**changes: Any) -> dict[str, Any]:
    return {"request": {"header": header_of(), "transactionId": "T", "appliedPromotions": [], **changes}}


def named(**changes: Any) -> dict[str, Any]:
    return confirmation(appliedPromotions=[{"promotionId": PROMOTION_ID, **changes}])


def lacking(name: str) -> dict[str, Any]:
    body = confirmation()
    del body["request"][name]
    return body


CONFIRM = [
    ("no envelope", {"transactionId": "T"}, None, "request"),
    ("header missing", lacking("header"), "REQUIRED", "header"),
    ("header null", confirmation(header=None), "REQUIRED", "header"),
    ("transaction missing", lacking("transactionId"), "REQUIRED", "transactionId"),
    ("counter missing", confirmation(header={"transactionId": "T"}), "REQUIRED", "header.transactionCounter"),
    ("counter zero", confirmation(header=header_of(transactionCounter=0)), "OUT_OF_RANGE", "header.transactionCounter"),
    ("counter a text", confirmation(header=header_of(transactionCounter="1")), "WRONG_TYPE",
     "header.transactionCounter"),
    ("counter beyond all", confirmation(header=header_of(transactionCounter=2**31)), "OUT_OF_RANGE",
     "header.transactionCounter"),
    ("header of another", confirmation(header=header_of(transactionId="U")), "MISMATCH", "transactionId"),
    ("promotions missing", lacking("appliedPromotions"), "REQUIRED", "appliedPromotions"),
    ("promotions as strings", confirmation(appliedPromotions=[PROMOTION_ID]), "WRONG_TYPE", "appliedPromotions"),
    ("promotion without ID", confirmation(appliedPromotions=[{}]), "REQUIRED", "appliedPromotions[0].promotionId"),
    ("promotion no UUID", confirmation(appliedPromotions=[{"promotionId": "x"}]), "NOT_A_UUID",
     "appliedPromotions[0].promotionId"),
    ("amount below zero", named(totalDiscount=-1), "NEGATIVE", "appliedPromotions[0].totalDiscount"),
    ("amount with an underscore", named(totalDiscount="1_0"), "NOT_A_NUMBER", "appliedPromotions[0].totalDiscount"),
    ("amount NaN", named(totalDiscount="NaN"), "NOT_A_NUMBER", "appliedPromotions[0].totalDiscount"),
    ("amount of four decimals", named(totalDiscount=0.1234), "TOO_MANY_DECIMALS", "appliedPromotions[0].totalDiscount"),
    ("money below zero", named(discountAmount={"value": -1, "currency": "EUR"}), "NEGATIVE",
     "appliedPromotions[0].discountAmount.value"),
    ("money with a space", named(discountAmount={"value": "1 ", "currency": "EUR"}), "NOT_A_NUMBER",
     "appliedPromotions[0].discountAmount.value"),
    ("money as a number", named(discountAmount=1), "WRONG_TYPE", "appliedPromotions[0].discountAmount"),
    ("money in words", named(discountAmount={"value": 1, "currency": "euro"}), "WRONG_FORM",
     "appliedPromotions[0].discountAmount.currency"),
    ("customer too long", confirmation(customerId="x" * 51), "TOO_LONG", "customerId"),
    ("timestamp a word", confirmation(timestamp="now"), "NOT_A_TIMESTAMP", "timestamp"),
    ("item with zero", confirmation(items=[item(quantity=0)]), "QUANTITY_ZERO", "items[0].quantity"),
    ("item net below zero", confirmation(items=[item(lineNet={"value": -1})]), "NEGATIVE", "items[0].lineNet.value"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code", "target"), [row[1:] for row in CONFIRM], ids=[row[0] for row in CONFIRM])
def test_confirm_reports_what_is_wrong_with_a_request(shop: Shop, body: Any, code: str | None, target: str) -> None:
    answer = shop.call("/pos/v2/confirm", body)
    assert fault(answer) == (400, "VALIDATION_FAILED", target)
    if code is not None:
        assert faults(answer) == {(code, target)}


def test_a_missing_iteration_is_not_found(shop: Shop) -> None:
    assert fault(shop.call("/pos/v2/confirm", confirmation()))[:2] == (404, "ITERATION_NOT_FOUND")
    assert fault(shop.call("/pos/v2/transactions/T/1/side-effects"))[:2] == (404, "ITERATION_NOT_FOUND")


@pytest.mark.parametrize("counter", ["0", "-1", "1.0", "x", "99999999999", "²"])
def test_an_invalid_transaction_counter_is_refused(shop: Shop, counter: str) -> None:
    answer = shop.call(f"/pos/v2/transactions/T/{counter}/side-effects")
    assert fault(answer) == (400, "VALIDATION_FAILED", "transactionCounter")


def test_a_refused_request_stores_nothing(shop: Shop) -> None:
    header = {"transactionId": "refused-1"}
    for body in (basket(header=header, items=[item(quantity=0)]), basket(header=header, posGroupCode="MARS")):
        assert shop.call("/pos/v2/evaluate", body).status_code == 400
    answer = shop.call("/pos/v2/evaluate", basket(header=header))
    assert answer.json()["meta"]["header"]["transactionCounter"] == 1


def test_a_transaction_id_may_hold_slashes(shop: Shop) -> None:
    transaction_id = "DE/042/7"
    answer = shop.call("/pos/v2/evaluate", basket(header={"transactionId": transaction_id}))
    header = {name: answer.json()["meta"]["header"][name] for name in ("transactionId", "transactionCounter")}
    confirmed = shop.call("/pos/v2/confirm", confirmation(header=header, transactionId=transaction_id))
    assert confirmed.status_code == 200
    effects = shop.call("/pos/v2/transactions/DE%2F042%2F7/1/side-effects")
    assert effects.status_code == 200
    assert effects.json()["transactionId"] == transaction_id
