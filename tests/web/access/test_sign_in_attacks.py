"""Attacks on the login page of the built-in issuer."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import httpx2
import pytest

from promenade.errors import NotFound, TooMany
from promenade.web.access.issuer import Issuer, IssuerStore
from promenade.web.access.oauth import is_back_office
from promenade.workflows.access.authorization_codes import AuthorizationCode
from promenade.workflows.access.clients import Client
from promenade.workflows.access.own_secrets import Replaced
from promenade.workflows.access.people import SettingUp
from promenade.workflows.access.person_sessions import SignedIn
from promenade.workflows.access.signing_keys import SigningKey
from tests.kit.code_flow import Flow, answered
from tests.web.conftest import ServedShop, Shop

EVIL = "https://evil.example"


@pytest.fixture
def flow(shop: Shop) -> Flow:
    return Flow(shop.http)


def planner(shop: Shop) -> tuple[str, str]:
    return shop.clients["planner"]


def is_page_without_way_on(answer: httpx2.Response) -> bool:
    """Return whether the page has text but no form, link or redirect."""
    return "location" not in answer.headers and "<form" not in answer.text and 'role="alert"' in answer.text


@pytest.mark.parametrize(
    "redirect_uri",
    [
        f"{EVIL}/", "", None, "/", "//evil.example/", "javascript:alert(1)", "data:text/html,x", "{home}ui",
        "{home}?x=1", "{home}#x", "{home}/", "{home}@evil.example/", "{bare}.evil.example/", "{bare}@evil.example/",
        "{home}%2e%2e/", "{bare}", "{home}\r\nSet-Cookie: a=b", " {home}", "{home} ", "HTTP{rest}", "{home}\t",
        "http://user@127.0.0.1/", "http://127.0.0.1:1/", "https{rest}",
    ],
)  # fmt: skip
def test_a_code_is_sent_only_to_the_registered_redirect_uri(shop: Shop, flow: Flow, redirect_uri: str | None) -> None:
    """No open redirect (RFC 9700, 4.1 and 4.11), neither with a code nor with an error."""
    bare = flow.home.rstrip("/")
    where = redirect_uri and redirect_uri.format(home=flow.home, bare=bare, rest=flow.home.removeprefix("http"))
    for answer in (
        flow.show(redirect_uri=where),
        flow.log_in(*planner(shop), redirect_uri=where),
        flow.show(redirect_uri=where, response_type="token"),
    ):
        assert answer.status_code == 400
        assert is_page_without_way_on(answer)


@pytest.mark.parametrize("client_id", ["", None, "back-office ", "<script>alert(1)</script>", "other"])
def test_other_client_ids_are_refused(shop: Shop, flow: Flow, client_id: str | None) -> None:
    answer = flow.show(client_id=client_id)
    assert answer.status_code == 400
    assert is_page_without_way_on(answer)
    assert "<script" not in answer.text


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": "x" * 42 + "\n"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
    ],
    ids=str,
)
def test_invalid_requests_are_answered_with_the_errors_of_the_standard(
    shop: Shop, flow: Flow, changes: dict[str, str | None], error: str
) -> None:
    for answer in (flow.show(**changes), flow.log_in(*planner(shop), **changes)):
        assert answer.status_code == 303
        given = answered(answer)
        assert (given["error"], given["state"], given["iss"]) == (error, flow.state, shop.url)
        assert "code" not in given


def test_without_state_there_is_no_login(flow: Flow) -> None:
    given = answered(flow.show(state=None))
    assert given["error"] == "invalid_request"
    assert "state" not in given


def test_a_parameter_that_occurs_twice_is_refused(shop: Shop, flow: Flow) -> None:
    answer = shop.http.get(f"/oauth/authorize?{flow.query()}&redirect_uri=https%3A%2F%2Fevil.example%2F")
    assert answer.status_code == 400
    assert is_page_without_way_on(answer)


def test_input_is_escaped_in_the_page_and_the_redirect(shop: Shop) -> None:
    flow = Flow(shop.http, state='"><script>alert(1)</script>\r\nx: y')
    page = flow.log_in('"><img src=x onerror=alert(1)>', "wrong")
    assert page.status_code == 401
    assert "<script" not in page.text
    assert "<img src=x" not in page.text
    back = flow.log_in(*planner(shop))
    assert back.status_code == 303
    assert "x" not in back.headers
    assert answered(back)["state"] == flow.state


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site", "origin": EVIL},
        {"sec-fetch-site": "same-site"},
        {"origin": EVIL},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://["},
    ],
    ids=str,
)
def test_a_page_of_another_site_cannot_sign_a_browser_in(shop: Shop, flow: Flow, headers: dict[str, str]) -> None:
    answer = flow.log_in(*planner(shop), headers=headers)
    assert answer.status_code == 403
    assert is_page_without_way_on(answer)


def test_the_own_form_is_accepted_with_and_without_origin_headers(shop: Shop, flow: Flow) -> None:
    for headers in ({"sec-fetch-site": "same-origin", "origin": shop.url}, {"origin": shop.url}, {}):
        assert flow.log_in(*planner(shop), headers=headers).status_code == 303


def test_the_pages_cannot_be_framed_or_cached_and_run_no_script(shop: Shop, flow: Flow) -> None:
    for answer in (flow.show(), flow.log_in("nobody", "wrong"), flow.show(client_id="other")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert f"form-action 'self' {shop.url};" in policy
        assert "script-src" not in policy
        assert "unsafe-inline" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "set-cookie" not in answer.headers
        assert "style=" not in answer.text
        assert "<script" not in answer.text
    back = flow.log_in(*planner(shop))
    assert (back.headers["cache-control"], back.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert "set-cookie" not in back.headers


def test_a_password_is_masked_and_may_come_from_a_password_manager(shop: Shop, flow: Flow) -> None:
    page = flow.show().text
    fields = re.findall(r"<input[^>]*>", page)
    (password,) = [one for one in fields if 'id="password"' in one]
    assert 'type="password"' in password
    assert 'autocomplete="current-password"' in password
    assert [one for one in fields if 'autocomplete="username"' in one]
    assert not re.search(r"onpaste|oncopy|readonly|autocomplete=\"off\"", page)


def test_every_file_that_the_page_loads_exists(shop: Shop, flow: Flow) -> None:
    for address in re.findall(r'(?:src|href)="(/[^"]+)"', flow.show().text):
        assert shop.http.get(address).status_code == 200, address


@pytest.mark.parametrize(
    ("accepted", "title"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "Anmelden"), ("de", "Anmelden"), ("en-GB", "Sign in"), ("fr, de;q=0.5", "Anmelden"),
        ("en;q=0.2, de;q=0.1", "Sign in"), ("fr", "Sign in"), ("", "Sign in"), ("de;q=x", "Sign in"), ("*", "Sign in"),
    ],
)  # fmt: skip
def test_the_page_is_in_the_language_of_the_browser(flow: Flow, accepted: str, title: str) -> None:
    answer = flow.show(headers={"accept-language": accepted})
    assert f"<h1>{title}</h1>" in answer.text
    assert f'<html lang="{"de" if title == "Anmelden" else "en"}">' in answer.text


@pytest.mark.parametrize("kind", ["json", "large", "twice", "bytes"])
def test_an_invalid_form_gets_a_page_with_a_message(shop: Shop, flow: Flow, kind: str) -> None:
    form = "application/x-www-form-urlencoded"
    bodies: dict[str, tuple[bytes, str]] = {
        "json": (b'{"username": "a"}', "application/json"),
        "large": (b"username=" + b"x" * 20_000, form),
        "twice": (b"username=a&username=b&password=c", form),
        "bytes": (b"\xff\xfe=1", form),
    }
    body, content_type = bodies[kind]
    answer = shop.http.post(f"/oauth/authorize?{flow.query()}", content=body, headers={"content-type": content_type})
    assert answer.status_code == (413 if kind == "large" else 400)
    assert is_page_without_way_on(answer)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(shop: Shop, flow: Flow, method: str) -> None:
    answer = shop.http.request(method, f"/oauth/authorize?{flow.query()}")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST, HEAD")


def test_on_loopback_the_server_is_known_by_the_name_that_the_browser_used(shop: ServedShop) -> None:
    port = shop.service.port
    with httpx2.Client(base_url=f"http://localhost:{port}", timeout=30) as http:
        flow = Flow(http)
        given = answered(flow.log_in(*planner(shop)))
        assert given["iss"] == shop.url
        assert flow.redeem(given["code"]).status_code == 200
    flow = Flow(shop.http)
    assert flow.show(redirect_uri=f"http://localhost:{port}/").status_code == 400  # the login was started as 127.0.0.1
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost@evil.example", "[", ""):
        answer = flow.show(headers={"host": host}, redirect_uri=f"http://{host}/")
        assert answer.status_code == 421


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_on_loopback_the_scheme_is_the_servers_own(scheme: str) -> None:
    scope = {"headers": [(b"host", b"localhost:8443")]}
    for asked in ("http", "https"):
        is_own = is_back_office(scope, f"{asked}://localhost:8443/", f"{scheme}://127.0.0.1:8443")
        assert is_own is (asked == scheme)


class NoClients(IssuerStore):
    """A store in which every guess is wrong."""

    async def authenticate(self, client_id: str, secret: str) -> Client | None:
        return None

    async def replace_secret(self, client_id: str, shown: str, new: str) -> Replaced | None:
        return None

    async def signing_keys(self) -> Sequence[SigningKey]:
        return []

    async def keep_code(self, code: str, bound: AuthorizationCode) -> None:
        raise AssertionError("nobody was let in")

    async def take_code(self, code: str, is_for: Callable[[AuthorizationCode], bool]) -> Client | SignedIn | None:
        return None

    async def sign_in(self, tenant_id: str, user_name: str, password: str, code: str) -> str | None:
        return None

    async def setting_up(self, secret: str) -> SettingUp:
        raise NotFound("INVITATION_INVALID", "There is none.")

    async def set_up_app(self, secret: str, key: str, code: str) -> str | None:
        return None

    async def renew(self, cookie: str, browser: str | None) -> SignedIn | None:
        return None


class Counters:
    """Counters that never expire."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        self.found[key] += by
        return self.found[key]


def issuer_of_nobody() -> Issuer:
    return Issuer(
        NoClients(), Counters(), lambda: datetime(2026, 3, 1, tzinfo=UTC), lambda: "id",
        issuer="https://shop.example", base_url="https://shop.example", audience="promenade",
    )  # fmt: skip


async def test_guesses_of_who_sets_up_an_app_are_counted_by_address() -> None:
    issuer = issuer_of_nobody()
    for number in range(100):
        assert await issuer.setting_up("192.0.2.1", f"guess {number}") is None
    with pytest.raises(TooMany):
        await issuer.setting_up("192.0.2.1", "guess")
    assert await issuer.setting_up("192.0.2.2", "guess") is None


@pytest.mark.parametrize(
    ("addresses", "guesses"),
    [
        (["2001:db8::{:x}", "2001:db8:0:0:ffff::{:x}"], 10),  # a client with one address has its whole network
        (["::ffff:192.0.2.1"], 10),
        (["2001:db8:0:{:x}::1", "192.0.2.{}"], 60),
    ],
    ids=["network", "mapped", "several"],
)
async def test_guesses_are_counted_per_network_of_the_caller(addresses: list[str], guesses: int) -> None:
    issuer = issuer_of_nobody()
    made = 0
    with contextlib.suppress(TooMany):
        for number in range(60):
            await issuer.authenticate(addresses[number % len(addresses)].format(number), "client", "guess")
            made += 1
    assert made == guesses
