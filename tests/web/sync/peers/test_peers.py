"""A store one minor version behind its cloud and one ahead exchange everything.

The older peer is a recording of an older version (`record`), the newer one today's program; the peer to come says what
the recorded one said, with a field in each object that nobody knows yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pytest

from tests.web.conftest import Shop
from tests.web.replica.link.chain import soon
from tests.web.sync.peers.market import ALL_SALES, BUDGET, CANCELLED, CODES
from tests.web.sync.peers.recording import Exchange, Recording, grown, lost
from tests.web.sync.peers.store import Store

GIVEN_OUT = ("deploymentId", "instanceId", "cursor", "latestCursor")
"""Members by which a cloud names what only it knows."""


def as_said(document: Any) -> Any:
    return document


PEERS = pytest.mark.parametrize("change", [as_said, grown], ids=["older", "with unknown fields"])
Change = Callable[[Any], Any]


@dataclass
class RecordedStore:
    """Sends its requests again, with the names that today's cloud gives out instead of those of its own."""

    cloud: Shop
    change: Change
    names: dict[str, str] = field(default_factory=dict)

    def say(self, one: Exchange) -> tuple[int, dict[str, Any]]:
        """Send a request; return the status and body of its answer."""
        path = unquote(one.path)
        for before, now in self.names.items():
            path = path.replace(before, now)
        body = None if one.body is None else self.change(self._renamed(one.body))
        headers = {} if one.key is None else {"Idempotency-Key": one.key}
        answer = self.cloud.call(path, body, client="store", **headers)
        told: dict[str, Any] = answer.json()
        self.names |= {one.answer[name]: told[name] for name in GIVEN_OUT if name in one.answer and name in told}
        return answer.status_code, told

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._renamed(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._renamed(member) for member in value]
        return self.names.get(value, value) if isinstance(value, str) else value


@PEERS
def test_todays_cloud_understands_the_recorded_store(cloud: Shop, recording: Recording, change: Change) -> None:
    store = RecordedStore(cloud, change)
    for one in recording.exchanges:
        status, told = store.say(one)
        assert status == one.status, (one.path, told)
        missing = list(lost(one.answer, told))
        assert not missing, f"the older store misses in the answer of {one.path}: {missing}"
        for results in ("results", "coupons", "cancellations"):
            assert [result["status"] for result in told.get(results, ())] == ["accepted"] * len(told.get(results, ()))
    require_booked(cloud, store.names[recording.exchanges[0].answer["deploymentId"]])


def require_booked(cloud: Shop, deployment_id: str) -> None:
    """Require that the cloud's books hold what the store has sold, and nothing of what it has cancelled."""

    def read(path: str) -> list[dict[str, Any]]:
        answer = cloud.call(f"/api/v1/{path}", client="author")
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["value"]
        return found

    logs = {one["transactionId"]: one for one in read("CalculationLogs")}
    assert {name: Decimal(str(one["grandTotal"])) for name, one in logs.items()} == {
        sale.transaction_id: Decimal(sale.pays) for sale in ALL_SALES
    }
    assert {name for name, one in logs.items() if one["status"] == "CANCELLED"} == {CANCELLED.transaction_id}
    (budget,) = read(f"Budgets?$filter=ID eq {BUDGET}")
    assert Decimal(str(budget["consumedAmount"])) == Decimal("1.00")
    soon(lambda: [one["status"] for one in read("CouponCodes")] == ["REDEEMED"] * len(CODES))  # by the worker
    (known,) = read("LocalDeployments")
    assert (known["ID"], known["status"]) == (deployment_id, "ONLINE")


@PEERS
async def test_todays_store_works_with_the_recorded_cloud(store: Store, recording: Recording, change: Change) -> None:
    store.cloud.change = change
    await exchange(store, uploads=0)
    for sale in ALL_SALES:
        assert await store.sell(sale) == Decimal(sale.pays), sale
    await store.spend(CODES[1])
    await exchange(store, uploads=len(ALL_SALES) + 1)
    await store.cancel(CANCELLED)
    await exchange(store, uploads=1)
    assert await store.shop.rows("sync_uploads") == []
    assert (await store.link()).last_error is None
    assert set(store.cloud.asked) == {one.address for one in recording.exchanges}


async def exchange(store: Store, *, uploads: int) -> None:
    """Exchange everything without an error, and with nothing that the cloud would not understand."""
    done = await store.exchange()
    assert store.cloud.complaints == []
    assert (done.is_connected, done.error, done.uploaded) == (True, None, uploads)


def test_the_recording_holds_every_kind_of_exchange(recording: Recording) -> None:
    found = [(one.address, *sorted((one.body or {}).keys() & {"promotionId", "codes"})) for one in recording.exchanges]
    assert set(found) == {
        ("/sync/register",),
        ("/sync/heartbeat",),
        ("/sync/promotions",),
        ("/sync/budget-grants",),
        ("/sync/coupon-leases", "promotionId"),
        ("/sync/coupon-leases", "codes"),
        ("/sync/transactions",),
    }
    sent = [one.body or {} for one in recording.exchanges if one.address == "/sync/transactions"]
    parts = ("transactions", "coupons", "cancellations")
    assert [sum(len(body[part]) for body in sent) for part in parts] == [len(ALL_SALES), 1, 1]
