"""Tests of a subscription and bodies of deliveries over HTTP: permissions, answers, another tenant's rows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.services.admin.conftest import NOBODY, Admin, fault

SUBSCRIPTIONS, LOGS = "WebhookSubscriptions", "NotificationLogs"
BODY: dict[str, Any] = {"callbackUrl": "https://example.com/hook", "eventTypes": ["BUDGET_EXHAUSTED"], "name": "ERP"}


def test_sending_a_test_returns_its_delivery(admin: Admin) -> None:
    subscription = str(admin.make(SUBSCRIPTIONS, **BODY | {"isActive": False})["ID"])
    answer = admin.post(f"{SUBSCRIPTIONS}({subscription})/AdminService.sendTest")
    assert answer.status_code == 200, answer.text
    log = answer.json()
    assert (log["eventType"], log["status"], log["attempts"]) == ("WEBHOOK_TEST", "PENDING", 0)
    assert (log["subscription_ID"], log["callbackUrl"]) == (subscription, BODY["callbackUrl"])
    assert admin.post(f"{SUBSCRIPTIONS}({subscription})/sendTest").json()["ID"] == log["ID"], "it waits still"
    assert admin.read(f"{SUBSCRIPTIONS}({subscription})/notificationLogs/$count") == 1
    payload = admin.get(f"{LOGS}({log['ID']})/payload()")
    assert payload.status_code == 200, payload.text
    assert '"type":"WEBHOOK_TEST"' in payload.json()["value"]
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{subscription}' and action eq 'SEND_TEST'")["value"]
    assert [row["actor"] for row in trail] == ["admin"]


@pytest.mark.parametrize(("client", "sends", "reads"), [("promoter", 403, 200), ("treasurer", 403, 200),
                                                        ("integrator", 403, 403), ("till", 403, 403),
                                                        (None, 401, 401), ("admin", 200, 200)])  # fmt: skip
def test_only_who_may_change_subscriptions_sends_tests(
    admin: Admin, client: str | None, sends: int, reads: int
) -> None:
    subscription = str(admin.make(SUBSCRIPTIONS, **BODY)["ID"])
    log = admin.post(f"{SUBSCRIPTIONS}({subscription})/sendTest").json()["ID"]
    assert admin.post(f"{SUBSCRIPTIONS}({subscription})/sendTest", client=client).status_code == sends
    assert admin.get(f"{LOGS}({log})/payload()", client=client).status_code == reads


def test_subscriptions_and_deliveries_of_another_tenant_are_not_found(admin: Admin) -> None:
    subscription = str(admin.make(SUBSCRIPTIONS, client="stranger", **BODY)["ID"])
    log = admin.post(f"{SUBSCRIPTIONS}({subscription})/sendTest", client="stranger").json()["ID"]
    for key in (subscription, NOBODY):
        assert admin.post(f"{SUBSCRIPTIONS}({key})/sendTest").status_code == 404
    for key in (log, NOBODY):
        assert admin.get(f"{LOGS}({key})/payload()").status_code == 404


def test_nobody_subscribes_to_tests(admin: Admin) -> None:
    answer = admin.post(SUBSCRIPTIONS, BODY | {"eventTypes": ["WEBHOOK_TEST"]})
    assert fault(answer)[:2] == (400, "UNKNOWN_CODE")


def test_what_a_receiver_answered_is_shown_in_administration_only(admin: Admin) -> None:
    subscription = str(admin.make(SUBSCRIPTIONS, **BODY)["ID"])
    log = admin.post(f"{SUBSCRIPTIONS}({subscription})/sendTest").json()["ID"]
    assert {"responseBody", "durationInMs"} <= admin.read(f"{LOGS}({log})").keys()
    public = admin.read(f"/api/v1/{LOGS}({log})", client="integrator")
    assert not {"responseBody", "durationInMs"} & public.keys()
