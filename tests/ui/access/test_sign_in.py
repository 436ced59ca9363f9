"""Signing in to the demo at its built-in issuer, by hand in a browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, escape, let_through
from tests.ui.test_everywhere import judge

SHELL = "#promenade---shell--toolPage"
PERSON = "#promenade---shell--person"
REFUSED = ("401 POST", "403 POST", "429 POST")


def log_in(page: Page, desk: Desk, role: str, secret: str | None = None, *, as_client: bool = False) -> None:
    """Fill in and submit the issuer's login form: as a person, or as a client."""
    name, known = (desk.shop.clients if as_client else desk.shop.people)[role]
    page.locator("#username").fill(name)
    page.locator("#password").fill(known if secret is None else secret)
    page.locator("button[type=submit]").click()


def opened(desk: Desk, address: str = "", **how: str) -> Page:
    """Return a page of a user who has not signed in; it leads to the issuer."""
    page = desk.blank(**how)
    page.goto(f"{desk.shop.url}/{address}")
    page.locator("#username").wait_for()
    return page


@pytest.mark.smoke
def test_a_login_leads_to_the_requested_page(desk: Desk) -> None:
    page = opened(desk, "#/reports")
    log_in(page, desk, "planner")
    page.wait_for_selector(SHELL)
    assert page.url == f"{desk.shop.url}/#/reports"
    expect(page.locator(PERSON)).to_contain_text("planner")
    page.reload()
    page.wait_for_selector(SHELL)  # the sign-in survives it
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0  # and no script can copy it from there
    assert "code=" not in json.dumps(page.evaluate("performance.getEntriesByType('navigation').map(one => one.name)"))


def test_a_user_can_sign_in_by_keyboard(desk: Desk) -> None:
    page = opened(desk)
    page.keyboard.type(desk.shop.people["planner"][0])
    page.keyboard.press("Tab")
    page.keyboard.type(desk.shop.people["planner"][1])
    page.keyboard.press("Enter")
    page.wait_for_selector(SHELL)


def test_a_wrong_secret_is_reported_and_can_be_corrected(desk: Desk) -> None:
    page = opened(desk)
    log_in(page, desk, "planner", "wrong")
    expect(page.get_by_role("alert")).to_have_text("The user name, the password or the code is wrong.")
    expect(page.locator("#password")).to_be_focused()
    assert not judge(page)
    log_in(page, desk, "planner")
    page.wait_for_selector(SHELL)
    desk.forgive(*REFUSED)


def test_a_till_client_is_refused_with_a_message(desk: Desk) -> None:
    page = opened(desk, language="de")
    log_in(page, desk, "till", as_client=True)
    expect(page.get_by_role("alert")).to_contain_text("dürfen die Aktionsverwaltung nicht benutzen")
    desk.forgive(*REFUSED)


def test_a_controller_is_shown_budgets_and_no_simulator(desk: Desk) -> None:
    page = opened(desk)
    log_in(page, desk, "controller")
    page.wait_for_selector(SHELL)
    areas = page.locator("#promenade---shell--navigation")
    expect(areas).to_contain_text("Budgets")
    expect(areas).not_to_contain_text("Simulator")


@pytest.mark.smoke
def test_signing_out_removes_the_session_and_asks_for_a_login(desk: Desk) -> None:
    page = opened(desk, "#/promotions")
    log_in(page, desk, "planner")
    page.wait_for_selector(SHELL)
    page.locator(PERSON).click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="You are signed out").wait_for()
    assert page.url == f"{desk.shop.url}/"
    assert page.evaluate("sessionStorage.getItem('promenade.session')") is None
    page.get_by_role("button", name="Sign in").click()
    page.locator("#username").wait_for()


def preset(page: Page, desk: Desk, *, token: str | None = None, seconds: int = 3600) -> None:
    """Give the tab a token once; what it stores itself later stays."""
    kept = json.dumps({"accessToken": token or desk.shop.token("planner")})
    page.add_init_script(
        "if (!window.opener && !sessionStorage.getItem('preset')) { sessionStorage.setItem('preset', 'yes'); "
        "sessionStorage.setItem('promenade.session', "
        f"JSON.stringify({{...{kept}, expiresAt: Date.now() + {seconds * 1000}}})) }}"
    )


def test_a_token_that_has_expired_leads_to_a_login_and_back(desk: Desk) -> None:
    page = desk.blank()
    preset(page, desk, seconds=-1)
    page.goto(f"{desk.shop.url}/#/promotions")
    page.locator("#username").wait_for()
    log_in(page, desk, "planner")
    page.wait_for_selector(SHELL)
    assert page.url == f"{desk.shop.url}/#/promotions"


def test_a_token_that_is_refused_leads_to_a_login(desk: Desk) -> None:
    page = desk.blank()
    preset(page, desk, token="not.a.token")
    page.goto(desk.shop.url)
    page.locator("#username").wait_for()
    desk.forgive("401 GET")


def sign_in_aside(page: Page, desk: Desk, role: str, *, as_client: bool = False) -> None:
    """Press the button of the dialog, and log in in the window that it opens."""
    with page.expect_popup() as found:
        page.get_by_role("button", name="Sign in again").click()
    window = found.value
    window.locator("#username").wait_for()
    assert window.evaluate("window.opener") is None  # the issuer's page must not be able to redirect this one
    with window.expect_event("close"):
        log_in(window, desk, role, as_client=as_client)


def test_a_session_is_renewed_in_a_separate_window_before_it_ends(desk: Desk) -> None:
    page = desk.blank()
    preset(page, desk, seconds=200)
    page.goto(f"{desk.shop.url}/#/promotions")
    page.get_by_role("alertdialog", name="Your sign-in is about to end").wait_for()
    page.evaluate("window.untouched = true")
    sign_in_aside(page, desk, "planner", as_client=True)
    page.get_by_role("alertdialog").wait_for(state="detached")
    assert page.evaluate("window.untouched")
    left = page.evaluate("JSON.parse(sessionStorage.getItem('promenade.session')).expiresAt - Date.now()")
    assert left > 3 * 3600 * 1000


def end(page: Page, desk: Desk) -> None:
    """Invalidate a page's token without the page's knowledge."""
    desk.settle(page)  # otherwise requests of its own are refused too, and an error box covers the page
    page.evaluate(
        "sessionStorage.setItem('promenade.session', "
        "JSON.stringify({accessToken: 'not.a.token', expiresAt: Date.now() + 3_600_000}))"
    )
    ask = "sap.ui.require(['promenade/net/Http'], (Http) => Http.get('/admin/Campaigns?$top=1').catch(() => {}))"
    page.evaluate(ask)


def test_an_expired_session_lets_the_page_wait_for_a_login_and_continue(desk: Desk) -> None:
    page = desk.blank()
    preset(page, desk)
    page.goto(f"{desk.shop.url}/#/promotions")
    page.wait_for_selector(SHELL)
    page.evaluate("window.untouched = true")
    end(page, desk)
    page.get_by_role("alertdialog").wait_for()
    escape(page, closes=False)
    expect(page.get_by_role("alertdialog")).to_be_visible()
    sign_in_aside(page, desk, "planner", as_client=True)
    page.get_by_role("alertdialog").wait_for(state="detached")
    assert page.evaluate("window.untouched")
    # The models send the new token from now on.
    with page.expect_response(lambda answer: "/admin/" in answer.url) as found:
        page.evaluate("location.hash = '#/list/Campaigns'")
    assert found.value.status == 200
    desk.forgive("401 GET")


def test_another_user_who_signs_in_gets_a_fresh_page(desk: Desk) -> None:
    page = desk.blank()
    preset(page, desk)
    page.goto(f"{desk.shop.url}/#/promotions")
    page.wait_for_selector(SHELL)
    page.evaluate("window.untouched = true")
    end(page, desk)
    page.get_by_role("alertdialog").wait_for()
    with page.expect_navigation():
        sign_in_aside(page, desk, "controller")
    page.wait_for_selector(SHELL)
    expect(page.locator(PERSON)).to_contain_text("controller")
    assert not page.evaluate("window.untouched")
    desk.forgive("401 GET")


@pytest.mark.parametrize("query", ["code=stolen&state=made-up", "error=access_denied&state=made-up"])
def test_an_unrequested_login_answer_is_not_used(desk: Desk, query: str) -> None:
    """Login CSRF: an attacker's code must not sign the attacker in at somebody else's desk."""
    page = desk.blank()
    page.goto(f"{desk.shop.url}/?{query}#/promotions")
    page.get_by_text("belongs to no sign-in of this tab").wait_for()
    assert page.url == f"{desk.shop.url}/#/promotions"
    page.get_by_role("button", name="Try again").click()
    page.locator("#username").wait_for()


def test_an_old_address_does_not_disturb_whoever_is_signed_in(desk: Desk) -> None:
    page = desk.blank()
    preset(page, desk)
    page.goto(f"{desk.shop.url}/?code=old&state=old#/promotions")
    page.wait_for_selector(SHELL)
    assert page.url == f"{desk.shop.url}/#/promotions"


def test_another_issuers_answer_is_not_used(desk: Desk) -> None:
    """Mix-up (RFC 9207): the response names its issuer."""
    page = opened(desk)
    page.route(
        "**/oauth/authorize?*",
        lambda route: route.fulfill(status=303, headers={"location": mixed_up(route.request.url, desk.shop.url)}),
    )
    page.goto(f"{desk.shop.url}/")
    page.get_by_text("does not come from the token issuer that was asked").wait_for()


def mixed_up(url: str, home: str) -> str:
    state = url.partition("state=")[2].partition("&")[0]
    return f"{home}/?code=x&state={state}&iss=https%3A%2F%2Fevil.example"


def test_an_unreachable_service_is_reported(desk: Desk) -> None:
    page = desk.blank(language="de")
    page.route("**/ui/sign-in.json", lambda route: route.abort())
    page.goto(desk.shop.url)
    page.get_by_text("Der Dienst ist nicht erreichbar").wait_for()
    let_through(page, "**/ui/sign-in.json")
    page.get_by_role("button", name="Erneut versuchen").click()
    page.locator("#username").wait_for()


@pytest.mark.parametrize("address", ["sign-in.json", "me"])
@pytest.mark.parametrize(
    ("status", "content_type", "body"),
    [
        (502, "text/html", "<h1>Bad gateway</h1>"),
        (503, "application/json", '{"message": "no healthy upstream"}'),
        (500, "application/json", "null"),
        (200, "text/html", "<h1>Log in to the hotel's network</h1>"),
    ],
    ids=str,
)
def test_an_answer_from_something_other_than_the_service_is_reported(
    desk: Desk, address: str, status: int, content_type: str, body: str
) -> None:
    page = desk.blank()
    preset(page, desk)
    page.route(f"**/ui/{address}", lambda route: route.fulfill(status=status, content_type=content_type, body=body))
    page.goto(desk.shop.url)
    page.get_by_text("The service cannot be reached").wait_for()
    let_through(page, f"**/ui/{address}")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(SHELL)
    desk.forgive(f"{status} GET")


def test_messages_of_the_service_are_shown_as_text_and_never_executed(desk: Desk) -> None:
    said = "{= Object.assign(Object.getPrototypeOf(JSON), ['ran'])} {0}"
    refusal = json.dumps({"error": {"code": "X", "message": said}})
    page = desk.blank()
    page.route(
        "**/ui/sign-in.json", lambda route: route.fulfill(status=503, content_type="application/json", body=refusal)
    )
    page.goto(desk.shop.url)
    page.get_by_text(f"The service says: {said}").wait_for()
    assert page.evaluate("({})[0]") is None
    desk.forgive("503 GET")


def test_a_refused_renewal_window_shows_a_message(desk: Desk) -> None:
    page = desk.blank()
    preset(page, desk)
    page.goto(f"{desk.shop.url}/#/promotions")
    page.wait_for_selector(SHELL)
    end(page, desk)
    page.get_by_role("alertdialog").wait_for()
    page.route("**/ui/me", lambda route: route.fulfill(status=502, content_type="text/html", body="upstream"))
    sign_in_aside(page, desk, "planner")
    expect(page.get_by_role("alertdialog")).to_contain_text("The service cannot be reached.")
    let_through(page, "**/ui/me")
    sign_in_aside(page, desk, "planner")
    page.get_by_role("alertdialog").wait_for(state="detached")
    desk.forgive("401 GET", "502 GET")


@pytest.mark.parametrize(("colours", "language"), [("light", "en"), ("dark", "de")])
def test_everybody_can_use_the_pages_around_a_sign_in(desk: Desk, colours: str, language: str) -> None:
    page = opened(desk, colours=colours, language=language)
    assert not judge(page)
    page.evaluate("sessionStorage.setItem('promenade.signedOut', 'yes')")
    page.goto(desk.shop.url)
    page.get_by_role("heading", level=1).wait_for()
    page.get_by_role("button").wait_for()
    assert not judge(page)
