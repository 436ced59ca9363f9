"""A person changes their password in the menu of the page, and stays signed in there alone."""

from __future__ import annotations

from uuid import uuid4

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.kit.code_flow import Flow, answered
from tests.ui.access.test_sign_in import PERSON, REFUSED, SHELL, log_in, opened
from tests.ui.desk import REQUEST_SECONDS_MAX, Desk, escape
from tests.ui.test_everywhere import judge

PASSWORD = "correct horse"
NEXT = "zwei blaue Pferde"


def settled(desk: Desk) -> str:
    """Invite a person, who accepts, and return the user name."""
    name = f"rosa-{uuid4().hex[:8]}"
    with desk.shop.http() as http:
        body = {"userName": name, "scopes": ["svc.PromotionManager"]}
        secret = http.post("/admin/People", json=body).raise_for_status().json()["invitation"]
        form = {"password": PASSWORD, "repeated": PASSWORD}
        http.post(f"/oauth/invitation?secret={secret}", data=form).raise_for_status()
    return name


def signed_in(desk: Desk, name: str, **how: str) -> Page:
    page = opened(desk, **how)
    page.locator("#username").fill(name)
    page.locator("#password").fill(PASSWORD)
    page.locator("button[type=submit]").click()
    page.wait_for_selector(SHELL)
    desk.settle(page)
    return page


def dialog_of(page: Page) -> Locator:
    page.locator(PERSON).click()
    page.get_by_role("button", name="Change password").click()
    dialog = page.get_by_role("dialog", name="Change password")
    expect(dialog.get_by_label("Current password")).to_be_focused()
    return dialog


def fill(dialog: Locator, *texts: str) -> None:
    """Fill in the three fields and press Enter in the last."""
    fields = [
        dialog.get_by_role("textbox", name=label)
        for label in ("Current password", "New password, at least", "The new password again")
    ]
    for field, text in zip(fields, texts, strict=True):
        field.fill(text)
    fields[-1].press("Enter")


@pytest.mark.smoke
def test_a_person_changes_their_password_and_other_browsers_are_signed_out(desk: Desk) -> None:
    name = settled(desk)
    page = signed_in(desk, name)
    with httpx2.Client(base_url=desk.shop.url, timeout=REQUEST_SECONDS_MAX, verify=False) as elsewhere:
        flow = Flow(elsewhere)
        assert flow.redeem(answered(flow.log_in(name, PASSWORD))["code"]).status_code == 200
        assert elsewhere.post("/oauth/session").status_code == 200
        dialog = dialog_of(page)
        assert not judge(page)
        fill(dialog, PASSWORD, NEXT, NEXT)
        expect(dialog).to_have_count(0)
        expect(page.get_by_text("Your password is changed.").first).to_be_visible()
        assert elsewhere.post("/oauth/session").status_code == 204
    page.reload()
    page.wait_for_selector(SHELL)
    desk.settle(page)
    page.locator(PERSON).click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").click()
    for password in (PASSWORD, NEXT):
        page.locator("#username").fill(name)
        page.locator("#password").fill(password)
        page.locator("button[type=submit]").click()
        if password == PASSWORD:
            expect(page.get_by_role("alert")).to_contain_text("password or the code is wrong")
    page.wait_for_selector(SHELL)
    desk.forgive(*REFUSED)


def test_what_is_refused_is_said_at_its_field_and_can_be_corrected(desk: Desk) -> None:
    name = settled(desk)
    page = signed_in(desk, name)
    dialog = dialog_of(page)
    for texts, said, label in (
        (("another horse", NEXT, NEXT), "The current password is wrong.", "Current password"),
        ((PASSWORD, NEXT, "drei blaue Pferde"), "Both new passwords must be the same.", "The new password again"),
        ((PASSWORD, "short", "short"), "The password needs at least 8 characters.", "New password, at least"),
        ((PASSWORD, name, name), "among the first that are tried", "New password, at least"),
        ((PASSWORD, PASSWORD, PASSWORD), "The new password is the one that you have.", "New password, at least"),
    ):
        fill(dialog, *texts)
        expect(dialog).to_contain_text(said)
        expect(dialog.get_by_role("textbox", name=label)).to_be_focused()
    fields = dialog.locator("input")
    kinds = fields.evaluate_all("all => all.map((one) => [one.type, one.autocomplete])")
    assert kinds == [["password", "current-password"], ["password", "new-password"], ["password", "new-password"]]
    fill(dialog, PASSWORD, NEXT, NEXT)
    expect(dialog).to_have_count(0)
    desk.forgive("400 POST")


def test_a_client_has_no_password_to_change(desk: Desk) -> None:
    page = opened(desk)
    log_in(page, desk, "planner", as_client=True)
    page.wait_for_selector(SHELL)
    desk.settle(page)
    page.locator(PERSON).click()
    page.get_by_role("button", name="Sign out").wait_for()
    expect(page.get_by_role("button", name="Change password")).to_have_count(0)


def test_in_german_too_and_escape_changes_nothing(desk: Desk) -> None:
    page = signed_in(desk, settled(desk), language="de")
    page.locator(PERSON).click()
    page.get_by_role("button", name="Passwort ändern").click()
    dialog = page.get_by_role("dialog", name="Passwort ändern")
    dialog.get_by_label("Bisheriges Passwort").fill("another horse")
    dialog.get_by_label("Neues Passwort").fill(NEXT)
    dialog.get_by_label("Noch einmal das neue Passwort").fill(NEXT)
    dialog.get_by_role("button", name="Passwort ändern").click()
    expect(dialog).to_contain_text("Das bisherige Passwort ist falsch.")
    escape(page)
    expect(page.get_by_role("dialog")).to_have_count(0)
    desk.forgive("400 POST")
