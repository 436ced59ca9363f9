"""Administrators invite people, who sign in by name and password; what each promise of that refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from promenade.workflows.access.one_time_codes import code_at
from tests.kit.code_flow import Flow, answered
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.web.conftest import run
from tests.web.services.admin.conftest import OWN, Admin, fault, furnish

PASSWORD = "correct horse"
NEXT = "zwei blaue Pferde"
COOKIE = "promenade_person"


@dataclass
class Browser:
    """A browser with cookies of its own."""

    http: httpx2.Client
    tenant: str = OWN
    token: str = ""
    given: dict[str, Any] = field(default_factory=dict)

    def accept(self, invitation: str, password: str = PASSWORD, **form: str) -> httpx2.Response:
        page = self.http.get(f"/oauth/invitation?secret={invitation}")
        key = re.search(r'name="key" type="hidden" value="(\w+)"', page.text)
        typed = {"password": password, "repeated": password, "key": key.group(1) if key else "", **form}
        return self.http.post(f"/oauth/invitation?secret={invitation}", data=typed)

    def log_in(self, name: str, password: str = PASSWORD, code: str = "", **headers: str) -> httpx2.Response:
        self.flow = Flow(self.http)
        form = {"username": name, "password": password, "tenant": self.tenant, "code": code}
        return self.http.post(f"/oauth/authorize?{self.flow.query()}", data=form, headers=headers)

    def sign_in(self, name: str, **how: str) -> Browser:
        answer = self.log_in(name, **how)
        assert answer.status_code == 303, answer.text
        self._keep(self.flow.redeem(answered(answer)["code"]))
        return self

    def renew(self, **headers: str) -> httpx2.Response:
        answer = self.http.post("/oauth/session", headers=headers)
        if answer.status_code == 200:
            self._keep(answer)
        return answer

    def change_password(self, password: str, new_password: str) -> httpx2.Response:
        return self.ask("/oauth/password", "POST", {"password": password, "newPassword": new_password})

    def end_sessions(self, password: str, *sessions: str) -> httpx2.Response:
        return self.ask("/oauth/sessions/end", "POST", {"password": password, "sessions": sessions})

    def _keep(self, answer: httpx2.Response) -> None:
        assert answer.status_code == 200, answer.text
        self.given = answer.json()
        self.token = self.given["access_token"]

    def ask(self, path: str, method: str = "GET", body: Any = None) -> httpx2.Response:
        return self.http.request(method, path, json=body, headers={"authorization": f"Bearer {self.token}"})


@pytest.fixture
def browser(admin: Admin) -> Iterator[Browser]:
    with admin.service.client() as http:
        yield Browser(http)


def said(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error outside OData."""
    error = answer.json()["error"]
    return answer.status_code, error["code"], error.get("target")


def invited(admin: Admin, *scopes: str, client: str = "admin", **values: Any) -> dict[str, Any]:
    name = values.pop("userName", f"rosa-{uuid4().hex[:8]}")
    return admin.make("People", client=client, userName=name, scopes=list(scopes or ("svc.Admin",)), **values)


def settled(admin: Admin, browser: Browser, *scopes: str, **values: Any) -> dict[str, Any]:
    """Return a person who has accepted an invitation."""
    made = invited(admin, *scopes, **values)
    assert browser.accept(made["invitation"]).status_code == 200
    return made


def test_a_person_is_invited_chooses_a_password_and_signs_in(admin: Admin, browser: Browser) -> None:
    made = invited(admin, "svc.PromotionManager", name="Rosa Plan")
    assert len(made["invitation"]) == 43  # 256 bits
    page = browser.http.get(f"/oauth/invitation?secret={made['invitation']}")
    assert "Rosa Plan" in page.text
    assert page.headers["cache-control"] == "no-store"
    done = browser.accept(made["invitation"])
    assert (done.status_code, "You can sign in now" in done.text) == (200, True)
    browser.sign_in(made["userName"].upper())
    me = browser.ask("/ui/me").json()
    assert (me["user"], me["tenantId"], me["scopes"]) == (made["userName"], OWN, ["svc.PromotionManager"])
    assert browser.given["expires_in"] == 1800
    assert browser.given["session_expires_in"] > 11 * 3600
    read = admin.get(f"People({made['ID']})").json()
    assert read["lastSignInAt"]
    assert not {"invitation", "passwordHash", "codeKey", "codeStep"} & read.keys()


def test_the_cookie_is_for_the_issuer_alone_and_no_script_reads_it(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    cookie = browser.log_in(made["userName"]).headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert set(cookie.split("; ")[1:]) == {"Path=/oauth", "HttpOnly", "SameSite=Strict"}


def test_by_https_the_cookie_is_of_this_very_host(databases: Databases) -> None:
    url = databases.create("sqlite")
    run(furnish(url))
    with (
        InProcess(url, has_worker=False, public_url="https://shop.example") as service,
        service.client() as planning,
        service.client() as http,
    ):
        admin, browser = Admin(service=service, database_url=url, http=planning), Browser(http)
        made = settled(admin, browser)
        query = Flow(http).query(redirect_uri="https://shop.example/")
        form = {"username": made["userName"], "password": PASSWORD, "tenant": OWN}
        cookie = http.post(f"/oauth/authorize?{query}", data=form).headers["set-cookie"]
        shown, *attributes = cookie.split("; ")
        assert shown.startswith(f"__Host-{COOKIE}=")
        assert set(attributes) == {"Path=/", "Secure", "HttpOnly", "SameSite=Strict"}

        browser.http.cookies.clear()
        planted = shown.removeprefix("__Host-")
        assert browser.renew(cookie=planted).status_code == 204
        assert browser.renew(cookie=f"{planted}x; {shown}").status_code == 200
        assert browser.http.post("/oauth/sign-out", headers={"cookie": shown}).status_code == 204
        assert browser.renew(cookie=shown).status_code == 204


def test_tabs_get_tokens_by_the_cookie(admin: Admin, browser: Browser) -> None:
    browser.sign_in(settled(admin, browser)["userName"])
    assert [browser.renew().status_code for _ in range(3)] == [200] * 3
    assert browser.ask("/ui/me").status_code == 200
    bare = admin.http.post("/oauth/session")
    assert (bare.status_code, bare.content) == (204, b"")


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "https://evil.example"}]
)
def test_pages_of_other_sites_get_nothing(admin: Admin, browser: Browser, headers: dict[str, str]) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    cookie = browser.http.cookies[COOKIE]
    assert browser.http.post("/oauth/session", headers=headers).status_code == 403
    assert browser.http.post("/oauth/sign-out", headers=headers).status_code == 403
    assert browser.log_in(made["userName"], **headers).status_code == 403
    again = invited(admin)["invitation"]
    form = {"password": PASSWORD, "repeated": PASSWORD}
    assert browser.http.post(f"/oauth/invitation?secret={again}", data=form, headers=headers).status_code == 403
    assert browser.accept(again).status_code == 200
    assert browser.http.cookies[COOKIE] == cookie
    assert browser.renew().status_code == 200


def test_who_signs_in_gets_a_new_session_and_the_browsers_former_one_ends(admin: Admin, browser: Browser) -> None:
    browser.sign_in(settled(admin, browser)["userName"])
    former, token = browser.http.cookies[COOKIE], browser.token
    browser.sign_in(settled(admin, browser)["userName"])
    assert browser.http.cookies[COOKIE].partition(".")[0] != former.partition(".")[0]
    with admin.service.client() as planted:
        assert planted.post("/oauth/session", headers={"cookie": f"{COOKIE}={former}"}).status_code == 204
    assert token != browser.token
    assert browser.renew().status_code == 200


def test_a_code_that_is_shown_again_ends_the_session_that_it_gave(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    code = answered(browser.log_in(made["userName"]))["code"]
    flow = browser.flow
    token = flow.redeem(code).json()["access_token"]
    assert flow.redeem(code).status_code == 400
    assert browser.http.get("/ui/me", headers={"authorization": f"Bearer {token}"}).status_code == 401
    assert browser.renew().status_code == 204
    assert browser.sign_in(made["userName"]).ask("/ui/me").status_code == 200


def test_signing_out_takes_the_cookie_and_ends_the_session(admin: Admin, browser: Browser) -> None:
    browser.sign_in(settled(admin, browser)["userName"])
    copied = browser.http.cookies[COOKIE]
    assert browser.http.post("/oauth/sign-out").status_code == 204
    assert COOKIE not in browser.http.cookies
    assert browser.renew().status_code == 204
    assert browser.renew(cookie=f"{COOKIE}={copied}").status_code == 204


def test_the_cookie_of_a_session_that_has_ended_is_taken_away_and_counts_as_one_guess(
    admin: Admin, browser: Browser
) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    assert admin.patch(f"People({made['ID']})", {"isActive": False}).status_code == 200
    assert {browser.renew().status_code for _ in range(110)} == {204}
    assert COOKIE not in browser.http.cookies
    assert admin.http.post("/oauth/session").status_code == 204


def test_a_link_that_was_used_is_refused_and_looking_uses_nothing(admin: Admin, browser: Browser) -> None:
    made = invited(admin)
    for _ in range(3):
        assert browser.http.get(f"/oauth/invitation?secret={made['invitation']}").status_code == 200
    assert browser.accept(made["invitation"]).status_code == 200
    for answer in (
        browser.accept(made["invitation"], "another horse"),
        browser.http.get(f"/oauth/invitation?secret={made['invitation']}"),
        browser.http.get("/oauth/invitation?secret=made-up"),
        browser.http.get("/oauth/invitation"),
    ):
        assert answer.status_code == 404
        assert "has been used, or has expired" in answer.text
    assert browser.log_in(made["userName"], "another horse").status_code == 401


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"password": "short", "repeated": "short"}, "at least 8 characters."),
        ({"password": "Promenade1", "repeated": "Promenade1"}, "among the first that are tried."),
        ({"repeated": "another horse"}, "Both passwords must be the same."),
        ({"code": "000000"}, "The code is wrong."),
        ({"code": ""}, "You need an app"),
    ],
    ids=str,
)
def test_a_wrong_choice_is_reported_and_can_be_corrected(
    admin: Admin, browser: Browser, form: dict[str, str], said: str
) -> None:
    made = invited(admin, codeRequired="code" in form)
    answer = browser.accept(made["invitation"], **form)
    assert (answer.status_code, said in answer.text) == (400, True)
    assert PASSWORD not in answer.text
    assert browser.http.get(f"/oauth/invitation?secret={made['invitation']}").status_code == 200


def test_a_person_changes_the_own_password_with_the_current_one(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser, "svc.BudgetManager")
    browser.sign_in(made["userName"])
    assert browser.ask("/ui/me").json()["passwordAddress"] == "/oauth/password"
    with admin.service.client() as http:
        other = Browser(http).sign_in(made["userName"])
        wrong = browser.change_password("another horse", NEXT)
        assert said(wrong) == (400, "PASSWORD_WRONG", "password")
        guessable = browser.change_password(PASSWORD, made["userName"])
        assert said(guessable) == (400, "PASSWORD_GUESSABLE", "newPassword")
        assert other.renew().status_code == 200
        done = browser.change_password(PASSWORD, NEXT)
        assert (done.status_code, done.content, done.headers["cache-control"]) == (204, b"", "no-store")
        assert other.renew().status_code == 204
    assert browser.renew().status_code == 200
    assert browser.ask("/ui/me").status_code == 200
    assert [browser.log_in(made["userName"], one).status_code for one in (PASSWORD, NEXT)] == [401, 303]
    assert admin.get(f"People({made['ID']})").json()["passwordSince"] > made["createdAt"]


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"password": PASSWORD}, "newPassword"),
        ({"newPassword": PASSWORD}, "password"),
        ({"password": PASSWORD, "newPassword": 12345678}, "newPassword"),
        ({"password": None, "newPassword": PASSWORD}, "password"),
        ([], None),
    ],
    ids=str,
)
def test_a_change_of_password_names_what_is_missing(
    admin: Admin, browser: Browser, body: Any, target: str | None
) -> None:
    browser.sign_in(settled(admin, browser)["userName"])
    assert said(browser.ask("/oauth/password", "POST", body)) == (400, "VALIDATION_FAILED", target)


def test_a_person_sees_where_they_are_signed_in_and_ends_it_there(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    assert browser.ask("/ui/me").json()["sessionsAddress"] == "/oauth/sessions"
    with admin.service.client(headers={"user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Safari/604.1"}) as http:
        other = Browser(http).sign_in(made["userName"])
        answer = browser.ask("/oauth/sessions")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        own, foreign = sorted(answer.json()["sessions"], key=lambda one: not one["isThis"])
        assert (own["isThis"], own["browser"]) == (True, None)
        assert (foreign["isThis"], foreign["browser"]) == (False, "Safari, iPhone")
        assert set(foreign) == {"id", "browser", "beganAt", "usedAt", "endsAt", "isThis"}
        wrong = browser.end_sessions("another horse", foreign["id"])
        assert said(wrong) == (400, "PASSWORD_WRONG", "password")
        assert other.renew().status_code == 200
        done = browser.end_sessions(PASSWORD, foreign["id"])
        assert (done.status_code, done.content) == (204, b"")
        assert other.renew().status_code == 204
    assert browser.renew().status_code == 200
    assert said(admin.get("/oauth/sessions")) == (403, "NO_SESSIONS", None)
    assert said(admin.post("/oauth/sessions/end", {"password": PASSWORD, "sessions": []})) == (403, "NO_SESSIONS", None)
    assert admin.get("/ui/me").json()["sessionsAddress"] is None


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"password": PASSWORD}, "sessions"),
        ({"sessions": []}, "password"),
        ({"password": PASSWORD, "sessions": "all"}, "sessions"),
        ({"password": PASSWORD, "sessions": [1]}, "sessions"),
        ({"password": PASSWORD, "sessions": ["x"] * 1001}, "sessions"),
    ],
    ids=range(5),
)
def test_an_end_of_sessions_names_what_is_wrong(admin: Admin, browser: Browser, body: Any, target: str) -> None:
    browser.sign_in(settled(admin, browser)["userName"])
    assert said(browser.ask("/oauth/sessions/end", "POST", body)) == (400, "VALIDATION_FAILED", target)


def test_nobody_else_changes_a_password(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    token = browser.token
    assert browser.http.post("/oauth/sign-out").status_code == 204
    body = {"password": PASSWORD, "newPassword": NEXT}
    assert browser.http.post("/oauth/password", json=body).status_code == 401
    ended = browser.http.post("/oauth/password", json=body, headers={"authorization": f"Bearer {token}"})
    assert ended.status_code == 401  # at once, though the token is accepted elsewhere for some seconds
    assert said(admin.post("/oauth/password", body)) == (403, "NO_PASSWORD", None)
    assert admin.get("/ui/me").json()["passwordAddress"] is None
    assert browser.log_in(made["userName"]).status_code == 303


def test_guesses_of_the_current_password_count_with_those_of_the_sign_in(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    for _ in range(5):
        assert browser.change_password(PASSWORD, "short").status_code == 400  # no guess: the current one is right
    assert {browser.log_in(made["userName"], f"guess {number}").status_code for number in range(5)} == {401}
    assert {browser.change_password(f"guess {number}", NEXT).status_code for number in range(3)} == {400}
    assert {browser.end_sessions(f"guess {number}").status_code for number in range(2)} == {400}
    for waiting in (browser.change_password(PASSWORD, NEXT), browser.end_sessions(PASSWORD)):
        assert (waiting.status_code, waiting.headers["retry-after"]) == (429, "60")
    assert browser.log_in(made["userName"]).status_code == 429
    assert browser.ask("/ui/me").status_code == 200


def test_a_person_with_an_app_needs_its_code_once_each(admin: Admin, browser: Browser) -> None:
    made = invited(admin, codeRequired=True)
    page = browser.http.get(f"/oauth/invitation?secret={made['invitation']}").text
    found = re.search(r'value="(\w{32})"', page)
    assert found is not None
    key, step = found.group(1), int(datetime.now(UTC).timestamp()) // 30
    # This half minute's code and the next one's: both count in the next half minute, too.
    form = {"password": PASSWORD, "repeated": PASSWORD, "key": key, "code": code_at(key, step)}
    assert browser.http.post(f"/oauth/invitation?secret={made['invitation']}", data=form).status_code == 200
    codes = ("", "000000", code_at(key, step + 1), code_at(key, step + 1))
    assert [browser.log_in(made["userName"], code=code).status_code for code in codes] == [401, 401, 303, 401]


def test_nothing_tells_an_unknown_name_from_a_wrong_password(admin: Admin, browser: Browser) -> None:
    made, pending = settled(admin, browser), invited(admin)
    off = settled(admin, browser)
    admin.patch(f"People({off['ID']})", {"isActive": False})
    names = (made["userName"], pending["userName"], off["userName"], "nobody", "a\0b", "é" * 50)
    pages = []
    for name in names:
        answer = browser.log_in(name, "another horse")
        assert answer.status_code == 401
        typed = re.sub(r'action="[^"]*"', "", answer.text)
        pages.append(re.sub(r'name="username" type="text" value="[^"]*"', "", typed))
    assert len(set(pages)) == 1


def test_guessing_is_slowed_down_and_leaves_sessions_alone(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    statuses = [browser.log_in(made["userName"], f"guess-{number}").status_code for number in range(11)]
    assert statuses == [401] * 10 + [429]
    right = browser.log_in(made["userName"])
    assert (right.status_code, right.headers["retry-after"]) == (429, "60")
    assert browser.renew().status_code == 200
    assert browser.ask("/ui/me").status_code == 200


def test_signing_in_often_is_no_guessing(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    assert {browser.log_in(made["userName"]).status_code for _ in range(12)} == {303}


def test_the_same_name_in_two_tenants_is_two_people(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    other = invited(admin, userName=made["userName"], client="stranger")
    assert browser.accept(other["invitation"], "another horse").status_code == 200
    browser.tenant = "globex"
    assert browser.log_in(made["userName"]).status_code == 401
    browser.sign_in(made["userName"], password="another horse")
    assert browser.ask("/ui/me").json()["tenantId"] == "globex"
    assert browser.ask(f"/admin/People({made['ID']})").status_code == 404
    assert browser.ask(f"/admin/People({made['ID']})", "PATCH", {"isActive": False}).status_code == 404
    for tenant in ("", "nowhere"):
        browser.tenant = tenant
        assert browser.log_in(made["userName"]).status_code == 401


def test_people_are_the_administrators_business(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser, "svc.PromotionManager", "svc.BudgetManager")
    browser.sign_in(made["userName"])
    address = f"/admin/People({made['ID']})"
    for method, path, body in (
        ("PATCH", address, {"scopes": ["svc.Admin"]}),
        ("PATCH", address, {"invitation": None}),
        ("DELETE", address, None),
        ("POST", f"{address}/AdminService.withdrawTokens", {}),
        ("POST", "/admin/People", {"userName": "friend", "scopes": ["svc.Admin"]}),
    ):
        assert browser.ask(path, method, body).status_code == 403
    assert browser.ask(address).json()["scopes"] == ["svc.PromotionManager", "svc.BudgetManager"]


def test_nobody_locks_themselves_out(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    address = f"/admin/People({made['ID']})"
    for changes in ({"isActive": False}, {"scopes": ["svc.BudgetManager"]}, {"invitation": None}):
        assert fault(browser.ask(address, "PATCH", changes))[:2] == (409, "OWN_PERSON")
    assert fault(browser.ask(address, "DELETE"))[:2] == (409, "OWN_PERSON")
    assert browser.ask(address, "PATCH", {"name": "Myself"}).status_code == 200


@pytest.mark.parametrize(
    ("values", "status", "code", "target"),
    [
        ({"userName": "other"}, 400, "READ_ONLY", "userName"),
        ({"scopes": ["svc.Sync"]}, 400, "UNKNOWN_SCOPE", "scopes"),
        ({"invitation": "chosen by hand"}, 400, "INVALID_SECRET", "invitation"),
        ({"codeRequired": True}, 409, "CODE_NOT_SET_UP", "codeRequired"),
    ],
    ids=str,
)
def test_what_a_person_cannot_become_is_refused(
    admin: Admin, browser: Browser, values: dict[str, Any], status: int, code: str, target: str
) -> None:
    made = settled(admin, browser)
    assert fault(admin.patch(f"People({made['ID']})", values)) == (status, code, target)


def test_a_name_of_a_program_is_taken(admin: Admin) -> None:
    body = {"userName": "promoter", "scopes": ["svc.Admin"]}
    assert fault(admin.post("People", body)) == (400, "NAME_TAKEN", "userName")


@pytest.mark.parametrize("how", ["off", "reset", "withdrawn", "deleted"])
def test_a_session_ends_when_its_person_may_not_go_on(admin: Admin, browser: Browser, how: str) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    address = f"People({made['ID']})"
    if how == "withdrawn":
        assert admin.post(f"{address}/AdminService.withdrawTokens").status_code == 200
    elif how == "deleted":
        assert admin.delete(address).status_code == 204
    else:
        changes = {"isActive": False} if how == "off" else {"invitation": None}
        assert admin.patch(address, changes).status_code == 200
    assert browser.renew().status_code == 204
    assert browser.log_in(made["userName"]).status_code == (303 if how == "withdrawn" else 401)


def test_who_loses_a_scope_gets_tokens_without_it(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    admin.patch(f"People({made['ID']})", {"scopes": ["svc.BudgetManager"]})
    assert browser.renew().json()["scope"] == "svc.BudgetManager"
    assert browser.ask("/ui/me").json()["scopes"] == ["svc.BudgetManager"]


def test_the_audit_trail_tells_who_did_what_and_no_secret(admin: Admin, browser: Browser) -> None:
    made = settled(admin, browser)
    browser.sign_in(made["userName"])
    admin.patch(f"People({made['ID']})", {"invitation": None})
    found = admin.get(f"AuditLogs?$filter=entityType eq 'People' and entityId eq '{made['ID']}'").json()["value"]
    assert {(one["action"], one["actor"]) for one in found} == {
        ("CREATE", "admin"), ("UPDATE", "admin"),
        ("ACCEPT_INVITATION", made["userName"]), ("SIGN_IN", made["userName"]),
    }  # fmt: skip
    assert not [word for word in ("igest", "argon2", made["invitation"], PASSWORD) if word in str(found)]
