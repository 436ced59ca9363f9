"""Users of the back office in a browser: pages signed in as a role, and the errors on them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, Response, Route, expect

__all__ = ["WAIT_MS", "Desk", "Held", "Shop", "choose", "escape", "let_through", "search_in", "wait_until"]

REQUEST_SECONDS_MAX = 60
"""Of a test's own requests: it only ends what hangs."""
WAIT_MS = 20_000
"""How long anything on a page may take: it only tells what never comes, on a machine that does much else."""


_HEADING = "#promenade---shell--pages :is([role=heading], h1):visible"
# Return whether the page is busy, checked after 50 ms and once the browser is idle. A browser that draws nothing may
# never find itself idle: then it is idle if half of the timers of a second came, else it is asked again.
_IS_AT_WORK = """() => new Promise((resolve) => setTimeout(() => {
  let ticks = 0;
  const timer = setInterval(() => { ticks += 1; }, 50);
  requestIdleCallback((waited) => {
    clearInterval(timer);
    resolve((waited.didTimeout && ticks < 10)
      || Boolean(document.querySelector(".sapUiLocalBusyIndicator, .sapMNavItemSliding")));
  }, {timeout: 1000});
}, 50))"""


def choose(field: Locator, option: str | re.Pattern[str]) -> None:
    """Open the list of a field, choose an option and wait until the list has gone: until then, F4 means to close it."""
    found = field.page.get_by_role("option", name=option, exact=isinstance(option, str))
    field.press("F4")
    found.click()
    expect(found).to_be_hidden()


def escape(page: Page, *, closes: bool = True) -> None:
    """Press Escape in the open dialog once it has the focus; before that, the key would be lost.

    Wait until the dialog has gone, unless it is one that stays: as it goes, it gives the focus back.
    """
    dialog = page.wait_for_selector(":is([role=dialog], [role=alertdialog]):focus-within")
    assert dialog is not None
    page.keyboard.press("Escape")
    if closes:
        dialog.wait_for_element_state("hidden")


class Held:
    """A page's requests to addresses that match, held back until the test has them answered.

    Only those with ``part`` in the address or the body are held.
    """

    def __init__(self, page: Page, addresses: str | re.Pattern[str], part: str = "") -> None:
        self.page = page
        self.routes: list[Route] = []
        self._part = part
        page.route(addresses, self._hold)

    def _hold(self, route: Route) -> None:
        if self._part in f"{route.request.url} {route.request.post_data}":
            self.routes.append(route)
        else:
            route.fallback()

    def wait_for_one(self) -> Route:
        """Wait for the first: it may arrive after the page shows that it is waiting."""
        while not self.routes:
            self.page.evaluate("() => new Promise(requestAnimationFrame)")
        return self.routes[0]


def let_through(page: Page, addresses: str | re.Pattern[str]) -> None:
    """Let requests to ``addresses``, which the test has answered until now, through to the service again.

    The browser goes on asking the test about requests, to an address that there is not: while it stops asking, a
    request that it has asked about may be forgotten, and is never answered.
    """
    page.route("**/nothing-is-there", lambda route: route.fallback())
    page.unroute(addresses)


def search_in(dialog: Locator, text: str) -> None:
    """Search the list of a dialog and wait for the result: a row that is ticked before is not chosen afterwards."""
    field = dialog.get_by_role("searchbox")
    field.fill(text)
    field.press("Enter")
    rows = dialog.locator("tbody tr")
    expect(rows.filter(has_text=text)).not_to_have_count(0)
    expect(rows.filter(has_not_text=text)).to_have_count(0)


def wait_until(page: Page, script: str, arg: Any = None, *, pause_ms: int = 50) -> None:
    """Wait until a script returns something true, run again and again from here.

    The page's security policy forbids what Playwright's ``wait_for_function`` does when the first run returns false.
    """
    end = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate(script, arg):
        assert time.monotonic() < end, f"not so within {WAIT_MS} ms: {script}"
        page.wait_for_timeout(pause_ms)


@dataclass(frozen=True, slots=True)
class Shop:
    """A served demo. ``clients`` are ID and secret by role: till, planner, controller, administrator, erp.

    ``people`` are user name and password by role: planner, controller, administrator.
    """

    url: str
    clients: Mapping[str, tuple[str, str]]
    data: Path
    people: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    _tokens: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def token(self, role: str) -> str:
        """Return a token of the role's client: one for all tests, as it is valid for hours."""
        if role not in self._tokens:
            self._tokens[role] = self._new_token(role)
        return self._tokens[role]

    def _new_token(self, role: str) -> str:
        client_id, secret = self.clients[role]
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        answer = httpx2.post(f"{self.url}/oauth/token", data=form, timeout=REQUEST_SECONDS_MAX, verify=False)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])

    def http(self, role: str = "administrator") -> httpx2.Client:
        """Return an HTTP client with a role's token that bypasses the browser."""
        headers = {"Authorization": f"Bearer {self.token(role)}"}
        # Plain HTTP; loading the trusted certificates takes longer than most requests.
        return httpx2.Client(base_url=self.url, headers=headers, timeout=REQUEST_SECONDS_MAX, verify=False)


@dataclass
class Desk:
    """Opens pages and records their errors."""

    shop: Shop
    browser: Browser
    complaints: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)
    _underway: dict[Page, set[Request]] = field(default_factory=dict)

    def sit(
        self,
        role: str = "administrator",
        *,
        address: str = "",
        language: str = "en",
        colours: str = "light",
        **how: Any,
    ) -> Page:
        """Open a page in its own browser context, signed in as a role, at the URL fragment ``address``.

        It has settled: a click while a page is drawn for the first time may be lost.
        """
        page = self.sign_in(self.blank(language=language, colours=colours, **how), role, address)
        self.settle(page)
        return page

    def tab(self, page: Page, role: str = "administrator", *, address: str = "") -> Page:
        """Open another tab of a page's browser, signed in as a role, at the URL fragment ``address``, settled."""
        tab = self.sign_in(self.followed(page.context.new_page()), role, address)
        self.settle(tab)
        return tab

    def sign_in(self, page: Page, role: str = "administrator", address: str = "") -> Page:
        """Open the URL fragment ``address`` in an empty page, signed in as a role."""
        kept = json.dumps({"accessToken": self.shop.token(role)})
        page.add_init_script(
            "sessionStorage.getItem('promenade.session') || sessionStorage.setItem('promenade.session', "
            f"JSON.stringify({{...{kept}, expiresAt: Date.now() + 3_600_000}}))"
        )
        page.goto(f"{self.shop.url}/#{address}")
        page.wait_for_selector("#promenade---shell--toolPage")
        return page

    def blank(self, *, language: str = "en", colours: str = "light", **how: Any) -> Page:
        """Open an empty page in its own browser context, not signed in."""
        usual: dict[str, Any] = {
            "viewport": {"width": 1400, "height": 900},
            "locale": {"en": "en-GB", "de": "de-DE"}[language],
            "color_scheme": "dark" if colours == "dark" else "light",
            "reduced_motion": "reduce",  # no animations: less to wait for
            "timezone_id": "Europe/Berlin",
        }
        context = self.browser.new_context(**{**usual, **how})
        context.set_default_timeout(WAIT_MS)
        self._contexts.append(context)
        return self.followed(context.new_page())

    def followed(self, page: Page) -> Page:
        """Return a page whose errors are recorded from now on."""
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("response", self._on_response)
        self._follow(page)
        return page

    def _follow(self, page: Page) -> None:
        """Track which requests of a page have no response yet, for data and for scripts alike."""
        underway = self._underway[page] = set()

        def begin(request: Request) -> None:
            if request.is_navigation_request():
                underway.clear()  # nobody waits any more for requests of the previous page
            elif not request.url.startswith("data:"):
                underway.add(request)

        def end(request: Request) -> None:
            underway.discard(request)

        page.on("request", begin)
        page.on("requestfinished", end)
        page.on("requestfailed", end)

    def settle(self, page: Page) -> None:
        """Wait until the current page has its heading, nothing on it is busy, and no request is pending.

        A quiet network is not enough: the page may have been computing meanwhile.
        """
        page.locator(_HEADING).first.wait_for()
        end = time.monotonic() + WAIT_MS / 1000
        while page.evaluate(_IS_AT_WORK) or self._underway[page]:
            assert time.monotonic() < end, f"not settled: {[one.url for one in self._underway[page]]}"

    def _on_console(self, message: ConsoleMessage) -> None:
        # The browser's own message about a 4xx is skipped, because the response itself is recorded.
        if message.type in {"error", "assert"} and not message.text.startswith("Failed to load resource"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"{response.status} {response.request.method} {response.url}")

    def forgive(self, *fragments: str) -> None:
        """Discard errors that contain one of these texts, which the test itself caused."""
        self.complaints[:] = [one for one in self.complaints if not any(part in one for part in fragments)]

    def require_quiet(self) -> None:
        """Fail if a page recorded an error."""
        assert not self.complaints, "\n".join(self.complaints)

    def pages(self) -> list[Page]:
        """Return all open pages."""
        return [page for context in self._contexts for page in context.pages]

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()
