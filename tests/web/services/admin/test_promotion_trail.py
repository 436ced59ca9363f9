"""Whoever changes a promotion, by whichever door: the audit trail tells who, and the values before and after."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.web.services.admin.conftest import Admin, active, draft

Entry = tuple[str, str, dict[str, tuple[Any, Any]]]


def entries(admin: Admin, promotion: str) -> list[Entry]:
    """Return who did what to a promotion, oldest first, with old and new value of each property that was told."""
    query = f"$filter=entityId eq '{promotion}'&$orderby=timestamp,ID&$top=50"
    found = admin.read(f"AuditLogs?{query}")["value"]
    return [(one["actor"], one["action"], told(one["changes"])) for one in found]


def told(changes: str | None) -> dict[str, tuple[Any, Any]]:
    parts = [one for one in json.loads(changes or "[]") if "property" in one and "part" not in one]
    return {one["property"]: (one.get("from"), one.get("to")) for one in parts}


def last(admin: Admin, promotion: str) -> Entry:
    return entries(admin, promotion)[-1]


@pytest.fixture
def made(admin: Admin) -> str:
    """A promotion that an integrator has created by the public API."""
    values = {"code": f"TRAIL-{uuid4().hex[:8]}", "name": "Before", "priority": 50}
    answer = admin.post("/api/v1/Promotions", values, client="integrator")
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ID"])


def give_action(admin: Admin, promotion: str) -> None:
    action = {"promotion_ID": promotion, "actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 10}
    assert admin.post("/api/v1/DiscountActions", action, client="integrator").status_code == 201


def test_by_the_public_api(admin: Admin, made: str) -> None:
    ((actor, action, values),) = entries(admin, made)
    assert (actor, action, values["name"], values["priority"]) == (
        "integrator", "CREATE", (None, "Before"), (None, "50"),
    )  # fmt: skip

    address = f"/api/v1/Promotions({made})"
    assert admin.patch(address, {"name": "After", "priority": 7}, client="integrator").status_code == 204
    assert last(admin, made) == ("integrator", "UPDATE", {"name": ("Before", "After"), "priority": ("50", "7")})

    give_action(admin, made)
    assert admin.patch(address, {"status": "ACTIVE"}, client="integrator").status_code == 204
    actor, _, values = last(admin, made)
    assert (actor, values["status"]) == ("integrator", ("DRAFT", "ACTIVE"))

    assert admin.patch(address, {"status": "INACTIVE"}, client="integrator").status_code == 204
    assert last(admin, made)[2]["status"] == ("ACTIVE", "INACTIVE")


def test_in_the_back_office(admin: Admin, made: str) -> None:
    assert admin.edit("Promotions", made, client="promoter").status_code == 201
    assert admin.patch(draft("Promotions", made), {"name": "Edited"}, client="promoter").status_code == 200
    assert len(entries(admin, made)) == 1, "a draft is not yet a change"
    assert admin.activate("Promotions", made, client="promoter").status_code == 200
    assert last(admin, made) == ("promoter", "UPDATE", {"name": ("Before", "Edited")})

    give_action(admin, made)
    answer = admin.post(f"{active('Promotions', made)}/AdminService.activate", client="promoter")
    assert answer.status_code == 200, answer.text
    actor, action, values = last(admin, made)
    assert (actor, action, values["status"]) == ("promoter", "ACTIVATE", ("DRAFT", "ACTIVE"))


def test_by_an_import(admin: Admin) -> None:
    promotion = str(uuid4())
    row = {"ID": promotion, "code": f"TRAIL-{promotion[:8]}", "name": "Imported"}
    answer = admin.post("/api/v1/Promotions:bulk-import", {"rows": [row]}, client="integrator")
    assert answer.status_code == 202, answer.text
    while admin.read(f"/api/v1/ImportJobs({answer.json()['jobId']})", client="integrator")["status"] not in {
        "SUCCEEDED",
        "FAILED",
    }:
        pass
    ((actor, action, _),) = entries(admin, promotion)
    assert (actor, action) == ("integrator", "CREATE")
    admin.patch(f"/api/v1/Promotions({promotion})", {"name": "Changed"}, client="integrator")
    assert last(admin, promotion)[2] == {"name": ("Imported", "Changed")}


def test_what_is_deleted_is_told_for_the_last_time(admin: Admin, made: str) -> None:
    assert admin.delete(f"/api/v1/Promotions({made})", client="integrator").status_code == 204
    actor, action, values = last(admin, made)
    assert (actor, action, values["name"], values["priority"]) == (
        "integrator", "DELETE", ("Before", None), ("50", None),
    )  # fmt: skip


def test_the_trail_itself_is_not_changed(admin: Admin, made: str) -> None:
    entry = admin.read(f"AuditLogs?$filter=entityId eq '{made}'")["value"][0]["ID"]
    for method in ("PATCH", "PUT", "DELETE"):
        for address in (f"AuditLogs({entry})", f"/api/v1/AuditLogs({entry})"):
            answer = admin.call(method, address, {"actor": "nobody"}, client="integrator" if "api" in address else "")
            assert answer.status_code in {403, 405}, (method, address)
    assert admin.post("AuditLogs", {"actor": "nobody"}).status_code in {403, 405}
    assert [one[1] for one in entries(admin, made)] == ["CREATE"]
