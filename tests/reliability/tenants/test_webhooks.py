"""A tenant's receiver gets only its own events, also when only the database separates tenants (S1)."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx2
import pytest

from promenade.store.driver.session import open_database
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.contract.made_up import BEGINNING
from tests.kit.databases import Databases
from tests.kit.receiver import Receiver
from tests.kit.service import Service
from tests.reliability.tenants.canaries import MINE, THEIRS, canaries_in
from tests.web.conftest import run

SECRET = "ask"
NAMES = {MINE: "Spring", THEIRS: "ZQXJKV"}
CAMPAIGNS = 5


async def _two_tenants(url: str) -> None:
    database = await open_database(url)
    try:
        for tenant in NAMES:
            await create_tenant(database, tenant, settings={}, at=BEGINNING, user="seed")
            scopes = ("PublicApi.Read", "PublicApi.Write")
            await create_client(
                database, client_id=tenant, secret=SECRET, tenant_id=tenant, scopes=scopes, name=None, at=BEGINNING
            )
    finally:
        await database.close()


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_receiver_gets_only_events_of_its_own_tenant(databases: Databases, logs: Path, dialect: str) -> None:
    url = databases.create(dialect)  # type: ignore[arg-type]
    run(_two_tenants(url))
    options = ["--database-url", url, "--webhook-allow", "127.0.0.1"]
    log = logs / f"tenants-webhooks-{dialect}.log"
    command = (sys.executable, "-m", "tests.reliability.tenants.without_filter")
    # SQLite has no row-level security, so the tenant gate stays.
    service = Service(log, *options, env={"WITH_WORKER": "1"}, command=command) if dialect == "postgresql" else None
    service = (service or Service(log, *options)).start()
    try:
        with Receiver() as receiver, httpx2.Client(base_url=service.url, timeout=60) as http:
            for tenant in (THEIRS, MINE):
                _subscribe_and_write(http, receiver, tenant)
            told = {tenant: receiver.wait(CAMPAIGNS, path=f"/{tenant}", seconds=60) for tenant in NAMES}
    finally:
        service.kill()
        databases.drop(url)
    assert all(canaries_in(one.body.decode()) for one in told[THEIRS])
    for one in told[MINE]:
        assert not canaries_in(one.body.decode() + repr(one.headers)), one


def _subscribe_and_write(http: httpx2.Client, receiver: Receiver, tenant: str) -> None:
    form = {"grant_type": "client_credentials", "client_id": tenant, "client_secret": SECRET}
    token = http.post("/oauth/token", data=form).json()["access_token"]
    headers = {"authorization": f"Bearer {token}"}
    hook = {"callbackUrl": f"{receiver.url}/{tenant}", "eventTypes": ["*"], "name": NAMES[tenant]}
    answer = http.post("/api/v1/WebhookSubscriptions", json=hook, headers=headers)
    assert answer.status_code == 201, answer.text
    for number in range(CAMPAIGNS):
        campaign = {"code": f"C{number}", "name": f"{NAMES[tenant]} {number}"}
        answer = http.post("/api/v1/Campaigns", json=campaign, headers=headers)
        assert answer.status_code == 201, answer.text
