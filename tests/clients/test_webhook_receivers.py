"""Webhooks as receivers get them: the served product sends, the reference libraries of Standard Webhooks verify.

The Python library, and the npm package in a Node.js receiver; before, during and after a rotation of the secret.
"""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from promenade.store.driver.session import open_database
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.clients.conftest import MODULES
from tests.kit.api_client import SECRET
from tests.kit.databases import DIALECTS, Databases
from tests.kit.processes import dying_with_parent
from tests.kit.receiver import Answer, Receiver, Request
from tests.kit.service import Service
from tests.web.conftest import run

SCRIPT = Path(__file__).parent / "webhook_receiver.js"
_SCOPES = {"integrator": ("PublicApi.Read", "PublicApi.Write"), "administrator": ("svc.Admin",)}
SUBSCRIPTIONS, LOGS = "WebhookSubscriptions", "NotificationLogs"
FIRST, SECOND, THIRD, WRONG = (f"whsec_{b64encode(bytes([number]) * 32).decode()}" for number in (1, 2, 3, 9))


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant of the served product, with an integrator and an administrator."""

    api: httpx2.Client
    admin: httpx2.Client

    def subscribe(self, url: str, **more: Any) -> dict[str, Any]:
        body = {"callbackUrl": url, "eventTypes": ["CAMPAIGN_CREATED"], **more}
        made: dict[str, Any] = _answered(self.api.post(SUBSCRIPTIONS, json=body), 201)
        return made

    def change(self, subscription: str, **values: Any) -> Any:
        answer = self.api.patch(f"{SUBSCRIPTIONS}({subscription})", json=values)
        assert answer.status_code in (200, 204), answer.text
        return answer.json() if answer.content else None

    def happen(self, code: str) -> str:
        """Trigger something that subscribers receive an event for."""
        return str(_answered(self.api.post("Campaigns", json={"code": code, "name": f"Grüße {code}"}), 201)["ID"])

    def log_of(self, request: Request, subscription: str) -> dict[str, Any]:
        query = f"$filter=eventId eq {request.headers['webhook-id']} and subscription_ID eq {subscription}"
        (log,) = _answered(self.admin.get(f"{LOGS}?{query}"), 200)["value"]
        return dict(log)


def _answered(answer: httpx2.Response, status: int) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


@dataclass(frozen=True, slots=True)
class Served:
    """The running product; every test has its own tenant."""

    service: Service
    database_url: str
    numbers: Iterator[int]

    async def furnish(self, name: str) -> None:
        database = await open_database(self.database_url)
        try:
            at = datetime.now(UTC)
            await create_tenant(database, name, settings={}, at=at, user="tests")
            for kind, scopes in _SCOPES.items():
                client = f"{name}-{kind}"
                await create_client(database, client_id=client, secret=SECRET, tenant_id=name, scopes=scopes, at=at)
        finally:
            await database.close()

    def client(self, client: str, root: str) -> httpx2.Client:
        form = {"grant_type": "client_credentials", "client_id": client, "client_secret": SECRET}
        token = _answered(httpx2.post(f"{self.service.url}/oauth/token", data=form, timeout=30), 200)["access_token"]
        headers = {"authorization": f"Bearer {token}"}
        return httpx2.Client(base_url=f"{self.service.url}{root}/", headers=headers, timeout=30)


@pytest.fixture(scope="module", params=DIALECTS)
def served(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Served]:
    """Start a service that delivers to receivers on this machine and retries a failed delivery after a second."""
    database_url = databases.create(request.param)
    options = ("--database-url", database_url, "--webhook-allow", "127.0.0.1", "--webhook-retry-schedule", "1")
    service = Service(logs / f"webhook-receivers-{request.param}.log", *options).start()
    yield Served(service, database_url, itertools.count(1))
    service.kill()
    databases.drop(database_url)


@pytest.fixture
def tenant(served: Served) -> Iterator[Tenant]:
    """Return a tenant for one test."""
    name = f"tenant-{next(served.numbers)}"
    run(served.furnish(name))
    with (
        served.client(f"{name}-integrator", "/api/v1") as api,
        served.client(f"{name}-administrator", "/admin") as admin,
    ):
        yield Tenant(api, admin)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as started:
        yield started


def verified(request: Request, secret: str) -> Any:
    """Return what the reference library reads from a delivery."""
    return Webhook(secret).verify(request.body, dict(request.headers))


def refused(request: Request, secret: str) -> bool:
    """Return whether the reference library rejects it as a forgery."""
    try:
        verified(request, secret)
    except WebhookVerificationError:
        return True
    return False


# --- Python -----------------------------------------------------------------------------------------------------------


def test_the_reference_library_in_python_verifies_what_is_sent(tenant: Tenant, receiver: Receiver) -> None:
    made = tenant.subscribe(f"{receiver.url}/hook")
    campaign = tenant.happen("C-1")
    (request,) = receiver.wait(1)
    body = verified(request, made["secret"])
    assert (body["type"], body["data"]["campaignId"]) == ("CAMPAIGN_CREATED", campaign)
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert len(request.headers["webhook-signature"].split(" ")) == 1
    assert refused(request, WRONG)
    changed = Request(request.method, request.path, request.headers, request.body.replace(b"C-1", b"C-2"), 0.0, 0)
    assert changed.body != request.body
    assert refused(changed, made["secret"])
    for name in ("webhook-id", "webhook-timestamp"):
        headers = {**request.headers, name: request.headers[name][:-1] + "x"}
        assert refused(Request("POST", "/", headers, request.body, 0.0, 0), made["secret"])


def test_while_a_secret_is_changed_the_old_and_the_new_one_verify(tenant: Tenant, receiver: Receiver) -> None:
    subscription = tenant.subscribe(f"{receiver.url}/hook", secret=FIRST)["ID"]
    tenant.change(subscription, secret=SECOND)
    tenant.happen("C-1")
    (request,) = receiver.wait(1)
    assert verified(request, FIRST) == verified(request, SECOND)
    assert [one.partition(",")[0] for one in request.headers["webhook-signature"].split(" ")] == ["v1", "v1"]
    assert refused(request, WRONG)
    made_up = tenant.change(subscription, secret=None)["secret"]
    tenant.happen("C-2")
    request = receiver.wait(2)[1]
    assert verified(request, SECOND) == verified(request, made_up)
    assert refused(request, FIRST), "of three secrets the oldest is dropped at once"


def test_a_repeated_delivery_is_identical_to_the_byte(tenant: Tenant, receiver: Receiver) -> None:
    """By the retry schedule after a failure, manually after it was abandoned, and manually after a success."""
    receiver.answers("/hook", Answer(500), Answer(500), Answer(200))
    subscription = tenant.subscribe(f"{receiver.url}/hook", secret=FIRST)["ID"]
    tenant.happen("C-1")
    first = receiver.wait(2)[0]
    _until(lambda: tenant.log_of(first, subscription)["status"] == "DEAD_LETTER")
    tenant.change(subscription, secret=SECOND)
    log = tenant.log_of(first, subscription)
    for count in (3, 4):
        shown = _answered(tenant.admin.post(f"{LOGS}({log['ID']})/AdminService.replay", json={}), 200)
        assert (shown["status"], shown["attempts"]) == ("PENDING", 0)
        receiver.wait(count)
        _until(lambda: tenant.log_of(first, subscription)["status"] == "DELIVERED")
    requests = receiver.requests()
    assert {one.body for one in requests} == {first.body}
    assert {one.headers["webhook-id"] for one in requests} == {first.headers["webhook-id"]}
    assert verified(requests[3], SECOND) == verified(requests[3], FIRST) == verified(first, FIRST)
    assert tenant.log_of(first, subscription)["attempts"] == 1


def test_a_late_subscriber_gets_the_missed_events(tenant: Tenant, receiver: Receiver) -> None:
    """What happened before the subscription existed, and while it was inactive; each event once."""
    happened = [tenant.happen(f"C-{number}") for number in range(3)]
    subscription = tenant.subscribe(f"{receiver.url}/hook", secret=FIRST)["ID"]
    happened.append(tenant.happen("C-3"))
    receiver.wait(1)
    tenant.change(subscription, isActive=False)
    happened.append(tenant.happen("C-4"))
    body = {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
    action = f"{SUBSCRIPTIONS}({subscription})/AdminService.replayEvents"
    assert tenant.admin.post(action, json=body).json()["error"]["code"] == "SUBSCRIPTION_INACTIVE"
    tenant.change(subscription, isActive=True)
    # An event that the worker has not processed yet was not missed: it is sent in its turn, or found by the next call.
    _until(lambda: _answered(tenant.admin.post(action, json=body), 200) and len(receiver.requests()) >= 5)
    requests = receiver.requests()
    told = [verified(one, FIRST)["data"]["campaignId"] for one in requests]
    assert sorted(told) == sorted(happened)
    assert len({one.headers["webhook-id"] for one in requests}) == 5
    assert _answered(tenant.admin.post(action, json=body), 200)["events"] == 0


def _until(holds: Callable[[], object], *, seconds: float = 60.0) -> None:
    """Wait for the worker; each check is a request."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not holds():
        assert time.monotonic() < deadline, f"it did not come to that within {seconds:g} s"
        pause.wait(0.1)


# --- Node.js ----------------------------------------------------------------------------------------------------------


class NodeReceiver:
    """The receiver in Node.js; its output is read line by line."""

    def __init__(self, node: str, secrets: dict[str, str]) -> None:
        given = json.dumps({"modules": str(MODULES), "secrets": secrets})
        self.process = subprocess.Popen(
            dying_with_parent(signal.SIGKILL, node, str(SCRIPT), given), stdout=subprocess.PIPE, text=True
        )
        self.url = f"http://127.0.0.1:{self.told()['port']}"

    def told(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the receiver has ended"
        return json.loads(line)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def node_receiver(node: str) -> Iterator[NodeReceiver]:
    started = NodeReceiver(node, {"first": FIRST, "second": SECOND, "third": THIRD, "wrong": WRONG})
    yield started
    started.stop()


def test_the_reference_library_in_node_verifies_what_is_sent(tenant: Tenant, node_receiver: NodeReceiver) -> None:
    """Before, during and after a rotation of the secret; never with a wrong secret or a changed body."""
    subscription = tenant.subscribe(f"{node_receiver.url}/hook", secret=FIRST)["ID"]
    no = "No matching signature found"
    for code, secret, expected in (
        ("C-1", FIRST, {"first": True, "second": no, "third": no, "wrong": no}),
        ("C-2", SECOND, {"first": True, "second": True, "third": no, "wrong": no}),
        ("C-3", THIRD, {"first": no, "second": True, "third": True, "wrong": no}),
    ):
        tenant.change(subscription, secret=secret)
        campaign = tenant.happen(code)
        told = node_receiver.told()
        assert told["verified"] == expected
        assert told["tampered"] == no
        assert json.loads(told["body"])["data"]["campaignId"] == campaign
        assert told["id"]
