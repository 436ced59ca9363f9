"""Signing in at an external issuer, which is a separate server, and in a store with its password."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey, RSAKey
from playwright.sync_api import Browser, Page, Route, expect

from tests.kit.databases import Databases
from tests.kit.identity_provider import IdentityProvider
from tests.kit.service import Service
from tests.kit.tenants import make_clients
from tests.ui.desk import Desk, Shop, let_through

TENANT = "acme"
SHELL = "#promenade---shell--toolPage"
PERSON = "#promenade---shell--person"
PASSWORD = "correct horse battery"
NEXT = "zwei blaue Pferde"


@pytest.fixture(scope="module")
def provider(request: pytest.FixtureRequest) -> Iterator[IdentityProvider]:
    """It signs with RS256 unless a test says otherwise: pages pass tokens on and do not inspect them."""
    is_elliptic = getattr(request, "param", "RS256") == "ES256"
    key: Any = ECKey.generate_key("P-256", {"kid": "k"}) if is_elliptic else RSAKey.generate_key(2048, {"kid": "k"})
    provider = IdentityProvider(key)
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def trusting(provider: IdentityProvider, databases: Databases, logs: Path) -> Iterator[Service]:
    """Start a cloud whose users sign in at the provider."""
    database_url = databases.create("sqlite")
    make_clients(database_url, TENANT, {"unused": ["svc.Admin"]}, is_new=True)
    service = Service(logs / "sign-in-elsewhere.log", "--database-url", database_url, *provider.options()).start()
    yield service
    service.kill()
    databases.drop(database_url)


@pytest.fixture
def seat(provider: IdentityProvider, trusting: Service, browser: Browser) -> Iterator[Desk]:
    """Return a desk there; the provider issues valid planner tokens until a test says otherwise."""
    provider.claims = {"zid": TENANT, "scope": "openid svc.PromotionManager"}
    provider.audience, provider.is_down, provider.names_itself, provider.discovery = "promenade", False, True, {}
    provider.left.clear()
    desk = Desk(Shop(trusting.url, {}, Path()), browser)
    try:
        yield desk
        desk.require_quiet()
    finally:
        desk.close()


def arrive(seat: Desk, address: str = "") -> Page:
    """Open the back office and follow the redirect to the provider."""
    page = seat.blank()
    page.goto(f"{seat.shop.url}/{address}")
    return page


def log_in(page: Page, name: str = "Rosa Plan") -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Log in").click()


@pytest.mark.smoke
def test_a_user_of_the_provider_returns_to_the_requested_page(seat: Desk, provider: IdentityProvider) -> None:
    page = arrive(seat, "#/promotions")
    log_in(page)
    page.wait_for_selector(SHELL)
    assert page.url == f"{seat.shop.url}/#/promotions"
    expect(page.locator(PERSON)).to_contain_text("Rosa Plan")
    asked = provider.asked[-1]
    assert "client_secret" not in asked
    policy = page.request.get(seat.shop.url).headers["content-security-policy"]
    assert f"connect-src 'self' {provider.url};" in policy
    page.locator(PERSON).click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="You are signed out").wait_for()
    assert provider.left == [
        {
            "client_id": "back-office-at-issuer",
            "post_logout_redirect_uri": f"{seat.shop.url}/",
            "id_token_hint": "id-of-the-person",
        }
    ]


def test_the_browsers_back_does_not_show_a_page_after_sign_out(seat: Desk, provider: IdentityProvider) -> None:
    """Browsers keep whole pages with their contents for the Back button."""
    page = arrive(seat, "#/promotions")
    log_in(page)
    page.wait_for_selector(SHELL)
    page.route(f"{provider.url}/logout?*", lambda route: route.fulfill(status=204))  # navigates nowhere: the page stays
    page.locator(PERSON).click()
    with page.expect_response(f"{provider.url}/logout?*"):
        page.get_by_role("button", name="Sign out").click()
    # The event that a browser sends to a page restored from its cache; the test browser caches none.
    page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    page.get_by_role("heading", name="You are signed out").wait_for()
    expect(page.locator(SHELL)).to_have_count(0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"access_token": "x", "token_type": "DPoP"}, "tokens of the kind DPoP"),
        ({"access_token": "x"}, "tokens of the kind -"),
        (None, "gave no token"),
        ([], "gave no token"),
    ],
    ids=str,
)
def test_a_token_that_a_page_cannot_use_is_not_kept(
    seat: Desk, provider: IdentityProvider, given: Any, words: str
) -> None:
    """RFC 6749, 7.1: a client must not use a token of an unknown type."""
    page = arrive(seat)
    page.get_by_label("Name").wait_for()
    page.route(
        f"{provider.url}/token", lambda route: route.fulfill(json=given, headers={"access-control-allow-origin": "*"})
    )
    log_in(page)
    page.get_by_text(words).wait_for()
    assert page.evaluate("sessionStorage.getItem('promenade.session')") is None


@pytest.mark.parametrize("seconds", [None, 0, -5, "soon", "900"])
def test_an_issuer_without_token_lifetimes_is_asked_once(seat: Desk, provider: IdentityProvider, seconds: Any) -> None:
    page = arrive(seat)
    page.get_by_label("Name").wait_for()

    def answer(route: Route) -> None:
        given = route.fetch()
        route.fulfill(response=given, json={**given.json(), "expires_in": seconds})

    page.route(f"{provider.url}/token", answer)
    log_in(page)
    page.wait_for_selector(SHELL)


def test_a_foreign_verifier_gets_no_token(seat: Desk, provider: IdentityProvider) -> None:
    page = arrive(seat)
    page.get_by_label("Name").wait_for()
    page.route(
        f"{provider.url}/token",
        lambda route: route.continue_(
            post_data=(route.request.post_data or "").replace("code_verifier=", "code_verifier=x")
        ),
    )
    log_in(page)
    page.get_by_text("The token issuer says: That code is not yours.").wait_for()
    assert provider.refused
    assert page.url == f"{seat.shop.url}/"
    seat.forgive("400 POST")


@pytest.mark.parametrize(
    ("claims", "audience", "words", "status"),
    [
        ({"zid": TENANT, "scope": "svc.PromotionManager"}, "another", "is for another audience", "401"),
        ({"zid": TENANT, "scope": "openid profile"}, "promenade", "needs the scope svc.Admin or", "403"),
        ({"zid": "nobody", "scope": "svc.Admin"}, "promenade", "tenant is not known here", "403"),
        ({"scope": "svc.Admin"}, "promenade", "names no tenant", "403"),
    ],
    ids=["audience", "scope", "tenant", "no tenant"],
)
def test_an_unsuitable_token_is_explained_without_a_login_loop(
    seat: Desk, provider: IdentityProvider, claims: dict[str, Any], audience: str, words: str, status: str
) -> None:
    provider.claims, provider.audience = claims, audience
    page = arrive(seat)
    log_in(page)
    page.get_by_text(words).wait_for()
    seat.forgive(f"{status} GET")


def test_an_answer_without_the_issuers_name_is_not_used_where_it_always_says_it(
    seat: Desk, provider: IdentityProvider
) -> None:
    page = arrive(seat)
    page.get_by_label("Name").wait_for()
    provider.names_itself = False
    log_in(page)
    page.get_by_text("does not come from the token issuer that was asked").wait_for()


@pytest.mark.parametrize("provider", ["ES256"], indirect=True)
def test_a_token_with_the_other_signature_algorithm_is_accepted(seat: Desk, provider: IdentityProvider) -> None:
    page = arrive(seat, "#/promotions")
    log_in(page)
    page.wait_for_selector(SHELL)


@pytest.fixture
def branch(browser: Browser, logs: Path, tmp_path: Path) -> Iterator[Desk]:
    """Return a desk in a store that is not set up yet."""
    service = Service(logs / "sign-in-store.log", "--edition", "local-store", "--data-dir", str(tmp_path)).start()
    desk = Desk(Shop(service.url, {}, tmp_path), browser)
    try:
        yield desk
        desk.require_quiet()
    finally:
        desk.close()
        service.kill()


def enter_password(page: Page, password: str) -> None:
    page.locator("#session-password-inner").fill(password)
    page.keyboard.press("Enter")


def change_password(page: Page, password: str, new_password: str) -> None:
    page.locator(PERSON).click()
    page.get_by_role("button", name="Change password").click()
    dialog = page.get_by_role("dialog", name="Change password")
    fields = ("Current password", "New password, at least", "The new password again")
    for label, text in zip(fields, (password, new_password, new_password), strict=True):
        dialog.get_by_role("textbox", name=label).fill(text)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)


def test_a_store_is_set_up_worked_in_left_and_entered_again(branch: Desk) -> None:
    page = branch.blank()
    page.goto(f"{branch.shop.url}/#/list/Campaigns")
    page.get_by_role("heading", name="Set up this store").wait_for()
    page.locator("#session-password-inner").fill(PASSWORD)
    page.locator("#session-repeated-inner").fill("another")
    page.keyboard.press("Enter")
    expect(page.locator(".sapMMsgStrip")).to_contain_text("Both passwords must be the same.")
    page.locator("#session-repeated-inner").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector(SHELL)
    assert page.url == f"{branch.shop.url}/#/list/Campaigns"
    expect(page.locator(PERSON)).to_contain_text("admin")
    # A write, which sends the session's CSRF token.
    make = """() => new Promise((done, fail) => sap.ui.require(["promenade/net/Http"], (Http) =>
        Http.post("/admin/Promotions", {name: "From the store"}).then((made) =>
          Http.request("PATCH", `/admin/Promotions(ID=${made.ID},IsActiveEntity=false)`, {body: {priority: 7}})
        ).then((changed) => done(changed.priority), fail)))"""
    assert page.evaluate(make) == 7
    page.reload()
    page.wait_for_selector(SHELL)  # the session survives it
    change_password(page, PASSWORD, NEXT)
    assert page.evaluate(make) == 7  # and the change of the password
    page.locator(PERSON).click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Log in").wait_for()
    enter_password(page, PASSWORD)
    expect(page.locator(".sapMMsgStrip")).to_contain_text("The password is wrong.")
    enter_password(page, NEXT)
    page.wait_for_selector(SHELL)
    # The session ends without the page's knowledge; the page's contents stay.
    page.evaluate("window.untouched = true")
    page.context.clear_cookies()
    page.evaluate("sap.ui.require(['promenade/net/Http'], (Http) => Http.get('/admin/Campaigns').catch(() => {}))")
    dialog = page.get_by_role("alertdialog")
    dialog.wait_for()
    page.route("**/ui/me", lambda route: route.abort())
    enter_password(page, NEXT)
    expect(dialog.locator(".sapMMsgStrip")).to_contain_text("The store cannot be reached.")
    let_through(page, "**/ui/me")
    enter_password(page, NEXT)
    dialog.wait_for(state="detached")
    assert page.evaluate("window.untouched")
    assert page.evaluate(make) == 7  # with the new session's token
    branch.forgive("401 POST", "401 GET", "400 POST", "403 POST")


def test_guessing_a_stores_password_shows_a_delay(branch: Desk) -> None:
    page = branch.blank(language="de")
    told = page.request.post(
        f"{branch.shop.url}/local-admin/setup", data={"password": PASSWORD, "confirmPassword": PASSWORD}
    )
    assert told.ok
    page.goto(branch.shop.url)
    page.locator("#session-password-inner").wait_for()
    for number in range(5):
        with page.expect_response("**/local-admin/login") as found:
            enter_password(page, f"guess-{number}-wrong")
        assert found.value.status == 401
        expect(page.locator("#session-submit")).to_be_enabled()
    enter_password(page, PASSWORD)
    expect(page.locator(".sapMMsgStrip")).to_contain_text(re.compile(r"Bitte \d\d Sekunden"))
    branch.forgive("401 POST", "429 POST")


def test_an_administrator_gives_a_group_of_the_issuer_scopes(seat: Desk, provider: IdentityProvider) -> None:
    provider.claims = {"zid": TENANT, "scope": "svc.Admin"}
    page = arrive(seat, "#/list/GroupRoles")
    log_in(page)
    page.get_by_text("another issuer, whose tokens name groups").wait_for()
    page.get_by_role("button", name="New Group").click()
    dialog = page.get_by_role("dialog", name="New Group")
    dialog.get_by_role("textbox", name="Group").fill("/planners")
    dialog.get_by_role("textbox", name="Description").fill("Who plan promotions")
    scopes = dialog.get_by_role("combobox", name="Scopes")
    scopes.click()
    scopes.press_sequentially("svc.Prom")
    expect(scopes).to_have_value("svc.PromotionManager")
    scopes.press("Enter")
    scopes.press("Tab")
    dialog.get_by_role("button", name="New Group").click()
    page.get_by_role("heading", name="/planners").wait_for()
    expect(page.get_by_text("Scopes: svc.PromotionManager", exact=True)).to_be_visible()
    provider.claims = {"zid": TENANT, "groups": ["/planners"]}
    planner = arrive(seat, "#/list/GroupRoles")
    log_in(planner, "Kim Plan")
    planner.get_by_text("/planners").first.wait_for()
    expect(planner.locator(PERSON)).to_contain_text("Kim Plan")
    expect(planner.get_by_role("button", name="New Group")).to_have_count(0)
