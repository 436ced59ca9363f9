"""Coupons issued by a till of a linked store: codes come from the cloud on request."""

from __future__ import annotations

from typing import Any

from tests.web.replica.link.chain import Branch, Cloud, soon
from tests.web.replica.link.line import Line


def issue(store: Branch, kind: str, *customers: str) -> dict[str, Any]:
    answer = store.post("/pos/coupons/issue", {"couponTypeId": kind, "customerIds": customers})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_till_issues_coupons_from_the_cloud_without_a_promotion(cloud: Cloud, line: Line, store: Branch) -> None:
    kind = cloud.make("CouponTypes", code="SORRY", name="Sorry", status="ACTIVE", codeType="INDIVIDUAL")["ID"]
    path = f"/admin/CouponTypes(ID={kind},IsActiveEntity=true)/AdminService.generateCodes"
    made = cloud.call("POST", path, {"numberOfCodes": 21}, client="admin")
    assert made.status_code == 200, made.text
    store.link(cloud, line, code="SORRY")
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    soon(lambda: store.columns("SELECT id FROM coupon_types WHERE id = ?", kind))
    assert not store.columns("SELECT id FROM coupon_codes"), "the store has codes that nobody asked for"
    told = issue(store, kind, "anna")
    assert (told["issuedCount"], told["failures"]) == (1, [])
    coupon = told["issuedCoupons"][0]["couponId"]
    (known,) = soon(lambda: cloud.read(f"CouponCodes?$filter=ID eq {coupon} and customerId eq 'anna'"))
    assert known["issuanceChannel"] == "MANUAL"
    line.cut()
    soon(lambda: store.heartbeat()["btpConnectivity"] == "DISCONNECTED")
    assert issue(store, kind, *[f"c{number}" for number in range(19)])["issuedCount"] == 19
    (failure,) = issue(store, kind, "bert")["failures"]
    assert failure["code"] == "NEEDS_CLOUD"
    line.mend()
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    told = issue(store, kind, "bert", "carl")
    assert (told["issuedCount"], [one["code"] for one in told["failures"]]) == (1, ["CODES_EXHAUSTED"])
