"""Administrators make the clients of thousands of stores by import, and the stores make their secrets themselves."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

import pytest

from tests.web.services.admin.conftest import OWN, Admin, fault

IMPORT = "Clients:bulk-import"
CODES = "Clients/AdminService.createEnrolmentCodes"


def _row(code: str, **values: Any) -> dict[str, Any]:
    return {"code": code, "name": f"Store {code}", "scopes": ["svc.Sync"], **values}


def _imported(admin: Admin, rows: list[dict[str, Any]], *, client: str = "admin", **header: Any) -> dict[str, Any]:
    """Import rows and return the job when it has ended."""
    accepted = admin.post(IMPORT, {"header": header, "rows": rows}, client=client)
    assert accepted.status_code == 202, accepted.text
    return _ended(admin, accepted.json()["statusUrl"], client)


def _ended(admin: Admin, address: str, client: str = "admin") -> dict[str, Any]:
    end = time.monotonic() + 120
    while (job := admin.read(address, client=client))["status"] not in {"SUCCEEDED", "FAILED"}:
        assert time.monotonic() < end, job
    return dict(job)


def _errors(admin: Admin, job: dict[str, Any]) -> list[tuple[int, str, str]]:
    found = admin.read(f"ImportJobErrors?$filter=job_ID eq {job['ID']}&$orderby=rowNumber,property")["value"]
    assert all(one["payload"] is None for one in found), "other roles see these rows, too"
    return [(one["rowNumber"], one["property"], one["code"]) for one in found]


def _client(admin: Admin, code: str, client: str = "admin") -> dict[str, Any]:
    (found,) = admin.read(f"Clients?$filter=code eq '{code}'", client=client)["value"]
    return dict(found)


def _codes(admin: Admin, *codes: str) -> list[dict[str, Any]]:
    answer = admin.post(CODES, {"codes": list(codes)})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["value"])


def _replace(admin: Admin, client_id: str, shown: str, new: str) -> tuple[int, dict[str, Any]]:
    form = {"client_id": client_id, "client_secret": shown, "new_secret": new}
    answer = admin.http.post("/oauth/secret", data=form)
    return answer.status_code, answer.json()


def _token(admin: Admin, client_id: str, secret: str) -> int:
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    return admin.http.post("/oauth/token", data=form).status_code


def test_a_store_is_imported_enrolled_and_gets_tokens(admin: Admin) -> None:
    code = admin.unique("S")
    job = _imported(admin, [_row(code)])
    assert (job["status"], job["rowsSucceeded"], job["entity"]) == ("SUCCEEDED", 1, "Clients")
    made = _client(admin, code)
    assert (made["name"], made["scopes"], made["isActive"]) == (f"Store {code}", ["svc.Sync"], True)
    assert _token(admin, made["clientId"], "") == 401

    (enrolment,) = _codes(admin, code)
    assert (enrolment["code"], enrolment["clientId"]) == (code, made["clientId"])
    shown = enrolment["enrolmentCode"]
    assert _token(admin, made["clientId"], shown) == 401, "a code is no secret"
    own = secrets.token_urlsafe(32)
    status, answer = _replace(admin, made["clientId"], shown, own)
    assert (status, answer) == (200, {"client_id": made["clientId"], "former_secret_expires_in": 0})
    assert _token(admin, made["clientId"], own) == 200
    assert _replace(admin, made["clientId"], shown, secrets.token_urlsafe(32))[0] == 401, "a code counts once"
    assert _replace(admin, made["clientId"], own, own)[0] == 200, "the answer may have got lost"
    assert _client(admin, code)["enrolmentUntil"] is None


def test_the_same_import_again_changes_nothing(admin: Admin) -> None:
    code = admin.unique("S")
    _imported(admin, [_row(code)])
    (enrolment,) = _codes(admin, code)
    own = secrets.token_urlsafe(32)
    assert _replace(admin, enrolment["clientId"], enrolment["enrolmentCode"], own)[0] == 200
    before = _client(admin, code)
    assert _imported(admin, [_row(code)])["rowsSucceeded"] == 1
    after = _client(admin, code)
    assert {**after, "lastUsedAt": None} == {**before, "lastUsedAt": None}
    assert _token(admin, enrolment["clientId"], own) == 200
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{before['ID']}'&$orderby=timestamp")["value"]
    assert [one["action"] for one in trail] == ["CREATE", "ENROL", "ENROLLED"]
    told = json.dumps(trail)
    assert not any(one in told for one in (own, enrolment["enrolmentCode"], "igest"))


def test_only_what_a_row_names_changes_and_a_store_is_switched_off(admin: Admin) -> None:
    code = admin.unique("S")
    _imported(admin, [_row(code)])
    _imported(admin, [{"code": code, "isActive": False}])
    found = _client(admin, code)
    assert (found["isActive"], found["name"], found["scopes"]) == (False, f"Store {code}", ["svc.Sync"])


def test_each_wrong_row_is_told_with_its_property_and_the_others_are_stored(admin: Admin) -> None:
    good, codes = admin.unique("S"), [admin.unique("S") for _ in range(4)]
    rows = [
        _row(codes[0], scopes=["svc.Root"]),
        {"name": "Nameless", "scopes": ["svc.Sync"]},
        _row(codes[1], secret="0" * 64),
        _row(codes[2], secret=None),
        _row(good),
        _row(codes[3], posGroup="X"),
    ]
    job = _imported(admin, rows, continueOnError=True)
    assert (job["status"], job["rowsSucceeded"], job["rowsFailed"]) == ("SUCCEEDED", 1, 5)
    assert _errors(admin, job) == [
        (1, "scopes", "UNKNOWN_SCOPE"),
        (2, "code", "REQUIRED"),
        (3, "secret", "INVALID_SECRET"),
        (4, "secret", "INVALID_SECRET"),
        (6, "posGroup", "UNKNOWN_PROPERTY"),
    ]
    assert _client(admin, good)["name"] == f"Store {good}"


def test_without_continue_on_error_one_wrong_row_stores_none(admin: Admin) -> None:
    good = admin.unique("S")
    job = _imported(admin, [_row(good), _row(admin.unique("S"), scopes=[])])
    assert (job["status"], _errors(admin, job)) == ("FAILED", [(2, "scopes", "REQUIRED")])
    assert admin.read(f"Clients?$filter=code eq '{good}'")["value"] == []


@pytest.mark.parametrize("client", ["promoter", "treasurer", "integrator", "till"])
def test_only_administrators_import_clients(admin: Admin, client: str) -> None:
    assert admin.post(IMPORT, {"rows": [_row("X")]}, client=client).status_code == 403
    assert admin.post(CODES, {"codes": ["X"]}, client=client).status_code == 403
    assert admin.post(f"/api/v1/{IMPORT}", {"rows": [_row("X")]}, client="integrator").status_code == 404


def test_tenants_may_use_the_same_codes_and_do_not_meet(admin: Admin) -> None:
    code = admin.unique("S")
    for client in ("admin", "stranger"):
        assert _imported(admin, [_row(code)], client=client)["rowsSucceeded"] == 1
    assert _client(admin, code)["clientId"] != _client(admin, code, "stranger")["clientId"]
    mine = admin.unique("S")
    _imported(admin, [_row(mine)])
    refused = admin.post(CODES, {"codes": [mine]}, client="stranger")
    assert fault(refused) == (400, "UNKNOWN_REFERENCE", "codes/0")
    foreign = admin.post(IMPORT, {"header": {"tenantId": OWN}, "rows": [_row(code)]}, client="stranger")
    assert fault(foreign) == (403, "FOREIGN_TENANT", "header/tenantId")


def test_a_repeated_request_is_the_same_job(admin: Admin) -> None:
    body, key = {"rows": [_row(admin.unique("S"))]}, admin.unique("key")
    first = admin.post(IMPORT, body, Idempotency_Key=key)
    again = admin.post(IMPORT, body, Idempotency_Key=key)
    assert (first.status_code, again.status_code, again.json()) == (202, 200, first.json())
    _ended(admin, first.json()["statusUrl"])


@pytest.mark.parametrize(
    ("codes", "code", "target"),
    [
        ([], "REQUIRED", "codes"),
        (["?"], "UNKNOWN_REFERENCE", "codes/0"),
        (["?"] * 3 + ["!"], "UNKNOWN_REFERENCE", "codes/0"),
        ([str(one) for one in range(1001)], "TOO_MANY_ROWS", "codes"),
    ],
    ids=["none", "unknown", "repeated", "many"],
)
def test_codes_are_made_for_clients_that_there_are(admin: Admin, codes: list[str], code: str, target: str) -> None:
    assert fault(admin.post(CODES, {"codes": codes})) == (400, code, target)


def test_a_new_code_replaces_the_old_one_and_then_whatever_the_client_had(admin: Admin) -> None:
    code = admin.unique("S")
    made = admin.make("Clients", code=code, scopes=["svc.POSReader"])
    first, second = (_codes(admin, code)[0]["enrolmentCode"] for _ in range(2))
    new = secrets.token_urlsafe(32)
    assert _replace(admin, made["clientId"], first, new)[0] == 401
    assert _token(admin, made["clientId"], made["secret"]) == 200, "until the new machine is there"
    assert _replace(admin, made["clientId"], second, new)[0] == 200
    assert _token(admin, made["clientId"], made["secret"]) == 401
    assert _token(admin, made["clientId"], new) == 200


def test_withdrawing_tokens_takes_the_code_away_too(admin: Admin) -> None:
    code = admin.unique("S")
    made = admin.make("Clients", code=code, scopes=["svc.POSReader"])
    shown = _codes(admin, code)[0]["enrolmentCode"]
    assert admin.post(f"Clients({made['ID']})/AdminService.withdrawTokens").status_code == 200
    assert _replace(admin, made["clientId"], shown, secrets.token_urlsafe(32))[0] == 401


@pytest.mark.parametrize("new", ["short", "a" * 43, "ab" * 30, "x y" * 20, "0" * 201], ids=len)
def test_a_secret_that_is_not_random_is_refused(admin: Admin, new: str) -> None:
    made = admin.make("Clients", scopes=["svc.POSReader"])
    status, answer = _replace(admin, made["clientId"], made["secret"], new)
    assert (status, answer["error"]) == (400, "invalid_request")
    assert "new_secret" in answer["error_description"]
    assert _token(admin, made["clientId"], made["secret"]) == 200


def test_a_client_replaces_its_secret_and_both_count_for_a_day(admin: Admin) -> None:
    made = admin.make("Clients", scopes=["svc.POSReader"])
    new = secrets.token_urlsafe(32)
    for _ in range(2):  # the same again, because the answer got lost
        status, answer = _replace(admin, made["clientId"], made["secret"], new)
        assert status == 200
        assert 86_390 <= answer["former_secret_expires_in"] <= 86_400
    assert [_token(admin, made["clientId"], one) for one in (made["secret"], new)] == [200, 200]
    assert _replace(admin, made["clientId"], "wrong", new)[0] == 401
    assert _replace(admin, "nobody\0", "wrong", new)[0] == 401


@pytest.mark.check
def test_ten_thousand_stores_are_one_import_and_ten_requests_for_codes(admin: Admin) -> None:
    prefix = admin.unique("T")
    codes = [f"{prefix}-{number:05}" for number in range(10_000)]
    job = _imported(admin, [_row(code) for code in codes])
    assert (job["status"], job["rowsSucceeded"]) == ("SUCCEEDED", 10_000)
    made = [one for start in range(0, 10_000, 1000) for one in _codes(admin, *codes[start : start + 1000])]
    assert [one["code"] for one in made] == codes
    assert len({one["enrolmentCode"] for one in made}) == len({one["clientId"] for one in made}) == 10_000
