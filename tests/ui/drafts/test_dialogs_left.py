"""Unsaved input in a dialog over a page: the user is asked before a reload or the browser's Back discards it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk
from tests.ui.drafts.test_typed import asked, typed
from tests.ui.generic.test_objects import first

expect.set_options(timeout=20_000)


def subscription(desk: Desk) -> tuple[Page, Locator]:
    """Return the field of the subscription dialog, over the list opened from the first page."""
    page = desk.sit()
    page.get_by_role("treeitem", name="Webhooks").wait_for()
    page.goto(f"{desk.shop.url}/#/list/WebhookSubscriptions")
    page.get_by_role("button", name="Subscribe").click()
    return page, page.get_by_role("dialog").get_by_role("textbox", name="Name", exact=True)


def notification_of_budget(desk: Desk) -> tuple[Page, Locator]:
    """Return the dialog for a child row."""
    budget = first(desk, "Budgets?$filter=status eq 'ACTIVE'&$orderby=code")["ID"]
    page = desk.sit()
    page.get_by_role("treeitem", name="Budgets").wait_for()
    page.goto(f"{desk.shop.url}/#/object/Budgets/{budget}")
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Add").click()
    return page, page.get_by_role("dialog").get_by_role("textbox", name="Threshold percentage", exact=True)


@pytest.mark.parametrize("come_to", [subscription, notification_of_budget])
def test_a_dialog_with_input_is_left_only_after_a_confirmation(
    desk: Desk, come_to: Callable[[Desk], tuple[Page, Locator]]
) -> None:
    page, field = come_to(desk)
    address = page.url
    typed(field, "12.00")
    asked(page, lambda: page.evaluate("setTimeout(() => location.reload())"))
    expect(field).to_have_value("12.00")
    page.evaluate("history.back()")
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("There are changes that are not saved")
    question.get_by_role("button", name="Cancel").click()
    page.wait_for_url(address)
    expect(field).to_have_value("12.00")
    page.evaluate("location.hash = '/list/PosGroups'")
    question.get_by_role("button", name="Leave without saving").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_contain_text("POS groups")


@pytest.mark.smoke
def test_a_dialog_without_input_is_left_without_a_question(desk: Desk) -> None:
    page, field = subscription(desk)
    expect(field).to_be_focused()
    page.evaluate("history.back()")
    page.wait_for_url(lambda url: url.endswith(("/#/", "/#")))
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("alertdialog")).to_have_count(0)
