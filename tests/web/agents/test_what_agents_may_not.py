"""What no agent may do, by whatever way it writes; and that the audit trail tells who did what for whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from promenade.clock import clock
from promenade.ids import new_id
from promenade.store.driver.session import open_database
from promenade.workflows.access.tenants import set_tenant
from tests.kit.databases import DIALECTS, Databases
from tests.web.conftest import run
from tests.web.services.admin.conftest import OWN, Admin, active, draft, fault, served
from tests.web.services.admin.test_settings import ADDRESS
from tests.web.services.admin_actions.test_moves import act, refused, ten_off

AGENT = {"promenade_agent": "desktop"}
STOPPED = (403, "AGENTS_MAY_NOT_ACTIVATE")
UNDECIDED = (403, "AGENTS_DO_NOT_DECIDE")


@pytest.fixture(scope="module", params=DIALECTS)
def admin(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Admin]:
    """Serve the admin service in this process."""
    with served(databases, request.param, has_worker=False) as admin:
        yield admin


def settle(admin: Admin, **settings: str) -> None:
    async def change() -> None:
        database = await open_database(admin.database_url)
        try:
            await set_tenant(database, OWN, settings, at=clock(), user="operator", new_id=new_id)
        finally:
            await database.close()

    run(change())


@pytest.fixture
def allowed(admin: Admin) -> Iterator[Admin]:
    """The service while the tenant lets agents activate."""
    settle(admin, agentsMayActivate="true")
    yield admin
    settle(admin, agentsMayActivate="false")


def drafted(admin: Admin, **values: Any) -> dict[str, Any]:
    return ten_off(admin, admin.unique("A"), client="promoter", **values)


def trail(admin: Admin, promotion: Any) -> list[tuple[str, str, str | None]]:
    asked = f"AuditLogs?$filter=ownerId eq '{promotion['ID']}'&$orderby=timestamp"
    return [(row["action"], row["actor"], row["agent"]) for row in admin.read(asked)["value"]]


def test_the_trail_names_the_agent_beside_the_person(admin: Admin) -> None:
    promotion = admin.promotion(client="promoter")
    answer = admin.patch(active("Promotions", promotion), {"name": "Better"}, client="promoter", **AGENT)
    assert answer.status_code == 200, answer.text
    assert trail(admin, promotion) == [("CREATE", "promoter", None), ("UPDATE", "promoter", "desktop")]
    assert admin.read(active("Promotions", promotion))["modifiedBy"] == "promoter"


def test_only_a_name_is_taken_for_an_agents(admin: Admin) -> None:
    for name in ("", "x" * 101, "a\tb"):
        answer = admin.get("Promotions?$top=1", promenade_agent=name)
        assert fault(answer)[:2] == (400, "BAD_AGENT"), name
    stranger = admin.call("GET", "/admin/Promotions", client=None, promenade_agent="desktop")
    assert stranger.status_code == 401


def test_an_agent_makes_nothing_run(admin: Admin) -> None:
    promotion = drafted(admin)
    for verb in ("activate", "startPilot"):
        assert refused(admin, "Promotions", promotion, verb, client="promoter", **AGENT)[0] in {400, 403}
    assert refused(admin, "Promotions", promotion, "activate", **AGENT)[:2] == STOPPED
    address = active("Promotions", promotion)
    assert fault(admin.patch(address, {"status": "ACTIVE"}, **AGENT))[:2] == STOPPED
    public = f"/api/v1/Promotions({promotion['ID']})"
    answer = admin.patch(public, {"status": "ACTIVE"}, client="integrator", **AGENT)
    assert (answer.status_code, answer.json()["code"]) == STOPPED
    assert admin.edit("Promotions", promotion["ID"]).status_code == 201
    admin.patch(draft("Promotions", promotion), {"status": "ACTIVE"})
    answer = admin.post(f"{draft('Promotions', promotion)}/AdminService.draftActivate", **AGENT)
    assert fault(answer)[:2] == STOPPED
    assert admin.delete(draft("Promotions", promotion)).status_code == 204
    assert admin.read(address)["status"] == "DRAFT"
    document = f"code: {admin.unique('D')}\nname: Now\nstatus: ACTIVE\n"
    document += "discountActions:\n  - {actionType: RECEIPT, discountType: PERCENTAGE, discountValue: 5}\n"
    answer = admin.post("Promotions/AdminService.applyDocument", {"document": document}, **AGENT)
    assert fault(answer)[:2] == STOPPED
    rows = {"rows": [{"code": admin.unique("I"), "name": "Imported", "status": "ACTIVE"}]}
    answer = admin.post("/api/v1/Promotions/bulkImport", rows, client="integrator", **AGENT)
    assert (answer.status_code, answer.json()["code"]) == (403, "AGENTS_DO_NOT_IMPORT")
    assert act(admin, "Promotions", promotion, "activate")["status"] == "ACTIVE"


def test_an_agent_changes_nothing_that_runs(admin: Admin) -> None:
    campaign = admin.campaign()
    promotion = drafted(admin, campaign_ID=campaign["ID"])
    act(admin, "Promotions", promotion, "activate")
    assert fault(admin.patch(active("Promotions", promotion), {"priority": 1}, **AGENT))[:2] == STOPPED
    assert refused(admin, "Promotions", promotion, "deactivate", **AGENT)[:2] == STOPPED
    condition = {"promotion_ID": promotion["ID"], "conditionType": "RECEIPT_AMOUNT", "value": "5"}
    answer = admin.post("/api/v1/Conditions", condition, client="integrator", **AGENT)
    assert (answer.status_code, answer.json()["code"]) == STOPPED
    changed = admin.patch(active("Campaigns", campaign), {"startAt": "2020-01-01T00:00:00Z"}, **AGENT)
    assert fault(changed)[:2] == STOPPED
    assert fault(admin.delete(active("Promotions", promotion), **AGENT))[0] in {403, 409}
    assert admin.read(active("Promotions", promotion))["priority"] == 100


def test_an_agent_decides_about_nothing_and_sets_no_rules(allowed: Admin) -> None:
    promotion = drafted(allowed)
    act(allowed, "Promotions", promotion, "submit", client="promoter", **AGENT)
    for verb in ("approve", "reject"):
        assert refused(allowed, "Promotions", promotion, verb, **AGENT)[:2] == UNDECIDED
    assert fault(allowed.patch(ADDRESS, {"agentsMayActivate": True}, **AGENT))[:2] == UNDECIDED
    assert act(allowed, "Promotions", promotion, "approve")["status"] == "APPROVED"
    assert trail(allowed, promotion)[-2:] == [("SUBMIT", "promoter", "desktop"), ("APPROVE", "admin", None)]


def test_where_the_tenant_says_so_an_agent_activates(allowed: Admin) -> None:
    promotion = drafted(allowed)
    assert act(allowed, "Promotions", promotion, "activate", client="promoter", **AGENT)["status"] == "ACTIVE"
    assert trail(allowed, promotion)[-1] == ("ACTIVATE", "promoter", "desktop")


def test_binding_approval_holds_for_agents_and_the_four_eyes_are_those_of_people(allowed: Admin) -> None:
    settle(allowed, approval="BINDING")
    try:
        promotion = drafted(allowed)
        assert refused(allowed, "Promotions", promotion, "activate", **AGENT)[:2] == (409, "APPROVAL_REQUIRED")
        # The administrator's agent writes, so the administrator has written: another name in the header helps nothing.
        act(allowed, "Promotions", promotion, "submit", client="admin", **AGENT)
        assert refused(allowed, "Promotions", promotion, "approve", client="admin")[:2] == (403, "OWN_APPROVAL")
        other = {"promenade_agent": "another"}
        assert refused(allowed, "Promotions", promotion, "approve", client="admin", **other)[:2] == UNDECIDED
    finally:
        settle(allowed, approval="OFF")
