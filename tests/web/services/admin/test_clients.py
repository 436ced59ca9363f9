"""Administrators make clients of the built-in issuer, give them new secrets, and take away what has leaked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.services.admin.conftest import NOBODY, Admin, fault

BODY: dict[str, Any] = {"name": "Web shop", "scopes": ["svc.POSReader"]}


def _made(admin: Admin, **values: Any) -> dict[str, Any]:
    return admin.make("Clients", **BODY | values)


def _grant(admin: Admin, client: dict[str, Any], secret: str) -> int:
    """Return the status with which a token is requested."""
    form = {"grant_type": "client_credentials", "client_id": client["clientId"], "client_secret": secret}
    return admin.http.post("/oauth/token", data=form).status_code


def test_a_new_client_gets_tokens_with_the_secret_that_only_this_response_tells(admin: Admin) -> None:
    made = _made(admin)
    assert made["clientId"] == made["ID"]
    assert len(made["secret"]) == 43  # 256 bits
    assert _grant(admin, made, made["secret"]) == 200
    while (read := admin.get(f"Clients({made['ID']})").json())["lastUsedAt"] is None:
        pass  # a busy database records it later
    assert "secret" not in read
    assert not any("digest" in name.lower() for name in read)


def test_a_new_secret_leaves_the_former_one_valid_until_it_is_withdrawn(admin: Admin) -> None:
    made = _made(admin)
    renewed = admin.patch(f"Clients({made['ID']})", {"secret": None}).json()
    assert renewed["secret"] != made["secret"]
    assert renewed["formerUntil"] > renewed["rotatedAt"]
    assert [_grant(admin, made, one) for one in (made["secret"], renewed["secret"])] == [200, 200]
    withdrawn = admin.post(f"Clients({made['ID']})/AdminService.withdrawTokens").json()
    assert (withdrawn["formerUntil"], withdrawn["tokensFrom"] is None) == (None, False)
    assert [_grant(admin, made, one) for one in (made["secret"], renewed["secret"])] == [401, 200]


def test_a_scope_that_is_given_twice_is_stored_once(admin: Admin) -> None:
    made = _made(admin, scopes=["svc.POSReader", "svc.Sync", "svc.POSReader"])
    assert made["scopes"] == ["svc.POSReader", "svc.Sync"]


def test_tokens_with_a_scope_that_was_taken_away_are_withdrawn(admin: Admin) -> None:
    made = _made(admin, scopes=["svc.POSReader", "svc.Sync"])
    more = admin.patch(f"Clients({made['ID']})", {"scopes": ["svc.Sync", "svc.POSReader", "PublicApi.Read"]}).json()
    assert more["tokensFrom"] is None
    fewer = admin.patch(f"Clients({made['ID']})", {"scopes": ["svc.POSReader"]}).json()
    assert fewer["tokensFrom"] == fewer["modifiedAt"]


def test_a_client_that_is_switched_off_or_deleted_gets_no_token(admin: Admin) -> None:
    made = _made(admin)
    for is_active, expected in ((False, 401), (True, 200)):
        assert admin.patch(f"Clients({made['ID']})", {"isActive": is_active}).status_code == 200
        assert _grant(admin, made, made["secret"]) == expected
    assert admin.delete(f"Clients({made['ID']})").status_code == 204
    assert _grant(admin, made, made["secret"]) == 401


@pytest.mark.parametrize(
    ("values", "code", "target"),
    [
        ({"scopes": []}, "REQUIRED", "scopes"),
        ({"scopes": ["svc.POSReader", "svc.Root"]}, "UNKNOWN_SCOPE", "scopes"),
        ({"secret": "chosen by hand"}, "INVALID_SECRET", "secret"),
        ({"ID": NOBODY}, "READ_ONLY", "ID"),
    ],
    ids=str,
)
def test_what_a_client_cannot_be_is_refused(admin: Admin, values: dict[str, Any], code: str, target: str) -> None:
    before = admin.get("Clients?$count=true&$top=0").json()["@odata.count"]
    assert fault(admin.post("Clients", BODY | values)) == (400, code, target)
    assert admin.get("Clients?$count=true&$top=0").json()["@odata.count"] == before
    if "ID" not in values:
        made = _made(admin)
        assert fault(admin.patch(f"Clients({made['ID']})", values)) == (400, code, target)


def test_nobody_locks_themselves_out(admin: Admin) -> None:
    (own,) = admin.get("Clients?$filter=clientId eq 'admin'").json()["value"]
    address = f"Clients({own['ID']})"
    for answer in (
        admin.delete(address),
        admin.patch(address, {"isActive": False}),
        admin.patch(address, {"scopes": ["svc.BudgetManager"]}),
    ):
        assert fault(answer)[:2] == (409, "OWN_CLIENT")
    assert admin.patch(address, {"name": "Myself"}).status_code == 200


def test_clients_are_the_administrators_business_and_stay_within_the_tenant(admin: Admin) -> None:
    made = _made(admin)
    assert admin.get(f"Clients({made['ID']})", client="promoter").status_code == 200
    for client, status in (("promoter", 403), ("treasurer", 403), ("till", 403), ("stranger", 404)):
        address = f"Clients({made['ID']})"
        assert admin.patch(address, {"secret": None}, client=client).status_code == status
        assert admin.post(f"{address}/AdminService.withdrawTokens", client=client).status_code == status
        assert admin.delete(address, client=client).status_code == status
    assert _grant(admin, made, made["secret"]) == 200


def test_the_audit_trail_tells_who_changed_a_client_and_no_secret(admin: Admin) -> None:
    made = _made(admin)
    admin.patch(f"Clients({made['ID']})", {"secret": None, "name": "Shop"})
    admin.post(f"Clients({made['ID']})/AdminService.withdrawTokens")
    found = admin.get(f"AuditLogs?$filter=entityType eq 'Clients' and entityId eq '{made['ID']}'").json()["value"]
    assert {(one["action"], one["actor"]) for one in found} == {
        ("CREATE", "admin"), ("UPDATE", "admin"), ("WITHDRAW_TOKENS", "admin"),
    }  # fmt: skip
    assert "igest" not in str(found)
