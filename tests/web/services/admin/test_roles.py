"""Permissions: every role with every collection and verb, according to the specification's role table."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.model.declare import ADMIN
from promenade.model.edm import edm_for
from tests.web.services.admin.conftest import LOGGED, NOBODY, Admin, active, draft, fault

EDM = edm_for(ADMIN)
SETS = EDM.entity_sets
READ_ONLY = [name for name, one in SETS.items() if one.read_only]
WRITTEN = [name for name, one in SETS.items() if not one.read_only]
PROMOTERS = ("ArticleGroups", "Campaign", "CouponCode", "CouponRefill", "CouponType", "MutualExclusion", "PosGroups",
             "PriorityGroup", "Promotion", "PilotPosGroups", "ControlPosGroups", "Template", "CalculationConfigs",
             "Condition", "Action", "DiscountActions", "LoyaltyAction", "BundleComponents", "BasketTests",
             "CustomerGroups", "LoyaltyTier")  # fmt: skip
"""How the names begin of what promotion managers write."""
TREASURERS = ("Budgets", "BudgetPromotions", "BudgetNotifications", "BudgetStakeholders", "RechargeContributions")
ELSEWHERE = ("integrator", "till")
ANSWERED = "BudgetRequests"
"""What budget managers answer, and nobody writes."""
CLOSED = {"GroupRoles": (409, "NO_OUTSIDE_ISSUER")}
"""What only a service with an outside issuer writes."""


def key_of(name: str) -> str:
    return "('NOTHING')" if EDM.entity_types[name].key == ("code",) else f"({NOBODY})"


def is_promoters(name: str) -> bool:
    return name.startswith(PROMOTERS)


def test_every_role_reads_everything(admin: Admin) -> None:
    for name in SETS:
        for client in ("admin", "promoter", "treasurer"):
            answer = admin.get(f"{name}?$top=1&$count=true", client=client)
            assert answer.status_code == 200, (name, client, answer.text)
            assert answer.json()["@odata.context"].endswith(f"/admin/$metadata#{name}")
            assert admin.get(name + key_of(name), client=client).status_code == 404, (name, client)


def test_other_scopes_are_refused(admin: Admin) -> None:
    for client in ELSEWHERE:
        for path in ("", "$metadata", *SETS):
            assert fault(admin.get(path, client=client))[:2] == (403, "MISSING_SCOPE"), (client, path)
        for name in WRITTEN:
            for method in ("PATCH", "DELETE"):
                answer = admin.call(method, name + key_of(name), {}, client=client)
                assert fault(answer)[:2] == (403, "MISSING_SCOPE"), (client, method, name)
            assert fault(admin.post(name, client=client))[:2] == (403, "MISSING_SCOPE"), (client, name)
    assert admin.get("Promotions", client=None).status_code == 401


@pytest.mark.parametrize(
    ("client", "creates", "changes"),
    [
        ("admin", WRITTEN, WRITTEN),
        (
            "promoter",
            [name for name in WRITTEN if is_promoters(name)],
            [name for name in WRITTEN if is_promoters(name)],
        ),
        ("treasurer", [], list(TREASURERS)),
    ],
)
def test_a_role_may_write_only_its_own_sets(admin: Admin, client: str, creates: list[str], changes: list[str]) -> None:
    for name in WRITTEN:
        made = admin.post(name, {"nonsense": 1}, client=client)
        expected = CLOSED.get(name, (400, "UNKNOWN_PROPERTY")) if name in creates else (403, "MISSING_SCOPE")
        if not SETS[name].insertable:  # by nobody
            expected = (405, "NOT_INSERTABLE")
        assert fault(made)[:2] == expected, ("POST", name, made.text)
        for method, allowed in (("PATCH", changes), ("PUT", changes), ("DELETE", creates)):
            answer = admin.call(method, name + key_of(name), None if method == "DELETE" else {}, client=client)
            expected = CLOSED.get(name, (404, "NOT_FOUND")) if name in allowed else (403, "MISSING_SCOPE")
            if method == "DELETE" and not SETS[name].deletable:
                expected = (405, "NOT_DELETABLE")
            assert fault(answer)[:2] == expected, (method, name, answer.text)


def test_an_action_needs_the_right_to_change(admin: Admin) -> None:
    reads = ("certificates", "check", "compareDocument", "document", "payload", "rateLimits")
    bound = [one for one in EDM.schema.operations if one.binding is not None and one.name not in reads]
    assert len(bound) > 50
    for operation in bound:
        for client, allowed in (("promoter", is_promoters), ("treasurer", (*TREASURERS, ANSWERED).__contains__)):
            set_name = operation.binding or ""
            key = f"(ID={NOBODY},IsActiveEntity=false)" if EDM.entity_types[set_name].draft else f"({NOBODY})"
            key = "" if operation.binding_collection else key
            address = f"{set_name}{key}/AdminService.{operation.name}"
            answer = admin.post(address, {name.name: _any(name) for name in operation.parameters}, client=client)
            # Who decides is a setting of the tenant, looked up with the row: test_approvals.
            decides = set_name == "Promotions" and operation.name in ("approve", "reject")
            asks = operation.name == "withdraw"  # whoever has asked, which the row tells: test_budget_requests
            there = 200 if operation.binding_collection else 404
            there = 400 if operation.name == "applyDocument" else there  # the text is no document
            expected = there if allowed(set_name) or decides or asks else 403
            assert answer.status_code == expected, (set_name, operation.name, client, answer.text)


def _any(parameter: object) -> Any:
    kind = str(getattr(parameter, "type", ""))
    value: Any = {
        "Edm.Guid": NOBODY,
        "Edm.Int32": 1,
        "Edm.Decimal": 1,
        "Edm.Boolean": True,
        "Edm.Date": "2026-01-01",
    }.get(kind, "x")
    return [value] if getattr(parameter, "collection", False) else value


def test_no_role_may_write_read_only_sets(admin: Admin) -> None:
    for name in READ_ONLY:
        for method, path in (("POST", name), ("PATCH", name + key_of(name)), ("DELETE", name + key_of(name))):
            body: Any = None if method == "DELETE" else {}
            for client in ("admin", "treasurer"):
                answer = admin.call(method, path, body, client=client)
                assert (fault(answer)[:2], answer.headers["allow"]) == ((405, "READ_ONLY"), "GET"), (method, name)
                odata = admin.call(method, path, body, client=client, odata_version="4.0")
                assert fault(odata)[:2] == (403, "READ_ONLY"), (method, name)


def test_a_budget_manager_works_on_a_budget_through_its_draft(admin: Admin) -> None:
    code = admin.unique()
    budget = admin.make("Budgets", name="Spring", code=code, totalAmount=100, currency="EUR", IsActiveEntity=True)
    assert admin.edit("Budgets", budget["ID"], client="treasurer").status_code == 201
    changed = admin.patch(draft("Budgets", budget), {"name": "Summer"}, client="treasurer")
    assert changed.status_code == 200, changed.text
    assert admin.post(f"{draft('Budgets', budget)}/draftPrepare", client="treasurer").status_code == 200
    done = admin.activate("Budgets", budget["ID"], client="treasurer")
    assert (done.status_code, done.json()["name"]) == (200, "Summer"), done.text
    assert admin.edit("Budgets", budget["ID"], client="treasurer").status_code == 201
    assert admin.delete(draft("Budgets", budget), client="treasurer").status_code == 204
    assert fault(admin.delete(active("Budgets", budget), client="treasurer"))[:2] == (403, "MISSING_SCOPE")
    direct = admin.patch(active("Budgets", budget), {"name": "Autumn"}, client="treasurer")
    assert (direct.status_code, direct.json()["name"]) == (200, "Autumn")
    notice = admin.make("BudgetNotifications", budget_ID=budget["ID"], thresholdPercentage=50)
    path = f"BudgetNotifications({notice['ID']})"
    assert admin.patch(path, {"thresholdPercentage": 60}, client="treasurer").status_code == 200
    assert fault(admin.delete(path, client="treasurer"))[:2] == (403, "MISSING_SCOPE")


def test_permissions_are_checked_on_every_path_to_an_entity(admin: Admin) -> None:
    promotion = admin.promotion()
    address = active("Promotions", promotion)
    budget = admin.make("Budgets", name="B", code=admin.unique(), totalAmount=1, currency="EUR", IsActiveEntity=True)
    refused: tuple[tuple[str, str, Any], ...] = (
        ("PUT", f"{address}/name", {"value": "x"}),
        ("PUT", f"{address}/campaign/$ref", {"@odata.id": f"Campaigns({NOBODY})"}),
        ("POST", f"{address}/posGroups", {}),
        ("POST", f"{address}/AdminService.draftEdit", {}),
    )
    for method, path, body in refused:
        answer = admin.call(method, path, body, client="treasurer")
        assert fault(answer)[:2] == (403, "MISSING_SCOPE"), (method, path)
    for path in (active("Budgets", budget), f"{active('Budgets', budget)}/name"):
        answer = admin.call("DELETE", path, client="promoter")
        assert fault(answer)[:2] == (403, "MISSING_SCOPE"), path
    batch = {"requests": [{"id": "1", "method": "DELETE", "url": f"Promotions({promotion['ID']})"}]}
    (part,) = admin.post("$batch", batch, client="treasurer").json()["responses"]
    assert (part["status"], part["body"]["error"]["code"]) == (403, "MISSING_SCOPE")
    assert admin.get(address).status_code == 200


def test_rows_of_another_tenant_are_not_there(admin: Admin) -> None:
    own, other = LOGGED.format(1), LOGGED.format(2)
    begun = admin.make("Promotions", client="stranger", name="Theirs")
    for name, key in (("ImportJobs", other), ("Promotions", other)):
        assert admin.get(f"{name}({key})").status_code == 404
        assert admin.get(f"{name}({own if key == other else key})").status_code == 200
    for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        assert admin.call(method, draft("Promotions", begun), body).status_code == 404, method
        assert admin.call(method, f"Promotions({other})", body).status_code == 404, method
    for action in ("draftActivate", "draftPrepare"):
        assert admin.post(f"{draft('Promotions', begun)}/{action}").status_code == 404
    assert admin.edit("Promotions", other).status_code == 404
    assert fault(admin.post("Promotions", {"tenantId": "globex"}))[:2] == (403, "FOREIGN_TENANT")
    assert fault(admin.patch(f"Promotions({own})", {"tenantId": "globex"}))[:2] == (403, "FOREIGN_TENANT")
    uuid = admin.read(f"{draft('Promotions', begun)}/DraftAdministrativeData", client="stranger")["DraftUUID"]
    assert admin.get(f"DraftAdministrativeData({uuid})").status_code == 404
