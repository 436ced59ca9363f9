"""The page of one entity: shown, changed through a draft or in place, refused, locked, deleted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, escape

NOBODY = "00000000-0000-4000-8000-000000000000"


def heading(page: Page, text: str) -> None:
    page.get_by_role("heading", name=text, exact=True, level=1).wait_for()


def fill(page: Page, name: str, text: str) -> None:
    field = page.get_by_role("textbox", name=name, exact=True)
    field.fill(text)
    field.press("Tab")


def first(desk: Desk, query: str) -> dict[str, Any]:
    with desk.shop.http() as http:
        found: dict[str, Any] = http.get(f"/admin/{query}").json()["value"][0]
    return found


def active_pos_group(desk: Desk, code: str, **more: Any) -> str:
    """Create a POS group for this test; return its ID."""
    with desk.shop.http() as http:
        row = {"code": code, "name": code.title(), "currency": "EUR", "timeZone": "Europe/Berlin", **more}
        made = http.post("/admin/PosGroups", json=row).json()
        path = f"/admin/PosGroups(ID={made['ID']},IsActiveEntity=false)/draftActivate"
        assert http.post(path, json={}).status_code == 201
    return str(made["ID"])


@pytest.mark.smoke
def test_an_article_is_created_through_a_draft(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles")
    page.get_by_role("button", name="Create").click()
    heading(page, "New: Article")
    fill(page, "Article number", "NEW-1")
    fill(page, "Name", "Oat drink")
    fill(page, "Base price", "1.99")
    page.get_by_text("Draft updated").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    heading(page, "Oat drink")
    saved = first(desk, "Articles?$filter=articleNumber eq 'NEW-1'")
    assert (saved["name"], saved["basePrice"]) == ("Oat drink", 1.99)


@pytest.mark.smoke
def test_missing_required_fields_are_shown_before_a_request_is_sent(desk: Desk) -> None:
    page = desk.sit(address="/object/PosGroups/new")
    heading(page, "New: POS group")
    fill(page, "Code", "LACKS")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("A value is needed here.").first.wait_for()
    page.get_by_role("button", name="Discard draft").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    page.get_by_role("heading", name=re.compile(r"^POS groups \("), level=1).wait_for()


@pytest.mark.smoke
def test_a_refused_value_is_shown_at_its_field(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "REFUSED")
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_role("button", name="Edit", exact=True).click()
    fill(page, "Time zone", "Mars/Base")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("dialog").get_by_text("must be an IANA time zone").wait_for()
    escape(page)
    expect(page.get_by_role("textbox", name="Time zone")).to_have_attribute("aria-invalid", "true")
    fill(page, "Time zone", "Europe/Paris")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    assert first(desk, f"PosGroups?$filter=ID eq {pos_group}")["timeZone"] == "Europe/Paris"


def test_a_discarded_draft_leaves_everything_as_it_was(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "DISCARDED")
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_role("button", name="Edit", exact=True).click()
    fill(page, "Name", "Thrown away")
    page.get_by_text("Draft updated").wait_for()
    heading(page, "Thrown away")
    page.get_by_role("button", name="Discard draft").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    heading(page, "Discarded")
    assert first(desk, f"PosGroups?$filter=ID eq {pos_group}")["name"] == "Discarded"


def test_a_draft_is_there_after_a_reload_and_taken_up_again(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "RESUMED")
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_role("button", name="Edit", exact=True).click()
    fill(page, "Name", "Half done")
    page.get_by_text("Draft updated").wait_for()
    page.reload()
    heading(page, "Half done")
    page.goto(f"{desk.shop.url}/#/object/PosGroups/{pos_group}")
    heading(page, "Resumed")
    page.get_by_text("You have an unsaved draft").wait_for()
    page.get_by_role("button", name="Edit", exact=True).click()
    heading(page, "Half done")


@pytest.mark.smoke
def test_a_lock_by_another_names_who_has_it(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "HELD")
    with desk.shop.http("planner") as http:
        path = f"/admin/PosGroups(ID={pos_group},IsActiveEntity=true)/draftEdit"
        assert http.post(path, json={"PreserveChanges": True}).status_code == 201
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_text("Being edited by demo-planner").wait_for()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("alertdialog").get_by_text("demo-planner has been editing this since").wait_for()
    escape(page)
    page.get_by_role("button", name="Edit", exact=True).wait_for()


def test_a_link_is_chosen_by_typing(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "TYPED")
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("textbox", name="Parent").press_sequentially("Zurich", delay=30)
    page.get_by_role("option", name="Zurich Bahnhofstrasse").click()
    page.get_by_text("Draft updated").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    page.get_by_role("link", name="Zurich Bahnhofstrasse").first.wait_for()
    parent = first(desk, "PosGroups?$filter=code eq 'CH-ZRH'")["ID"]
    assert first(desk, f"PosGroups?$filter=ID eq {pos_group}")["parent_ID"] == parent


def test_an_invalid_number_is_refused_immediately(desk: Desk) -> None:
    article = first(desk, "Articles?$filter=articleNumber eq '100003'")["ID"]
    page = desk.sit(address=f"/object/Articles/{article}")
    page.get_by_role("button", name="Edit", exact=True).click()
    fill(page, "Base price", "cheap")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("dialog").get_by_text("Enter a number").wait_for()
    escape(page)
    page.get_by_role("button", name="Discard draft").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()


def test_an_entity_is_deleted_once_that_is_confirmed(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "DELETED")
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name=re.compile(r"^POS groups \("), level=1).wait_for()
    with desk.shop.http() as http:
        assert http.get(f"/admin/PosGroups(ID={pos_group},IsActiveEntity=true)").status_code == 404


def test_readers_see_no_edit_button(desk: Desk) -> None:
    article = first(desk, "Articles?$filter=articleNumber eq '100001'")["ID"]
    page = desk.sit("controller", address=f"/object/Articles/{article}")
    expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Delete", exact=True)).to_have_count(0)


def test_a_deleted_entity_is_reported_as_gone(desk: Desk) -> None:
    page = desk.sign_in(desk.blank(), address=f"/object/PosGroups/{NOBODY}")
    page.get_by_role("alertdialog").get_by_text("There is nothing here any more").wait_for()
    escape(page)
    page.get_by_role("heading", name=re.compile(r"^POS groups \("), level=1).wait_for()


NOWHERE = [
    "promotion/xyz",
    "promotion/xyz,draft",
    "object/PosGroups/xyz",
    "object/Nothings/xyz",
    "object/Currencies/EUR",
]


@pytest.mark.parametrize(("language", "words"), [("en", "There is nothing here"), ("de", "Hier ist nichts")])
def test_a_url_with_an_invalid_key_shows_the_not_found_page(desk: Desk, language: str, words: str) -> None:
    page = desk.sit(address=f"/{NOWHERE[0]}", language=language)
    for address in NOWHERE:
        page.goto(f"{desk.shop.url}/#/{address}")
        heading(page, words)
        assert page.url.endswith(address)
        page.goto(f"{desk.shop.url}/#/list/PosGroups")
        page.get_by_role("heading", name=re.compile(r"^(POS groups|Kassengruppen) \("), level=1).wait_for()


@pytest.mark.parametrize(
    ("language", "words"), [("en", "There is nothing here any more"), ("de", "Hier ist nichts mehr")]
)
def test_a_deleted_promotion_is_reported_in_the_users_language(desk: Desk, language: str, words: str) -> None:
    page = desk.sit(address=f"/promotion/{NOBODY}", language=language)
    page.get_by_role("alertdialog").get_by_text(words).wait_for()
    escape(page)
    page.wait_for_url("**/#/promotions")


def test_a_row_that_belongs_to_a_budget_is_added_in_a_dialog(desk: Desk) -> None:
    budget = first(desk, "Budgets?$filter=status eq 'ACTIVE'&$orderby=code")["ID"]
    page = desk.sit(address=f"/object/Budgets/{budget}")
    section = page.get_by_role("region", name=re.compile("Notifications"))
    section.get_by_role("button", name="Add").click()
    dialog = page.get_by_role("dialog")
    fill(page, "Threshold percentage", "77")
    dialog.get_by_role("button", name="Add").click()
    dialog.wait_for(state="detached")
    section.get_by_text("77").first.wait_for()
    assert first(desk, f"BudgetNotifications?$filter=budget_ID eq {budget} and thresholdPercentage eq 77")


def test_fields_without_a_value_are_hidden_until_they_are_asked_for_or_edited(desk: Desk) -> None:
    page = desk.sit(address=f"/object/PosGroups/{active_pos_group(desk, 'FEW-VALUES')}")
    heading(page, "Few-Values")
    desk.settle(page)
    empty = page.get_by_text("Description", exact=True)
    expect(page.get_by_text("Europe/Berlin", exact=True).first).to_be_visible()
    expect(empty).to_be_hidden()
    switch = page.get_by_role("button", name="Show empty fields")
    switch.focus()
    page.keyboard.press("Enter")
    expect(empty).to_be_visible()
    page.reload()
    expect(empty).to_be_visible()
    page.get_by_role("button", name="Show empty fields").click()
    expect(empty).to_be_hidden()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("button", name="Save", exact=True).wait_for()
    expect(page.get_by_role("button", name="Show empty fields")).to_be_hidden()
    expect(empty).to_be_visible()
