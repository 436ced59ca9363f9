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
NO_ACCESS = (403, "AGENTS_GIVE_NO_ACCESS")


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


def test_a_part_of_a_batch_names_no_agent_of_its_own(admin: Admin) -> None:
    promotion = drafted(admin)
    act(admin, "Promotions", promotion, "activate")
    change = {"method": "PATCH", "body": {"name": "Changed"}}
    for path, client in ((active("Promotions", promotion), "admin"), (f"Promotions({promotion['ID']})", "integrator")):
        batch = "/admin/$batch" if client == "admin" else "/api/v1/$batch"
        for outer, inner in (({}, "desktop"), (AGENT, "another"), ({}, "")):
            one = {**change, "id": "1", "url": path, "headers": {"Promenade-Agent": inner}}
            (part,) = admin.post(batch, {"requests": [one]}, client=client, **outer).json()["responses"]
            assert part["status"] == 400
            assert part["body"].get("error", part["body"])["code"] == "BAD_AGENT"
        one = {**change, "id": "1", "url": path, "headers": {"promenade-agent": "desktop"}}
        (part,) = admin.post(batch, {"requests": [one]}, client=client, **AGENT).json()["responses"]
        assert part["body"].get("error", part["body"])["code"] == STOPPED[1]
    assert admin.read(active("Promotions", promotion))["name"] != "Changed"


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
    assert act(allowed, "Promotions", promotion, "approve")["status"] == "APPROVED"
    assert trail(allowed, promotion)[-2:] == [("SUBMIT", "promoter", "desktop"), ("APPROVE", "admin", None)]


def person(admin: Admin) -> dict[str, Any]:
    return {"userName": admin.unique("ada"), "name": "Ada", "scopes": ["svc.Admin"]}


HOOK: dict[str, Any] = {"name": "Out", "callbackUrl": "https://example.com/hook", "eventTypes": ["*"]}
CLIENT: dict[str, Any] = {"name": "Way round", "scopes": ["svc.Admin"]}


def test_an_agent_gives_no_access_and_sends_no_data_anywhere(allowed: Admin) -> None:
    """Not where agents may activate, either."""
    admin = allowed
    client, somebody = admin.make("Clients", **CLIENT), admin.make("People", **person(admin))
    hook = admin.make("WebhookSubscriptions", **HOOK)
    ways: list[tuple[str, str, Any]] = [
        ("POST", "Clients", CLIENT),
        ("PATCH", f"Clients({client['ID']})", {"secret": None}),
        ("PATCH", f"Clients({client['ID']})", {"isActive": False}),
        ("POST", f"Clients({client['ID']})/AdminService.withdrawTokens", {}),
        ("POST", "People", person(admin)),
        ("PATCH", f"People({somebody['ID']})", {"scopes": ["svc.PromotionManager"]}),
        ("POST", "WebhookSubscriptions", HOOK),
        ("PATCH", f"WebhookSubscriptions({hook['ID']})", {"callbackUrl": "https://example.org/hook"}),
        ("POST", f"WebhookSubscriptions({hook['ID']})/AdminService.sendTest", {}),
        ("PATCH", ADDRESS, {"agentsMayActivate": False}),
        ("DELETE", f"WebhookSubscriptions({hook['ID']})", None),
        ("DELETE", f"People({somebody['ID']})", None),
        ("DELETE", f"Clients({client['ID']})", None),
    ]
    public = "/api/v1/WebhookSubscriptions"

    def rows() -> list[Any]:
        kept = "Clients", "People", "WebhookSubscriptions", "NotificationLogs", "TenantSettings", "AuditLogs"
        used = {"lastUsedAt", "lastSignInAt"}
        return [[{key: row[key] for key in row.keys() - used} for row in admin.read(one)["value"]] for one in kept]

    before = rows()
    for method, path, body in ways:
        answer = admin.call(method, f"/admin/{path}", body, client="admin", **AGENT)
        assert fault(answer)[:2] == NO_ACCESS, (method, path, answer.text)
    answer = admin.call("POST", public, HOOK, client="integrator", **AGENT)
    assert (answer.status_code, answer.json()["code"]) == NO_ACCESS
    assert rows() == before
    for method, path, body in ways:
        answer = admin.call(method, f"/admin/{path}", body, client="admin")
        assert answer.status_code < 300, (method, path, answer.text)
    assert admin.call("POST", public, HOOK, client="integrator").status_code == 201
    settle(admin, agentsMayActivate="true")


def test_an_agent_answers_nobody_who_asks_for_a_budget(admin: Admin) -> None:
    promotion = admin.promotion(client="promoter")
    body = {"amount": 1000, "currency": "EUR", "reason": "The leaflet of May."}
    asking = admin.post(
        f"{active('Promotions', promotion)}/AdminService.askForBudget", body, client="promoter", **AGENT
    )
    assert asking.status_code == 201, asking.text
    house: dict[str, Any] = {"code": admin.unique("B"), "name": "House", "totalAmount": 5000, "currency": "EUR"}
    there = {"budgetId": admin.make("Budgets", IsActiveEntity=True, status="ACTIVE", **house)["ID"]}
    address, charged = f"BudgetRequests({asking.json()['ID']})", admin.read("BudgetPromotions")["value"]
    for verb, answer in (("grant", there), ("decline", {"reason": "No."})):
        refusal = admin.post(f"{address}/AdminService.{verb}", answer, client="treasurer", **AGENT)
        assert fault(refusal)[:2] == UNDECIDED, verb
    assert admin.read(address)["status"] == "OPEN"
    assert admin.read("BudgetPromotions")["value"] == charged
    assert admin.post(f"{address}/AdminService.grant", there, client="treasurer").status_code == 200


def test_an_agent_changes_no_coupons_that_can_be_redeemed(admin: Admin) -> None:
    kind = {"name": "Coupons", "IsActiveEntity": True}
    answer = admin.post("CouponTypes", {**kind, "code": admin.unique("C"), "status": "ACTIVE"}, **AGENT)
    assert fault(answer)[:2] == STOPPED
    made = admin.post("CouponTypes", {**kind, "code": admin.unique("C")}, **AGENT)
    assert (made.status_code, made.json()["status"]) == (201, "INACTIVE")
    address, codes = active("CouponTypes", made.json()), {"numberOfCodes": 2}
    assert admin.patch(address, {"maxRedemptions": 10}, **AGENT).status_code == 200
    assert fault(admin.post(f"{address}/AdminService.activate", **AGENT))[:2] == STOPPED
    assert admin.post(f"{address}/AdminService.activate").status_code == 200
    for path, body in (
        (f"{address}/AdminService.{verb}", body)
        for verb, body in (("deactivate", {}), ("generateCodes", codes), ("issueCoupon", {}))
    ):
        assert fault(admin.post(path, body, **AGENT))[:2] == STOPPED, path
    assert fault(admin.patch(address, {"maxRedemptions": 99}, **AGENT))[:2] == STOPPED
    batch = {"couponType_ID": made.json()["ID"], "quantity": 2}
    answer = admin.call("POST", "/api/v1/CouponCodeBatches", batch, client="integrator", **AGENT)
    assert (answer.status_code, answer.json()["code"]) == STOPPED
    assert admin.read(address)["maxRedemptions"] == 10
    assert admin.read(f"CouponCodes?$filter=couponType_ID eq {made.json()['ID']}")["value"] == []
    assert admin.post(f"{address}/AdminService.generateCodes", codes).status_code < 300


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
