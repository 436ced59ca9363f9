"""One sign-in for all tabs of a browser: opened, renewed and ended together."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.ui.access.test_sign_in import PERSON, SHELL, log_in, opened, sign_in_aside
from tests.ui.desk import Desk, wait_until

FORGET = "sap.ui.require('promenade/session/Store').share('not.a.token', 3600, 36000)"
ASK = "sap.ui.require(['promenade/net/Http'], (Http) => Http.get('/admin/Campaigns?$top=1').catch(() => {}))"


def _signed_in(desk: Desk, address: str = "") -> Page:
    page = opened(desk, address)
    log_in(page, desk, "planner")
    page.wait_for_selector(SHELL)
    desk.settle(page)
    return page


def _other_tab(desk: Desk, page: Page, address: str = "") -> Page:
    other = desk.followed(page.context.new_page())
    other.goto(f"{desk.shop.url}/{address}")
    return other


@pytest.mark.smoke
def test_another_tab_is_signed_in_at_once_and_out_with_the_first(desk: Desk) -> None:
    page = _signed_in(desk, "#/promotions")
    other = _other_tab(desk, page, "#/reports")
    other.wait_for_selector(SHELL)
    assert other.url == f"{desk.shop.url}/#/reports"
    expect(other.locator(PERSON)).to_contain_text("planner")
    desk.settle(other)
    page.locator(PERSON).click()
    page.get_by_role("button", name="Sign out").click()
    for tab in (page, other):
        tab.get_by_role("heading", name="You are signed out").wait_for()
    _other_tab(desk, page).locator("#username").wait_for()


def test_a_token_that_has_run_out_is_replaced_without_a_question(desk: Desk) -> None:
    page = _signed_in(desk, "#/promotions")
    page.evaluate("window.untouched = true")
    page.evaluate(FORGET)
    page.evaluate(ASK)
    wait_until(page, "sap.ui.require('promenade/session/Store').token() !== 'not.a.token'")
    desk.settle(page)
    assert page.evaluate("window.untouched")
    assert page.get_by_role("alertdialog").count() == 0
    desk.forgive("401 GET")


def test_a_session_that_has_ended_asks_again_in_all_tabs_and_once_is_enough(desk: Desk) -> None:
    page = _signed_in(desk, "#/promotions")
    other = _other_tab(desk, page, "#/promotions")
    other.wait_for_selector(SHELL)
    desk.settle(other)
    page.evaluate("fetch('/oauth/sign-out', {method: 'POST'})")
    for tab in (page, other):
        tab.evaluate("window.untouched = true")
        tab.evaluate(FORGET)
        tab.evaluate(ASK)
        tab.get_by_role("alertdialog", name="Your sign-in has ended").wait_for()
    sign_in_aside(page, desk, "planner")
    for tab in (page, other):
        tab.get_by_role("alertdialog").wait_for(state="detached")
        assert tab.evaluate("window.untouched")
    desk.forgive("401 GET")


def test_no_script_can_read_what_keeps_a_person_signed_in(desk: Desk) -> None:
    page = _signed_in(desk)
    kept = json.dumps(page.evaluate("[document.cookie, {...sessionStorage}, {...localStorage}]"))
    assert kept == json.dumps(["", {}, {}])
    (cookie,) = page.context.cookies(f"{desk.shop.url}/oauth/session")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/oauth")
    assert page.context.cookies(f"{desk.shop.url}/admin/") == []
