"""An administrator requires codes of everybody; whoever has no app sets one up at the next sign-in, and works on."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from promenade.model.access.tenants import SETTINGS_ID
from promenade.workflows.access.one_time_codes import code_at, text_of_key
from tests.ui.access.test_own_password import PASSWORD, settled
from tests.ui.access.test_shared_sign_in import ASK, FORGET
from tests.ui.access.test_sign_in import PERSON, REFUSED, SHELL, opened
from tests.ui.desk import Desk
from tests.ui.test_everywhere import judge

SETTINGS = f"/object/TenantSettings/{SETTINGS_ID}"
LABEL = "Codes of an app are required"
KEY = text_of_key(b"12345678901234567890")


def step_now() -> int:
    return int(datetime.now(UTC).timestamp()) // 30


@pytest.fixture(autouse=True)
def _usual(desk: Desk) -> Iterator[None]:
    """Leave the shop to the other tests as it was."""
    yield
    with desk.shop.http() as http:
        http.patch(f"/admin/TenantSettings({SETTINGS_ID})", json={"codeRequired": None}).raise_for_status()


def sign_in(page: Page, name: str, code: str = "") -> None:
    page.locator("#username").fill(name)
    page.locator("#password").fill(PASSWORD)
    page.locator("#code").fill(code)
    page.locator("button[type=submit]").click()


def sign_out(page: Page) -> None:
    page.locator(PERSON).click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").click()
    page.locator("#username").wait_for()


def tick(page: Page) -> None:
    """Set the setting on the page of settings, and save."""
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("tab", name="People", exact=True).click()
    page.get_by_text("Everybody who signs in with a password of this service needs an app").wait_for()
    field = page.get_by_role("checkbox", name=LABEL)
    field.click()
    expect(field).to_be_checked()
    page.get_by_role("button", name="Save", exact=True).click()


def require(desk: Desk) -> None:
    """Set the setting as the operator does."""
    with desk.shop.http() as http:
        tenant = http.get("/ui/me").raise_for_status().json()["tenantId"]
    command = ("tenant", "set", tenant, "codeRequired=true", "--data-dir", str(desk.shop.data))
    subprocess.run([sys.executable, "-m", "promenade", *command], check=True, capture_output=True, timeout=60)


def administrator(desk: Desk) -> tuple[str, str]:
    """Invite an administrator with an app; return the user name, and the code to sign in with next."""
    name, at = f"boss-{uuid4().hex[:8]}", step_now()
    with desk.shop.http() as http:
        body = {"userName": name, "scopes": ["svc.Admin"], "codeRequired": True}
        secret = http.post("/admin/People", json=body).raise_for_status().json()["invitation"]
        form = {"password": PASSWORD, "repeated": PASSWORD, "key": KEY, "code": code_at(KEY, at)}
        http.post(f"/oauth/invitation?secret={secret}", data=form).raise_for_status()
    return name, code_at(KEY, at + 1)


@pytest.mark.smoke
def test_everybody_sets_up_an_app_at_the_sign_in_and_works_with_its_codes(desk: Desk) -> None:
    name = settled(desk)
    page = opened(desk)
    sign_in(page, name)  # by the password alone
    page.wait_for_selector(SHELL)
    desk.settle(page)

    boss, code = administrator(desk)
    settings = opened(desk, f"#{SETTINGS}")
    sign_in(settings, boss, code)
    settings.wait_for_selector(SHELL)
    desk.settle(settings)
    tick(settings)
    settings.get_by_role("button", name="Edit", exact=True).wait_for()
    desk.settle(settings)

    sign_out(page)
    sign_in(page, name)
    expect(page.get_by_role("heading", name="Set up an app for codes")).to_be_visible()
    expect(page.locator("#code")).to_be_focused()
    assert not judge(page)
    shown = page.locator(".key a")
    key = shown.inner_text().replace(" ", "")
    expect(shown).to_have_attribute("href", re.compile(f"^otpauth://totp/Promenade:{name}[?]secret={key}&"))
    page.locator("#code").fill("123")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The code is wrong.")
    expect(shown).to_have_text(re.compile(re.escape(key[:4])))  # the key stays, which the app has by now
    used = step_now()
    page.locator("#code").fill(code_at(key, used))
    page.keyboard.press("Enter")
    page.wait_for_selector(SHELL)
    expect(page.locator(PERSON)).to_contain_text(name)
    desk.settle(page)
    page.get_by_role("treeitem", name="Reports", exact=True).click()
    page.get_by_role("heading", name="Reports").first.wait_for()
    desk.settle(page)
    page.reload()  # the session goes on
    page.wait_for_selector(SHELL)
    desk.settle(page)

    sign_out(page)
    sign_in(page, name)
    expect(page.get_by_role("alert")).to_contain_text("password or the code is wrong")
    sign_in(page, name, code_at(key, used + 1))
    page.wait_for_selector(SHELL)
    desk.settle(page)
    desk.forgive(*REFUSED)


def test_a_page_that_is_open_keeps_what_was_typed_while_its_window_sets_up_the_app(desk: Desk) -> None:
    name = settled(desk)
    page = opened(desk, "#/promotions")
    sign_in(page, name)
    page.wait_for_selector(SHELL)
    desk.settle(page)
    page.evaluate("window.untouched = true")
    require(desk)
    page.evaluate(FORGET)
    page.evaluate(ASK)
    page.get_by_role("alertdialog", name="Your sign-in has ended").wait_for()
    with page.expect_popup() as found:
        page.get_by_role("button", name="Sign in again").click()
    window = found.value
    sign_in(window, name)
    key = window.locator(".key a").inner_text().replace(" ", "")
    window.locator("#code").fill(code_at(key, step_now()))
    with window.expect_event("close"):
        window.locator("button[type=submit]").click()
    page.get_by_role("alertdialog").wait_for(state="detached")
    assert page.evaluate("window.untouched")
    page.get_by_role("treeitem", name="Reports", exact=True).click()
    page.get_by_role("heading", name="Reports").first.wait_for()
    desk.settle(page)
    desk.forgive("401 GET")


@pytest.mark.parametrize(("colours", "language"), [("dark", "en"), ("light", "de")])
def test_everybody_can_use_the_page_on_a_narrow_screen_too(desk: Desk, colours: str, language: str) -> None:
    name = settled(desk)
    require(desk)
    page = opened(desk, colours=colours, language=language)
    page.set_viewport_size({"width": 360, "height": 700})
    sign_in(page, name)
    page.locator(".key a").wait_for()
    assert not judge(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_who_has_no_app_is_told_at_the_field(desk: Desk) -> None:
    page = desk.sit(address=SETTINGS)
    tick(page)
    expect(page.get_by_text("You sign in without an app that shows codes").first).to_be_visible()
    with desk.shop.http() as http:
        assert http.get(f"/admin/TenantSettings({SETTINGS_ID})").json()["codeRequired"] is None
