"""Binding approval over HTTP: who is refused with which error, and what the author and the approver are shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from promenade.clock import clock
from promenade.ids import new_id
from promenade.store.driver.session import open_database
from promenade.workflows.access.tenants import set_tenant
from tests.web.conftest import run
from tests.web.services.admin.conftest import OWN, Admin, active, draft, fault
from tests.web.services.admin.test_forecast import TODAY, a_plan, a_shop, sell
from tests.web.services.admin_actions.test_moves import act, discount, refused, ten_off

REQUIRED = (409, "APPROVAL_REQUIRED")
OFF = {"approval": "OFF", "approvalFromAmount": "", "approvalCurrency": "", "approverScope": "svc.Admin"}


def settle(admin: Admin, **settings: str) -> None:
    """Change settings of the tenant, as the command line does."""

    async def change() -> None:
        database = await open_database(admin.database_url)
        try:
            await set_tenant(database, OWN, settings, at=clock(), user="operator", new_id=new_id)
        finally:
            await database.close()

    run(change())


@pytest.fixture
def binding(admin: Admin) -> Iterator[Admin]:
    """The admin service while approval is binding for its tenant."""
    settle(admin, approval="BINDING")
    yield admin
    settle(admin, **OFF)


def submitted(admin: Admin, **values: Any) -> dict[str, Any]:
    """Return a promotion that the promotion manager has created and submitted."""
    promotion = ten_off(admin, admin.unique("A"), client="promoter", **values)
    return dict(act(admin, "Promotions", promotion, "submit", client="promoter"))


def approvals(admin: Admin, promotion: Any, **how: Any) -> list[dict[str, Any]]:
    asked = f"PromotionApprovals?$filter=promotion_ID eq {promotion['ID']}&$orderby=submittedAt"
    return list(admin.read(asked, **how)["value"])


def test_a_promotion_runs_once_somebody_else_has_approved_it(binding: Admin) -> None:
    article, group = binding.unique("A"), binding.pos_group()
    promotion = ten_off(binding, article, client="promoter")
    assert refused(binding, "Promotions", promotion, "activate", client="promoter")[:2] == REQUIRED
    act(binding, "Promotions", promotion, "submit", client="promoter")
    assert refused(binding, "Promotions", promotion, "approve", client="promoter")[:2] == (403, "MISSING_SCOPE")
    assert act(binding, "Promotions", promotion, "approve")["status"] == "APPROVED"
    assert discount(binding, group, article) == 0
    act(binding, "Promotions", promotion, "activate", client="promoter")
    assert discount(binding, group, article) == 1
    assert fault(binding.patch(active("Promotions", promotion), {"priority": 1}))[:2] == REQUIRED
    assert discount(binding, group, article) == 1
    (approval,) = approvals(binding, promotion, client="promoter")
    told = (approval["status"], approval["submittedBy"], approval["decidedBy"], approval["forecastCost"])
    assert told == ("APPROVED", "promoter", "admin", None)


def test_nobody_approves_what_is_theirs(binding: Admin) -> None:
    promotion = ten_off(binding, binding.unique("A"))
    act(binding, "Promotions", promotion, "submit", client="promoter")
    assert refused(binding, "Promotions", promotion, "approve")[:2] == (403, "OWN_APPROVAL")
    assert binding.read(active("Promotions", promotion))["status"] == "PENDING_APPROVAL"


def test_a_rejection_needs_a_reason_which_its_author_reads(binding: Admin) -> None:
    promotion = submitted(binding)
    for body in ({}, {"reason": None}, {"reason": " "}):
        assert refused(binding, "Promotions", promotion, "reject", body)[:2] == (400, "REQUIRED")
    assert refused(binding, "Promotions", promotion, "reject", {"reason": "x" * 1001})[0] == 400
    assert act(binding, "Promotions", promotion, "reject", {"reason": "Too much."})["status"] == "REJECTED"
    (approval,) = approvals(binding, promotion, client="promoter")
    assert (approval["status"], approval["reason"], approval["decidedBy"]) == ("REJECTED", "Too much.", "admin")
    trail = binding.read(f"AuditLogs?$filter=entityId eq '{promotion['ID']}' and action eq 'REJECT'", client="promoter")
    assert [row["note"] for row in trail["value"]] == ["Too much."]


def test_the_public_api_does_not_get_past_it(binding: Admin) -> None:
    api = {"client": "integrator"}
    created = binding.post("/api/v1/Promotions", {"name": "New", "status": "ACTIVE"}, **api)
    promotion = submitted(binding)
    path = f"/api/v1/Promotions({promotion['ID']})"
    answers = [created, *(binding.patch(path, {"status": one}, **api) for one in ("ACTIVE", "APPROVED", "REJECTED"))]
    for answer in answers:
        problem = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, problem["code"], problem["target"]) == (*REQUIRED, "status")
    act(binding, "Promotions", promotion, "approve")
    assert binding.patch(path, {"status": "ACTIVE"}, **api).status_code == 204
    condition = {"promotion_ID": promotion["ID"], "conditionType": "RECEIPT_AMOUNT", "minAmount": 5}
    for answer in (
        binding.patch(path, {"validTo": "2099-01-01T00:00:00Z"}, **api),
        binding.post("/api/v1/Conditions", condition, **api),
    ):
        assert (answer.status_code, answer.json()["code"]) == REQUIRED
    assert binding.patch(path, {"description": "New"}, **api).status_code == 204


def test_drafts_and_change_sets_do_not_get_past_it(binding: Admin) -> None:
    promotion = submitted(binding)
    assert binding.edit("Promotions", promotion["ID"]).status_code == 201
    assert binding.patch(draft("Promotions", promotion), {"status": "ACTIVE"}).status_code == 200
    assert fault(binding.activate("Promotions", promotion["ID"]))[:2] == REQUIRED
    assert binding.delete(draft("Promotions", promotion)).status_code == 204
    requests = [
        {"id": "1", "method": "POST", "url": f"{active('Promotions', promotion)}/AdminService.approve", "body": {}},
        {"id": "2", "method": "PATCH", "url": active("Promotions", promotion), "body": {"priority": 1}},
        {"id": "3", "method": "POST", "url": f"{active('Promotions', promotion)}/AdminService.activate", "body": {}},
    ]
    headers = {"content-type": "application/json"}
    batch = {"requests": [one | {"atomicityGroup": "all", "headers": headers} for one in requests]}
    answers = binding.post("$batch", batch).json()["responses"]
    assert {one["status"] for one in answers} & {403, 424}
    assert binding.read(active("Promotions", promotion))["status"] == "PENDING_APPROVAL"


def test_a_tenant_names_who_approves(binding: Admin) -> None:
    settle(binding, approverScope="svc.BudgetManager")
    promotion = submitted(binding)
    assert refused(binding, "Promotions", promotion, "approve", client="promoter")[:2] == (403, "MISSING_SCOPE")
    assert act(binding, "Promotions", promotion, "approve", client="treasurer")["status"] == "APPROVED"
    assert refused(binding, "Promotions", promotion, "activate", client="treasurer")[:2] == (403, "MISSING_SCOPE")
    told = {name: may_decide(binding, name) for name in ("admin", "promoter", "treasurer")}
    assert told == {"admin": (True, True), "promoter": (True, False), "treasurer": (True, True)}


def may_decide(admin: Admin, client: str) -> tuple[bool, bool]:
    """Return what the back office is told about approval."""
    me = admin.read("/ui/me", client=client)
    return me["approvalIsBinding"], me["mayDecide"]


def test_without_it_everything_is_as_it_was(admin: Admin) -> None:
    promotion = submitted(admin)
    assert refused(admin, "Promotions", promotion, "approve", client="treasurer")[:2] == (403, "MISSING_SCOPE")
    assert act(admin, "Promotions", promotion, "reject", client="promoter")["status"] == "REJECTED"
    act(admin, "Promotions", promotion, "submit")
    act(admin, "Promotions", promotion, "reject", {"reason": "No."})
    act(admin, "Promotions", promotion, "submit")
    assert act(admin, "Promotions", promotion, "approve", client="promoter")["status"] == "APPROVED"
    assert act(admin, "Promotions", promotion, "activate", client="promoter")["status"] == "ACTIVE"
    assert approvals(admin, promotion) == []
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{promotion['ID']}' and action eq 'REJECT'")["value"]
    assert sorted(row["note"] for row in trail) == ["No.", "status"]
    told = {name: may_decide(admin, name) for name in ("admin", "promoter", "treasurer")}
    assert told == {"admin": (False, True), "promoter": (False, True), "treasurer": (False, False)}


def test_a_small_forecast_needs_no_approval(binding: Admin) -> None:
    shop_id, code = a_shop(binding)
    plan = {"ID": a_plan(binding, shop_id)}
    sell(binding, code, 2)  # 16.00, of which a quarter is the cost
    period = {"dateFrom": str(TODAY - timedelta(days=27)), "dateTo": str(TODAY)}
    settle(binding, approvalFromAmount="4.00", approvalCurrency="EUR")
    act_forecast = binding.post(f"{active('Promotions', plan)}/AdminService.forecast", period)
    assert (act_forecast.status_code, act_forecast.json()["basketsAffected"]) == (201, 1)
    assert refused(binding, "Promotions", plan, "activate")[:2] == REQUIRED
    settle(binding, approvalFromAmount="4.01", approvalCurrency="EUR")
    assert act(binding, "Promotions", plan, "activate")["status"] == "ACTIVE"
