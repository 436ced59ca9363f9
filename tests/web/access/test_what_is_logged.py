"""Who got in and who did not is in the log, with where they came from, and without what they must not tell anybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from promenade.store.driver.session import open_database
from promenade.web.http import refusals
from promenade.web.http.refusals import LINES_MAX, Refusals, Served
from promenade.workflows.access.people import invite_person
from tests.kit.code_flow import Flow, answered
from tests.kit.databases import Databases
from tests.kit.processes import until
from tests.kit.service import Service
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT, run

ROLES = {"till": ("svc.POSReader",), "planner": ("svc.PromotionManager",), "erp": ("PublicApi.Read",)}
HERE = "127.0.0.1"
PASSWORD = "correct horse"


@dataclass
class Watched:
    """A service whose log is read."""

    service: Service
    database_url: str
    http: httpx2.Client
    clients: dict[str, tuple[str, str]]

    def token(self, role: str, **changes: str) -> httpx2.Response:
        client_id, secret = self.clients[role]
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret, **changes}
        return self.http.post("/oauth/token", data=form)

    def ask(self, role: str | None, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """Send a request whose lines `lines` can find."""
        given = {"x-correlation-id": (correlation_id := uuid4().hex)} | headers
        if role is not None:
            given["authorization"] = f"Bearer {self.token(role).json()['access_token']}"
        answer = self.http.request(method, path, json=body, headers=given)
        assert answer.headers["x-correlation-id"] == correlation_id
        return answer

    def lines(self, answer: httpx2.Response) -> list[dict[str, Any]]:
        """Return the lines about the request of an answer, without what every line has."""
        wanted, later = answer.headers["x-correlation-id"], uuid4().hex
        # A line may follow its answer; that of the next request of the same connection follows both.
        form = dict(zip(("client_id", "client_secret"), self.clients["erp"], strict=True))
        form["grant_type"] = "client_credentials"
        assert self.http.post("/oauth/token", data=form, headers={"x-correlation-id": later}).status_code == 200
        until(lambda: later in self.service.output())
        found = [json.loads(line) for line in self.service.output().splitlines()]
        own = [line for line in found if line.get("correlation_id") == wanted]
        usual = ("timestamp", "correlation_id", "logger")
        return [{name: value for name, value in line.items() if name not in usual} for line in own]


@pytest.fixture(scope="module")
def watched(databases: Databases, logs: Path) -> Iterator[Watched]:
    url = databases.create("sqlite")
    clients = make_clients(url, TENANT, ROLES, is_new=True)
    service = Service(logs / "what-is-logged.log", "--database-url", url, "--log-format", "json").start()
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        yield Watched(service, url, http, clients)
    service.kill()
    databases.drop(url)


def test_who_gets_a_token_and_who_does_not(watched: Watched) -> None:
    client = watched.clients["till"][0]
    assert watched.lines(watched.token("till")) == [
        {"level": "info", "event": "token.issued", "client": client, "tenant": TENANT, "address": HERE}
    ]
    refused = watched.lines(watched.token("till", client_secret="wrong"))
    assert refused[0] == {"level": "warning", "event": "token.refused", "client": client, "address": HERE}
    assert refused[1]["event"] == "request.refused"


@pytest.mark.parametrize(
    ("role", "method", "path", "missing"),
    [
        ("till", "GET", "/admin/Promotions", "svc.Admin or svc.PromotionManager or svc.BudgetManager"),
        ("planner", "POST", "/pos/v2/evaluate", "svc.POSReader or svc.Admin"),
        ("erp", "POST", "/api/v1/Articles", "PublicApi.Write"),
        ("erp", "POST", "/api/v1/Articles:bulk-import", "PublicApi.Write"),
    ],
)
def test_who_asks_for_what_they_may_not(watched: Watched, role: str, method: str, path: str, missing: str) -> None:
    answer = watched.ask(role, method, path, {})
    assert answer.status_code == 403
    client = watched.clients[role][0]
    (line,) = watched.lines(answer)
    assert set(line.pop("missing").split(" or ")) == set(missing.split(" or "))
    assert line.pop("route") in {path, path.replace("Articles:", "{entity}:")}
    assert line == {
        "level": "warning", "event": "request.refused", "status": 403, "method": method, "address": HERE,
        "tenant": TENANT, "client": client, "user": client,
    }  # fmt: skip


def test_a_part_of_a_batch_that_is_refused_is_no_secret(watched: Watched) -> None:
    parts = [
        {"id": "1", "method": "GET", "url": "Promotions?$top=1"},
        {"id": "2", "method": "POST", "url": "Budgets", "body": {}},
    ]
    answer = watched.ask("planner", "POST", "/admin/$batch", {"requests": parts})
    assert [one["status"] for one in answer.json()["responses"]] == [200, 403]
    (line,) = watched.lines(answer)
    assert (line["event"], line["status"], line["client"]) == ("request.refused", 200, watched.clients["planner"][0])
    assert "svc.Admin" in line["missing"]


def test_who_shows_no_credential_or_calls_another_host(watched: Watched) -> None:
    (line,) = watched.lines(watched.ask(None, "GET", "/api/v1/Articles?$filter=name%20eq%20'x'"))
    assert line == {
        "level": "warning", "event": "request.refused", "status": 401, "method": "GET", "route": "/api/v1/Articles",
        "address": HERE,
    }  # fmt: skip
    forged = watched.ask(None, "GET", "/api/v1/Articles", authorization="Bearer a.b.c")
    assert [one["status"] for one in watched.lines(forged)] == [401]
    (line,) = watched.lines(watched.ask(None, "GET", "/", host="evil.example"))
    assert (line["status"], line["route"]) == (421, "unmatched")


def test_what_is_allowed_or_merely_wrong_is_no_refusal(watched: Watched) -> None:
    for answer in (
        watched.ask("erp", "GET", "/api/v1/Articles?$top=1"),
        watched.ask("till", "POST", "/pos/v2/evaluate", {}),
    ):
        assert answer.status_code in {200, 400}
        assert watched.lines(answer) == []


def test_people_who_sign_in_or_try_to(watched: Watched) -> None:
    async def invite() -> str:
        database = await open_database(watched.database_url)
        try:
            return await invite_person(
                database, TENANT, "rosa", scopes=["svc.Admin"], new_id=lambda: str(uuid4()), at=datetime.now(UTC)
            )
        finally:
            await database.close()

    secret = run(invite())
    form = {"password": PASSWORD, "repeated": PASSWORD}
    accepted = watched.http.post(f"/oauth/invitation?secret={secret}", data=form)
    who = {"user": "rosa", "tenant": TENANT, "address": HERE}
    assert watched.lines(accepted) == [{"level": "info", "event": "invitation.accepted", **who}]
    again = watched.lines(watched.http.get(f"/oauth/invitation?secret={secret}"))
    assert again == [{"level": "warning", "event": "invitation.refused", "address": HERE}]

    flow = Flow(watched.http)
    wrong = [(one["level"], one["event"]) for one in watched.lines(flow.log_in("rosa", "guessed-secret"))]
    assert wrong == [("warning", "login.refused"), ("warning", "sign_in.refused"), ("warning", "request.refused")]
    right = flow.log_in("rosa", PASSWORD)
    assert watched.lines(right) == [
        {"level": "info", "event": "sign_in.done", "client": "rosa", "tenant": TENANT, "address": HERE}
    ]
    redeemed = flow.redeem(answered(right)["code"])
    assert [one["event"] for one in watched.lines(redeemed)] == ["token.issued"]

    own = {"authorization": f"Bearer {redeemed.json()['access_token']}"}
    for password, level, event in (
        ("guessed-secret", "warning", "password.refused"),
        (PASSWORD, "info", "password.changed"),
    ):
        body = {"password": password, "newPassword": "zwei blaue Pferde"}
        changed = watched.http.post("/oauth/password", json=body, headers=own)
        assert watched.lines(changed) == [{"level": level, "event": event, **who}]

    logged = watched.service.output()
    shown = (
        secret,
        PASSWORD,
        "zwei blaue Pferde",
        "guessed-secret",
        redeemed.json()["access_token"],
        answered(right)["code"],
    )
    cookies = [one.value for one in watched.http.cookies.jar]
    secrets = [*shown, *cookies, *(one[1] for one in watched.clients.values())]
    assert cookies
    assert not [one for one in secrets if one and one in logged]


def test_refusals_fill_no_disk_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[dict[str, Any]] = []

    class Lines:
        def warning(self, event: str, **fields: Any) -> None:
            written.append(fields)

    monkeypatch.setattr(refusals, "_log", Lines())
    now = 100.0
    told = Refusals(lambda: now)

    def refuse() -> None:
        told.tell(Served(), status=401, method="GET", route="/", address=HERE)

    for _ in range(10_000):
        refuse()
    assert len(written) == LINES_MAX
    assert all("left_out" not in one for one in written)
    now += 60 / LINES_MAX
    refuse()
    refuse()
    assert len(written) == LINES_MAX + 1
    assert written[-1]["left_out"] == 10_000 - LINES_MAX
    now += 600
    refuse()
    assert written[-1]["left_out"] == 1
