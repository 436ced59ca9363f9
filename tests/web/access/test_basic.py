"""HTTP Basic for readers: where a tenant lets them in, clients that may only read do so by ID and secret."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from promenade.ids import new_id
from promenade.store.driver.session import open_database
from promenade.web.access import basic
from promenade.workflows.access.clients import create_client, delete_client, rotate_client
from promenade.workflows.access.tenants import create_tenant, set_tenant
from tests.kit.api_client import SECRET
from tests.kit.databases import DIALECTS, Databases
from tests.kit.in_process import InProcess
from tests.web.conftest import run

OPENED = datetime(2026, 7, 1, 10, tzinfo=UTC)
OPEN, SHUT = "acme", "globex"
SCOPES = {
    "reader": (OPEN, ("PublicApi.Read",)),
    "analyst": (OPEN, ("svc.ReportReader", "PublicApi.Read")),
    "writer": (OPEN, ("PublicApi.Read", "PublicApi.Write")),
    "controller": (OPEN, ("svc.BudgetManager",)),
    "stranger": (SHUT, ("PublicApi.Read",)),
}
ROWS = "/api/v1/Articles"
LIST, REPORT = "/api/v1/Articles?$select=name&$format=csv", "/reporting/PromotionPerformance?$format=csv"


@dataclass
class Desk:
    """A served database whose clock the test turns."""

    http: httpx2.Client
    database_url: str
    at: list[datetime] = field(default_factory=lambda: [OPENED])

    def get(self, path: str, client: str, secret: str = SECRET, method: str = "GET", **more: Any) -> httpx2.Response:
        given = base64.b64encode(f"{client}:{secret}".encode()).decode()
        return self.http.request(method, path, headers={"Authorization": f"Basic {given}"}, **more)

    def status(self, path: str, client: str, secret: str = SECRET) -> int:
        return self.get(path, client, secret).status_code

    def later(self, seconds: float) -> None:
        self.at[0] += timedelta(seconds=seconds)

    def change(self, work: Any) -> None:
        async def opened() -> None:
            database = await open_database(self.database_url)
            try:
                await work(database)
            finally:
                await database.close()

        run(opened())

    def switch(self, tenant: str, *, on: bool) -> None:
        settings = {"basicForReaders": str(on).lower()}
        self.change(lambda one: set_tenant(one, tenant, settings, at=self.at[0], user="tests", new_id=new_id))


@pytest.fixture(params=DIALECTS)
def desk(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Desk]:
    database_url = databases.create(request.param)

    async def furnish(database: Any) -> None:
        for tenant in (OPEN, SHUT):
            await create_tenant(database, tenant, settings={}, at=OPENED, user="tests")
        for name, (tenant, scopes) in SCOPES.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=OPENED)

    at = [OPENED]
    Desk(httpx2.Client(), database_url).change(furnish)
    with InProcess(database_url, has_worker=False, clock=lambda: at[0]) as service, service.client() as http:
        desk = Desk(http, database_url, at)
        desk.switch(OPEN, on=True)
        yield desk
    databases.drop(database_url)


def _refusal(answer: httpx2.Response) -> tuple[int, str]:
    body = answer.json()
    return answer.status_code, body.get("code") or body["error"]["code"]


def test_readers_read_what_their_scopes_open(desk: Desk) -> None:
    assert desk.get(LIST, "reader").content == "\ufeffname\r\n".encode()
    assert desk.status("/api/v1/$metadata", "reader") == 200
    assert desk.status(LIST, "analyst") == 200
    assert desk.get(REPORT, "analyst").headers["content-type"] == "text/csv; charset=utf-8"
    assert _refusal(desk.get(REPORT, "reader")) == (403, "MISSING_SCOPE")
    assert desk.get(LIST, "reader", method="HEAD").status_code == 200


@pytest.mark.parametrize(("client", "path"), [("writer", LIST), ("controller", REPORT), ("stranger", LIST)])
def test_who_may_write_and_whose_tenant_has_it_off_is_refused(desk: Desk, client: str, path: str) -> None:
    answer = desk.get(path, client)
    assert _refusal(answer) == (403, "BASIC_NOT_ALLOWED")
    assert "www-authenticate" not in answer.headers


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "PUT"])
@pytest.mark.parametrize("path", ["/api/v1/Articles", "/api/v1/$batch", "/reporting/exportList", "/reporting/$batch"])
def test_nothing_but_reading_is_done_by_it(desk: Desk, method: str, path: str) -> None:
    assert _refusal(desk.get(path, "analyst", method=method, json={})) == (403, "BASIC_NOT_ALLOWED")


@pytest.mark.parametrize("path", ["/admin/Articles", "/pos/$metadata", "/sync/promotions", "/api/v1/jobs/1"])
def test_other_services_do_not_take_it(desk: Desk, path: str) -> None:
    answer = desk.get(path, "analyst")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("given", ["", "!", "cmVhZGVy", "/w==", "A" * 4096])
def test_what_is_no_secret_is_refused_with_a_challenge(desk: Desk, given: str) -> None:
    answer = desk.http.get(LIST, headers={"Authorization": f"Basic {given}"})
    assert _refusal(answer) == (401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"] == 'Basic realm="promenade", charset="UTF-8"'
    assert desk.http.get(LIST).headers["www-authenticate"].startswith("Bearer")


def test_wrong_secrets_are_throttled_as_at_the_token_endpoint(desk: Desk) -> None:
    assert desk.status(LIST, "reader", "wrong") == 401
    assert desk.status(LIST, "nobody", SECRET) == 401
    for _ in range(9):
        assert desk.status(LIST, "reader", "wrong") == 401
    refused = desk.get(LIST, "reader", "wrong")
    assert _refusal(refused) == (429, "TOO_MANY_ATTEMPTS")
    assert int(refused.headers["retry-after"]) > 0
    form = {"grant_type": "client_credentials", "client_id": "reader", "client_secret": SECRET}
    assert desk.http.post("/oauth/token", data={**form, "client_secret": "wrong"}).status_code == 429
    assert desk.http.post("/oauth/token", data=form).status_code == 200
    assert desk.status(LIST, "reader", SECRET) == desk.status(LIST, "analyst") == 200


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What was looked up, and not remembered."""
    found: list[bytes] = []
    known = basic._read

    def noted(given: bytes) -> tuple[str, str]:
        found.append(given)
        return known(given)

    monkeypatch.setattr(basic, "_read", noted)
    return found


def test_a_secret_is_looked_up_once_in_half_a_minute(desk: Desk, looked: list[bytes]) -> None:
    for seconds, times in ((0, 1), (29, 1), (2, 2), (29, 2), (2, 3)):
        desk.later(seconds)
        assert desk.status(LIST, "reader") == 200
        assert len(looked) == times


@pytest.mark.parametrize("end", ["deleted", "withdrawn", "switched off"])
def test_whoever_is_shut_out_stops_within_a_minute(desk: Desk, end: str) -> None:
    assert desk.status(LIST, "reader") == 200
    if end == "deleted":
        desk.change(lambda one: delete_client(one, "reader"))
    elif end == "withdrawn":
        desk.change(lambda one: rotate_client(one, "reader", "x" * 43, at=desk.at[0], withdraws=True))
    else:
        desk.switch(OPEN, on=False)
    desk.later(basic.SECONDS_KEPT + 0.1)
    assert desk.status(LIST, "reader") == (403 if end == "switched off" else 401)


def test_only_so_many_secrets_are_remembered(desk: Desk, looked: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basic, "_KEPT_MAX", 1)
    for client in ("reader", "analyst", "reader"):
        assert desk.status(LIST, client) == 200
    assert len(looked) == 3


def test_the_limits_of_clients_count_these_requests(desk: Desk) -> None:
    with (
        InProcess(desk.database_url, has_worker=False, clock=lambda: desk.at[0], rate_limit_client=2) as service,
        service.client() as http,
    ):
        limited = Desk(http, desk.database_url, desk.at)
        assert [limited.status(ROWS, "reader") for _ in range(2)] == [200, 200]
        assert _refusal(limited.get(ROWS, "reader")) == (429, "RATE_LIMITED")
