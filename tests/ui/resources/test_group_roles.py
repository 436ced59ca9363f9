"""Groups of another issuer, where this service has none."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.ui.desk import Desk


def test_a_service_that_issues_tokens_itself_says_where_people_are(desk: Desk) -> None:
    page = desk.sit(address="/list/GroupRoles")
    page.get_by_text("This service has no other issuer").wait_for()
    expect(page.get_by_role("button", name="New Group")).to_have_count(0)
    expect(page.get_by_role("navigation").get_by_text("Group roles")).to_have_count(0)
