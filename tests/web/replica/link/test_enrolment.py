"""A store gets a code instead of a secret, makes its own, and replaces it when it is due; a till notices nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from promenade.model.access.tenants import SETTINGS_ID
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from tests.web.replica.link.chain import Branch, Cloud, soon, with_database

SECRETS = "SELECT client_secret, next_secret FROM sync_link"


def told(cloud: Cloud, method: str, path: str, body: Any = None) -> Any:
    answer = cloud.call(method, f"/admin/{path}", body, client="admin")
    assert answer.is_success, answer.text
    return answer.json()


def rotated_at(cloud: Cloud) -> Any:
    (client,) = told(cloud, "GET", "Clients?$filter=code eq 'S-77'")["value"]
    return client["rotatedAt"]


def grow_older(cloud: Cloud, client_id: str, by: timedelta) -> None:
    """Make the client's secret older; the clock is not moved, because other tests share it."""
    clients = table("Clients")
    changed = update(clients).where(clients.c.client_id == client_id).values(rotated_at=datetime.now(UTC) - by)

    async def work(database: Database) -> None:
        await database.write(lambda session: session.rowcount(changed), system=True)

    with_database(cloud.database_url, work)


@pytest.mark.check
def test_a_store_enrols_itself_and_later_replaces_its_secret(cloud: Cloud, store: Branch) -> None:
    told(cloud, "POST", "Clients", {"code": "S-77", "scopes": ["svc.Sync"]})
    codes = told(cloud, "POST", "Clients/AdminService.createEnrolmentCodes", {"codes": ["S-77"]})["value"]
    code, client_id = codes[0]["enrolmentCode"], codes[0]["clientId"]
    given = ("--url", cloud.url, "--client-id", client_id, "--store-code", "S-77", "--interval", "1")
    store.command("set", *given, "--enrolment-code", code)
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    ((own, following),) = store.columns(SECRETS)
    assert own != code
    assert following is None
    assert "knows this store" in store.command("test")

    told(cloud, "PATCH", f"TenantSettings({SETTINGS_ID})", {"secretDays": 7})
    grow_older(cloud, client_id, timedelta(days=8))
    enrolled = rotated_at(cloud)
    store.service.kill()  # when it is started again it asks for a token, and is told that its secret is due
    store.service.restart()
    soon(lambda: rotated_at(cloud) > enrolled)
    soon(lambda: store.columns(SECRETS)[0][0] != own)
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    told(cloud, "PATCH", f"TenantSettings({SETTINGS_ID})", {"secretDays": None})
    log = store.service.output()
    assert not any(one in log for one in (code, own, store.columns(SECRETS)[0][0]))
