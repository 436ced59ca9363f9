"""Browsers: the session cookie, its lifetime, and the CSRF token that every write must carry."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from promenade.store.driver.cache import LocalCache
from promenade.store.driver.unit import Database
from promenade.store.pricing.catalogue import Catalogues
from promenade.web.access.auth import Authenticator
from promenade.web.access.sessions import IDLE, Sessions
from promenade.web.access.tls.trust_shown import Trust
from promenade.web.access.tokens import VerificationKey
from promenade.web.http.endpoint import Edge
from promenade.web.http.protection import Hosts, Protection
from promenade.web.http.rate_limits import RateLimits
from promenade.web.odata.public import PublicApi
from promenade.web.pricing.pos import Pos
from promenade.web.services.admin import AdminApi
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.context import Context

MORNING = datetime(2026, 1, 1, 8, tzinfo=UTC)


class NoKeys:
    async def find(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        return None


@dataclass
class Clock:
    """A clock that the test moves."""

    now: datetime = MORNING

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Office:
    """The admin service with sessions."""

    http: httpx2.AsyncClient
    clock: Clock
    sessions: Sessions

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        sent = {name.replace("_", "-").encode(): value.encode("latin-1") for name, value in headers.items()}
        return await self.http.request(method, path, json=body, headers=sent)

    async def token(self, cookie: str) -> str:
        answer = await self.call("HEAD", "/admin/", cookie=cookie, x_csrf_token="Fetch")
        assert answer.status_code == 200
        return answer.headers["x-csrf-token"]

    def begin(self, tenant: str = "acme") -> str:
        """Start a session and return its cookie as a browser sends it."""
        return self.sessions.cookie(self.sessions.begin(tenant, "boss")).partition(";")[0]


@pytest.fixture
async def office(database: Database) -> AsyncIterator[Office]:
    clock = Clock()
    sessions = Sessions(clock)
    for tenant in ("acme", "globex"):
        await create_tenant(database, tenant, settings={}, at=MORNING, user="tests")
    numbers = iter(range(1, 1000))
    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=clock,
        new_id=lambda: f"00000000-0000-4000-8000-{next(numbers):012}",
        source="btp",
        instance_id="tests",
    )

    async def exists(tenant: str) -> bool:
        return tenant in {"acme", "globex"}

    authenticator = Authenticator(
        NoKeys(), exists, clock, issuer="i", audience="a", tenant_claims=("zid",), sessions=sessions
    )
    limits = RateLimits(per_tenant=0, per_client=0)
    admin, public = (
        AdminApi(context, authenticator, limits, Trust(None), issues_tokens=True),
        PublicApi(context, authenticator),
    )
    pos = {one.route: one for one in Pos(context, authenticator).endpoints()}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        target = admin if scope["path"].startswith("/admin") else public
        await pos.get(scope["path"], target)(scope, receive, send)

    edge = Edge(app, context.new_id, Protection(Hosts(["store.example"])))
    transport = httpx2.ASGITransport(app=edge)
    async with httpx2.AsyncClient(transport=transport, base_url="http://store.example") as http:
        yield Office(http, clock, sessions)


async def test_a_session_reads_and_with_its_token_writes(office: Office) -> None:
    cookie = office.begin()
    assert (await office.call("GET", "/admin/Promotions", cookie=cookie)).status_code == 200
    refused = await office.call("POST", "/admin/Promotions", {}, cookie=cookie)
    assert (refused.status_code, refused.headers["x-csrf-token"]) == (403, "Required")
    assert refused.json()["error"]["code"] == "CSRF_TOKEN_REQUIRED"
    assert (await office.call("GET", "/admin/Promotions/$count", cookie=cookie)).text == "0"
    token = await office.token(cookie)
    made = await office.call(
        "POST", "/admin/Promotions", {"name": "x", "IsActiveEntity": True}, cookie=cookie, x_csrf_token=token
    )
    assert (made.status_code, made.json()["createdBy"]) == (201, "boss")


async def test_every_write_needs_the_token_a_batch_too(office: Office) -> None:
    cookie = office.begin()
    batch = {"requests": [{"id": "1", "method": "GET", "url": "Promotions"}]}
    key = "00000000-0000-4000-8000-000000000000"
    writes: tuple[tuple[str, str, Any], ...] = (
        ("POST", "/admin/$batch", batch),
        ("PATCH", f"/admin/Promotions({key})", {}),
        ("PUT", f"/admin/Promotions({key})", {}),
        ("DELETE", f"/admin/Promotions({key})", None),
        ("POST", f"/admin/Promotions({key})/AdminService.activate", {}),
        ("POST", "/admin/Promotions/$query", None),
        ("QUERY", "/admin/Promotions", None),
    )
    for method, path, body in writes:
        for given in ({}, {"x_csrf_token": "Fetch"}, {"x_csrf_token": "wrong"}, {"x_csrf_token": "\xfc"}):
            answer = await office.call(method, path, body, cookie=cookie, **given)
            assert (answer.status_code, answer.headers["x-csrf-token"]) == (403, "Required"), (method, path, given)
    token = await office.token(cookie)
    answer = await office.call("POST", "/admin/$batch", batch, cookie=cookie, x_csrf_token=token)
    assert (answer.status_code, answer.json()["responses"][0]["status"]) == (200, 200)


async def test_a_csrf_token_is_valid_only_in_its_session(office: Office) -> None:
    one, other = office.begin(), office.begin()
    token = await office.token(other)
    assert token != await office.token(one)
    answer = await office.call("POST", "/admin/Promotions", {}, cookie=one, x_csrf_token=token)
    assert answer.status_code == 403


async def test_a_session_ends_half_an_hour_after_its_last_request(office: Office) -> None:
    cookie = office.begin()
    for _ in range(3):
        office.clock.now += IDLE - timedelta(seconds=1)
        assert (await office.call("GET", "/admin/Promotions", cookie=cookie)).status_code == 200
    office.clock.now += IDLE
    answer = await office.call("GET", "/admin/Promotions", cookie=cookie)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED")
    office.clock.now -= IDLE
    assert (await office.call("GET", "/admin/Promotions", cookie=cookie)).status_code == 401


async def test_a_session_ends_after_twelve_hours_however_much_it_is_used(office: Office) -> None:
    cookie = office.begin()
    ends = office.clock.now + timedelta(hours=12)
    while office.clock.now + timedelta(minutes=20) < ends:
        office.clock.now += timedelta(minutes=20)
        assert (await office.call("GET", "/admin/Promotions", cookie=cookie)).status_code == 200
    office.clock.now = ends
    assert (await office.call("GET", "/admin/Promotions", cookie=cookie)).status_code == 401


async def test_ended_and_forged_sessions_are_refused(office: Office) -> None:
    session = office.sessions.begin("acme", "boss")
    whole = office.sessions.cookie(session).partition(";")[0]
    name, _, value = whole.partition("=")
    head, _, signature = value.partition(".")
    made_up = (
        f"{name}={head}",
        f"{name}={head}.",
        f"{name}=.{signature}",
        f"{name}={head}.{signature[:-1]}",
        f"{name}={head[::-1]}.{signature}",
        f"{name}=\xfc.\xfc",
        f"other={value}",
        "; ".join([f"a={number}" for number in range(2_000)] + [whole]),
    )
    for cookie in made_up:
        answer = await office.call("GET", "/admin/Promotions", cookie=cookie)
        assert answer.status_code == 401, cookie[:80]
    assert (await office.call("GET", "/admin/Promotions", cookie=f"a=b; {whole}; c=d")).status_code == 200
    office.sessions.end(session)
    assert (await office.call("GET", "/admin/Promotions", cookie=whole)).status_code == 401
    cookie = office.begin()
    office.sessions.end_all()
    assert (await office.call("GET", "/admin/Promotions", cookie=cookie)).status_code == 401


async def test_a_session_belongs_to_one_tenant(office: Office) -> None:
    own, other, unknown = office.begin(), office.begin("globex"), office.begin("nobody")
    token = await office.token(own)
    made = await office.call("POST", "/admin/Promotions", {}, cookie=own, x_csrf_token=token)
    address = f"/admin/Promotions(ID={made.json()['ID']},IsActiveEntity=false)"
    assert (await office.call("GET", address, cookie=own)).status_code == 200
    assert (await office.call("GET", address, cookie=other)).status_code == 404
    assert (await office.call("GET", "/admin/Promotions", cookie=unknown)).json()["error"]["code"] == "UNKNOWN_TENANT"


async def test_a_session_opens_neither_the_public_api_nor_the_tills(office: Office) -> None:
    cookie = office.begin()
    assert (await office.call("GET", "/api/v1/Promotions", cookie=cookie)).status_code == 401
    assert (await office.call("POST", "/pos/v2/evaluate", {}, cookie=cookie)).status_code == 401
    token = await office.token(cookie)
    answer = await office.call("POST", "/pos/v2/evaluate", {}, cookie=cookie, x_csrf_token=token)
    assert answer.status_code == 401


def test_a_cookie_is_for_this_host_and_no_script() -> None:
    plain, secure = Sessions(lambda: MORNING), Sessions(lambda: MORNING, is_secure=True)
    by_http = plain.cookie(plain.begin("acme", "boss"))
    assert by_http.startswith("promenade_session=")
    assert by_http.endswith("; Path=/; HttpOnly; SameSite=Strict")
    for by_https in (secure.cookie(secure.begin("acme", "boss")), secure.no_cookie()):
        assert by_https.startswith("__Host-promenade_session=")
        assert by_https.endswith("; Path=/; HttpOnly; SameSite=Strict; Secure")
        assert "domain" not in by_https.lower()


def test_by_https_a_neighbour_of_the_domain_cannot_give_a_browser_a_session() -> None:
    sessions = Sessions(lambda: MORNING, is_secure=True)
    own = sessions.cookie(sessions.begin("acme", "boss")).partition(";")[0]
    planted = own.removeprefix("__Host-")
    assert sessions.find(f"{planted}; {own}") is not None
    assert sessions.find(planted) is None


def test_unused_sessions_are_dropped_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promenade.web.access.sessions._SESSIONS_MAX", 3)
    sessions = Sessions(lambda: MORNING)
    cookies = [sessions.cookie(sessions.begin("acme", "boss")).partition(";")[0] for _ in range(3)]
    assert sessions.find(cookies[0]) is not None
    sessions.begin("acme", "boss")
    assert sessions.find(cookies[1]) is None
    assert sessions.find(cookies[0]) is not None
