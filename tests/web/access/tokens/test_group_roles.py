"""Groups of an outside issuer give the scopes that administrators say, in their tenant and from their issuer alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.settings import Settings, SettingsError
from tests.kit.databases import DIALECTS, Databases
from tests.kit.in_process import InProcess
from tests.kit.moved_clock import MovedClock
from tests.kit.tenants import make_tenants
from tests.web.access.tokens.conftest import Trusting
from tests.web.access.tokens.issuer import AUDIENCE, ISSUER, KeyServer, new_ec, new_rsa

OWN, OTHER = "acme", "globex"
ADMIN, PLANNER, TILL = "svc.Admin", "svc.PromotionManager", "svc.POSReader"
KNOWN_SECONDS = 31


@dataclass
class House(Trusting):
    """The service, and what tests do there."""

    def ask(self, method: str, path: str, body: Any = None, **claims: Any) -> httpx2.Response:
        """Send a request to administration: by default as an administrator by the token itself."""
        token = self.token(**{"zid": OWN, "sub": "rosa", "scope": ADMIN, **claims})
        return self.http.request(method, f"/admin/{path}", json=body, headers={"authorization": f"Bearer {token}"})

    def group(self, name: str, *scopes: str, tenant: str = OWN, **claims: Any) -> str:
        """Give a group scopes and return the ID; the service notices."""
        answer = self.ask("POST", "GroupRoles", {"groupName": name, "scopes": scopes}, zid=tenant, **claims)
        assert answer.status_code == 201, answer.text
        self.clock.move(seconds=KNOWN_SECONDS)
        return str(answer.json()["ID"])

    def scopes(self, groups: Any, **claims: Any) -> list[str] | int:
        """Return the scopes that somebody with these groups has here, or the status if none opens the back office."""
        token = self.token(**{"zid": OWN, "sub": "kim", "scope": None, "groups": groups, **claims})
        answer = self.http.get("/ui/me", headers={"authorization": f"Bearer {token}"})
        return answer.json()["scopes"] if answer.status_code == 200 else answer.status_code


@pytest.fixture(scope="module", params=DIALECTS)
def building(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, MovedClock, KeyServer, House]]:
    database_url = databases.create(request.param)
    make_tenants(database_url, OWN, OTHER)
    clock, rsa, ec = MovedClock(tmp_path_factory.mktemp("clock") / "clock"), new_rsa("rsa-1"), new_ec("ec-1")
    with KeyServer(rsa, ec) as keys:
        trust: dict[str, Any] = {"jwks_url": keys.url, "issuer": ISSUER, "audience": AUDIENCE}
        with InProcess(database_url, clock=clock, has_worker=False, **trust) as service, service.client() as http:
            yield database_url, clock, keys, House(http, keys, clock, rsa, ec)
    databases.drop(database_url)


@pytest.fixture
def house(building: tuple[str, MovedClock, KeyServer, House]) -> Iterator[House]:
    """The service without any groups."""
    house = building[3]
    yield house
    for tenant in (OWN, OTHER):
        for one in house.ask("GET", "GroupRoles", zid=tenant).json()["value"]:
            assert house.ask("DELETE", f"GroupRoles({one['ID']})", zid=tenant).status_code == 204
    house.clock.move(seconds=KNOWN_SECONDS)


def told(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_who_is_in_a_group_has_its_scopes_within_half_a_minute_and_as_long_as_it_has_them(house: House) -> None:
    assert house.scopes(["planners"]) == 403
    made = house.group("planners", PLANNER)
    assert house.scopes(["planners", "others"]) == [PLANNER]
    assert house.scopes(["others"]) == 403
    assert house.ask("PATCH", f"GroupRoles({made})", {"scopes": [PLANNER, TILL]}).status_code == 200
    house.clock.move(seconds=KNOWN_SECONDS)
    assert house.scopes(["planners"]) == [TILL, PLANNER]
    assert house.ask("DELETE", f"GroupRoles({made})").status_code == 204
    house.clock.move(seconds=KNOWN_SECONDS)
    assert house.scopes(["planners"]) == 403


def test_an_agent_gives_groups_no_scopes(house: House) -> None:
    made = house.group("planners", PLANNER)
    headers = {"authorization": f"Bearer {house.token(zid=OWN, sub='rosa', scope=ADMIN)}", "promenade-agent": "x"}
    for method, path, body in (
        ("POST", "GroupRoles", {"groupName": "agents", "scopes": [ADMIN]}),
        ("PATCH", f"GroupRoles({made})", {"scopes": [ADMIN]}),
        ("DELETE", f"GroupRoles({made})", None),
    ):
        assert told(house.http.request(method, f"/admin/{path}", json=body, headers=headers)) == (
            403, "AGENTS_GIVE_NO_ACCESS",
        )  # fmt: skip
    (row,) = house.ask("GET", "GroupRoles").json()["value"]
    assert (row["groupName"], row["scopes"]) == ("planners", [PLANNER])


def test_a_token_that_was_used_before_has_what_its_groups_have_now(house: House) -> None:
    token = {"authorization": f"Bearer {house.token(zid=OWN, scope=None, groups=['planners'])}"}
    found = []
    for scopes in ((PLANNER,), (ADMIN,)):
        made = house.group("planners", *scopes)
        found.append(house.http.get("/ui/me", headers=token).json()["scopes"])
        house.ask("DELETE", f"GroupRoles({made})")
    house.clock.move(seconds=KNOWN_SECONDS)
    assert house.http.get("/ui/me", headers=token).status_code == 403
    assert found == [[PLANNER], [ADMIN]]


def test_scopes_of_the_token_itself_count_as_before_and_groups_add_to_them(house: House) -> None:
    assert house.scopes(None, scope=f"openid {PLANNER}") == ["openid", PLANNER]
    house.group("tills", TILL)
    assert house.scopes(["tills"], scope=PLANNER) == [TILL, PLANNER]
    assert house.scopes(["others"], scope=PLANNER) == [PLANNER]


def test_a_name_counts_character_by_character(house: House) -> None:
    house.group("Plan and Price", PLANNER)
    assert house.scopes("Plan and Price") == [PLANNER]
    for other in ("plan and price", "Plan", "Plan and Price ", ["Plan", "and", "Price"], ["Plan and Price\0"]):
        assert house.scopes(other) == 403, other


@pytest.mark.parametrize(
    "groups", [None, 7, True, {}, {"admins": True}, [["admins"]], [{"name": "admins"}], [None], ""]
)
def test_a_claim_that_is_no_list_of_names_gives_nothing(house: House, groups: Any) -> None:
    house.group("admins", ADMIN)
    assert house.scopes(groups) == 403


def test_a_group_of_another_tenant_gives_nothing(house: House) -> None:
    made = house.group("planners", PLANNER)
    assert house.scopes(["planners"], zid=OTHER) == 403
    house.group("planners", TILL, ADMIN, tenant=OTHER)
    assert house.scopes(["planners"]) == [PLANNER]
    assert house.scopes(["planners"], zid=OTHER) == [ADMIN, TILL]
    stranger = house.ask("GET", "GroupRoles", zid=OTHER).json()["value"]
    assert [one["scopes"] for one in stranger] == [[TILL, ADMIN]]
    for method, body in (("GET", None), ("PATCH", {"scopes": [ADMIN]}), ("DELETE", None)):
        assert told(house.ask(method, f"GroupRoles({made})", body, zid=OTHER)) == (404, "NOT_FOUND")
    foreign = {"groupName": "x", "scopes": [ADMIN], "tenantId": OWN}
    assert told(house.ask("POST", "GroupRoles", foreign, zid=OTHER)) == (403, "FOREIGN_TENANT")


def test_a_group_of_another_issuer_gives_nothing(
    house: House, building: tuple[str, MovedClock, KeyServer, House]
) -> None:
    house.group("admins", ADMIN)
    database_url, clock, keys, _ = building
    trust: dict[str, Any] = {"jwks_url": keys.url, "issuer": f"{ISSUER}/other", "audience": AUDIENCE}
    with InProcess(database_url, clock=clock, has_worker=False, **trust) as service, service.client() as http:
        moved = House(http, keys, clock, house.rsa, house.ec)
        elsewhere = {"iss": f"{ISSUER}/other"}
        assert moved.scopes(["admins"], **elsewhere) == 403
        assert moved.scopes(["admins"]) == 401
        moved.group("admins", TILL, PLANNER, **elsewhere)  # the same name, and another group
        assert moved.scopes(["admins"], **elsewhere) == [TILL, PLANNER]
        own = {"groupName": "new", "scopes": [ADMIN], "issuer": ISSUER}
        answer = moved.ask("POST", "GroupRoles", own, **elsewhere)
        assert answer.json().get("issuer") == f"{ISSUER}/other", answer.text
    assert house.scopes(["admins"]) == [ADMIN]
    assert house.scopes(["new"]) == 403


def test_the_operator_names_the_claim(building: tuple[str, MovedClock, KeyServer, House], house: House) -> None:
    house.group("admins", ADMIN)
    database_url, clock, keys, _ = building
    trust: dict[str, Any] = {"jwks_url": keys.url, "issuer": ISSUER, "audience": AUDIENCE}
    claims = ("teams", "memberOf")
    with (
        InProcess(database_url, clock=clock, has_worker=False, group_claims=claims, **trust) as service,
        service.client() as http,
    ):
        named = House(http, keys, clock, house.rsa, house.ec)
        assert named.scopes(["admins"]) == 403
        assert named.scopes(None, memberOf=["admins"]) == [ADMIN]
        assert named.scopes(None, teams=[], memberOf=["admins"]) == 403  # the first that is there counts


@pytest.mark.parametrize(
    ("values", "code", "target"),
    [
        ({"scopes": []}, "REQUIRED", "scopes"),
        ({"scopes": ["svc.Sync"]}, "UNKNOWN_SCOPE", "scopes"),
        ({"scopes": [PLANNER, "svc.Root"]}, "UNKNOWN_SCOPE", "scopes"),
        ({"groupName": ""}, "REQUIRED", "groupName"),
        ({"groupName": " planners"}, "INVALID_VALUE", "groupName"),
        ({"groupName": "plan\nners"}, "INVALID_VALUE", "groupName"),
        ({"groupName": "g" * 256}, "TOO_LONG", "groupName"),
    ],
    ids=str,
)
def test_what_a_group_cannot_be_is_refused(house: House, values: dict[str, Any], code: str, target: str) -> None:
    answer = house.ask("POST", "GroupRoles", {"groupName": "planners", "scopes": [PLANNER], **values})
    assert (*told(answer), answer.json()["error"]["target"]) == (400, code, target)
    made = house.group("planners", PLANNER)
    answer = house.ask("PATCH", f"GroupRoles({made})", values)
    assert (*told(answer), answer.json()["error"]["target"]) == (400, code, target)


def test_a_group_has_its_scopes_in_one_place(house: House) -> None:
    house.group("planners", PLANNER)
    again = house.ask("POST", "GroupRoles", {"groupName": "planners", "scopes": [TILL]})
    assert told(again) == (409, "ALREADY_EXISTS")


def test_there_are_at_most_a_thousand_groups(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promenade.workflows.authoring.access.groups.GROUPS_MAX", 2)
    house.group("one", TILL)
    house.group("two", TILL)
    answer = house.ask("POST", "GroupRoles", {"groupName": "three", "scopes": [TILL]})
    assert told(answer) == (409, "TOO_MANY_GROUPS")


def test_groups_are_the_administrators_business(house: House) -> None:
    made = house.group("planners", PLANNER)
    house.group("budgets", "svc.BudgetManager")
    for who in ({"scope": None, "groups": ["planners", "budgets"]}, {"scope": f"{PLANNER} {TILL}"}):
        assert house.ask("GET", f"GroupRoles({made})", **who).status_code == 200
        body = {"groupName": "mine", "scopes": [ADMIN]}
        assert told(house.ask("POST", "GroupRoles", body, **who)) == (403, "MISSING_SCOPE")
        assert told(house.ask("PATCH", f"GroupRoles({made})", {"scopes": [ADMIN]}, **who)) == (403, "MISSING_SCOPE")
        assert told(house.ask("DELETE", f"GroupRoles({made})", **who)) == (403, "MISSING_SCOPE")


def test_who_administers_by_a_group_alone_cannot_take_the_last_such_group_away(house: House) -> None:
    admins, managers = house.group("admins", ADMIN), house.group("managers", ADMIN)
    by_one: dict[str, Any] = {"scope": None, "groups": ["admins"]}
    for method, body in (
        ("DELETE", None), ("PATCH", {"scopes": [PLANNER]}), ("PATCH", {"groupName": "chiefs"}),
    ):  # fmt: skip
        assert told(house.ask(method, f"GroupRoles({admins})", body, **by_one)) == (409, "OWN_GROUP")
    assert house.ask("PATCH", f"GroupRoles({admins})", {"description": "All of IT"}, **by_one).status_code == 200
    by_both = {"scope": None, "groups": ["admins", "managers"]}
    assert house.ask("DELETE", f"GroupRoles({admins})", **by_both).status_code == 204
    # Known for half a minute more as an administrator, and already nobody's: the last group stays.
    assert told(house.ask("DELETE", f"GroupRoles({managers})", **by_one)) == (409, "OWN_GROUP")
    assert house.ask("DELETE", f"GroupRoles({managers})").status_code == 204  # the token itself is an administrator's


def test_the_history_tells_who_gave_a_group_what(house: House) -> None:
    made = house.group("planners", PLANNER)
    house.ask("PATCH", f"GroupRoles({made})", {"scopes": [PLANNER, TILL]}, sub="kim")
    house.ask("DELETE", f"GroupRoles({made})")
    found = house.ask("GET", f"AuditLogs?$filter=entityType eq 'GroupRoles' and entityId eq '{made}'").json()["value"]
    assert sorted((one["action"], one["actor"]) for one in found) == [
        ("CREATE", "rosa"), ("DELETE", "rosa"), ("UPDATE", "kim"),
    ]  # fmt: skip


def test_pages_know_that_groups_are_here(house: House) -> None:
    token = house.token(zid=OWN, scope=ADMIN)
    me = house.http.get("/ui/me", headers={"authorization": f"Bearer {token}"}).json()
    assert (me["services"]["groups"], me["services"]["clients"]) == (True, False)
    assert me["sets"]["GroupRoles"] == ["create", "update", "delete"]


def test_the_settings_name_a_claim(tmp_path: Path) -> None:
    for claims in ((), ("groups", "")):
        with pytest.raises(SettingsError, match="--group-claim"):
            Settings(data_dir=tmp_path, group_claims=claims)
