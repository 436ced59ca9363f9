"""Signing in to the back office at the built-in issuer: code and PKCE (RFC 6749, 7636, 9207), on both databases."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.kit.code_flow import Flow, answered, new_verifier
from tests.kit.contents import contents
from tests.kit.databases import Databases
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service, promenade
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT

BY_CLOCK = (sys.executable, "-m", "tests.kit.moved_clock")
WORKERS = {"sqlite": 1, "postgresql": 3}


@dataclass
class Door:
    """A served issuer, with several processes on PostgreSQL; ``clients`` are ID and secret by role."""

    service: Service
    database_url: str
    http: httpx2.Client
    clock: MovedClock
    clients: dict[str, tuple[str, str]]

    def flow(self) -> Flow:
        return Flow(self.http)

    def code(self, flow: Flow, role: str = "planner") -> str:
        return flow.code(*self.clients[role])


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def door(
    request: pytest.FixtureRequest, databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Door]:
    database_url = databases.create(request.param)
    roles = {
        "administrator": ("svc.Admin", "PublicApi.Read"),
        "planner": ("svc.PromotionManager",),
        "controller": ("svc.BudgetManager",),
        "till": ("svc.POSReader",),
        "removed": ("svc.Admin",),
        "guessed": ("svc.Admin",),
        "copied": ("svc.Admin",),
    }
    clients = make_clients(database_url, TENANT, roles, is_new=True)
    clock_file = tmp_path_factory.mktemp("clock") / "clock"
    clock = MovedClock(clock_file)
    service = Service(
        logs / f"sign-in-{request.param}.log",
        *("--database-url", database_url, "--workers", str(WORKERS[request.param])),
        command=BY_CLOCK,
        env={"CLOCK_FILE": str(clock_file)},
    ).start()
    # One connection per request, which any of the processes may accept.
    limits = httpx2.Limits(max_keepalive_connections=0)
    with httpx2.Client(base_url=service.url, timeout=30, limits=limits) as http:
        yield Door(service, database_url, http, clock, clients)
    service.kill()
    databases.drop(database_url)


def require_clock(door: Door) -> None:
    if door.database_url.startswith("postgresql"):
        pytest.skip(
            "several processes go by the machine's clock; see tests/workflows/access/test_authorization_codes.py"
        )


@pytest.mark.parametrize("role", ["administrator", "planner", "controller"])
def test_a_login_returns_a_code_that_is_exchanged_for_the_clients_token(door: Door, role: str) -> None:
    flow = door.flow()
    assert flow.show().status_code == 200
    answer = flow.log_in(*door.clients[role])
    assert (answer.status_code, answer.content) == (303, b"")
    where, _, _ = answer.headers["location"].partition("?")
    assert where == f"{door.service.url}/"
    given = answered(answer)
    assert set(given) == {"code", "state", "iss"}
    assert (given["state"], given["iss"]) == (flow.state, door.service.url)
    token = flow.redeem(given["code"])
    assert token.status_code == 200, token.text
    assert token.headers["cache-control"] == "no-store"
    body = token.json()
    assert set(body) == {"access_token", "token_type", "expires_in", "scope"}
    keys = KeySet.import_key_set(door.http.get("/.well-known/jwks.json").json())
    claims = jwt.decode(body["access_token"], keys, algorithms=["RS256"]).claims
    assert (claims["sub"], claims["client_id"], claims["zid"]) == (door.clients[role][0],) * 2 + (TENANT,)
    me = door.http.get("/ui/me", headers={"authorization": f"Bearer {body['access_token']}"})
    assert (me.status_code, me.json()["user"], me.json()["tenantId"]) == (200, door.clients[role][0], TENANT)
    assert " ".join(sorted(body["scope"].split())) == " ".join(me.json()["scopes"])


def test_a_code_is_valid_for_one_request_in_any_process(door: Door) -> None:
    for _ in range(5):
        flow = door.flow()
        code = door.code(flow)
        with ThreadPoolExecutor(8) as browsers:
            statuses = list(browsers.map(lambda _: flow.redeem(code).status_code, range(8)))  # noqa: B023
        assert sorted(statuses) == [200] + [400] * 7


def test_a_code_that_is_shown_again_ends_what_it_gave(door: Door) -> None:
    flow = door.flow()
    code = door.code(flow, "copied")
    given = flow.redeem(code).json()["access_token"]
    assert flow.redeem(code).status_code == 400
    headers = {"authorization": f"Bearer {given}"}
    assert door.http.get("/ui/me", headers=headers).status_code == 401
    again = door.flow()
    renewed = again.redeem(door.code(again, "copied")).json()["access_token"]
    assert door.http.get("/ui/me", headers={"authorization": f"Bearer {renewed}"}).status_code == 200
    assert door.http.get("/ui/me", headers=headers).status_code == 401


def test_a_code_is_valid_for_a_minute(door: Door) -> None:
    require_clock(door)
    flow = door.flow()
    code = door.code(flow)
    door.clock.move(seconds=59)
    assert flow.redeem(code).status_code == 200
    code = door.code(flow)
    door.clock.move(seconds=61)
    late = flow.redeem(code)
    assert (late.status_code, late.json()["error"]) == (400, "invalid_grant")


def test_a_clock_that_is_set_back_lets_no_code_live_longer(door: Door) -> None:
    require_clock(door)
    flow = door.flow()
    code = door.code(flow)
    door.clock.move(seconds=-120)
    assert flow.redeem(code).status_code == 400


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "https://elsewhere.example/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"client_id": "somebody"}, "invalid_grant"),
        ({"client_id": None}, "invalid_request"),
        ({"code": None}, "invalid_request"),
    ],
    ids=str,
)
def test_a_code_is_bound_to_the_request_that_it_was_made_for(
    door: Door, changes: dict[str, str | None], error: str
) -> None:
    flow = door.flow()
    code = door.code(flow)
    answer = flow.redeem(code, **changes)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_a_wrong_verifier_invalidates_the_code(door: Door) -> None:
    flow = door.flow()
    code = door.code(flow)
    assert flow.redeem(code, code_verifier=new_verifier()).status_code == 400
    assert flow.redeem(code).status_code == 400


def test_the_challenge_is_not_accepted_as_the_verifier(door: Door) -> None:
    """If the method could be downgraded to `plain`, the challenge visible in the URL would suffice to sign in."""
    flow = door.flow()
    code = door.code(flow)
    challenge = dict(part.split("=") for part in flow.query().split("&"))["code_challenge"]
    assert flow.redeem(code, code_verifier=challenge).status_code == 400


def test_the_back_office_shows_no_secret(door: Door) -> None:
    flow = door.flow()
    code = door.code(flow)
    with_secret = flow.redeem(code, client_secret="guess")
    assert (with_secret.status_code, with_secret.json()["error"]) == (401, "invalid_client")
    by_header = flow.redeem(code, headers={"authorization": "Basic YmFjay1vZmZpY2U6"})
    assert by_header.status_code == 401
    assert by_header.headers["www-authenticate"].startswith("Basic ")  # RFC 6749, 5.2
    assert flow.redeem(code).status_code == 200  # neither request counted as an attempt


def test_a_client_that_was_removed_meanwhile_gets_no_token(door: Door) -> None:
    made = door.clients["removed"]
    flow = door.flow()
    code = flow.code(*made)
    promenade("client", "delete", made[0], "--database-url", door.database_url)
    assert flow.redeem(code).status_code == 400


def test_a_wrong_secret_shows_the_form_again_with_a_message(door: Door) -> None:
    client_id = door.clients["planner"][0]
    answer = door.flow().log_in(client_id, "guess")
    assert answer.status_code == 401
    assert "The user name, the password or the code is wrong." in answer.text
    assert f'value="{client_id}"' in answer.text
    assert "guess" not in answer.text


@pytest.mark.parametrize("pair", [("", ""), ("a\0b", "x"), ("nobody", "x"), ("é" * 300, "\ufffe")], ids=repr)
def test_unknown_clients_and_wrong_secrets_get_the_same_message(door: Door, pair: tuple[str, str]) -> None:
    answer = door.flow().log_in(*pair)
    assert answer.status_code == 401
    assert "The user name, the password or the code is wrong." in answer.text


def test_a_client_without_a_role_gets_the_name_of_the_missing_role(door: Door) -> None:
    answer = door.flow().log_in(*door.clients["till"])
    assert answer.status_code == 403
    assert "svc.Admin, svc.PromotionManager, svc.BudgetManager" in answer.text


def test_guessing_is_slowed_down_here_and_at_the_token_endpoint_together(door: Door) -> None:
    client_id, secret = door.clients["guessed"]
    asked = {"grant_type": "client_credentials", "client_id": client_id}
    if door.database_url.startswith("postgresql"):
        pytest.skip("without Redis each process counts for itself")
    statuses = [door.flow().log_in(client_id, f"guess-{number}").status_code for number in range(5)]
    statuses += [door.http.post("/oauth/token", data={**asked, "client_secret": "guess"}).status_code for _ in range(5)]
    assert statuses == [401] * 10
    right = door.flow().log_in(client_id, secret)
    assert right.status_code == 429
    assert int(right.headers["retry-after"]) > 0
    assert "Wait 60 seconds" in right.text
    assert door.http.post("/oauth/token", data={**asked, "client_secret": "guess"}).status_code == 429
    assert door.http.post("/oauth/token", data={**asked, "client_secret": secret}).status_code == 200
    assert door.flow().log_in(*door.clients["planner"]).status_code == 303  # others are not affected


def test_codes_and_secrets_are_neither_kept_nor_logged(door: Door) -> None:
    flow = door.flow()
    kept = door.code(flow)
    taken = door.code(flow, "administrator")
    token = flow.redeem(taken).json()["access_token"]
    door.flow().log_in("nobody", "guessed-secret")
    asked = {"grant_type": "client_credentials", "client_id": "x\nevent=made-up", "client_secret": "guessed-secret"}
    assert door.http.post("/oauth/token", data=asked).status_code == 401
    logged = door.service.output()
    secrets = [
        kept,
        taken,
        token,
        flow.verifier,
        flow.state,
        "guessed-secret",
        *(pair[1] for pair in door.clients.values()),
    ]
    assert not [one for one in secrets if one in logged]
    assert "sign_in.done" in logged
    assert "login.refused" in logged
    assert "token.refused" in logged
    assert not [line for line in logged.splitlines() if line.startswith("event=made-up")], "one event is one line"
    if door.database_url.startswith("sqlite"):
        stored = contents(door.database_url)
        assert "authorization_codes" in stored
        assert not [one for one in secrets if one in stored]


def test_unused_codes_are_deleted(door: Door) -> None:
    if not door.database_url.startswith("sqlite"):
        pytest.skip("one database is enough to look into")
    for _ in range(3):
        door.code(door.flow())
    door.clock.move(seconds=61)
    door.code(door.flow())
    with contextlib.closing(sqlite3.connect(door.database_url.removeprefix("sqlite:///"))) as connection:
        unused = "SELECT count(*) FROM authorization_codes WHERE challenge <> ''"
        assert connection.execute(unused).fetchone() == (1,)


def test_discovery_has_everything_that_standard_clients_need(door: Door) -> None:
    found = door.http.get("/.well-known/openid-configuration").json()
    assert found["authorization_endpoint"] == f"{door.service.url}/oauth/authorize"
    assert found["token_endpoint"] == f"{door.service.url}/oauth/token"
    assert found["response_types_supported"] == ["code"]
    assert found["code_challenge_methods_supported"] == ["S256"]
    assert set(found["grant_types_supported"]) == {"client_credentials", "authorization_code"}
    assert "none" in found["token_endpoint_auth_methods_supported"]
    assert found["authorization_response_iss_parameter_supported"] is True
    assert found["request_uri_parameter_supported"] is False  # if absent, it would default to true


def test_the_page_learns_where_to_sign_in(door: Door) -> None:
    answer = door.http.get("/ui/sign-in.json")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "edition": "cloud",
        "issuer": door.service.url,
        "clientId": "back-office",
        "authorizationEndpoint": "/oauth/authorize",
        "tokenEndpoint": "/oauth/token",
        "sessionEndpoint": "/oauth/session",
        "signOutEndpoint": "/oauth/sign-out",
        "namesIssuer": True,
    }
