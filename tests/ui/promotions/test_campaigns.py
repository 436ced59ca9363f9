"""Campaigns: promotions are added, shown on a timeline and removed, and locking explains its effect."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk, search_in


def _made(desk: Desk) -> tuple[str, str]:
    """Create a campaign; return it with the name of a promotion outside it."""
    mark = uuid4().hex[:8]
    with desk.shop.http() as http:
        campaign = http.post(
            "/admin/Campaigns", json={"code": f"C-{mark}", "name": mark, "IsActiveEntity": True}
        ).json()
        name = f"Promotion {mark}"
        http.post("/admin/Promotions", json={"code": f"P-{mark}", "name": name, "IsActiveEntity": True})
    return str(campaign["ID"]), name


@pytest.mark.smoke
def test_a_promotion_is_chosen_into_a_campaign_and_taken_out(desk: Desk) -> None:
    campaign, name = _made(desk)
    page = desk.sit("planner", address=f"/object/Campaigns/{campaign}")
    page.get_by_text("No promotion belongs to this campaign yet.").wait_for()
    page.get_by_role("button", name="Add Promotions").click()
    dialog = page.get_by_role("dialog")
    search_in(dialog, name)
    row = dialog.get_by_role("row", name=name)
    row.get_by_role("checkbox").click()
    dialog.get_by_role("button", name="Choose").click()
    page.get_by_role("link", name=name).wait_for()
    page.get_by_role("button", name="Take out").click()
    page.locator(".sapMMessageBox").get_by_role("button", name="Take out").click()
    page.get_by_text("No promotion belongs to this campaign yet.").wait_for()


def test_locking_explains_its_effect_and_prevents_changes(desk: Desk) -> None:
    campaign, _ = _made(desk)
    page = desk.sit("planner", address=f"/object/Campaigns/{campaign}")
    page.get_by_role("button", name="Lock", exact=True).click()
    box = page.locator(".sapMMessageBox")
    expect(box).to_contain_text("They run on at the tills as they are.")
    box.get_by_role("button", name="Lock").click()
    page.get_by_text("Locked: the campaign and its promotions run on").wait_for()
    expect(page.get_by_role("button", name="Add Promotions")).to_have_count(0)
    page.get_by_role("button", name="Unlock", exact=True).click()
    page.locator(".sapMMessageBox").get_by_role("button", name="Unlock").click()
    page.get_by_role("button", name="Add Promotions").wait_for()
