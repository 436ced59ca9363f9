"""Webhooks: how fast waiting events are delivered once the cache is back, and what that costs a till meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import insert

from benchmarks.databases import places
from benchmarks.load import post
from benchmarks.measure import milliseconds, show
from benchmarks.over_http import Target, load, rate, running, token
from benchmarks.receiver import Receiving, receiving
from benchmarks.scale import Scale
from benchmarks.shop import Shop, open_shop
from promenade.app import clock, opened_context
from promenade.settings import Settings
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import authenticate_client
from tests.kit.valkey import ValkeyServer

__all__ = ["run"]

EVENTS = 10_000
LANES = (1, 16)
DRAIN_SECONDS_MAX = 120.0  # the promise for 10 000
BASKETS = 50
TILLS = 4
LINES = 5
CHUNK = 1_000
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KINDS = (
    "TRANSACTION_CONFIRMED", "TRANSACTION_RETURNED", "COUPON_REDEEMED", "COUPON_ISSUED", "COUPON_EXPIRED",
    "PROMOTION_UPDATED", "PROMOTION_EXPIRED", "PROMOTION_ARCHIVED", "PROMOTION_SUBMITTED", "BUDGET_EXHAUSTED",
    "BUDGET_THRESHOLD_REACHED", "CAMPAIGN_STARTED", "CAMPAIGN_ENDED", "CAMPAIGN_LOCKED", "CAMPAIGN_UNLOCKED",
    "LOYALTY_POINTS_AWARDED",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drained:
    """The result of a drain: seconds from the cache's return to the first and last delivery, and tills' latencies."""

    first_seconds: float
    seconds: float
    per_second: float
    cpu: float
    busy: dict[str, Any] | None
    quiet: dict[str, Any] | None


def run(scale: Scale) -> None:
    """Print every table of this part."""
    events = scale.of(EVENTS, EVENTS // 10, 50)
    for place in places():
        valkey = ValkeyServer(place.home / "valkey.log")
        try:
            _measure(place.database, place.url, place.home, valkey, events, scale)
        finally:
            valkey.close()


def _measure(database: str, url: str, home: Path, valkey: ValkeyServer, events: int, scale: Scale) -> None:
    shop = open_shop(url)
    bars = {lanes: asyncio.run(_bare(lanes, scale.of(4_000, 1_000, 50))) for lanes in LANES}
    drained = {lanes: _drain(url, home, valkey, shop, events, lanes) for lanes in LANES}
    rows = [
        (
            lanes,
            f"{one.first_seconds:.2f}",
            f"{one.seconds:.1f}",
            f"{one.per_second:,.0f}",
            f"{one.cpu * 1e6:,.0f}",
            f"{bars[lanes]:,.0f}",
            f"{one.per_second / bars[lanes]:.2f}",
        )
        for lanes, one in drained.items()
    ]
    show(
        f"{events:,} events that waited for the cache, delivered to a local receiver, on {database}: one process",
        ("subscriptions", "first s", "all s", "deliveries/s", "CPU us", "bare/s", "share"),
        rows,
        f"Each event goes to one subscription. All: from the cache's return to the last, promised to be below "
        f"{DRAIN_SECONDS_MAX:.0f} s. Bare: httpx2 posts the same bytes to the same receiver, as many at once as there "
        "are subscriptions; nothing is planned, signed or written down.",
    )
    beside = _drain(url, home, valkey, shop, events, LANES[-1], tills=scale.of(3.0, 3.0, 0.1))
    assert beside.busy is not None
    assert beside.quiet is not None
    show(
        f"Evaluate of {LINES} lines on {database} while events are delivered by the same process: {TILLS} clients",
        ("", "requests/s", "p50 ms", "p99 ms"),
        [
            (name, f"{rate(one):,.0f}", milliseconds(one["p50"]), milliseconds(one["p99"]))
            for name, one in (("quiet", beside.quiet), ("delivering", beside.busy))
        ],
        f"Meanwhile {beside.per_second:,.0f} deliveries/s.",
    )


def _drain(
    url: str, home: Path, valkey: ValkeyServer, shop: Shop, events: int, lanes: int, *, tills: float = 0.0
) -> Drained:
    """Queue events, start the cache, wait until all are delivered; baskets are priced for ``tills`` seconds."""
    with receiving() as receiver:
        asyncio.run(_fill(url, shop, receiver, events, lanes))
        options = ("--redis-url", valkey.url, "--webhook-allow", "127.0.0.1")
        with running(url, home, *options) as (port, process_id):
            target = Target(port, token(port, shop.client_id, shop.client_secret), process_id, shop)
            if tills:
                _evaluate(target, tills / 3)
            assert _delivery(port) == "inactive"
            before, began = target.cpu_seconds(), time.time()
            valkey.start()
            busy = _evaluate_while(receiver, target, events, tills) if tills else None
            first, last = receiver.wait(events, 2 * DRAIN_SECONDS_MAX)
            cpu = (target.cpu_seconds() - before) / events
            quiet = _evaluate(target, tills) if tills else None
        valkey.stop()
    return Drained(first - began, last - began, events / (last - first), cpu, busy, quiet)


def _evaluate(target: Target, seconds: float) -> dict[str, Any]:
    assert target.shop is not None
    headers = {"Authorization": f"Bearer {target.token}"}
    asked = [post("/pos/v2/evaluate", target.shop.evaluate_body(number, LINES), headers) for number in range(BASKETS)]
    return load(target, asked, clients=TILLS, seconds=seconds)


def _evaluate_while(receiver: Receiving, target: Target, events: int, seconds: float) -> dict[str, Any]:
    """Evaluate from the first delivery on; must end before the last delivery."""
    receiver.wait(1, DRAIN_SECONDS_MAX)
    done = _evaluate(target, seconds if events >= EVENTS else seconds / 10)
    if receiver.came()[0] >= events:
        print("The deliveries ended before the evaluations did: the figures beside them are too good.")
    return done


def _delivery(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
        return str(json.load(answer)["checks"]["webhookDelivery"]["status"])


async def _bare(at_once: int, count: int) -> float:
    """Return the POSTs per second of an httpx2 loop to the receiver."""
    with receiving() as receiver:
        numbers = iter(range(count))
        headers = {
            "content-type": "application/json",
            "webhook-id": str(uuid.uuid4()),
            "webhook-timestamp": "1767225600",
            "webhook-signature": f"v1,{'A' * 43}=",
        }
        async with httpx2.AsyncClient() as client:

            async def lane() -> None:
                for number in numbers:
                    body = _payload(number, KINDS[0])
                    (await client.post(f"{receiver.url}/0", content=body, headers=headers)).raise_for_status()

            await client.post(f"{receiver.url}/0", content=b"{}", headers=headers)
            start = time.perf_counter()
            await asyncio.gather(*(lane() for _ in range(at_once)))
            return count / (time.perf_counter() - start)


# ---- rows ---------------------------------------------------------------------------------------------------------


async def _fill(url: str, shop: Shop, receiver: Receiving, events: int, lanes: int) -> None:
    """Replace the subscriptions by one per event type, and insert waiting events."""
    async with opened_context(Settings(database=url, data_dir=Path())) as context:
        till = await authenticate_client(context.database, shop.client_id, shop.client_secret, at=clock())
        assert till is not None
        at = datetime.now(UTC)
        subscriptions, outbox = table("WebhookSubscriptions"), table("outbox_events")

        async def subscribe(session: Session) -> None:
            await session.rowcount(subscriptions.update().values(is_active=False))
            await session.rowcount(outbox.update().where(outbox.c.dispatched_at.is_(None)).values(dispatched_at=at))
            rows = [
                {
                    "ID": str(uuid.uuid4()),
                    "name": f"lane {lane}",
                    "callbackUrl": f"{receiver.url}/{lane}",
                    "eventTypes": [KINDS[lane]],
                    "secret": SECRET,
                    "isActive": True,
                }
                for lane in range(lanes)
            ]
            await insert_rows(session, "WebhookSubscriptions", rows, at=at, by="benchmark")

        await context.database.write(subscribe, tenant=till.tenant_id)
        for rows in _events(events, lanes, at):

            async def work(session: Session, rows: list[dict[str, Any]] = rows) -> None:
                await session.execute_many(insert(outbox), rows)

            await context.database.write(work, tenant=till.tenant_id)


def _events(count: int, lanes: int, at: datetime) -> Iterator[list[dict[str, Any]]]:
    for first in range(0, count, CHUNK):
        yield [
            {
                "id": str(uuid.uuid4()),
                "kind": KINDS[number % lanes],
                "payload": _payload(number, KINDS[number % lanes]),
                "created_at": at - timedelta(milliseconds=count - number),
            }
            for number in range(first, min(first + CHUNK, count))
        ]


def _payload(number: int, kind: str) -> bytes:
    """Return a payload as long as that of a sale."""
    data = {
        "transactionId": f"T-{number:08}",
        "transactionCounter": 1,
        "posGroupId": str(uuid.UUID(int=number)),
        "subtotal": 123.45,
        "discount": 12.34,
        "grandTotal": 111.11,
        "currency": "EUR",
        "promotionIds": [str(uuid.UUID(int=number + one)) for one in range(3)],
        "customerId": f"C-{number:06}",
        "receiptId": None,
    }
    told = {"type": kind, "timestamp": "2026-03-02T12:00:00Z", "minorVersion": 13, "tenantId": "demo", "data": data}
    return json.dumps(told, separators=(",", ":")).encode()
