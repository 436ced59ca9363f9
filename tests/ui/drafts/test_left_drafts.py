"""An abandoned draft that another user takes over: its author, who still has it open, is told at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from promenade.workflows.drafts.editing import LOCK
from tests.ui.desk import Desk, Shop
from tests.ui.generic.test_objects import active_pos_group, fill, heading
from tests.ui.rules.page import RulesPage, stored

HERE = "#promenade---promotion--"
TAKEN = "Your draft is no longer there: demo-administrator has taken it over"


def left(shop: Shop, root_id: str) -> None:
    """Let the lock of a draft expire as if it had not been changed for long enough."""
    passed = (LOCK + timedelta(minutes=1)) // timedelta(microseconds=1)
    with closing(sqlite3.connect(shop.data / "promenade.db", timeout=30)) as database, database:
        moved = database.execute(
            "UPDATE drafts SET created_at = created_at - ?, changed_at = changed_at - ? WHERE root_id = ?",
            (passed, passed, root_id),
        )
        assert moved.rowcount == 1


def name_of_draft(shop: Shop, path: str, role: str) -> str:
    with shop.http(role) as http:
        answer = http.get(f"/admin/{path},IsActiveEntity=false)?$select=name")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["name"])


def taken_over(page: Page) -> None:
    """Take over as the second user in the browser, after the page has shown whose draft it is."""
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("demo-planner")
    dialog.get_by_role("button", name="Take over").click()
    page.wait_for_url("**,draft")


def told(page: Page) -> None:
    """Check that the author sees, without doing anything, who has the draft now."""
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text(TAKEN)
    dialog.get_by_role("button", name="Close").click()
    page.wait_for_url(lambda url: not url.endswith(",draft"))


@pytest.mark.smoke
def test_the_author_of_a_promotions_draft_sees_who_has_taken_it_over(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    author = RulesPage.editing(desk, entity_id, role="planner").page
    name = author.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)
    name.fill("Mine")
    with author.expect_response(lambda one: "PATCH" in (one.request.post_data or "") and one.ok):
        name.press("Tab")  # a change renews the lock, which is aged next
    expect(author.locator(f"{HERE}name")).to_have_text("Mine")
    author.locator(f"{HERE}page").get_by_role("region", name="Rules").scroll_into_view_if_needed()
    left(desk.shop, entity_id)
    second = RulesPage(desk, entity_id, role="administrator").page
    second.locator(f"{HERE}edit").click()
    taken_over(second)
    theirs = second.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)
    theirs.fill("Theirs")
    with second.expect_response(lambda one: "PATCH" in (one.request.post_data or "") and one.ok):
        theirs.press("Tab")
    expect(second.locator(f"{HERE}name")).to_have_text("Theirs")
    told(author)
    expect(author.locator(f"{HERE}lock")).to_contain_text("demo-administrator has been editing this since")
    expect(author.locator(f"{HERE}lock")).to_be_in_viewport()
    assert name_of_draft(desk.shop, f"Promotions(ID={entity_id}", "administrator") == "Theirs"
    desk.forgive(f"404 GET {desk.shop.url}/admin/Promotions(ID={entity_id},IsActiveEntity=false)?$select=ID")


def test_input_after_a_takeover_is_not_saved(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    author = RulesPage.editing(desk, entity_id, role="planner").page
    left(desk.shop, entity_id)
    with desk.shop.http() as http:
        at = f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)/draftEdit"
        assert http.post(at, json={"PreserveChanges": False}).status_code == 201
    name = author.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)
    name.fill("Overwritten")
    author.locator(f"{HERE}save").click()
    told(author)
    assert name_of_draft(desk.shop, f"Promotions(ID={entity_id}", "administrator") == "Rules"
    with desk.shop.http() as http:
        active = http.get(f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)").json()
    assert active["name"] == "Rules"
    desk.forgive("404 GET", "403 ")


def test_the_author_of_any_draft_sees_who_has_taken_it_over(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "TAKEN-OVER")
    author = desk.sit("planner", address=f"/object/PosGroups/{pos_group}")
    author.get_by_role("button", name="Edit", exact=True).click()
    fill(author, "Name", "Mine")
    author.get_by_text("Draft updated").wait_for()
    left(desk.shop, pos_group)
    second = desk.sit(address=f"/object/PosGroups/{pos_group}")
    second.get_by_text("Unsaved changes by demo-planner").wait_for()
    second.get_by_role("button", name="Edit", exact=True).click()
    taken_over(second)
    fill(second, "Name", "Theirs")
    second.get_by_text("Draft updated").wait_for()
    told(author)
    heading(author, "Taken-Over")
    author.get_by_text("Being edited by demo-administrator").wait_for()
    assert name_of_draft(desk.shop, f"PosGroups(ID={pos_group}", "administrator") == "Theirs"
    desk.forgive(f"404 GET {desk.shop.url}/admin/PosGroups(ID={pos_group},IsActiveEntity=false)?$select=ID")
