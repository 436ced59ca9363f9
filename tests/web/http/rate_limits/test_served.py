"""A rate limit as its callers see it: 429 in the error format of their API, and no effect on anyone else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.store.driver.session import open_database
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import Databases
from tests.kit.service import Service
from tests.web.access.mtls.conftest import Issuer, OpenDoor, issuer, open_door
from tests.web.access.mtls.peers import SOAP, Kept
from tests.web.conftest import basket, run

__all__ = ["issuer", "open_door"]

OF_CLIENT, OF_TENANT = 2, 3  # one more fits after twenty seconds at the earliest
LIMITS = ("--rate-limit-client", str(OF_CLIENT), "--rate-limit-tenant", str(OF_TENANT))
CLIENTS = {
    "till": ("svc.POSReader",),
    "erp": ("PublicApi.Read", "PublicApi.Write"),
    "desk": ("svc.Admin",),
    "store": ("svc.Sync",),
}
TENANTS = [f"tenant-{number}" for number in range(8)]


class Caller(ApiClient):
    root = ""
    usual = "till"


class Chain:
    """A service with small limits and tenants that have made no requests yet."""

    def __init__(self, service: Service, http: httpx2.Client) -> None:
        self.service = service
        self.http = http
        self._unused = iter(TENANTS)

    def tenant(self) -> tuple[str, Callable[..., httpx2.Response]]:
        """Return a tenant for the test, and a function for its clients' calls."""
        name = next(self._unused)
        caller = Caller(http=self.http)

        def call(client: str, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
            return caller.call(method, path, body, client=f"{name}-{client}", **headers)

        return name, call


async def make(url: str) -> None:
    database = await open_database(url)
    at = datetime.now(UTC)
    try:
        for tenant in TENANTS:
            await create_tenant(database, tenant, settings={}, at=at, user="tests")
            for name, scopes in CLIENTS.items():
                await create_client(
                    database, client_id=f"{tenant}-{name}", secret=SECRET, tenant_id=tenant, scopes=scopes, at=at
                )
    finally:
        await database.close()


@pytest.fixture(scope="module")
def chain(databases: Databases, logs: Path) -> Iterator[Chain]:
    url = databases.create("sqlite")
    run(make(url))
    service = Service(logs / "rate-limits.log", "--database-url", url, *LIMITS).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield Chain(service, http)
    service.kill()
    databases.drop(url)


def counted(chain: Chain, tenant: str) -> dict[str, float]:
    """Return the metric's values for a tenant, by whose limit was hit."""
    text = chain.http.get("/metrics").text
    found = re.findall(rf'^svc_rate_limited_total{{scope="(\w+)",tenant="{tenant}"}} (\S+)', text, re.MULTILINE)
    return {scope: float(value) for scope, value in found}


SURFACES = [
    ("till", "POST", "/pos/v2/simulate", "odata"),
    ("till", "GET", "/pos/heartbeat", "odata"),
    ("desk", "GET", "/admin/Promotions", "odata"),
    ("erp", "GET", "/api/v1/Promotions", "problem"),
    ("erp", "GET", "/api/v1/jobs/0b000000-0000-4000-8000-000000000001", "problem"),
]


@pytest.mark.parametrize(("client", "method", "path", "form"), SURFACES, ids=str)
def test_beyond_the_limit_the_answer_is_429_in_the_format_of_the_api(
    chain: Chain, client: str, method: str, path: str, form: str
) -> None:
    tenant, call = chain.tenant()
    body = basket() if method == "POST" else None
    answers = [call(client, method, path, body) for _ in range(OF_CLIENT + 2)]
    assert 429 not in {answer.status_code for answer in answers[:OF_CLIENT]}
    for answer in answers[OF_CLIENT:]:
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        told = answer.json()
        if form == "problem":
            assert answer.headers["content-type"] == "application/problem+json"
            assert (told["status"], told["code"]) == (429, "RATE_LIMITED")
        else:
            assert told["error"]["code"] == "RATE_LIMITED"
    assert counted(chain, tenant) == {"client": 2}


def test_clients_of_a_tenant_share_its_limit_and_other_tenants_do_not(chain: Chain) -> None:
    tenant, call = chain.tenant()
    _, foreign = chain.tenant()
    by_till = [call("till", "GET", "/pos/heartbeat").status_code for _ in range(OF_CLIENT)]
    by_erp = [call("erp", "GET", "/api/v1/Promotions").status_code for _ in range(OF_CLIENT)]
    assert by_till == [200] * OF_CLIENT
    assert by_erp == [200] * (OF_TENANT - OF_CLIENT) + [429] * (2 * OF_CLIENT - OF_TENANT)
    assert counted(chain, tenant) == {"tenant": 2 * OF_CLIENT - OF_TENANT}
    assert foreign("till", "GET", "/pos/heartbeat").status_code == 200


def test_public_and_unauthenticated_requests_are_not_counted(chain: Chain) -> None:
    _, call = chain.tenant()
    open_to_all = ("/health", "/metrics", "/.well-known/jwks.json", "/.well-known/openid-configuration", "/pos/docs")
    for _ in range(2 * OF_TENANT):
        for path in open_to_all:
            assert chain.http.get(path).status_code in {200, 404}
        forged = {"authorization": "Bearer a.b.c"}
        assert chain.http.get("/pos/heartbeat", headers=forged).status_code == 401
    form = {"grant_type": "client_credentials", "client_id": f"{TENANTS[0]}-till", "client_secret": SECRET}
    assert {chain.http.post("/oauth/token", data=form).status_code for _ in range(2 * OF_TENANT)} == {200}
    assert call("till", "GET", "/pos/heartbeat").status_code == 200


def test_certificate_clients_get_429_as_a_soap_fault_or_a_problem(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"], *LIMITS)
    with Kept(door, erp) as connection:
        for _ in range(OF_CLIENT):
            assert connection.post()[0] == 202
        status, fault = connection.post(b"<x/>", SOAP, {"content-type": "text/xml"})
        assert status == 429
        assert "<faultcode>soap:Client</faultcode>" in fault
        status, problem = connection.post()
        assert (status, problem["code"]) == (429, "RATE_LIMITED")
