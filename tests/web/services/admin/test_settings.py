"""Administrators change the settings of their tenant: checked as on the command line, audited with both values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from promenade import model
from promenade.errors import Invalid
from promenade.ids import new_id
from promenade.model.access.tenants import SETTINGS_ID
from promenade.store.clockwork.dropping import Mark, write_mark
from promenade.store.driver.session import open_database
from promenade.store.sales.kept import AUDIT, SALES
from promenade.workflows.access.tenants import set_tenant
from tests.web.conftest import run
from tests.web.services.admin.conftest import OWN, Admin, fault

ADDRESS = f"TenantSettings({SETTINGS_ID})"
DEFAULTS: dict[str, Any] = {
    "name": OWN,
    "combinationStrategy": "SEQUENTIAL",
    "pointsPerCurrencyUnit": 0,
    "countsTowardsThreshold": None,
    "excludedCountsTowardsThreshold": None,
    "enableProductionNudges": False,
    "unmatchedReturns": "WARN",
    "significanceLevel": 0.05,
    "defaultCurrency": None,
    "approval": "OFF",
    "approvalFromAmount": None,
    "approvalCurrency": None,
    "approverScope": "svc.Admin",
    "masterDataCallbackUrl": None,
    "basicForReaders": False,
    "codeRequired": None,
    "secretDays": None,
    "secretOverlapHours": None,
    "secretGraceDays": None,
    "agentsMayActivate": False,
    "salesLogDays": None,
    "salesLogsUnarchived": None,
    "auditLogDays": None,
    "redemptionLogDays": None,
    "idleCustomerDays": None,
    "idlePointsLapse": None,
}
TOLD = {"salesLogsSince", "auditLogsSince", "redemptionLogsSince"}


@pytest.fixture(autouse=True)
def unchanged(admin: Admin) -> Iterator[None]:
    """Leave the settings to the other tests as they were."""
    yield
    assert admin.patch(ADDRESS, DEFAULTS).status_code == 200


def _set_by_command(admin: Admin, **settings: str) -> None:
    async def work() -> None:
        database = await open_database(admin.database_url)
        try:
            await set_tenant(database, OWN, settings, at=datetime.now(UTC), user="operator", new_id=new_id)
        finally:
            await database.close()

    run(work())


def _changes(admin: Admin, actor: str, since: str) -> list[tuple[str, str, str]]:
    """Return what the audit trail tells of one save: settings with their old and new values."""
    asked = f"entityType eq 'TenantSettings' and actor eq '{actor}' and timestamp ge {since}"
    (found,) = admin.get(f"AuditLogs?$filter={asked}").json()["value"]
    assert (found["entityId"], found["action"]) == (SETTINGS_ID, "UPDATE")
    told = json.loads(found["changes"])
    return sorted((one["property"], one.get("from", ""), one.get("to", "")) for one in told)


def test_every_setting_of_the_command_line_is_here_with_its_default(admin: Admin) -> None:
    (row,) = admin.get("TenantSettings").json()["value"]
    assert {name: row[name] for name in DEFAULTS} == DEFAULTS
    given = {"ID", "tenantId", "isOperator", "createdAt", "createdBy", "modifiedAt", "modifiedBy", "@odata.etag"}
    assert row.keys() - given == DEFAULTS.keys() | TOLD
    assert {row[name] for name in TOLD} == {None}
    declared = {field.wire for field in model.entity("Tenants").fields} - given
    assert declared == DEFAULTS.keys()


def test_how_logs_are_deleted_needs_when(admin: Admin) -> None:
    refused = admin.patch(ADDRESS, {"salesLogsUnarchived": True})
    assert fault(refused)[:2] == (400, "SET_TOGETHER")
    assert fault(admin.patch(ADDRESS, {"salesLogDays": 29}))[0] == 400
    assert admin.patch(ADDRESS, {"salesLogDays": 30, "salesLogsUnarchived": True}).status_code == 200


def test_what_becomes_of_points_needs_when_customers_are_forgotten(admin: Admin) -> None:
    assert fault(admin.patch(ADDRESS, {"idlePointsLapse": True}))[:2] == (400, "SET_TOGETHER")
    assert fault(admin.patch(ADDRESS, {"idleCustomerDays": 29}))[0] == 400
    assert admin.patch(ADDRESS, {"idleCustomerDays": 30, "idlePointsLapse": True}).status_code == 200


def test_since_when_logs_are_kept_is_told_and_not_set(admin: Admin) -> None:
    sold, changed = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4))

    async def mark(tenant: str, kind: str, before: datetime | None) -> None:
        database = await open_database(admin.database_url)
        try:
            marked = replace(Mark(), purged_before=before)
            await database.write(lambda session: write_mark(session, marked, kind), tenant=tenant)
        finally:
            await database.close()

    run(mark(OWN, SALES, sold))
    run(mark(OWN, AUDIT, changed))
    run(mark("another", AUDIT, datetime(2026, 5, 1, tzinfo=UTC)))
    (row,) = admin.get("TenantSettings?$filter=auditLogsSince gt 2026-03-31T00:00:00Z").json()["value"]
    assert [datetime.fromisoformat(row[name]) for name in ("salesLogsSince", "auditLogsSince")] == [sold, changed]
    answer = admin.patch(ADDRESS, {"auditLogsSince": "2020-01-01T00:00:00Z", "auditLogDays": 365}).json()
    assert (answer["auditLogsSince"], answer["auditLogDays"]) == (row["auditLogsSince"], 365)
    assert fault(admin.patch(ADDRESS, {"auditLogDays": 364}))[0] == 400
    for kind in (SALES, AUDIT):
        run(mark(OWN, kind, None))


def test_what_is_saved_together_is_in_force_at_once_and_audited_with_both_values(admin: Admin) -> None:
    before = admin.get(ADDRESS).json()
    body = {"combinationStrategy": "BEST_DEAL", "pointsPerCurrencyUnit": 1.5, "enableProductionNudges": True}
    changed = admin.patch(ADDRESS, body, if_match=before["@odata.etag"])
    assert changed.status_code == 200, changed.text
    after = changed.json()
    assert body.items() <= after.items()
    assert (after["modifiedBy"], after["@odata.etag"] != before["@odata.etag"]) == ("admin", True)
    assert _changes(admin, "admin", after["modifiedAt"]) == [
        ("combinationStrategy", "SEQUENTIAL", "BEST_DEAL"),
        ("enableProductionNudges", "false", "true"),
        ("pointsPerCurrencyUnit", "0", "1.5"),
    ]
    assert admin.patch(ADDRESS, {"name": "x"}, if_match=before["@odata.etag"]).status_code == 412


def test_the_command_line_changes_the_same_row_by_the_same_way(admin: Admin) -> None:
    _set_by_command(admin, significanceLevel="0.1", isOperator="true", masterDataCallbackUrl="http://intern.example/x")
    row = admin.get(ADDRESS).json()
    assert (row["significanceLevel"], row["isOperator"], row["modifiedBy"]) == (0.1, True, "operator")
    assert _changes(admin, "operator", row["modifiedAt"]) == [
        ("isOperator", "false", "true"),
        ("masterDataCallbackUrl", "", "http://intern.example/x"),
        ("significanceLevel", "0.05", "0.1"),
    ]
    _set_by_command(admin, isOperator="false")


@pytest.mark.parametrize(
    ("values", "code", "target"),
    [
        ({"name": " "}, "REQUIRED", "name"),
        ({"combinationStrategy": "LUCK"}, "UNKNOWN_CODE", "combinationStrategy"),
        ({"significanceLevel": 0.9}, "OUT_OF_RANGE", "significanceLevel"),
        ({"pointsPerCurrencyUnit": -1}, "OUT_OF_RANGE", "pointsPerCurrencyUnit"),
        ({"defaultCurrency": "EUX"}, "UNKNOWN_CODE", "defaultCurrency"),
        ({"approvalFromAmount": 100}, "SET_TOGETHER", "approvalCurrency"),
        ({"approvalCurrency": "EUR"}, "SET_TOGETHER", "approvalFromAmount"),
        ({"masterDataCallbackUrl": "ftp://x.example"}, "INVALID_URL", "masterDataCallbackUrl"),
    ],
    ids=str,
)
def test_what_a_setting_cannot_be_is_refused_at_its_field_here_and_on_the_command_line(
    admin: Admin, values: dict[str, Any], code: str, target: str
) -> None:
    assert fault(admin.patch(ADDRESS, values | {"unmatchedReturns": "REFUSE"})) == (400, code, target)
    assert admin.get(ADDRESS).json()["unmatchedReturns"] == "WARN"
    with pytest.raises(Invalid) as refused:
        _set_by_command(admin, **{name: str(value) for name, value in values.items()})
    assert (refused.value.code, refused.value.target) == (code, target)


def test_all_that_is_wrong_is_told_at_once(admin: Admin) -> None:
    refused = admin.patch(ADDRESS, {"approval": "MAYBE", "significanceLevel": 0})
    assert {one["target"] for one in refused.json()["error"]["details"]} == {"approval", "significanceLevel"}


def test_what_gives_rights_in_other_tenants_or_leaves_by_plain_http_is_the_operators_business(admin: Admin) -> None:
    answer = admin.patch(ADDRESS, {"isOperator": True, "tenantId": OWN, "name": "Acme"})
    assert (answer.status_code, answer.json()["isOperator"], answer.json()["name"]) == (200, False, "Acme")
    plain = admin.patch(ADDRESS, {"masterDataCallbackUrl": "http://intern.example/x"})
    assert fault(plain) == (400, "HTTPS_REQUIRED", "masterDataCallbackUrl")


def test_only_administrators_change_settings_and_only_those_of_their_tenant(admin: Admin) -> None:
    for client in ("promoter", "treasurer"):
        assert admin.get(ADDRESS, client=client).status_code == 200
        assert admin.patch(ADDRESS, {"approval": "BINDING"}, client=client).status_code == 403
    assert admin.patch(ADDRESS, {"approval": "BINDING"}, client="till").status_code == 403
    assert admin.patch(ADDRESS, {"name": "Globex"}, client="stranger").json()["name"] == "Globex"
    assert admin.get(ADDRESS, client="stranger").json()["tenantId"] != OWN
    assert admin.get(ADDRESS).json()["name"] == OWN
    assert admin.patch(ADDRESS, {"pointsPerCurrencyUnit": 2}).status_code == 200
    own = admin.get("AuditLogs?$filter=entityType eq 'TenantSettings'").json()["value"]
    assert own
    assert "Globex" not in str(own)


def test_there_is_one_row_and_it_stays(admin: Admin) -> None:
    assert fault(admin.post("TenantSettings", {"name": "Second"}))[:2] == (405, "NOT_INSERTABLE")
    assert fault(admin.delete(ADDRESS))[:2] == (405, "NOT_DELETABLE")
    assert admin.get("TenantSettings?$count=true").json()["@odata.count"] == 1


def test_binding_approval_is_in_force_with_the_next_request(admin: Admin) -> None:
    assert admin.patch(ADDRESS, {"approval": "BINDING"}).status_code == 200
    assert admin.get("/ui/me").json()["approvalIsBinding"] is True


def test_the_limits_that_hold_and_their_use_are_told_to_every_role_of_the_tenant_alone(admin: Admin) -> None:
    address = f"{ADDRESS}/AdminService.rateLimits()"
    for client in ("admin", "promoter", "treasurer"):
        whole, *clients = admin.get(address, client=client).json()["value"]
        assert (whole["clientId"], whole["perMinute"]) == (None, 120_000)
        assert whole["inUse"] >= 0  # of 120 000 a minute, one has gone within a millisecond
        assert {one["perMinute"] for one in clients} == {60_000}
        assert client in {one["clientId"] for one in clients}
        assert "stranger" not in {one["clientId"] for one in clients}
    other = admin.get(address, client="stranger").json()["value"]
    assert [one["clientId"] for one in other] == [None, "stranger"]
    assert fault(admin.get(address, client="till"))[:2] == (403, "MISSING_SCOPE")
    assert admin.post(address).status_code == 405
