"""Coupon codes generated on request and coupons issued manually."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.web.services.admin.conftest import NOBODY, Admin, active, fault

SECONDS_MAX = 200


def coupon_type(admin: Admin, **values: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"code": admin.unique(), "name": "Thanks", "status": "ACTIVE", "IsActiveEntity": True}
    return admin.make("CouponTypes", **given | values)


def generate(admin: Admin, kind: dict[str, Any], number: Any, **how: Any) -> Any:
    return admin.post(f"{active('CouponTypes', kind)}/AdminService.generateCodes", {"numberOfCodes": number}, **how)


def issue(admin: Admin, kind: dict[str, Any], **body: Any) -> Any:
    return admin.post(f"{active('CouponTypes', kind)}/AdminService.issueCoupon", body)


def count(admin: Admin, kind: dict[str, Any], condition: str = "true") -> int:
    return int(admin.get(f"CouponCodes/$count?$filter=couponType_ID eq {kind['ID']} and {condition}").text)


def finished(admin: Admin, batch: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the batch once it has ended."""
    shown: list[dict[str, Any]] = []
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        shown.append(admin.read(f"CouponCodeBatches({batch['ID']})"))
        if shown[-1]["status"] in ("COMPLETED", "FAILED"):
            return shown
    raise AssertionError(shown[-1])


def test_a_few_codes_are_there_at_once(admin: Admin) -> None:
    kind = coupon_type(admin)
    answer = generate(admin, kind, 1000, client="promoter")
    assert answer.status_code == 200, answer.text
    batch = answer.json()
    assert batch["@odata.context"].endswith("$metadata#CouponCodeBatches/$entity")
    assert (batch["status"], batch["quantity"], batch["generatedCount"]) == ("COMPLETED", 1000, 1000)
    assert batch["couponType_ID"] == kind["ID"]
    assert batch["startedAt"] == batch["completedAt"] is not None
    assert count(admin, kind, "status eq 'ACTIVE' and issuedAt eq null and issuanceChannel eq 'BATCH'") == 1000


def test_many_codes_are_made_while_the_batch_shows_it(admin: Admin) -> None:
    kind = coupon_type(admin)
    batch = generate(admin, kind, 5001).json()
    assert (batch["status"], batch["generatedCount"], batch["startedAt"]) == ("QUEUED", 0, None)
    shown = finished(admin, batch)
    assert (shown[-1]["status"], shown[-1]["generatedCount"]) == ("COMPLETED", 5001)
    assert {one["generatedCount"] for one in shown if one["status"] == "RUNNING"} - {0, 5001}
    assert shown[-1]["startedAt"] < shown[-1]["completedAt"]
    assert count(admin, kind) == 5001


def test_a_batch_that_integrators_order_is_made_too(admin: Admin) -> None:
    kind = coupon_type(admin)
    order = {"couponType_ID": kind["ID"], "quantity": 3}
    batch = admin.post("/api/v1/CouponCodeBatches", order, client="integrator").json()
    assert batch["status"] == "QUEUED"
    assert finished(admin, batch)[-1]["status"] == "COMPLETED"
    assert count(admin, kind) == 3
    order["quantity"] = 1_000_001
    assert admin.post("/api/v1/CouponCodeBatches", order, client="integrator").status_code == 400


@pytest.mark.parametrize("number", [0, -1, 1_000_001, 2**31, 2**63, 1.5, "7", "many", None])
def test_a_number_out_of_range_is_refused(admin: Admin, number: Any) -> None:
    kind = coupon_type(admin)
    status, _, target = fault(generate(admin, kind, number))
    assert (status, target) == (400, "numberOfCodes")
    assert admin.read(f"CouponCodeBatches?$filter=couponType_ID eq {kind['ID']}")["value"] == []


def test_generating_codes_needs_a_number(admin: Admin) -> None:
    answer = admin.post(f"{active('CouponTypes', coupon_type(admin))}/AdminService.generateCodes")
    assert (answer.status_code, fault(answer)[2]) == (400, "numberOfCodes")


def test_a_shared_code_is_not_made_many_times(admin: Admin) -> None:
    kind = coupon_type(admin, codeType="GENERIC", genericCode=admin.unique("ALL"))
    assert fault(generate(admin, kind, 5))[:2] == (400, "INDIVIDUAL_ONLY")


def test_codes_look_as_the_type_says(admin: Admin) -> None:
    kind = coupon_type(admin)
    shape: dict[str, Any] = {"prefix": "SPRING-", "suffix": "!", "length": 40, "alphabet": "01"}
    admin.make("CouponCodeConfigurations", couponType_ID=kind["ID"], **shape)
    code = issue(admin, kind).json()["code"]
    assert (code[:7], code[-1], len(code), set(code[7:-1]) <= set("01")) == ("SPRING-", "!", 48, True)


def test_a_coupon_is_issued_out_of_the_pool_to_a_customer(admin: Admin) -> None:
    kind = coupon_type(admin, validityDays=30, requiresActivation=True)
    generate(admin, kind, 1)
    (pooled,) = admin.read(f"CouponCodes?$filter=couponType_ID eq {kind['ID']}")["value"]
    answer = issue(admin, kind, customerId="C-7")
    assert answer.status_code == 200, answer.text
    coupon = answer.json()
    assert coupon["@odata.context"].endswith("$metadata#AdminService.IssuedCoupon")
    assert (coupon["couponId"], coupon["couponTypeId"], coupon["customerId"]) == (pooled["ID"], kind["ID"], "C-7")
    row = admin.read(f"CouponCodes({pooled['ID']})")
    assert (row["status"], row["customerId"], row["issuanceChannel"]) == ("CREATED", "C-7", "MANUAL")
    assert row["validUntil"] == coupon["validUntil"] > row["issuedAt"]
    logs = admin.read(f"RedemptionLogs?$filter=couponCode_ID eq {pooled['ID']}")["value"]
    assert [(log["action"], log["customerId"]) for log in logs] == [("ISSUED", "C-7")]
    second = issue(admin, kind).json()  # the pool is empty
    assert second["couponId"] != coupon["couponId"]
    assert (second["customerId"], count(admin, kind)) == (None, 2)


def test_an_issued_coupon_is_good_at_a_till(admin: Admin) -> None:
    kind, promotion = coupon_type(admin), admin.promotion(currency="EUR")
    admin.make("CouponTypePromotions", couponType_ID=kind["ID"], promotion_ID=promotion["ID"])
    action = {"promotion_ID": promotion["ID"], "actionType": "RECEIPT", "discountType": "ABSOLUTE", "discountValue": 2}
    assert admin.post("/api/v1/DiscountActions", action, client="integrator").status_code == 201
    admin.post(f"{active('Promotions', promotion)}/AdminService.activate")
    code = issue(admin, kind).json()["code"]
    items = [{"articleNumber": "X-1", "quantity": 1, "unitPrice": 9.00}]
    body = {"request": {"posGroupId": admin.pos_group(), "items": items, "coupons": [{"code": code}]}}
    answer = admin.post("/pos/v2/evaluate", body, client="till")
    assert answer.json()["totals"]["discount"]["value"] == 2, answer.text
    admin.post(f"{active('CouponTypes', kind)}/AdminService.deactivate")
    answer = admin.post("/pos/v2/evaluate", body, client="till")
    assert answer.json()["totals"]["discount"]["value"] == 0


def test_a_type_that_is_off_or_over_issues_nothing(admin: Admin) -> None:
    off, over = coupon_type(admin, status="INACTIVE"), coupon_type(admin, validTo="2026-01-01T00:00:00Z")
    assert fault(issue(admin, off))[:2] == (409, "COUPON_TYPE_INACTIVE")
    assert fault(issue(admin, over))[:2] == (409, "COUPON_TYPE_ENDED")
    assert count(admin, off) + count(admin, over) == 0
    assert fault(issue(admin, {"ID": NOBODY}))[0] == 404


def test_a_shared_code_is_what_its_type_issues(admin: Admin) -> None:
    shared = admin.unique("ALL")
    coupon = issue(admin, coupon_type(admin, codeType="GENERIC", genericCode=shared)).json()
    assert (coupon["code"], coupon["couponId"]) == (shared, None)
    without = coupon_type(admin, codeType="GENERIC")
    assert fault(issue(admin, without))[:2] == (409, "NO_GENERIC_CODE")


@pytest.mark.parametrize("customer", ["c" * 51, "a\0b", "\ud800", 7])
def test_an_invalid_customer_id_is_refused(admin: Admin, customer: Any) -> None:
    status, _, target = fault(issue(admin, coupon_type(admin), customerId=customer))
    assert (status, target) in ((400, "customerId"), (400, None))


def test_coupons_issued_concurrently_are_all_different(admin: Admin) -> None:
    kind = coupon_type(admin)
    generate(admin, kind, 40)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: issue(admin, kind), range(64)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["code"] for answer in answers}) == 64
    assert count(admin, kind, "issuedAt ne null") == 64
