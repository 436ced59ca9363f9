"""Everybody of a tenant sets up an app at the sign-in, and what is shown on the way opens nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from promenade.ids import new_id
from promenade.model.access.tenants import SETTINGS_ID
from promenade.store.driver.session import open_database
from promenade.workflows.access.one_time_codes import code_at, text_of_key
from promenade.workflows.access.tenants import set_tenant
from tests.kit.code_flow import answered
from tests.kit.databases import Databases
from tests.web.conftest import run
from tests.web.services.admin.conftest import OWN, Admin, fault, served
from tests.web.services.admin.test_people import COOKIE, NEXT, PASSWORD, Browser, invited, settled

ADDRESS = f"TenantSettings({SETTINGS_ID})"
OTHER_KEY = text_of_key(b"another twenty bytes")
WRONG = "The code is wrong."
ENDED = "Setting up the app took too long, or is not needed any more."


def step_now() -> int:
    return int(datetime.now(UTC).timestamp()) // 30


@dataclass
class Page:
    """The page on which a person sets up an app."""

    browser: Browser
    secret: str
    key: str

    def enter(self, code: str | None = None, key: str | None = None, **more: str) -> httpx2.Response:
        """Submit the form; without a code with the one that the app shows now."""
        key = self.key if key is None else key
        form = {"setUp": self.secret, "key": key, "code": code_at(key, step_now()) if code is None else code}
        headers = {name.replace("_", "-"): more.pop(name) for name in ("sec_fetch_site", "origin") if name in more}
        query = self.browser.flow.query()
        return self.browser.http.post(f"/oauth/authorize?{query}", data={**form, **more}, headers=headers)


def shown(browser: Browser, answer: httpx2.Response, status: int = 200) -> Page:
    """Return the page of an answer that asks for an app."""
    assert answer.status_code == status, answer.text
    secret = re.search(r'name="setUp" type="hidden" value="([\w-]{43})"', answer.text)
    key = re.search(r'name="key" type="hidden" value="(\w{32})"', answer.text)
    assert secret is not None, answer.text
    assert key is not None
    assert f"secret={key.group(1)}&" in answer.text.replace("&amp;", "&")  # for an app on the same device
    return Page(browser, secret.group(1), key.group(1))


def asked(browser: Browser, name: str, **how: str) -> Page:
    """Show the password of a person who has no app."""
    answer = browser.log_in(name, **how)
    assert "set-cookie" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    return shown(browser, answer)


@pytest.fixture(scope="module")
def admin(databases: Databases) -> Iterator[Admin]:
    """Serve the admin service for these tests alone: what they guess counts for one address, and its minute is long.

    On one database, as tests of `workflows.access` run the statements on both.
    """
    with served(databases, "sqlite", has_worker=False) as admin:
        yield admin


@pytest.fixture
def browser(admin: Admin) -> Iterator[Browser]:
    with admin.service.client() as http:
        yield Browser(http)


@pytest.fixture
def boss(admin: Admin) -> Iterator[Browser]:
    """An administrator with an app, who is signed in."""
    made = invited(admin, codeRequired=True)
    with admin.service.client() as http:
        boss = Browser(http)
        page = http.get(f"/oauth/invitation?secret={made['invitation']}")
        key = re.search(r'name="key" type="hidden" value="(\w+)"', page.text)
        assert key is not None
        at = step_now()
        assert boss.accept(made["invitation"], key=key.group(1), code=code_at(key.group(1), at)).status_code == 200
        yield boss.sign_in(made["userName"], code=code_at(key.group(1), at + 1))


@pytest.fixture
def required(admin: Admin, boss: Browser) -> Iterator[Browser]:
    """The administrator has required codes of everybody."""
    assert require(boss).status_code == 200
    yield boss
    assert admin.patch(ADDRESS, {"codeRequired": None}).status_code == 200


def require(browser: Browser, value: bool | None = True) -> httpx2.Response:
    return browser.ask(f"/admin/{ADDRESS}", "PATCH", {"codeRequired": value})


def test_everybody_sets_up_an_app_at_the_next_sign_in_before_there_is_a_token(
    admin: Admin, boss: Browser, browser: Browser
) -> None:
    made = settled(admin, browser, "svc.BudgetManager")
    browser.sign_in(made["userName"])
    assert require(boss).status_code == 200
    try:
        assert browser.renew().status_code == 204  # the session began without an app
        assert boss.renew().status_code == 200
        page = asked(browser, made["userName"].upper())
        assert browser.http.post("/oauth/session").status_code == 204
        done = page.enter()
        assert done.status_code == 303
        assert browser.flow.redeem(answered(done)["code"]).status_code == 200
        assert browser.renew().status_code == 200
        me = browser.ask("/ui/me").json()
        assert (me["user"], me["tenantId"], me["scopes"]) == (made["userName"], OWN, ["svc.BudgetManager"])
        assert browser.log_in(made["userName"]).status_code == 401
        assert browser.log_in(made["userName"], code=code_at(page.key, step_now() + 1)).status_code == 303
    finally:
        assert require(boss, None).status_code == 200
    read = admin.get(f"People({made['ID']})").json()
    assert made["createdAt"] < read["codeSince"] < read["lastSignInAt"]
    trail = admin.get(f"AuditLogs?$filter=entityType eq 'People' and entityId eq '{made['ID']}'").json()["value"]
    assert [one["actor"] for one in trail if one["action"] == "SET_UP_APP"] == [made["userName"]]
    assert page.key not in str(trail)
    assert browser.log_in(made["userName"]).status_code == 401  # whoever has an app keeps it


def test_whoever_does_not_finish_gets_nothing_and_may_go_on(admin: Admin, browser: Browser, required: Browser) -> None:
    made = settled_with_none(admin, browser)
    page = asked(browser, made["userName"])
    for code in ("00000", "", "sixsix"):
        again = page.enter(code)
        assert WRONG in again.text
        assert "set-cookie" not in again.headers
        found = shown(browser, again, 401)
        assert (found.secret, found.key) == (page.secret, page.key)
    assert browser.http.post("/oauth/session").status_code == 204
    assert admin.get(f"People({made['ID']})").json()["codeSince"] is None
    assert page.enter().status_code == 303


def settled_with_none(admin: Admin, browser: Browser, *scopes: str) -> dict[str, Any]:
    """Return a person who has a password and no app, as from before it was required."""
    by_command(admin, codeRequired="false")
    made = settled(admin, browser, *scopes)
    by_command(admin, codeRequired="true")
    return made


def by_command(admin: Admin, tenant: str = OWN, **settings: str) -> None:
    async def work() -> None:
        database = await open_database(admin.database_url)
        try:
            await set_tenant(database, tenant, settings, at=datetime.now(UTC), user="cli", new_id=new_id)
        finally:
            await database.close()

    run(work())


def test_a_wrong_password_tells_nothing_of_apps(admin: Admin, browser: Browser, required: Browser) -> None:
    without, with_app = settled_with_none(admin, browser), settled_with_none(admin, browser)
    assert asked(browser, with_app["userName"]).enter().status_code == 303
    pages = []
    for name, password in (
        (without["userName"], NEXT),
        (with_app["userName"], NEXT),
        (with_app["userName"], PASSWORD),  # and no code
        ("nobody", NEXT),
    ):
        answer = browser.log_in(name, password)
        assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
        typed = re.sub(r'action="[^"]*"', "", answer.text)
        pages.append(re.sub(r'name="username" type="text" value="[^"]*"', "", typed))
    assert len(set(pages)) == 1


def test_who_has_no_app_cannot_require_one(admin: Admin, browser: Browser) -> None:
    browser.sign_in(settled(admin, browser)["userName"])
    assert fault(require(browser)) == (409, "CODE_NOT_SET_UP", "codeRequired")
    assert fault(admin.patch(ADDRESS, {"codeRequired": True, "name": "New"})) == (
        409, "CODE_NOT_SET_UP", "codeRequired",
    )  # fmt: skip
    row = admin.get(ADDRESS).json()
    assert (row["codeRequired"], row["name"]) == (None, OWN)
    assert require(browser, False).status_code == 200
    assert require(browser, None).status_code == 200


def test_the_command_line_sets_it_and_takes_it_back(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    by_command(admin, codeRequired="true")
    page = asked(browser, made["userName"])
    by_command(admin, codeRequired="false")
    assert ENDED in page.enter().text
    browser.sign_in(made["userName"])
    by_command(admin, codeRequired="")
    assert admin.get(ADDRESS).json()["codeRequired"] is None


def test_a_new_link_replaces_a_lost_app(admin: Admin, browser: Browser, required: Browser) -> None:
    made = settled_with_none(admin, browser)
    assert asked(browser, made["userName"]).enter().status_code == 303
    link = admin.patch(f"People({made['ID']})", {"invitation": None}).json()["invitation"]
    assert "You need an app" in browser.accept(link).text
    at = step_now()
    assert browser.accept(link, key=OTHER_KEY, code=code_at(OTHER_KEY, at)).status_code == 200
    assert browser.log_in(made["userName"], code=code_at(OTHER_KEY, at + 1)).status_code == 303


# ---- attacks ---------------------------------------------------------------------------------------------------------


def test_the_step_opens_nothing_else(admin: Admin, browser: Browser, required: Browser) -> None:
    made = settled_with_none(admin, browser)
    page = asked(browser, made["userName"])
    secret, http = page.secret, browser.http
    for cookie in (secret, f"{secret}.{secret}"):
        assert browser.renew(cookie=f"{COOKIE}={cookie}").status_code == 204
        assert browser.renew(cookie=f"__Host-{COOKIE}={cookie}").status_code == 204
    assert browser.flow.redeem(secret).status_code == 400
    assert http.get("/ui/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401
    assert http.get(f"/oauth/invitation?secret={secret}").status_code == 404
    chosen = {"password": NEXT, "repeated": NEXT, "key": OTHER_KEY, "code": code_at(OTHER_KEY, step_now())}
    assert http.post(f"/oauth/invitation?secret={secret}", data=chosen).status_code == 404
    for password in (secret, NEXT):
        assert browser.log_in(made["userName"], password).status_code == 401
    replaced = http.post("/oauth/secret", data={"client_id": made["userName"], "client_secret": secret})
    assert replaced.status_code in {400, 401}
    assert page.enter().status_code == 303


def test_the_step_works_once(admin: Admin, browser: Browser, required: Browser) -> None:
    made = settled_with_none(admin, browser)
    page = asked(browser, made["userName"])
    assert page.enter().status_code == 303
    for key in (page.key, OTHER_KEY):
        again = page.enter(key=key)
        assert (again.status_code, ENDED in again.text, "set-cookie" in again.headers) == (401, True, False)
    assert browser.log_in(made["userName"], code=code_at(OTHER_KEY, step_now())).status_code == 401


def test_the_step_is_of_one_person_whatever_else_is_sent(admin: Admin, browser: Browser, required: Browser) -> None:
    made, victim = settled_with_none(admin, browser), settled_with_none(admin, browser, "svc.Admin")
    abroad = invited(admin, userName=made["userName"], client="stranger")
    assert browser.accept(abroad["invitation"]).status_code == 200
    asked(browser, victim["userName"])
    page = asked(browser, made["userName"])
    done = page.enter(username=victim["userName"], tenant="globex", password=PASSWORD)
    assert done.status_code == 303
    assert browser.flow.redeem(answered(done)["code"]).status_code == 200
    assert browser.renew().status_code == 200
    me = browser.ask("/ui/me").json()
    assert (me["user"], me["tenantId"]) == (made["userName"], OWN)
    assert admin.get(f"People({victim['ID']})").json()["codeSince"] is None
    assert admin.get(f"People({abroad['ID']})", client="stranger").json()["codeSince"] is None
    browser.tenant = "globex"
    assert browser.log_in(made["userName"]).status_code == 303  # where nothing is required, and nothing was set up


@pytest.mark.parametrize("secret", ["", "made-up", "a\0b", "é" * 43])
def test_a_made_up_step_is_nobodys(admin: Admin, browser: Browser, required: Browser, secret: str) -> None:
    made = settled_with_none(admin, browser)
    page = asked(browser, made["userName"])
    guessed = Page(browser, secret, page.key).enter(username=made["userName"], password=PASSWORD)
    assert (guessed.status_code, ENDED in guessed.text, "set-cookie" in guessed.headers) == (401, True, False)
    assert page.enter().status_code == 303


@pytest.mark.parametrize("how", ["off", "reset", "deleted", "not required"])
def test_the_step_ends_with_what_it_was_for(admin: Admin, browser: Browser, required: Browser, how: str) -> None:
    made = settled_with_none(admin, browser)
    page = asked(browser, made["userName"])
    address = f"People({made['ID']})"
    if how == "deleted":
        assert admin.delete(address).status_code == 204
    elif how == "not required":
        assert require(required, False).status_code == 200
    else:
        assert admin.patch(address, {"isActive": False} if how == "off" else {"invitation": None}).status_code == 200
    answer = page.enter()
    assert (answer.status_code, ENDED in answer.text, "set-cookie" in answer.headers) == (401, True, False)


@pytest.mark.parametrize(
    "headers", [{"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}, {"origin": "https://evil.example"}]
)
def test_a_page_of_another_site_sets_up_no_app(
    admin: Admin, browser: Browser, required: Browser, headers: dict[str, str]
) -> None:
    made = settled_with_none(admin, browser)
    page = asked(browser, made["userName"])
    answer = page.enter(**headers)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert page.enter().status_code == 303


def test_guesses_of_the_first_code_count_with_those_of_the_sign_in(
    admin: Admin, browser: Browser, required: Browser
) -> None:
    made, other = settled_with_none(admin, browser), settled_with_none(admin, browser)
    page = asked(browser, made["userName"])
    assert {browser.log_in(made["userName"], f"guess {number}").status_code for number in range(5)} == {401}
    assert {page.enter(f"00000{number}0").status_code for number in range(5)} == {401}
    waiting = page.enter()
    assert (waiting.status_code, waiting.headers["retry-after"]) == (429, "60")
    assert shown(browser, waiting, 429).key == page.key
    assert "Wait 60 seconds" in waiting.text
    assert browser.log_in(made["userName"]).status_code == 429
    assert asked(browser, other["userName"]).enter().status_code == 303


def test_the_page_is_the_one_of_invitations_in_german_too(admin: Admin, browser: Browser, required: Browser) -> None:
    made = settled_with_none(admin, browser)
    answer = browser.log_in(made["userName"], **{"accept-language": "de"})
    assert 'lang="de"' in answer.text
    assert "App für Codes einrichten" in answer.text
    assert "script" not in answer.text
    assert "otpauth://totp/Promenade:" in answer.text
    assert PASSWORD not in answer.text
