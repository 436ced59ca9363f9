"""A store linked to a cloud: its reported status is what its link knows, and its stored status agrees."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import httpx2
import pytest

from promenade.settings import LOCAL_STORE, Settings
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.session import open_database
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.pricing.iterations import find_iteration
from promenade.web.http.endpoint import Edge
from promenade.web.http.protection import Hosts, Protection
from promenade.web.http.rate_limits import RateLimits
from promenade.web.services.local_store import store_service
from promenade.workflows.access.local_admin import KnownStore, establish_store
from promenade.workflows.context import Context
from promenade.workflows.uplink import CloudClient, Uplink
from tests.kit.databases import Databases

MORNING = datetime(2026, 1, 1, 8, tzinfo=UTC)
KEY = "a" * 64
PASSWORD = {"password": "long enough", "confirmPassword": "long enough"}
BASKET = {"request": {"posGroupCode": "SHOP", "header": {"transactionId": "T-1"},
                      "items": [{"articleNumber": "A-1", "quantity": 1, "unitPrice": 5}]}}  # fmt: skip


@dataclass
class Linked:
    http: httpx2.AsyncClient
    context: Context
    uplink: Uplink

    async def evaluate(self) -> dict[str, Any]:
        """Return the meta of a basket's response."""
        answer = await self.http.post("/pos/v2/evaluate", json=BASKET, headers={"x-api-key": KEY})
        assert answer.status_code == 200, answer.text
        meta: dict[str, Any] = answer.json()["meta"]
        return meta

    async def heartbeat(self) -> dict[str, Any]:
        answer = await self.http.get("/pos/heartbeat", headers={"x-api-key": KEY})
        beat: dict[str, Any] = answer.json()
        return beat


@pytest.fixture
async def linked(databases: Databases) -> AsyncIterator[Linked]:
    """Return a store in this process, with a POS group and a link that the test controls."""
    url = databases.create("sqlite")
    database = await open_database(url)
    store, _ = await establish_store(database, "local", instance_id="own", api_key=KEY, at=MORNING)
    numbers = iter(range(1, 10_000))
    uplink = Uplink()
    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=lambda: MORNING,
        new_id=lambda: f"00000000-0000-4000-8000-{next(numbers):012}",
        source=LOCAL_STORE,
        instance_id=store.instance_id,
        uplink=uplink,
    )
    limits = RateLimits(per_tenant=0, per_client=0)
    app = store_service(context, Settings(), KnownStore(database, store), limits, lambda: KEY)
    transport = httpx2.ASGITransport(app=Edge(app, context.new_id, Protection(Hosts(["store.example"]))))
    async with httpx2.AsyncClient(transport=transport, base_url="http://store.example") as http:
        for path in ("setup", "login"):
            assert (await http.post(f"/local-admin/{path}", json=PASSWORD)).json() == {"success": True}
        token = (await http.head("/admin/", headers={"x-csrf-token": "Fetch"})).headers["x-csrf-token"]
        group = {"code": "SHOP", "name": "The shop", "currency": "EUR", "IsActiveEntity": True}
        made = await http.post("/admin/PosGroups", json=group, headers={"x-csrf-token": token})
        assert made.status_code == 201, made.text
        yield Linked(http, context, uplink)
    await database.close()
    databases.drop(url)


async def stored_age(linked: Linked, counter: int) -> datetime | None:
    database = linked.context.database
    found = await database.read(lambda session: find_iteration(session, "cloud", "T-1", counter), tenant="local")
    assert found is not None
    return found.data_age


async def test_the_reported_data_age_counts_from_the_last_sync(linked: Linked) -> None:
    meta = await linked.evaluate()
    assert (meta["source"], meta["instanceId"], meta["tenantId"]) == ("local-store", "own", "local")
    assert datetime.fromisoformat(meta["dataAge"]) == MORNING
    assert await stored_age(linked, 1) == MORNING
    linked.uplink.last_sync_at = synced = MORNING + timedelta(hours=5)
    assert datetime.fromisoformat((await linked.evaluate())["dataAge"]) == synced
    assert await stored_age(linked, 2) == synced, "what is kept says what was answered"
    linked.uplink.last_sync_at = MORNING - timedelta(hours=5)
    assert datetime.fromisoformat((await linked.evaluate())["dataAge"]) == MORNING, "changed here since"


async def test_a_linked_store_reports_the_ids_given_by_its_cloud(linked: Linked) -> None:
    linked.uplink.instance_id, linked.uplink.cloud_tenant_id = "given", "acme"
    meta = await linked.evaluate()
    assert (meta["instanceId"], meta["tenantId"]) == ("given", "acme")


async def test_the_heartbeat_reports_the_state_of_the_link(linked: Linked) -> None:
    uplink = linked.uplink
    assert (await linked.heartbeat())["btpConnectivity"] == "NOT_CONFIGURED"
    uplink.client, uplink.pending = cast("CloudClient", object()), 17
    beat = await linked.heartbeat()
    assert (beat["mode"], beat["btpConnectivity"], beat["lastSync"]) == ("local-store", "DISCONNECTED", None)
    assert (beat["status"], beat["pendingTransactions"]) == ("DEGRADED", 17)
    uplink.is_connected, uplink.last_sync_at = True, MORNING
    beat = await linked.heartbeat()
    assert (beat["btpConnectivity"], datetime.fromisoformat(beat["lastSync"])) == ("CONNECTED", MORNING)
    assert beat["status"] == "UP"


async def test_the_cloud_does_not_report_a_link(linked: Linked) -> None:
    cloud = replace(linked.context, uplink=None, source="btp")
    store = KnownStore(
        cloud.database, (await establish_store(cloud.database, "local", instance_id="", api_key="", at=MORNING))[0]
    )
    app = store_service(cloud, Settings(), store, RateLimits(per_tenant=0, per_client=0), lambda: KEY)
    transport = httpx2.ASGITransport(app=Edge(app, cloud.new_id, Protection(Hosts(["cloud.example"]))))
    async with httpx2.AsyncClient(transport=transport, base_url="http://cloud.example") as http:
        beat = (await http.get("/pos/heartbeat", headers={"x-api-key": KEY})).json()
    assert (beat["mode"], beat["btpConnectivity"]) == ("cloud", "NOT_CONFIGURED")
    assert (beat["lastSync"], beat["pendingTransactions"]) == (None, 0)
