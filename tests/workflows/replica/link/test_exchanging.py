"""One exchange with the cloud: each step may fail on its own, and nothing is lost if one is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from sqlalchemy import insert

from promenade.store.access.local_store import StoreRow, insert_store
from promenade.store.driver.schema import table
from promenade.store.replica.link import Link, page_numbers, read_link
from promenade.workflows.replica import exchanging, filling
from promenade.workflows.replica.exchanging import Exchanged, exchange, send_heartbeat
from promenade.workflows.replica.uploading import Uploaded
from promenade.workflows.uplink import CloudBusy, CloudRefused, CloudUnreachable, Uplink
from tests.workflows.replica.link.pages import page, promotion, stage
from tests.workflows.shop import NOON, Shop, identity

KNOWN = {"deploymentId": identity("store 1"), "instanceId": identity("instance 1"), "tenantId": "retailer"}


@dataclass
class Cloud:
    """A fake cloud: answers by path, each a body, an error, or a function of the request; the last one is repeated."""

    answers: dict[str, list[Any]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def says(self, path: str, *answers: Any) -> None:
        self.answers[path] = list(answers)

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        return self._answer(path, dict(query))

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        return self._answer(path, body)

    def _answer(self, path: str, asked: Any) -> dict[str, Any]:
        self.asked.append((path, asked))
        left = self.answers[path]
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        found: dict[str, Any] = msgspec.json.decode(answer) if isinstance(answer, bytes) else answer
        return found

    def requests(self, path: str) -> list[Any]:
        return [asked for one, asked in self.asked if one == path]


GONE = CloudUnreachable("CLOUD_UNREACHABLE", "The cloud cannot be reached: no connection could be made.")
UNKNOWN = CloudRefused(404, "DEPLOYMENT_NOT_FOUND", "The cloud refuses (404): there is no such deployment.")


@pytest.fixture
def cloud(store: Shop, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """A cloud that knows the store and has one promotion for it."""
    far = Cloud()
    far.says("/sync/register", KNOWN)
    far.says("/sync/heartbeat", {"serverTime": "2026-03-02T12:00:00Z", "latestCursor": "c1"})
    far.says("/sync/promotions", page("c1", {"Promotions": [promotion("off")]}, full=True), page("c1"))
    far.says("/sync/erasures", {"full": True, "digests": [], "cursor": "", "hasMore": False, "total": 0})
    store.context = replace(store.context, uplink=Uplink(client=far))
    return far


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record when shares were kept."""
    kept: list[str] = []

    async def keep(context: object, tenant_id: str) -> None:
        kept.append(tenant_id)

    monkeypatch.setattr(exchanging, "keep_shares", keep)
    return kept


async def the_link(store: Shop) -> Link:
    found = await store.context.database.read(read_link, system=True)
    assert found is not None
    return found


async def go(store: Shop, step: Callable[..., Any] = exchange) -> Exchanged:
    done: Exchanged = await step(store.context, store.tenant, await the_link(store))
    return done


def uplink(store: Shop) -> Uplink:
    assert store.context.uplink is not None
    return store.context.uplink


async def test_the_first_exchange_registers_the_store_and_downloads_everything(
    store: Shop, cloud: Cloud, shares: list[str]
) -> None:
    done = await go(store)
    assert (done.is_connected, done.error) == (True, None)
    (registered,) = cloud.requests("/sync/register")
    assert (registered["storeCode"], registered["posGroupCode"]) == ("S1", "SHOP")
    (heard,) = cloud.requests("/sync/heartbeat")
    assert (heard["deploymentId"], heard["pendingTransactions"]) == (KNOWN["deploymentId"], 0)
    assert await store.count("Promotions") == 1
    assert shares == [store.tenant]
    known, link = uplink(store), await the_link(store)
    assert (known.deployment_id, known.instance_id, known.cloud_tenant_id) == tuple(KNOWN.values())
    assert (link.deployment_id, link.instance_id, link.cloud_tenant_id) == tuple(KNOWN.values())
    assert known.is_connected
    assert known.last_sync_at == link.last_sync_at == link.last_attempt_at == NOON
    assert (link.cursor, link.last_error) == ("c1", None)


async def test_the_next_exchange_requests_later_changes(store: Shop, cloud: Cloud, shares: list[str]) -> None:
    await go(store)
    store.later(minutes=1)
    cloud.says("/sync/promotions", page("c2", {"Promotions": [promotion("other")]}))
    await go(store)
    assert [asked.get("cursor") for asked in cloud.requests("/sync/promotions")] == [None, "c1"]
    assert len(cloud.requests("/sync/register")) == 1
    assert cloud.requests("/sync/heartbeat")[-1]["promotionsLoaded"] == 1
    assert await store.count("Promotions") == 2
    assert (await the_link(store)).last_sync_at == store.now[0]


async def test_a_store_unknown_to_the_cloud_registers_again(store: Shop, cloud: Cloud, shares: list[str]) -> None:
    await go(store)
    cloud.says("/sync/register", KNOWN | {"deploymentId": identity("store 2")})
    cloud.says("/sync/heartbeat", UNKNOWN, {"latestCursor": "c1"})
    assert (await go(store)).is_connected
    assert uplink(store).deployment_id == identity("store 2")
    assert cloud.requests("/sync/promotions")[-1] == {"deploymentId": identity("store 2")}


async def test_without_a_cloud_nothing_else_is_tried(store: Shop, cloud: Cloud, shares: list[str]) -> None:
    await go(store)
    cloud.says("/sync/heartbeat", GONE)
    cloud.asked.clear()
    done = await go(store)
    assert (done.is_connected, uplink(store).is_connected) == (False, False)
    assert [path for path, _ in cloud.asked] == ["/sync/heartbeat"]
    link = await the_link(store)
    assert link.last_error == GONE.message
    cloud.says("/sync/heartbeat", {"latestCursor": "c1"})
    assert (await go(store)).is_connected
    assert (await the_link(store)).last_error is None


@pytest.mark.parametrize("error", [GONE, CloudRefused(400, "BAD", "The cloud refuses (400): bad."), RuntimeError("x")])
async def test_a_failed_upload_does_not_stop_the_download(
    store: Shop, cloud: Cloud, shares: list[str], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail(context: object, tenant_id: str) -> None:
        raise error

    monkeypatch.setattr(exchanging, "upload_portion", fail)
    done = await go(store)
    assert done.error is not None
    assert await store.count("Promotions") == 1
    assert shares == [store.tenant]
    assert (await the_link(store)).last_error == done.error


async def test_a_failed_download_does_not_stop_the_upload(
    store: Shop, cloud: Cloud, shares: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    async def send(context: object, tenant_id: str) -> int:
        sent.append(tenant_id)
        return 3

    monkeypatch.setattr(exchanging, "upload_all", send)
    cloud.says("/sync/promotions", GONE)
    done = await go(store)
    assert (done.uploaded, done.error, sent) == (3, GONE.message, [store.tenant])
    assert not shares


async def test_an_interrupted_download_continues(store: Shop, cloud: Cloud, shares: list[str]) -> None:
    first = page("p1", {"Promotions": [promotion("off")]}, full=True, more=True)
    cloud.says("/sync/promotions", first, GONE)
    await go(store)
    assert await store.count("Promotions") == 0
    cloud.says("/sync/promotions", page("c1", {"Promotions": [promotion("other")]}))
    cloud.asked.clear()
    await go(store)
    assert cloud.requests("/sync/promotions")[0]["cursor"] == "p1"
    assert await store.count("Promotions") == 2
    assert (await the_link(store)).cursor == "c1"


async def test_a_new_full_copy_replaces_an_interrupted_one(store: Shop, cloud: Cloud, shares: list[str]) -> None:
    first = page("p1", {"Promotions": [promotion("off")]}, full=True, more=True)
    cloud.says("/sync/promotions", first, GONE)
    await go(store)
    cloud.says("/sync/promotions", page("c9", {"Promotions": [promotion("other")]}, full=True))
    await go(store)
    assert [one.code for one in await store.rows("Promotions")] == ["other"]


async def test_downloaded_pages_are_applied_without_a_connection(store: Shop, cloud: Cloud, shares: list[str]) -> None:
    """The store was killed between the last page and applying it; after its restart there is no connection."""
    await stage(store, page("c1", {"Promotions": [promotion("off")]}, full=True))
    cloud.says("/sync/register", GONE)
    await go(store)
    assert await store.count("Promotions") == 1
    assert (await the_link(store)).cursor == "c1"


async def test_a_download_that_cannot_be_applied_is_requested_again(
    store: Shop, cloud: Cloud, shares: list[str]
) -> None:
    await go(store)
    cloud.says("/sync/promotions", page("c2", {"Promotions": [promotion("bad", validTo="soon")]}))
    done = await go(store)
    assert done.is_connected
    assert "Promotions.validTo" in str(done.error)
    cloud.says("/sync/promotions", page("c3", {"Promotions": [promotion("good")]}, full=True))
    assert (await go(store)).error is None
    assert "cursor" not in cloud.requests("/sync/promotions")[-1]
    assert [one.code for one in await store.rows("Promotions")] == ["good"]
    assert not await store.context.database.read(page_numbers, tenant=store.tenant)


async def test_a_heartbeat_tells_the_store_about_new_changes(store: Shop, cloud: Cloud, shares: list[str]) -> None:
    await go(store)
    assert not (await go(store, send_heartbeat)).is_behind
    cloud.says("/sync/heartbeat", {"latestCursor": "c2"})
    assert (await go(store, send_heartbeat)).is_behind


@pytest.mark.parametrize("answer", [{}, {"deploymentId": 1}, {"deploymentId": "x"}])
async def test_an_answer_without_the_expected_fields_is_an_error(
    store: Shop, cloud: Cloud, shares: list[str], answer: dict[str, Any]
) -> None:
    cloud.says("/sync/register", answer)
    done = await go(store)
    assert not done.is_connected
    assert "cannot be read" in str(done.error)


async def test_a_store_that_another_machine_is_gives_up_its_shares_and_sends_its_sales(
    store: Shop, cloud: Cloud, shares: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await go(store)
    share = {
        "tenant_id": store.tenant, "deployment_id": KNOWN["deploymentId"], "kind": "BUDGET", "entity_id": identity("b"),
        "outstanding": Decimal(10), "currency": "EUR", "expires_at": NOON + timedelta(days=9), "changed_at": NOON,
    }  # fmt: skip
    own = StoreRow(store.tenant, "i", "a" * 64)
    await store.context.database.write(lambda session: insert_store(session, own, NOON), system=True)
    held = insert(table("store_shares"))
    await store.context.database.write(lambda session: session.rowcount(held, share), tenant=store.tenant)
    sent: list[str] = []

    async def send(context: object, tenant_id: str) -> Uploaded:
        sent.append(tenant_id)
        return Uploaded(1, 0)

    monkeypatch.setattr(exchanging, "upload_portion", send)
    cloud.says("/sync/heartbeat", CloudRefused(409, "DEPLOYMENT_CLONED", "Another machine runs as this store."))
    shares.clear()
    told = await go(store)
    assert (told.is_connected, told.is_fenced, told.error) == (False, True, "Another machine runs as this store.")
    assert await store.count("store_shares") == 0
    assert sent == [store.tenant]
    assert shares == []


async def test_a_store_says_its_run_and_compares_its_shares_after_a_clone_was_stopped(
    store: Shop, cloud: Cloud, shares: list[str]
) -> None:
    uplink(store).run_id = identity("run 1")
    told = {"serverTime": "2026-03-02T12:00:00Z", "latestCursor": "c1"}
    cloud.says("/sync/heartbeat", told, told | {"epoch": 1}, told | {"epoch": 1})
    compared = []
    for _ in range(3):
        filling._COMPARED[store.context.database] = set()
        await go(store)
        compared.append(store.context.database not in filling._COMPARED)
    assert compared == [False, True, False]
    assert {one["runId"] for one in cloud.requests("/sync/heartbeat")} == {identity("run 1")}


async def test_a_busy_cloud_is_left_alone_with_sales_but_not_lost(
    store: Shop, cloud: Cloud, shares: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    async def busy(context: object, tenant_id: str) -> object:
        tried.append(tenant_id)
        raise CloudBusy(30)

    monkeypatch.setattr(exchanging, "upload_portion", busy)
    link = await the_link(store)
    for _ in range(3):
        assert (await exchange(store.context, store.tenant, link)).error is None
    assert len(tried) == 1  # it does not ask again for half a minute
    assert store.context.uplink is not None
    assert store.context.uplink.is_connected
    assert len(shares) == 3
