"""Names that the service answers to, links that strangers cannot choose, and headers that protect every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.errors import Invalid
from promenade.log import request_fields
from promenade.settings import Settings, SettingsError
from promenade.web.http.endpoint import Edge
from promenade.web.http.protection import Hosts, Protection
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.web.conftest import Shop, basket


def test_a_request_for_a_foreign_name_is_refused_before_anything_reads_it(shop: Shop) -> None:
    for path in ("/health", "/", "/api/v1/Articles", "/oauth/token", "/nothing"):
        answer = shop.http.get(path, headers={"host": "evil.example"})

        assert answer.status_code == 421, path
        assert answer.json()["error"]["code"] == "UNKNOWN_HOST"
        assert "evil" not in answer.text
        assert answer.headers["x-correlation-id"]


@pytest.mark.parametrize(
    ("host", "has"),
    [
        ("shop.example", True),
        ("SHOP.example.:8443", True),
        ("more.example:80", True),
        ("full.machine.example", True),
        ("localhost:1", True),
        ("192.168.7.8:8080", True),
        ("[2001:db8::1]:8080", True),
        ("[::1]", True),
        ("evil.example", False),
        ("shop.example.evil.example", False),
        ("evil.example/shop.example", False),
        ("shop.example, evil.example", False),
        ("[evil", False),
        ("[shop.example]", False),
        ("", False),
        ("shop.example:x", False),
        ("shop.example:0", False),
        ("[::1]:99999", False),
        ("shop@evil.example", False),
    ],
)
async def test_its_names_are_its_own_and_those_of_the_settings(host: str, has: bool) -> None:
    asked: list[str] = []

    def full_name() -> str:
        asked.append(host)
        return "Full.Machine.example"

    hosts = Hosts(["shop.example", "More.example"], full_name)
    for _ in range(2):
        assert await hosts.has(host.encode()) is has
    assert len(asked) <= 1, "the name server is asked once"
    assert await Hosts(["*"], full_name).has(host.encode() or b"any")


@pytest.mark.parametrize("name", ["https://shop.example", "shop.example:80", "a b", "", "-a", "a..b", "*.example"])
def test_a_name_that_no_request_could_have_is_refused_at_the_start(name: str) -> None:
    with pytest.raises(SettingsError, match="--allowed-host must be a host name"):
        Settings(allowed_hosts=(name,))


async def test_an_error_that_no_route_has_answered_is_ours_and_not_the_callers() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise Invalid("UNEXPECTED", "what is inside")

    transport = httpx2.ASGITransport(Edge(broken, lambda: "id"))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.get("/x")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "INTERNAL_ERROR")
    assert "inside" not in answer.text
    assert request_fields() == {}


async def test_the_settings_name_hosts() -> None:
    settings = Settings(public_url="https://shop.example/prices", allowed_hosts=("inner", "pod-1.svc"), host="till")
    hosts = Protection.of(settings).hosts
    found = [await hosts.has(host) for host in (b"shop.example", b"inner:80", b"pod-1.svc", b"till", b"svc")]
    assert found == [True, True, True, False, False]


def test_links_begin_with_the_public_address_whatever_host_was_asked(shop: Shop, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"public_url": "https://shop.example/prices"}
    with InProcess(shop.copied_database(tmp_path), has_worker=False, **settings) as service, service.client() as client:
        client_id, secret = shop.clients["planner"]
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        token = client.post("/oauth/token", data=form).json()["access_token"]
        for host in ("shop.example", "127.0.0.1:8080"):
            answer = client.get("/api/v1/Promotions", headers={"host": host, "authorization": f"Bearer {token}"})

            assert answer.status_code == 200, answer.text
            assert answer.json()["@context"] == "https://shop.example/prices/api/v1/$metadata#Promotions"
            assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_hosts_below_it_are_reached_by_https_alone_if_the_operator_says_so() -> None:
    settings = Settings(public_url="https://shop.example", hsts_subdomains=True)
    sent = dict(Protection.of(settings).added(200, []))
    assert sent[b"strict-transport-security"] == b"max-age=31536000; includeSubDomains"
    for url in (None, "http://shop.example"):
        with pytest.raises(SettingsError, match="--hsts-subdomains needs a --public-url"):
            Settings(public_url=url, hsts_subdomains=True)


def test_no_page_of_another_origin_reads_an_answer(shop: Shop) -> None:
    origin = {"origin": "https://other.example", "access-control-request-method": "GET"}
    token = {"authorization": f"Bearer {shop.token()}"}
    for method in ("GET", "OPTIONS"):
        for path in (
            "/",
            "/health",
            "/pos/openapi.json",
            "/pos/heartbeat",
            "/api/v1/Articles",
            "/oauth/token",
            "/ui/me",
        ):
            found = shop.http.request(method, path, headers={**origin, **token}).headers
            assert not [name for name in found if name.startswith("access-control-")], path


def test_every_answer_is_protected(shop: Shop) -> None:
    paths = ("/", "/health", "/nothing", "/pos/docs", "/pos/openapi.json", "/api/v1/Articles", "/ui/x", "/oauth/token")
    for path in paths:
        answer = shop.http.get(path)

        found = answer.headers
        assert found["x-content-type-options"] == "nosniff", path
        assert found["referrer-policy"] == "no-referrer", path
        assert found["cross-origin-resource-policy"] == "same-origin", path
        policy = dict(one.split(" ", 1) for one in found["content-security-policy"].split("; "))
        nothing = ("default-src", "base-uri", "frame-ancestors")  # without object-src, default-src is that of plugins
        assert {policy[name] for name in nothing} == {"'none'"}, path
        assert policy.keys() >= {"form-action"}, path
        assert "unsafe" not in policy.get("script-src", ""), path
        assert found["cache-control"], path
        assert len(found.get_list("cache-control")) == 1, path
        assert "strict-transport-security" not in found, "it is reached by http"
        for method in ("TRACE", "TRACK"):
            echoed = shop.http.request(method, path, headers={"x-secret": "sesame"})
            assert echoed.status_code in {400, 401, 404, 405}, (method, path, echoed.status_code)
            assert "sesame" not in echoed.text
    priced = shop.call("/pos/v2/evaluate", basket())
    assert priced.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("settings", [{"public_url": "https://shop.example"}, {"trusted_proxies": ("127.0.0.1",)}])
def test_metrics_behind_a_proxy_need_their_token(databases: Databases, settings: dict[str, Any]) -> None:
    url = databases.create("sqlite")
    with InProcess(url, has_worker=False, metrics_token="sesame", **settings) as service, service.client() as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"authorization": "Bearer sesame"}).status_code == 200


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "x-forwarded-proto", "x-real-ip", "forwarded", "via", "cf-connecting-ip", "host"]
)
def test_metrics_are_closed_to_what_a_proxy_on_this_machine_passes_on(shop: Shop, header: str) -> None:
    assert shop.http.get("/metrics").status_code == 200
    assert shop.http.get("/metrics", headers={header: "192.0.2.7"}).status_code == 401


def test_liveness_asks_nothing_and_readiness_asks_the_database(databases: Databases) -> None:
    url = databases.create("postgresql")
    with InProcess(url, has_worker=False) as service, service.client() as client:
        assert (client.get("/health/live").status_code, client.get("/health/live").json()) == (200, {"status": "UP"})
        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "UP")
        assert set(ready.json()) == set(client.get("/health").json())

        databases.drop(url)

        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["checks"]["database"]["status"]) == (503, "DOWN")
        assert client.get("/health").status_code == client.get("/health/live").status_code == 200
