"""Coupons: codes are generated while the page shows progress, and one is issued and shown."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, let_through
from tests.ui.measuring import require_room
from tests.ui.test_everywhere import judge


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


def _batch(desk: Desk, number: int) -> str:
    with desk.shop.http() as http:
        action = f"/admin/CouponTypes(ID={_type(desk)},IsActiveEntity=true)/AdminService.generateCodes"
        return str(http.post(action, json={"numberOfCodes": number}).json()["ID"])


def _download(page: Page, item: str) -> bytes:
    page.get_by_role("button", name=re.compile("^Export")).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).click()
    return Path(download.value.path()).read_bytes()


def test_the_codes_of_a_batch_are_listed_and_downloaded_and_the_page_says_by_whom_before(desk: Desk) -> None:
    key = _batch(desk, 45)
    page = desk.sit("planner", address=f"/object/CouponCodeBatches/{key}")
    page.get_by_text("Nobody has downloaded these codes yet.").wait_for()
    page.get_by_role("tab", name="Codes (45)").or_(page.get_by_text("Codes (45)")).first.wait_for()
    lines = _download(page, "CSV file").decode("utf-8-sig").splitlines()
    assert (lines[0].split(",")[0], len(lines)) == ("Code", 46)
    page.get_by_text(re.compile("These codes were downloaded before: .+, .+")).wait_for()
    assert _download(page, "Excel workbook (XLSX)").startswith(b"PK")
    expect(page.get_by_text(re.compile("^Downloaded\\s*(CSV|XLSX)$"))).to_have_count(2)


def test_the_page_of_a_batch_follows_its_generation_to_its_end(desk: Desk) -> None:
    key = _batch(desk, 5)
    page = desk.sit("controller", address="/list/CouponCodeBatches")
    state = {"status": "RUNNING", "quantity": 5, "generatedCount": 3, "name": None, "couponType": {"name": "T"}}
    asked = re.compile(rf"/admin/CouponCodeBatches\({key}\)\?")
    page.route(asked, lambda route: route.fulfill(json=state))
    page.goto(f"{page.url.split('#')[0]}#/object/CouponCodeBatches/{key}")
    page.get_by_text("The codes are still being generated: 3 of 5 are there.").wait_for()
    expect(page.get_by_role("button", name=re.compile("^Export"))).to_have_count(0)
    state["generatedCount"] = 4
    page.get_by_text("The codes are still being generated: 4 of 5 are there.").wait_for()
    let_through(page, asked)
    page.get_by_text("Nobody has downloaded these codes yet.").wait_for()
    page.get_by_role("button", name=re.compile("^Export")).wait_for()


def test_the_download_of_a_batch_is_offered_in_german_and_can_be_used_by_everybody(desk: Desk) -> None:
    page = desk.sit("planner", address=f"/object/CouponCodeBatches/{_batch(desk, 5)}", language="de")
    page.get_by_text("Diese Codes hat noch niemand heruntergeladen.").wait_for()
    page.get_by_role("button", name=re.compile("^Exportieren")).wait_for()
    desk.settle(page)
    assert judge(page) == []
    require_room(desk, page)


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
