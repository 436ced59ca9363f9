"""People of the back office: an administrator invites them, changes what they may do, and switches them off."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from promenade.model.access.people import PERSON_SCOPES
from tests.ui.desk import Desk
from tests.ui.test_everywhere import judge
from tests.ui.test_texts import APP

SHELL = "#promenade---shell--toolPage"
PERSON = "#promenade---shell--person"


def _link(page: Page) -> str:
    """Return the link from the dialog, and leave it."""
    dialog = page.get_by_role("dialog", name="The person's link")
    box = dialog.get_by_role("textbox", name="Link")
    expect(box).not_to_have_value("")
    found = box.input_value()
    page.get_by_role("button", name="I Have Copied It").click()
    expect(dialog).to_have_count(0)
    return found


def _invite(page: Page, name: str) -> str:
    page.get_by_role("button", name="Invite").click()
    dialog = page.get_by_role("dialog", name="Invite")
    dialog.get_by_role("textbox", name="User name").fill(name)
    scopes = dialog.get_by_role("combobox", name="Scopes")
    scopes.click()
    scopes.press_sequentially("svc.Pro")
    expect(scopes).to_have_value("svc.PromotionManager")
    scopes.press("Enter")
    scopes.press("Tab")
    dialog.get_by_role("button", name="Invite").click()
    return _link(page)


def _accept(desk: Desk, link: str, password: str, **how: str) -> Page:
    page = desk.blank(**how)
    page.goto(link)
    assert not judge(page)
    page.locator("#password").fill(password)
    page.locator("#repeated").fill(password)
    page.locator("button[type=submit]").click()
    page.locator(".done a").click()
    return page


def test_every_scope_can_be_chosen() -> None:
    page = (APP / "resources" / "People.js").read_text("utf-8")
    assert all(f'"{scope}"' in page for scope in PERSON_SCOPES)


@pytest.mark.smoke
def test_a_person_is_invited_signs_in_and_is_switched_off(desk: Desk) -> None:
    page = desk.sit(address="/list/People")
    name = f"rosa.{uuid4().hex[:6]}"
    own = _accept(desk, _invite(page, name), "correct horse")
    own.locator("#username").fill(name)
    own.locator("#password").fill("correct horse")
    own.locator("button[type=submit]").click()
    own.wait_for_selector(SHELL)
    expect(own.locator(PERSON)).to_contain_text(name)
    desk.settle(own)
    page.get_by_role("button", name="Switch Off").click()
    expect(page.get_by_role("button", name="Switch On")).to_be_enabled()
    own.reload()
    own.locator("#username").wait_for()


def test_a_new_link_ends_the_password_of_before(desk: Desk) -> None:
    page = desk.sit(address="/list/People")
    name = f"karl.{uuid4().hex[:6]}"
    _invite(page, name)
    page.get_by_role("button", name="New Link").click()
    page.get_by_role("alertdialog").get_by_role("button", name="New Link").click()
    own = _accept(desk, _link(page), "another horse", language="de", colours="dark")
    own.locator("#username").wait_for()
