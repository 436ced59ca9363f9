"""Stores register and report their status."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.web.sync.down.conftest import Cloud, fault
from tests.web.sync.down.replica import Replica

NOBODY = "99999999-9999-4999-8999-999999999999"
CARD = {"storeCode": "S-faulty", "name": "Zoo", "posGroupCode": "BERLIN", "version": "1.4.0"}


def shown(cloud: Cloud, deployment_id: str) -> dict[str, Any]:
    """Return the store as integrators see it."""
    found: dict[str, Any] = cloud.read(f"/api/v1/LocalDeployments({deployment_id})", client="integrator")
    return found


def test_a_store_registers_once_whatever_it_is_called_later(cloud: Cloud) -> None:
    code = cloud.unique("S")
    body = {"storeCode": code, "name": "Zoo", "posGroupCode": "BERLIN", "version": "1.4.0"}
    first = cloud.post("register", body).json()
    assert first.keys() == {"deploymentId", "instanceId", "tenantId"}
    assert first["tenantId"] == "acme"
    assert cloud.post("register", body).json() == first
    assert cloud.post("register", {"storeCode": code, "name": "Zoo II", "version": "1.5.0"}).json() == first
    row = shown(cloud, first["deploymentId"])
    assert (row["storeCode"], row["name"], row["version"], row["status"]) == (code, "Zoo II", "1.5.0", "ONLINE")
    assert row["posGroup_ID"] is None
    others = cloud.post("register", body, client="stranger").json()
    assert others["tenantId"] == "globex"
    assert {others["deploymentId"], others["instanceId"]}.isdisjoint(first.values())


@pytest.mark.parametrize(
    ("change", "code", "target"),
    [
        ({"storeCode": None}, "VALIDATION_FAILED", "storeCode"),
        ({"storeCode": ""}, "VALIDATION_FAILED", "storeCode"),
        ({"storeCode": "x" * 51}, "VALIDATION_FAILED", "storeCode"),
        ({"storeCode": 7}, "VALIDATION_FAILED", "storeCode"),
        ({"storeCode": "two\nlines"}, "VALIDATION_FAILED", "storeCode"),
        ({"name": "x" * 256}, "VALIDATION_FAILED", "name"),
        ({"version": "x" * 21}, "VALIDATION_FAILED", "version"),
        ({"version": None}, "VALIDATION_FAILED", "version"),
        ({"posGroupCode": "x" * 21}, "VALIDATION_FAILED", "posGroupCode"),
        ({"posGroupCode": "NOWHERE"}, "UNKNOWN_POS_GROUP", "posGroupCode"),
    ],
)
def test_every_field_of_a_registration_is_checked(cloud: Cloud, change: Any, code: str, target: str) -> None:
    assert fault(cloud.post("register", CARD | change)) == (400, code, target)
    left = cloud.read("/api/v1/LocalDeployments?$filter=storeCode eq 'S-faulty'", client="integrator")
    assert left["value"] == []


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"storeCode":"a","storeCode":"b","version":"1"}', b'"x"', b"\xff"]
)
def test_a_body_that_is_not_an_object_is_refused(cloud: Cloud, body: bytes) -> None:
    for path in ("register", "heartbeat"):
        assert cloud.post(path, body).status_code == 400, path


def test_a_heartbeat_is_recorded_and_answered(cloud: Cloud) -> None:
    deployment = cloud.register(cloud.unique("S"))
    before = datetime.now(UTC) - timedelta(seconds=5)
    body = {"deploymentId": deployment, "status": "UP", "version": "1.4.1", "pendingTransactions": 12}
    answer = cloud.post("heartbeat", body)
    assert answer.status_code == 200
    assert answer.json().keys() == {"serverTime", "latestCursor", "reserves", "epoch"}
    assert answer.json()["reserves"] == []
    assert before < datetime.fromisoformat(answer.json()["serverTime"]) < datetime.now(UTC) + timedelta(seconds=5)
    row = shown(cloud, deployment)
    assert (row["version"], row["pendingTransactions"], row["status"]) == ("1.4.1", 12, "ONLINE")
    assert datetime.fromisoformat(row["lastHeartbeatAt"]) > before


def test_two_machines_with_one_identity_are_told_apart_by_their_runs(cloud: Cloud) -> None:
    deployment = cloud.register(cloud.unique("S"))
    first, copy = str(uuid.uuid4()), str(uuid.uuid4())

    def beat(run: str) -> tuple[int, Any]:
        body = {"deploymentId": deployment, "status": "UP", "version": "1.4.1", "runId": run}
        answer = cloud.post("heartbeat", body)
        return answer.status_code, answer.json().get("epoch", answer.json().get("error", {}).get("code"))

    assert [beat(run) for run in (first, copy, first)] == [(200, 0)] * 3
    assert shown(cloud, deployment)["clonedAt"] is None
    assert beat(first) == (200, 1)
    assert shown(cloud, deployment)["clonedAt"] is not None
    assert [beat(run) for run in (copy, first, copy)] == [
        (409, "DEPLOYMENT_CLONED"),
        (200, 1),
        (409, "DEPLOYMENT_CLONED"),
    ]
    wanted: dict[str, dict[str, Any]] = {
        "budget-grants": {"budgetId": NOBODY},
        "coupon-leases": {"promotionId": NOBODY, "quantity": 1},
    }
    for path, asked in wanted.items():
        answer = cloud.post(path, {"deploymentId": deployment, "runId": copy, **asked})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "DEPLOYMENT_CLONED"), path


def test_the_latest_cursor_is_the_one_after_a_complete_download(cloud: Cloud) -> None:
    deployment = cloud.register(cloud.unique("S"))
    body = {"deploymentId": deployment, "status": "UP", "version": "1.4.1"}
    replica = Replica()
    cloud.follow(deployment, replica)
    assert cloud.post("heartbeat", body).json()["latestCursor"] == replica.cursor
    cloud.author("Articles", articleNumber=cloud.unique("H"))
    latest = cloud.post("heartbeat", body).json()["latestCursor"]
    assert latest != replica.cursor
    cloud.follow(deployment, replica)
    assert latest == replica.cursor


@pytest.mark.parametrize(
    ("change", "target"),
    [
        ({"deploymentId": None}, "deploymentId"),
        ({"deploymentId": "x"}, "deploymentId"),
        ({"status": ""}, "status"),
        ({"version": 1}, "version"),
        ({"promotionsLoaded": -1}, "promotionsLoaded"),
        ({"pendingTransactions": 2**31}, "pendingTransactions"),
        ({"pendingTransactions": "many"}, "pendingTransactions"),
    ],
)
def test_every_field_of_a_heartbeat_is_checked(cloud: Cloud, change: Any, target: str) -> None:
    body = {"deploymentId": NOBODY, "status": "UP", "version": "1.4.1"}
    assert fault(cloud.post("heartbeat", body | change)) == (400, "VALIDATION_FAILED", target)


def test_an_unknown_store_and_that_of_another_tenant_are_404(cloud: Cloud) -> None:
    foreign = cloud.register(cloud.unique("S"), client="stranger")
    for deployment in (NOBODY, foreign, foreign.upper()):
        body = {"deploymentId": deployment, "status": "UP", "version": "1"}
        unknown = (404, "DEPLOYMENT_NOT_FOUND", "deploymentId")
        assert fault(cloud.post("heartbeat", body)) == unknown
        assert fault(cloud.promotions(deployment)) == unknown


def test_only_stores_may_call_the_sync_endpoints(cloud: Cloud) -> None:
    deployment = cloud.register(cloud.unique("S"))
    body = {"deploymentId": deployment, "status": "UP", "version": "1"}
    for client, expected in ((None, 401), ("everything", 403), ("integrator", 403), ("store", 200)):
        answers = [
            cloud.post("register", {"storeCode": "S1", "version": "1"}, client=client),
            cloud.post("heartbeat", body, client=client),
            cloud.promotions(deployment, client=client),
        ]
        assert [answer.status_code for answer in answers] == [expected] * 3, client
    for path in ("/api/v1/Promotions", "/admin/Promotions", "/pos/heartbeat"):
        assert cloud.get(path).status_code == 403, path


def test_other_methods_are_refused_by_the_sync_endpoints(cloud: Cloud) -> None:
    for method, path, allow in (
        ("GET", "register", "POST"),
        ("DELETE", "heartbeat", "POST"),
        ("POST", "promotions", "GET, HEAD"),
    ):
        answer = cloud.call(method, path, None)
        assert (fault(answer)[:2], answer.headers["allow"]) == ((405, "METHOD_NOT_ALLOWED"), allow)


def test_a_store_that_registers_from_several_places_at_once_is_one(cloud: Cloud) -> None:
    code = cloud.unique("S")
    cloud.token("store")
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: cloud.register(code, name="Zoo"), range(16)))
    assert len(found) == 1


def test_a_pos_group_that_a_store_serves_cannot_be_deleted(cloud: Cloud) -> None:
    code = cloud.unique("PG")
    group = cloud.author("PosGroups", code=code, name="Zoo", currency="EUR")
    deployment = cloud.register(cloud.unique("S"), posGroupCode=code)
    assert shown(cloud, deployment)["posGroup_ID"] == group
    answer = cloud.delete(f"/api/v1/PosGroups({group})", client="integrator")
    assert (answer.status_code, answer.json()["code"]) == (409, "IN_USE")
