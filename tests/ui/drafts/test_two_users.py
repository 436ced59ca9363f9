"""Two users and one promotion: the page says who has it, no one overwrites the other, lost changes are announced."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.ui.desk import Desk
from tests.ui.rules.page import RulesPage, stored

HERE = "#promenade---promotion--"


def test_a_second_user_sees_who_is_editing_since_when_and_cannot_edit(either_desk: Desk) -> None:
    desk = either_desk
    entity_id = stored(desk.shop)
    RulesPage.editing(desk, entity_id, role="planner")
    second = desk.sit("administrator", address=f"promotion/{entity_id}")
    second.get_by_text("demo-planner has been editing this since").first.wait_for()
    expect(second.locator(f"{HERE}name")).to_have_text("Rules")
    second.locator(f"{HERE}edit").click()
    dialog = second.get_by_role("alertdialog").or_(second.get_by_role("dialog")).first
    expect(dialog).to_contain_text("demo-planner")
    assert not second.url.endswith(",draft")
    desk.forgive("409 ", "DRAFT_ALREADY_EXISTS", "draftEdit")


def test_a_draft_saved_in_another_window_is_reported_as_gone(either_desk: Desk) -> None:
    desk = either_desk
    entity_id = stored(desk.shop)
    first = RulesPage.editing(desk, entity_id, role="planner").page
    with desk.shop.http("planner") as http:
        at = f"/admin/Promotions(ID={entity_id},IsActiveEntity=false)/draftActivate"
        assert http.post(at, json={}).status_code == 200
    first.locator(f"{HERE}save").click()
    first.get_by_text("Your draft is no longer there: it was saved or discarded elsewhere").first.wait_for()
    first.get_by_role("button", name="Close").click()
    first.locator(f"{HERE}edit").wait_for()
    desk.forgive("403 ", "404 ")
