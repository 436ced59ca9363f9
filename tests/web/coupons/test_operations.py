"""Coupons at the till over HTTP: requests, responses and refusals."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from promenade.web.coupons.messages import OPERATIONS
from tests.web.conftest import Shop, basket, fault, faults
from tests.web.coupons.conftest import ACTIVATED_ID, PROMOTED_ID, SHARED_ID, TYPE_ID, Counter

BODIES: dict[str, dict[str, Any]] = {
    "validate": {"code": "NOBODYS"},
    "reserve": {"code": "NOBODYS", "transactionId": "T"},
    "redeem": {"reservationId": str(uuid.UUID(int=7)), "transactionId": "T"},
    "cancel": {"reservationId": str(uuid.UUID(int=7))},
    "activate": {"code": "NOBODYS", "customerId": "C"},
}


def test_a_code_is_validated_reserved_and_redeemed(counter: Counter) -> None:
    code = counter.coupon()
    assert counter.ask("validate", code=code) == {
        "valid": True,
        "code": code,
        "message": "The coupon is valid.",
        "promotionId": PROMOTED_ID,
        "validUntil": "2090-01-01T00:00:00.000Z",
        "reason": None,
        "reservationId": None,
    }
    held = counter.ask("reserve", code=code, transactionId="T1")
    assert held["reserved"] is True
    assert held["expiresAt"].endswith("Z")
    assert (held["reason"], held["code"], held["message"]) == (None, None, "The coupon is reserved.")
    assert counter.ask("reserve", code=code, transactionId="T1") == held
    valid = counter.ask("validate", code=code, transactionId="T1")
    assert (valid["valid"], valid["reservationId"]) == (True, held["reservationId"])
    assert valid["message"] == "The coupon is valid: this transaction has reserved it."
    assert counter.ask("validate", code=code, transactionId="T2")["reason"] == "RESERVED_ELSEWHERE"
    assert counter.ask("reserve", code=code, transactionId="T2") == {
        "reservationId": None,
        "reserved": False,
        "expiresAt": None,
        "message": "Another transaction has reserved the coupon.",
        "code": "RESERVED_ELSEWHERE",
        "reason": "RESERVED_ELSEWHERE",
    }
    redeemed = counter.ask("redeem", reservationId=held["reservationId"], transactionId="T1")
    assert redeemed == {"redeemed": True, "message": "The coupon is redeemed.", "code": None, "reason": None}
    again = counter.ask("redeem", reservationId=held["reservationId"].upper(), transactionId="T1")
    assert (again["redeemed"], again["reason"]) == (False, "REDEEMED_BEFORE")
    assert counter.ask("validate", code=code)["reason"] == "ALREADY_REDEEMED"


def test_a_reservation_can_be_cancelled(counter: Counter) -> None:
    code = counter.coupon()
    held = counter.ask("reserve", code=code, transactionId="T1")["reservationId"]
    assert counter.ask("cancel", reservationId=held) == {
        "cancelled": True,
        "message": "The reservation is cancelled; the coupon is available again.",
        "code": None,
        "reason": None,
    }
    assert counter.ask("cancel", reservationId=held)["reason"] == "RESERVATION_NOT_FOUND"
    assert counter.ask("reserve", code=code, transactionId="T2")["reserved"] is True


def test_a_digital_coupon_is_activated_by_its_customer(counter: Counter) -> None:
    code = counter.coupon("DIGITAL")
    assert counter.ask("validate", code=code)["reason"] == "NOT_ACTIVE"
    assert counter.ask("activate", code=code, customerId="C2")["reason"] == "WRONG_CUSTOMER"
    assert counter.ask("activate", code=code, customerId="C1") == {
        "activated": True,
        "code": code,
        "message": "The coupon is active.",
        "validUntil": "2090-01-01T00:00:00.000Z",
        "reason": None,
    }
    assert counter.ask("activate", code=code, customerId="C1")["reason"] == "ALREADY_ACTIVE"
    valid = counter.ask("validate", code=code)
    assert (valid["valid"], valid["promotionId"]) == (True, None)
    assert "no promotion" in valid["message"]


def test_a_coupon_in_a_basket_follows_the_till(counter: Counter, shop: Shop) -> None:
    code = counter.coupon()
    held = counter.ask("reserve", code=code, transactionId="B1")["reservationId"]

    def invalid(transaction: str) -> list[dict[str, str]]:
        body = basket(coupons=[{"code": code}], header={"transactionId": transaction})
        found: list[dict[str, str]] = shop.call("/pos/v2/evaluate", body).json()["invalidCoupons"]
        return [one for one in found if one["reason"] not in {"NO_PROMOTION", "CONDITION_NOT_MET"}]

    assert invalid("B1") == []
    assert invalid("B2") == [{"code": code, "reason": "RESERVED_ELSEWHERE"}]
    counter.ask("redeem", reservationId=held, transactionId="B1")
    assert invalid("B1") == []
    assert invalid("B2") == [{"code": code, "reason": "ALREADY_REDEEMED"}]


def test_another_tenants_code_is_answered_as_one_that_nobody_knows(counter: Counter) -> None:
    for operation, body in BODIES.items():
        if "code" in body:
            theirs = counter.ask(operation, **{**body, "code": "THEIRS"})
            nobodys = counter.ask(operation, **body)
            assert {**theirs, "code": None} == {**nobodys, "code": None}
            assert theirs["reason"] == "UNKNOWN_CODE"


@pytest.mark.parametrize("operation", BODIES)
def test_every_address_of_an_operation_is_the_same(shop: Shop, operation: str) -> None:
    action = OPERATIONS[operation].action
    answers = {
        shop.call(address, BODIES[operation], client="administrator").text
        for address in (
            f"/pos/coupons/{operation}",
            f"/pos/v2/coupons/{operation}",
            f"/pos/{action}",
            f"/pos/PosService.{action}",
        )
    }
    assert len(answers) == 1


@pytest.mark.parametrize("operation", [*BODIES, "issue"])
def test_only_tills_and_administrators_may_use_the_coupon_operations(shop: Shop, operation: str) -> None:
    path, body = f"/pos/coupons/{operation}", BODIES.get(operation, {"couponTypeId": TYPE_ID})
    assert fault(shop.call(path, body, client="planner"))[:2] == (403, "MISSING_SCOPE")
    assert shop.http.post(path, json=body).status_code == 401
    assert shop.http.get(path).status_code == 405
    assert shop.call(path, body, client="administrator").status_code == 200


@pytest.mark.parametrize(
    ("operation", "body", "details"),
    [
        ("validate", {}, {("REQUIRED", "code")}),
        ("validate", {"code": None}, {("REQUIRED", "code")}),
        ("validate", {"code": ""}, {("EMPTY", "code")}),
        ("validate", {"code": 7}, {("WRONG_TYPE", "code")}),
        ("validate", {"code": ["A"]}, {("WRONG_TYPE", "code")}),
        ("validate", {"code": "x" * 65}, {("TOO_LONG", "code")}),
        ("validate", {"code": "A", "customerId": "x" * 51}, {("TOO_LONG", "customerId")}),
        ("reserve", {}, {("REQUIRED", "code"), ("REQUIRED", "transactionId")}),
        ("reserve", {"code": "A", "transactionId": "x" * 51}, {("TOO_LONG", "transactionId")}),
        ("redeem", {"reservationId": "7", "transactionId": "T"}, {("NOT_A_UUID", "reservationId")}),
        (
            "redeem",
            {"reservationId": 7, "transactionId": ""},
            {("WRONG_TYPE", "reservationId"), ("EMPTY", "transactionId")},
        ),
        ("cancel", {}, {("REQUIRED", "reservationId")}),
        ("activate", {"code": "A"}, {("REQUIRED", "customerId")}),
        ("issue", {}, {("COUPON_TYPE_REQUIRED", "couponTypeId")}),
        ("issue", {"couponTypeId": "x"}, {("NOT_A_UUID", "couponTypeId")}),
        ("issue", {"couponTypeName": "", "couponTypeId": None}, {("COUPON_TYPE_REQUIRED", "couponTypeId")}),
        ("issue", {"couponTypeName": "S", "customerId": "A", "customerIds": ["B"]}, {("ONE_OF_TWO", "customerIds")}),
        ("issue", {"couponTypeName": "S", "customerIds": []}, {("EMPTY", "customerIds")}),
        ("issue", {"couponTypeName": "S", "customerIds": [""]}, {("EMPTY", "customerIds[0]")}),
        ("issue", {"couponTypeName": "S", "customerIds": ["A", "B\n"]}, {("WRONG_FORM", "customerIds[1]")}),
        ("issue", {"couponTypeName": "S", "customerIds": ["A\tB"]}, {("WRONG_FORM", "customerIds[0]")}),
        ("issue", {"couponTypeName": "S", "customerIds": ["A"] * 1_001}, {("TOO_LONG", "customerIds")}),
        ("issue", {"couponTypeName": "S", "reason": "x" * 256}, {("TOO_LONG", "reason")}),
        ("issue", {"couponTypeName": "S", "metadata": [1]}, {("WRONG_TYPE", "metadata")}),
        ("issue", {"couponTypeName": "S", "metadata": {"a": "x" * 4090}}, {("TOO_LONG", "metadata")}),
    ],
)
def test_a_malformed_body_is_refused_with_its_fault(
    shop: Shop, operation: str, body: dict[str, Any], details: set[tuple[str, str]]
) -> None:
    answer = shop.call(f"/pos/coupons/{operation}", body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["code"] == "VALIDATION_FAILED"
    assert faults(answer) == details


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "MALFORMED_JSON"),
        (b"{", "MALFORMED_JSON"),
        (b"[]", "VALIDATION_FAILED"),
        (b'"code"', "VALIDATION_FAILED"),
        (b'{"code":"A","code":"B"}', "DUPLICATE_KEY"),
        (b'{"code":"A\\u0000"}', "NUL_CHARACTER"),
        (b'{"code":"\xff"}', "NOT_UTF8"),
        (b'{"code":"\\ud800"}', "MALFORMED_JSON"),
        (b'{"code":"A","x":' + b"[" * 100 + b"]" * 100 + b"}", "TOO_DEEP"),
    ],
)
def test_malformed_json_is_refused(shop: Shop, body: bytes, code: str) -> None:
    assert fault(shop.call("/pos/coupons/validate", body))[:2] == (400, code)


_NOBODYS = {"couponTypeId": TYPE_ID, "reason": "gift"}


@pytest.mark.parametrize("body", [
    {**_NOBODYS, "customerIds": ["A", "B?"]},
    {**_NOBODYS, "customerId": "C?"},
    {**_NOBODYS, "reason": "?"},
    {**_NOBODYS, "metadata": {"note": ["?"]}},
    {**_NOBODYS, "metadata": {"note": [["a"], [["b", "?"]]]}},
    {**_NOBODYS, "metadata": {"notes": [{"?": 1}]}},
    {**_NOBODYS, "unknown": ["?"]},
    {"couponTypeName": "?"},
], ids=repr)  # fmt: skip
def test_text_that_databases_cannot_store_is_refused_in_every_field(counter: Counter, shop: Shop, body: Any) -> None:
    """PostgreSQL stores neither NUL nor a lone surrogate, and no till can read either."""
    for written, code in (("\\u0000", "NUL_CHARACTER"), ("\\ud800", "MALFORMED_JSON")):
        answer = shop.call("/pos/coupons/issue", json.dumps(body).replace("?", written).encode())
        assert fault(answer)[:2] == (400, code), (written, answer.text)


def test_an_oversized_body_is_refused(shop: Shop) -> None:
    assert fault(shop.call("/pos/coupons/validate", b'{"code":"%s"}' % (b"x" * 70_000)))[:2] == (413, "BODY_TOO_LARGE")


def test_unknown_properties_are_ignored(counter: Counter) -> None:
    code = counter.coupon()
    assert counter.ask("validate", code=code, loyalty={"points": [1, 2]})["valid"] is True


def test_guessing_codes_is_throttled_at_every_endpoint(counter: Counter, shop: Shop) -> None:
    code = counter.coupon()
    body = basket(coupons=[{"code": f"GUESS-{number}"} for number in range(60)])
    refused = shop.call("/pos/v2/evaluate", body, client="guesser").json()["invalidCoupons"]
    assert {one["reason"] for one in refused} == {"UNKNOWN_CODE"}
    for number in range(40):
        operation = ("validate", "reserve", "activate")[number % 3]
        assert counter.ask(operation, client="guesser", **BODIES[operation])["reason"] == "UNKNOWN_CODE"
    for operation in ("validate", "reserve", "activate"):
        answer = shop.call(f"/pos/coupons/{operation}", BODIES[operation] | {"code": code}, client="guesser")
        assert fault(answer)[:2] == (429, "TOO_MANY_ATTEMPTS")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
    one = shop.call("/pos/v2/evaluate", basket(coupons=[{"code": code}]), client="guesser").json()
    assert [coupon["reason"] for coupon in one["invalidCoupons"]] == ["TOO_MANY_ATTEMPTS"]
    assert counter.ask("validate", code=code)["valid"] is True  # the other till has made no wrong guesses


def test_coupons_are_issued_to_many_customers(counter: Counter) -> None:
    answer = counter.ask(
        "issue",
        couponTypeName="Digital",
        customerIds=["C1", "C2"],
        reason="Because",
        metadata={"campaign": {"id": 1.10}},
    )
    assert (answer["issuedCount"], answer["failedCount"], answer["failures"]) == (2, 0, [])
    assert answer["message"] == "2 coupons were issued."
    first, second = answer["issuedCoupons"]
    assert set(first) == {"code", "couponId", "couponTypeId", "customerId", "validUntil"}
    assert (first["customerId"], second["customerId"]) == ("C1", "C2")
    assert first["couponTypeId"] == ACTIVATED_ID
    assert counter.ask("activate", code=first["code"], customerId="C1")["activated"] is True
    anonymous = counter.ask("issue", couponTypeId=SHARED_ID)["issuedCoupons"]
    assert [(one["code"], one["couponId"], one["customerId"]) for one in anonymous] == [("ALL", None, None)]


def test_an_order_sent_again_under_its_key_gets_the_same_coupons(shop: Shop) -> None:
    body = {"couponTypeName": "Digital", "customerIds": ["C1", "C2"], "metadata": {"a": 1}}
    first, second = (shop.call("/pos/coupons/issue", body, Idempotency_Key="k-1") for _ in range(2))
    assert (first.status_code, second.json()) == (200, first.json())
    other = shop.call("/pos/coupons/issue", body | {"reason": "x"}, Idempotency_Key="k-1")
    assert fault(other)[:2] == (409, "KEY_REUSED")
    assert fault(shop.call("/pos/coupons/issue", body, Idempotency_Key="x" * 256))[:2] == (400, "INVALID_KEY")


def test_an_unknown_coupon_type_is_named_in_the_error(shop: Shop) -> None:
    answer = shop.call("/pos/coupons/issue", {"couponTypeName": "Nothing of the kind"})
    assert fault(answer) == (400, "COUPON_TYPE_NOT_FOUND", "couponTypeName")


@pytest.mark.parametrize(("asked", "spoken"), [("4.01", "4.01"), ("4.0", "4.0")])
def test_answers_state_their_odata_version(shop: Shop, asked: str, spoken: str) -> None:
    answer = shop.call("/pos/validateCoupon", BODIES["validate"], client="administrator", OData_MaxVersion=asked)
    assert answer.headers["odata-version"] == spoken
