"""Replay over HTTP: permissions, responses, and isolation from another tenant's rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from promenade.store.driver.session import open_database
from tests.web.conftest import run
from tests.web.services.admin.conftest import NOBODY, OTHER, OWN, Admin, fault
from tests.workflows.webhooks.authoring.deliveries import Outbox

T = TypeVar("T")

SUBSCRIPTIONS, LOGS = "WebhookSubscriptions", "NotificationLogs"
BODY: dict[str, Any] = {"callbackUrl": "https://example.com/hook", "eventTypes": ["*"], "name": "ERP"}
HAPPENED = datetime(2025, 5, 1, 12, tzinfo=UTC)  # before anything that the services themselves emit
PERIOD = {"from": "2025-05-01T00:00:00Z", "to": "2025-05-02T00:00:00+00:00"}


def _outbox(admin: Admin, work: Callable[[Outbox], Any], tenant: str = OWN) -> Any:
    """Write what the worker and the tills would have written."""

    async def opened() -> Any:
        database = await open_database(admin.database_url)
        try:
            return await work(Outbox(database, tenant))
        finally:
            await database.close()

    return run(opened())


def _delivery(admin: Admin, status: str = "DEAD_LETTER", *, tenant: str = OWN) -> tuple[str, str, str]:
    """Create a subscription, an event and the log of its delivery; return their IDs."""
    client = "admin" if tenant == OWN else "stranger"
    subscription = str(admin.make(SUBSCRIPTIONS, client=client, **BODY)["ID"])

    async def work(outbox: Outbox) -> tuple[str, str]:
        event = await outbox.event(at=HAPPENED)
        return event, await outbox.log(subscription, event, status, at=HAPPENED)

    event, log = _outbox(admin, work, tenant)
    return subscription, event, log


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@pytest.mark.parametrize("form", [f"{LOGS}({{0}})/AdminService.replay", f"{LOGS}(ID={{0}})/replay",
                                  f"{SUBSCRIPTIONS}({{1}})/notificationLogs({{0}})/AdminService.replay"])  # fmt: skip
def test_the_answer_to_a_replay_shows_the_changed_delivery(admin: Admin, form: str) -> None:
    subscription, event, log = _delivery(admin, "DELIVERED")
    began = datetime.now(UTC) - timedelta(seconds=2)
    answer = admin.post(form.format(log, subscription))
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert (shown["ID"], shown["status"], shown["attempts"], shown["eventId"]) == (log, "PENDING", 0, event)
    assert shown["statusCriticality"] == 2
    assert began <= _moment(shown["nextAttemptAt"]) <= datetime.now(UTC) + timedelta(seconds=2)
    assert admin.read(f"{LOGS}({log})")["status"] == "PENDING"
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{log}'")["value"]
    assert [(row["action"], row["actor"], row["entityType"]) for row in trail] == [("REPLAY", "admin", LOGS)]


def test_missed_events_are_planned_and_counted(admin: Admin) -> None:
    subscription, _, log = _delivery(admin)
    answer = admin.post(f"{SUBSCRIPTIONS}({subscription})/AdminService.replayEvents", PERIOD)
    assert answer.status_code == 200, answer.text
    planned = answer.json()
    assert planned["events"] >= 1, "with what other tests have left in this period"
    assert _moment(planned["until"]) == _moment(PERIOD["to"])
    logs = admin.read(f"{SUBSCRIPTIONS}({subscription})/notificationLogs?$filter=status eq 'PENDING'&$count=true")
    assert logs["@odata.count"] == planned["events"]
    assert log in {row["ID"] for row in logs["value"]}
    again = admin.post(f"{SUBSCRIPTIONS}({subscription})/replayEvents", PERIOD).json()
    assert again["events"] == 0
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{subscription}' and action eq 'REPLAY'&$orderby=timestamp")
    assert [row["note"].split(" from ")[0] for row in trail["value"]] == [f"{planned['events']} events", "0 events"]


@pytest.mark.parametrize(("client", "status"), [("promoter", 403), ("treasurer", 403), ("integrator", 403),
                                                ("till", 403), (None, 401), ("admin", 200)])  # fmt: skip
def test_only_administrators_may_replay_deliveries(admin: Admin, client: str | None, status: int) -> None:
    subscription, _, log = _delivery(admin)
    for path, body in ((f"{LOGS}({log})/replay", {}), (f"{SUBSCRIPTIONS}({subscription})/replayEvents", PERIOD)):
        assert admin.post(path, body, client=client).status_code == status
    assert admin.post(f"/api/v1/{LOGS}({log})/replay", client="integrator").status_code == 404


def test_deliveries_of_another_tenant_are_not_found(admin: Admin) -> None:
    subscription, event, log = _delivery(admin, tenant=OTHER)
    for path, body in (
        (LOGS + "({})/AdminService.replay", {}),
        (SUBSCRIPTIONS + "({})/AdminService.replayEvents", PERIOD),
        (SUBSCRIPTIONS + "({})/AdminService.replayEvents", {"from": PERIOD["to"], "to": PERIOD["from"]}),
    ):
        key = log if path.startswith(LOGS) else subscription
        foreign, unknown = (admin.post(path.format(one), body) for one in (key, NOBODY))
        assert foreign.status_code == unknown.status_code == 404
        assert foreign.text.replace(key, NOBODY) == unknown.text
    own, _, _ = _delivery(admin)
    assert admin.post(f"{SUBSCRIPTIONS}({own})/notificationLogs({log})/replay").status_code == 404
    assert admin.post(f"{SUBSCRIPTIONS}({own})/replayEvents", PERIOD).status_code == 200
    logs = admin.get(f"{LOGS}?$top=1000&$expand=subscription").text
    assert not [one for one in (subscription, event, log) if one in logs]
    for path in (f"{SUBSCRIPTIONS}({subscription})/notificationLogs", f"{LOGS}({log})", f"{LOGS}({log})/subscription"):
        assert admin.get(path).status_code == 404
    assert admin.read(f"{LOGS}/$count?$filter=subscription_ID eq {subscription}", client="admin") == 0
    assert admin.read(f"{LOGS}({log})", client="stranger")["status"] == "DEAD_LETTER"


def test_replaying_an_unrepeatable_delivery_is_a_conflict(admin: Admin) -> None:
    subscription, event, log = _delivery(admin)
    admin.patch(f"{SUBSCRIPTIONS}({subscription})", {"isActive": False})
    assert fault(admin.post(f"{LOGS}({log})/replay"))[:2] == (409, "SUBSCRIPTION_INACTIVE")
    answer = admin.post(f"{SUBSCRIPTIONS}({subscription})/replayEvents", PERIOD)
    assert fault(answer)[:2] == (409, "SUBSCRIPTION_INACTIVE")
    admin.patch(f"{SUBSCRIPTIONS}({subscription})", {"isActive": True})
    _outbox(admin, lambda outbox: outbox.purge(event))
    assert fault(admin.post(f"{LOGS}({log})/replay"))[:2] == (409, "EVENT_GONE")
    assert admin.delete(f"{SUBSCRIPTIONS}({subscription})").status_code == 204
    assert fault(admin.post(f"{LOGS}({log})/replay"))[:2] == (409, "SUBSCRIPTION_GONE")


@pytest.mark.parametrize(
    ("body", "code", "target"),
    [
        ({"from": PERIOD["from"]}, "REQUIRED", "to"),
        ({"from": PERIOD["to"], "to": PERIOD["from"]}, "PERIOD_EMPTY", "to"),
        ({"from": PERIOD["to"], "to": PERIOD["to"]}, "PERIOD_EMPTY", "to"),
        ({"from": "yesterday", "to": PERIOD["to"]}, None, "from"),
        ({"from": None, "to": PERIOD["to"]}, None, "from"),
        ({"from": 7, "to": PERIOD["to"]}, None, "from"),
        (PERIOD | {"more": 1}, None, None),
    ],
)
def test_an_invalid_replay_period_is_refused(
    admin: Admin, body: dict[str, Any], code: str | None, target: str | None
) -> None:
    subscription = str(admin.make(SUBSCRIPTIONS, **BODY)["ID"])
    status, found, where = fault(admin.post(f"{SUBSCRIPTIONS}({subscription})/replayEvents", body))
    assert (status, found) == (400, code or found)
    assert where == (target or where)


def test_the_widest_possible_replay_period_is_accepted(admin: Admin) -> None:
    subscription = str(admin.make(SUBSCRIPTIONS, **BODY | {"eventTypes": ["PROMOTION_ARCHIVED"]})["ID"])
    ever = {"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59.999999Z"}
    answer = admin.post(f"{SUBSCRIPTIONS}({subscription})/replayEvents", ever)
    assert (answer.status_code, answer.json()["events"]) == (200, 0), answer.text


def test_a_change_set_sends_again_all_or_nothing(admin: Admin) -> None:
    subscription, _, log = _delivery(admin)
    _, _, other = _delivery(admin)

    def send(*urls: str) -> list[int]:
        entries = [
            {"id": str(number), "atomicityGroup": "a", "method": "POST", "url": url,
             "headers": {"content-type": "application/json"}, "body": PERIOD if "Events" in url else {}}
            for number, url in enumerate(urls)
        ]  # fmt: skip
        return [one["status"] for one in admin.post("$batch", {"requests": entries}).json()["responses"]]

    failed = send(f"{LOGS}({log})/replay", f"{SUBSCRIPTIONS}({subscription})/replayEvents", f"{LOGS}({NOBODY})/replay")
    assert 404 in failed
    assert 200 not in failed
    assert admin.read(f"{LOGS}({log})")["status"] == "DEAD_LETTER"
    assert admin.read(f"{SUBSCRIPTIONS}({subscription})/notificationLogs/$count") == 1
    urls = (f"{SUBSCRIPTIONS}({subscription})/replayEvents", f"{LOGS}({log})/replay", f"{LOGS}({other})/replay")
    assert send(*urls) == [200, 200, 200]


def test_an_operator_can_list_failed_deliveries(admin: Admin) -> None:
    """An operator's questions at night: what failed, of which kind, to whom, since when."""
    subscription, _, log = _delivery(admin)
    for query in (
        "$filter=status eq 'DEAD_LETTER'&$orderby=createdAt desc",
        "$filter=status in ('DEAD_LETTER','RETRYING') and createdAt ge 2025-05-01T00:00:00Z&$orderby=createdAt desc",
        "$filter=eventType eq 'PROMOTION_UPDATED'&$orderby=createdAt desc",
        f"$filter=subscription_ID eq {subscription}&$orderby=createdAt desc",
        "$filter=subscription/name eq 'ERP' and status eq 'DEAD_LETTER'&$orderby=subscription/name,createdAt",
        "$filter=contains(lastError,'500')&$orderby=nextAttemptAt,attempts desc",
        "$search=PROMOTION_UPDATED&$orderby=status,eventType",
    ):
        found = admin.read(f"{LOGS}?{query}&$top=1000&$expand=subscription($select=name)&$count=true")
        assert found["@odata.count"] >= 1
        (row,) = [row for row in found["value"] if row["ID"] == log]
        assert (row["subscription"]["name"], row["statusCriticality"]) == ("ERP", 1)
    shown = admin.read(f"{SUBSCRIPTIONS}({subscription})?$expand=notificationLogs($filter=status eq 'DEAD_LETTER')")
    assert [row["ID"] for row in shown["notificationLogs"]] == [log]
    public = admin.read(f"/api/v1/{SUBSCRIPTIONS}({subscription})/notificationLogs", client="integrator")
    assert [row["ID"] for row in public["value"]] == [log]
