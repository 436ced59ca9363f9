"""Coupons: codes are generated while the page shows progress, and one is issued and shown."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk


def _type(desk: Desk, **values: object) -> str:
    mark = uuid4().hex[:8]
    body = {"code": f"T-{mark}", "name": f"Coupon {mark}", "status": "ACTIVE", "IsActiveEntity": True, **values}
    with desk.shop.http() as http:
        answer = http.post("/admin/CouponTypes", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["ID"])


@pytest.mark.smoke
def test_codes_are_made_while_one_looks_on_and_one_is_issued(desk: Desk) -> None:
    key = _type(desk)
    page = desk.sit("planner", address=f"/object/CouponTypes/{key}")
    page.get_by_text("No batch of codes has been made here yet.").wait_for()
    page.get_by_role("button", name="Generate Codes").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("500")
    dialog.get_by_role("button", name="Generate codes").click()
    expect(page.get_by_role("progressbar").first).to_have_attribute("aria-valuetext", re.compile("500 of 500"))
    expect(page.get_by_text("Done", exact=True)).to_be_visible()

    page.get_by_role("button", name="Issue a Coupon").click()
    dialog.get_by_role("textbox").fill("C-4711")
    dialog.get_by_role("button", name="Issue coupon").click()
    page.get_by_text("Only customer C-4711 can spend it.").wait_for()
    code = page.get_by_role("dialog", name="Coupon issued").get_by_role("textbox").input_value()
    with desk.shop.http("till") as http:
        told = http.post("/pos/coupons/validate", json={"code": code, "customerId": "C-4711"}).json()
    assert told["valid"], told
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_more_than_a_million_codes_are_refused_in_the_services_words(desk: Desk) -> None:
    page = desk.sit("planner", address=f"/object/CouponTypes/{_type(desk)}")
    page.get_by_role("button", name="Generate Codes").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("2000000")
    dialog.get_by_role("button", name="Generate codes").click()
    expect(dialog).to_contain_text("1000000")
    desk.forgive("400 ")


def test_users_who_may_not_change_coupons_cannot_generate_codes(desk: Desk) -> None:
    page = desk.sit("controller", address=f"/object/CouponTypes/{_type(desk)}")
    page.get_by_text("No batch of codes has been made here yet.").wait_for()
    for name in ("Generate Codes", "Issue a Coupon", "Edit"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_a_coupon_type_is_switched_off_and_on(desk: Desk) -> None:
    key = _type(desk)
    page = desk.sit("planner", address=f"/object/CouponTypes/{key}")
    page.get_by_role("button", name="Deactivate").click()
    page.locator(".sapMMessageBox").get_by_role("button", name="Deactivate").click()
    page.get_by_role("button", name="Activate", exact=True).click()
    page.get_by_role("button", name="Deactivate").wait_for()
    with desk.shop.http() as http:
        assert http.get(f"/admin/CouponTypes({key})").json()["status"] == "ACTIVE"


def test_the_coupon_pool_is_shown_in_german(desk: Desk) -> None:
    page = desk.sit("planner", address=f"/object/CouponTypes/{_type(desk)}", language="de", colours="dark")
    page.get_by_text("Hier wurde noch keine Charge von Codes erzeugt.").wait_for()
    page.get_by_role("button", name="Codes erzeugen").wait_for()
