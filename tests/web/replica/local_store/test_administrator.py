"""The administrator of a store: sets a password once, logs in, and has what svc.Admin tokens have in the cloud."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.model.access.tenants import SETTINGS_ID
from tests.web.replica.local_store.conftest import PASSWORD, Store

IDLE_SECONDS = 30 * 60
NEXT = "zwei blaue Pferde"


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_setup_is_open_once(store: Store) -> None:
    browser = store.browser(logged_in=False)
    assert refusal(browser.post("setup", {"password": "x" * 8, "confirmPassword": "x" * 8})) == (409, "ALREADY_SET_UP")
    assert browser.log_in().json() == {"success": True}


def test_a_session_administers_with_its_token(store: Store) -> None:
    browser = store.browser()
    assert browser.http.get("/admin/Promotions").status_code == 200
    write = {"code": "CSRF", "name": "x", "currency": "EUR", "IsActiveEntity": True}
    answer = browser.http.post("/admin/PosGroups", json=write)
    assert refusal(answer) == (403, "CSRF_TOKEN_REQUIRED")
    assert browser.make("PosGroups", **write)["createdBy"] == "admin"
    client = {"name": "x", "scopes": ["svc.POSReader"]}
    headers = {"x-csrf-token": browser.csrf_token()}
    assert refusal(browser.http.post("/admin/Clients", json=client, headers=headers)) == (409, "NO_OWN_TOKENS")
    person = {"userName": "x", "scopes": ["svc.POSReader"]}
    assert refusal(browser.http.post("/admin/People", json=person, headers=headers)) == (409, "NO_OWN_PEOPLE")
    group = {"groupName": "x", "scopes": ["svc.Admin"]}
    assert refusal(browser.http.post("/admin/GroupRoles", json=group, headers=headers)) == (409, "NO_OUTSIDE_ISSUER")
    settings = f"/admin/TenantSettings({SETTINGS_ID})"
    assert browser.http.get(settings).json()["approval"] == "OFF"
    trusted = browser.http.get(f"{settings}/AdminService.certificates()")
    assert trusted.json()["value"] == []  # it issues no tokens and takes no client certificates
    change = {"approval": "BINDING"}
    assert refusal(browser.http.patch(settings, json=change, headers=headers)) == (409, "SET_IN_THE_CLOUD")
    assert "TenantSettings" not in browser.http.get("/ui/me").json()["sets"]
    assert refusal(browser.http.get("/pos/heartbeat")) == (401, "UNAUTHORIZED")


def test_without_a_session_administration_is_refused(store: Store) -> None:
    browser = store.browser(logged_in=False)
    for headers in ({}, {"cookie": "promenade_session=a.b"}, {"authorization": "Bearer a.b.c"}):
        answer = browser.http.get("/admin/Promotions", headers=headers)
        assert refusal(answer) == (401, "UNAUTHORIZED")
        assert "Bearer" not in answer.headers["www-authenticate"]
    for path in ("getApiKey", "regenerateApiKey"):
        assert refusal(browser.post(path, {})) == (401, "UNAUTHORIZED")


def test_a_session_ends_after_half_an_hour_without_a_request(store: Store) -> None:
    browser = store.browser()
    for _ in range(2):
        store.clock.move(seconds=IDLE_SECONDS - 60)
        assert browser.post("getApiKey", {}).status_code == 200
    store.clock.move(seconds=IDLE_SECONDS + 1)
    assert refusal(browser.post("getApiKey", {})) == (401, "UNAUTHORIZED")
    assert refusal(browser.http.get("/admin/Promotions")) == (401, "UNAUTHORIZED")


def test_a_session_does_not_outlive_a_clock_that_is_set_back(store: Store) -> None:
    browser = store.browser()
    store.clock.move(hours=-1)
    assert refusal(browser.post("getApiKey", {})) == (401, "UNAUTHORIZED")
    assert store.browser().post("getApiKey", {}).status_code == 200
    store.clock.move(hours=1)


def test_a_new_key_takes_the_place_of_the_old_one_at_once(store: Store) -> None:
    browser = store.browser()
    old = browser.api_key()
    with store.till(old) as till:
        assert till.get("/pos/heartbeat").status_code == 200
        new = browser.post("regenerateApiKey", {}).json()["apiKey"]
        assert till.get("/pos/heartbeat").status_code == 401
    assert new != old
    assert browser.api_key() == new
    with store.till(new) as till:
        assert till.get("/pos/heartbeat").status_code == 200


def test_a_session_ends_at_logout(store: Store) -> None:
    browser = store.browser()
    cookie = browser.http.cookies["promenade_session"]
    answer = browser.post("logout", {})
    assert answer.json() == {"success": True}
    assert "Max-Age=0" in answer.headers["set-cookie"]
    again = browser.http.get("/admin/Promotions", headers={"cookie": f"promenade_session={cookie}"})
    assert refusal(again) == (401, "UNAUTHORIZED")


def test_the_cookie_is_for_this_host_and_no_script(store: Store) -> None:
    answer = store.browser(logged_in=False).log_in()
    assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "same-origin", "origin": "https://store.example"}, 200),
        ({"sec_fetch_site": "none"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"origin": "own"}, 200),
        # DNS rebinding: a name that resolves to this machine only since the page was loaded.
        ({"origin": "http://evil.example:80", "host": "evil.example:80"}, 421),
        ({"sec_fetch_site": "same-origin", "host": "evil.example"}, 421),
        ({"sec_fetch_site": "same-origin", "host": "[evil"}, 421),
        ({"sec_fetch_site": "same-origin", "host": "localhost:8080"}, 200),
        ({"sec_fetch_site": "same-origin", "host": "[::1]:8080"}, 200),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_requests_from_other_sites_are_refused(store: Store, headers: dict[str, str], status: int) -> None:
    browser = store.browser()
    sent = {name: value.replace("own", store.service.url) for name, value in headers.items()}
    for path, body in (("login", {"password": PASSWORD}), ("getApiKey", {}), ("regenerateApiKey", {})):
        answer = browser.post(path, body, **sent)
        assert answer.status_code == status, path
        if status == 403:
            assert answer.json()["error"]["code"] == "CROSS_ORIGIN"


@pytest.mark.parametrize(
    ("body", "code", "target"),
    [
        ({}, "VALIDATION_FAILED", "password"),
        ({"password": 12345678}, "VALIDATION_FAILED", "password"),
        ({"password": None}, "VALIDATION_FAILED", "password"),
        ([PASSWORD], "VALIDATION_FAILED", None),
        ("text", "VALIDATION_FAILED", None),
    ],
)
def test_an_empty_or_invalid_body_gets_an_error(store: Store, body: Any, code: str, target: str | None) -> None:
    answer = store.browser(logged_in=False).post("login", body)
    assert refusal(answer) == (400, code)
    assert answer.json()["error"].get("target") == target


def test_invalid_and_oversized_json_is_refused(store: Store) -> None:
    http = store.browser(logged_in=False).http
    for content in (b"{", b'{"password": "\\ud800abcdefgh"}', b'{"password": "\xff"}', b"[" * 5000):
        answer = http.post("/local-admin/login", content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 400, content[:20]
    answer = http.post("/local-admin/login", content=b" " * 20_000, headers={"content-type": "application/json"})
    assert refusal(answer) == (413, "BODY_TOO_LARGE")
    for path in ("setup", "login", "logout", "getApiKey", "regenerateApiKey"):
        answer = http.get(f"/local-admin/{path}")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert http.post("/local-admin/other", json={}).status_code == 404


def test_the_administrator_changes_the_password_with_the_current_one(store: Store) -> None:
    browser, other = store.browser(), store.browser()
    token = browser.csrf_token()
    for password, new, code, target in (
        ("another horse", NEXT, "PASSWORD_WRONG", "password"),
        (PASSWORD, "short", "PASSWORD_TOO_SHORT", "newPassword"),
        (PASSWORD, "x" * 1025, "PASSWORD_TOO_LONG", "newPassword"),
        (PASSWORD, PASSWORD, "PASSWORD_UNCHANGED", "newPassword"),
        (PASSWORD, None, "VALIDATION_FAILED", "newPassword"),
    ):
        answer = browser.post("password", {"password": password, "newPassword": new})
        assert (*refusal(answer), answer.json()["error"]["target"]) == (400, code, target)
    assert other.http.get("/ui/me").json()["passwordAddress"] == "/local-admin/password"
    assert browser.post("password", {"password": PASSWORD, "newPassword": NEXT}).json() == {"success": True}
    try:
        assert other.http.get("/ui/me").status_code == 401
        assert browser.http.get("/ui/me").status_code == 200
        assert browser.csrf_token() == token  # pages go on writing
        assert refusal(store.browser(logged_in=False).log_in()) == (401, "UNAUTHORIZED")
        assert store.browser(logged_in=False).log_in(NEXT).json() == {"success": True}
    finally:
        browser.post("password", {"password": NEXT, "newPassword": PASSWORD})
    assert (
        browser.post("password", {"password": PASSWORD, "newPassword": NEXT}, origin="http://evil.example").status_code
        == 403
    )
    assert store.browser().http.get("/ui/me").status_code == 200


def test_without_a_session_nobody_changes_or_guesses_the_password(store: Store) -> None:
    stranger = store.browser("127.0.0.4", logged_in=False)
    body = {"password": PASSWORD, "newPassword": NEXT}
    assert refusal(stranger.post("password", body)) == (401, "UNAUTHORIZED")
    administrator = store.browser("127.0.0.4")
    for number in range(3):
        assert refusal(stranger.log_in(f"guess {number}")) == (401, "UNAUTHORIZED")
    for number in range(2):
        guess = {"password": f"guess {number}", "newPassword": NEXT}
        assert refusal(administrator.post("password", guess)) == (400, "PASSWORD_WRONG")
    for answer in (administrator.post("password", body), stranger.log_in()):
        assert refusal(answer) == (429, "TOO_MANY_ATTEMPTS")


def test_guessing_a_password_is_delayed(store: Store) -> None:
    guessing, elsewhere = (store.browser(address, logged_in=False) for address in ("127.0.0.2", "127.0.0.3"))
    for guess in range(5):
        answer = guessing.log_in(f"guess number {guess}" if guess else "x" * 2000)
        assert refusal(answer) == (401, "UNAUTHORIZED")
    for password in ("guess again", PASSWORD):
        answer = guessing.log_in(password)
        assert refusal(answer) == (429, "TOO_MANY_ATTEMPTS")
        assert 1 <= int(answer.headers["retry-after"]) <= 30
    assert refusal(elsewhere.log_in("guess elsewhere")) == (401, "UNAUTHORIZED")
    assert elsewhere.log_in().json() == {"success": True}
