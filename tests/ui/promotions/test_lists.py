"""The list of promotions and their calendar: filters, counts, URLs, and the requests for them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Shop

LIST, CALENDAR = "#promenade---promotions--", "#promenade---calendar--"


def make(shop: Shop, name: str, **fields: object) -> str:
    """Create a promotion without the browser; return its ID."""
    with shop.http() as http:
        made = http.post("/admin/Promotions", json={"name": name, "IsActiveEntity": True, **fields})
    assert made.status_code == 201, made.text
    return str(made.json()["ID"])


def search(page: Page, text: str) -> None:
    field = page.locator(f"{LIST}search").get_by_role("searchbox")
    field.fill(text)
    field.press("Enter")


@pytest.mark.smoke
def test_a_search_shows_promotions_with_all_its_words_and_counts_them_by_status(desk: Desk) -> None:
    make(desk.shop, "Zebra crossing sale")
    make(desk.shop, "Zebra stripes sale", status="INACTIVE")
    page = desk.sit("planner", address="promotions")
    search(page, "sale zebra")
    page.get_by_role("tab", name="All (2)").or_(page.get_by_text("All (2)")).first.wait_for()
    expect(page.locator(f"{LIST}table td a.sapMLnk:visible")).to_have_count(2)
    page.get_by_text("Inactive (1)").click()
    expect(page.locator(f"{LIST}table td a.sapMLnk:visible")).to_have_text(["Zebra stripes sale"])
    page.wait_for_url("**status=INACTIVE**")


def test_a_url_restores_the_same_list(desk: Desk) -> None:
    make(desk.shop, "Okapi sale", type="RECEIPT", status="INACTIVE")
    page = desk.sit("planner", address="promotions?search=okapi&status=INACTIVE&types=RECEIPT&sort=name")
    expect(page.locator(f"{LIST}table td a.sapMLnk:visible")).to_have_count(1)
    expect(page.locator(f"{LIST}search").get_by_role("searchbox")).to_have_value("okapi")
    page.locator(f"{LIST}clear").click()
    page.get_by_text(re.compile(r"Running \(\d\d\d\)")).wait_for()
    page.wait_for_url("**#/promotions")


def test_the_counts_by_status_come_with_one_request_and_the_rows_as_they_are_seen(desk: Desk) -> None:
    page = desk.sit("planner")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(f"{one.url} {one.post_data or ''}") if "/admin/" in one.url else None)
    page.goto(f"{desk.shop.url}/#promotions")
    page.get_by_text(re.compile(r"Running \(\d\d\d\)")).wait_for()
    page.locator(f"{LIST}table td a.sapMLnk").first.wait_for()
    assert sum("groupby" in one for one in asked) == 1
    assert all("%24top=" in one or "$top=" in one for one in asked if "Promotions?" in one and "groupby" not in one)


@pytest.mark.smoke
def test_own_drafts_are_listed_in_place_of_what_they_change(desk: Desk) -> None:
    mark = make(desk.shop, "Quagga sale")
    with desk.shop.http("planner") as http:
        at = f"/admin/Promotions(ID={mark},IsActiveEntity=true)/draftEdit"
        assert http.post(at, json={"PreserveChanges": True}).status_code == 201
    mine = desk.sit("planner", address="promotions?search=quagga")
    mine.get_by_text("Your draft", exact=True).wait_for()
    link = mine.locator(f"{LIST}table td a.sapMLnk:visible")
    expect(link).to_have_attribute("href", f"#/promotion/{mark},draft")
    other = desk.sit("administrator", address="promotions?search=quagga")
    other.get_by_text("Edited by demo-planner", exact=True).wait_for()


def test_users_who_may_not_create_promotions_see_no_button(desk: Desk) -> None:
    page = desk.sit("controller", address="promotions")
    page.locator(f"{LIST}table td a.sapMLnk").first.wait_for()
    expect(page.locator(f"{LIST}create")).to_have_count(0)
    expect(page.locator(f"{LIST}fromTemplate")).to_have_count(0)


def test_a_copy_is_made_and_opened(desk: Desk) -> None:
    make(desk.shop, "Gnu sale")
    page = desk.sit("planner", address="promotions?search=gnu")
    page.locator(f"{LIST}table td a.sapMLnk:visible").wait_for()
    page.locator(f"{LIST}table .sapUiTableRowSelectionCell:visible").first.click()
    page.locator(f"{LIST}copy").click()
    page.get_by_role("dialog").get_by_role("button", name="Copy").click()
    expect(page.locator("#promenade---promotion--name")).to_have_text("Gnu sale (copy)")


def _campaign(shop: Shop, code: str) -> str:
    with shop.http() as http:
        made = http.post("/admin/Campaigns", json={"code": code, "name": code, "IsActiveEntity": True})
    assert made.status_code == 201, made.text
    return str(made.json()["ID"])


def _statuses(desk: Desk, word: str) -> list[str]:
    with desk.shop.http() as http:
        found = http.get(f"/admin/Promotions?$filter=contains(name,'{word}')&$orderby=name").json()["value"]
    return [one["status"] for one in found]


def test_chosen_promotions_are_activated_and_deactivated_together_or_not_at_all(desk: Desk) -> None:
    for name in ("Numbat A", "Numbat B"):
        _benefit(desk, make(desk.shop, name))
    bare = make(desk.shop, "Numbat C")
    page = desk.sit("planner", address="promotions?search=numbat&sort=name")
    boxes = page.locator(f"{LIST}table .sapUiTableRowSelectionCell:visible")
    expect(page.locator(f"{LIST}table td a.sapMLnk:visible")).to_have_count(3)
    for row in range(3):
        boxes.nth(row).click()
    page.locator(f"{LIST}activate").click()
    page.locator(".sapMMessageBox").get_by_role("button", name="Activate").click()
    expect(page.get_by_text("Nothing was changed, because of “Numbat C”")).to_be_visible()
    assert _statuses(desk, "Numbat") == ["DRAFT"] * 3
    page.locator(".sapMMessageBox").get_by_role("button", name="Close").click()
    _benefit(desk, bare)
    for verb, status in (("activate", "ACTIVE"), ("deactivate", "INACTIVE")):
        if verb == "deactivate":  # the selection ends with what was done
            expect(page.locator(f"{LIST}deactivate")).to_be_disabled()
            desk.settle(page)  # rows that are read anew cannot be chosen
            for row in range(3):
                boxes.nth(row).click()
        page.locator(f"{LIST}{verb}").click()
        page.locator(".sapMMessageBox").get_by_role("button", name=verb.title()).click()
        page.get_by_text(f"3 promotions {verb}d").wait_for()
        assert _statuses(desk, "Numbat") == [status] * 3


def test_chosen_promotions_are_copied_together_or_not_at_all(desk: Desk) -> None:
    campaign = _campaign(desk.shop, "AARDWOLF-WEEK")
    for name, more in (("Aardwolf A", {}), ("Aardwolf B", {}), ("Aardwolf C", {"campaign_ID": campaign})):
        make(desk.shop, name, description="Kept", **more)
    with desk.shop.http() as http:
        locked = http.post(f"/admin/Campaigns(ID={campaign},IsActiveEntity=true)/AdminService.lock", json={})
    assert locked.status_code in {200, 204}, locked.text
    page = desk.sit("planner", address="promotions?search=aardwolf&sort=name")
    names = page.locator(f"{LIST}table td a.sapMLnk:visible")
    expect(names).to_have_count(3)
    boxes = page.locator(f"{LIST}table .sapUiTableRowSelectionCell:visible")
    for row in range(3):
        boxes.nth(row).click()
    page.locator(f"{LIST}copy").click()
    box = page.locator(".sapMMessageBox")
    box.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Nothing was changed, because of “Aardwolf C”")).to_be_visible()
    assert _statuses(desk, "Aardwolf") == ["DRAFT"] * 3
    box.get_by_role("button", name="Close").click()
    boxes.nth(2).click()
    page.locator(f"{LIST}copy").click()
    box.get_by_role("button", name="Copy").click()
    page.get_by_text("2 promotions copied").wait_for()
    expect(names).to_have_text([f"Aardwolf {one}" for one in ("A", "A (copy)", "B", "B (copy)", "C")])
    with desk.shop.http() as http:
        copies = http.get("/admin/Promotions?$filter=startswith(name,'Aardwolf') and contains(name,'copy')").json()
    assert [one["description"] for one in copies["value"]] == ["Kept"] * 2


def test_chosen_promotions_are_put_into_a_campaign_together_or_not_at_all(desk: Desk) -> None:
    locked, campaign = (_campaign(desk.shop, f"KINKAJOU-{one}") for one in ("LOCKED", "OPEN"))
    for name, more in (("Kinkajou A", {}), ("Kinkajou B", {"campaign_ID": locked})):
        make(desk.shop, name, **more)
    with desk.shop.http() as http:
        http.post(f"/admin/Campaigns(ID={locked},IsActiveEntity=true)/AdminService.lock", json={})
    page = desk.sit("planner", address="promotions?search=kinkajou&sort=name")
    names = page.locator(f"{LIST}table td a.sapMLnk:visible")
    expect(names).to_have_count(2)
    boxes = page.locator(f"{LIST}table .sapUiTableRowSelectionCell:visible")
    boxes.nth(0).click()
    boxes.nth(1).click()
    page.locator(f"{LIST}toCampaign").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("listitem").or_(dialog.get_by_role("option")).filter(has_text="KINKAJOU-OPEN").click()
    expect(page.get_by_text("Nothing was changed, because of “Kinkajou B”")).to_be_visible()
    desk.forgive("409 POST")
    page.locator(".sapMMessageBox").get_by_role("button", name="Close").click()
    dialog.get_by_role("button", name="Cancel").click()
    boxes.nth(1).click()
    page.locator(f"{LIST}toCampaign").click()
    dialog.get_by_role("listitem").or_(dialog.get_by_role("option")).filter(has_text="KINKAJOU-OPEN").click()
    page.get_by_role("gridcell", name="KINKAJOU-OPEN").first.wait_for()
    with desk.shop.http() as http:
        found = http.get("/admin/Promotions?$filter=contains(name,'Kinkajou')&$orderby=name").json()["value"]
    assert [one["campaign_ID"] for one in found] == [campaign, locked]


def test_all_of_a_list_are_chosen_also_those_that_were_never_scrolled_to(desk: Desk) -> None:
    with desk.shop.http() as http:
        requests = [
            {"id": str(at), "method": "POST", "url": "Promotions", "headers": {"Content-Type": "application/json"},
             "body": {"name": f"Dugong {at:02}", "IsActiveEntity": True}}
            for at in range(95)
        ]  # fmt: skip
        assert http.post("/admin/$batch", json={"requests": requests}).status_code == 200
    page = desk.sit("planner", address="promotions?search=dugong&sort=name")
    page.locator(f"{LIST}table td a.sapMLnk:visible").first.wait_for()
    page.locator(f"{LIST}table-selall").click()
    page.locator(f"{LIST}activate").click()
    expect(page.locator(".sapMMessageBox")).to_contain_text("95 promotions apply from the next basket on")


def _benefit(desk: Desk, promotion: str) -> None:
    row = {"promotion_ID": promotion, "actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5}
    with desk.shop.http() as http:
        assert http.post("/admin/DiscountActions", json=row).status_code == 201


@pytest.mark.smoke
def test_the_calendar_shows_what_runs_in_the_period_and_nothing_else(desk: Desk) -> None:
    make(desk.shop, "Yak in spring", validFrom="2031-04-05T00:00:00Z", validTo="2031-04-20T00:00:00Z")
    make(desk.shop, "Yak in summer", validFrom="2031-07-05T00:00:00Z", validTo="2031-07-20T00:00:00Z")
    page = desk.sit("planner", address="promotions/calendar?from=2031-04&statuses=DRAFT&search=yak")
    bar = page.get_by_role("link", name=re.compile("^Yak in spring, Draft, 5 Apr 2031"))
    bar.wait_for()
    expect(page.get_by_text("Yak in summer")).to_have_count(0)
    page.locator(f"{CALENDAR}span").get_by_text("Quarter").click()
    page.get_by_text("2nd quarter 2031").wait_for()
    page.locator(f"{CALENDAR}next").click()
    page.get_by_role("link", name=re.compile("^Yak in summer, Draft")).wait_for()
    expect(page.get_by_text("Yak in spring")).to_have_count(0)
    page.locator(f"{CALENDAR}previous").click()
    bar.click()
    expect(page.locator("#promenade---promotion--name")).to_have_text("Yak in spring")


def test_the_calendar_is_available_in_german_and_as_a_list(desk: Desk) -> None:
    start = datetime(2031, 10, 1, tzinfo=UTC)
    make(desk.shop, "Ibex", validFrom=start.isoformat(), validTo=(start + timedelta(days=5)).isoformat())
    page = desk.sit("planner", address="promotions/calendar?from=2031-10&statuses=DRAFT&search=ibex", language="de")
    page.get_by_text("Oktober 2031", exact=True).wait_for()
    scale = page.locator(".promenadeScale")
    expect(scale).to_have_text(re.compile(r"^\s*Mi\s*1\s*Do\s*2\D"))
    page.locator(f"{CALENDAR}show").get_by_text("Liste", exact=True).click()
    page.get_by_role("gridcell", name="01.10.2031").or_(page.get_by_text("01.10.2031", exact=True)).first.wait_for()
    expect(scale).to_have_count(0)
