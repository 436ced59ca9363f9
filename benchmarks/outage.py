"""Stores that come back at once after an outage, over HTTP, and what a store costs the cloud in a day.

One process sells with the demo's retailer and records what a store would upload. Every simulated store sends this under
its own ID: sales of different stores may have equal IDs, so the cloud books each of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from benchmarks.databases import Place, places
from benchmarks.measure import percentile, show
from benchmarks.over_http import Target, running, token
from benchmarks.scale import Scale
from benchmarks.shop import Shop, open_shop
from promenade.app import clock, opened_context
from promenade.engine.basket import BasketLine
from promenade.settings import Settings
from promenade.worker import Worker
from promenade.workflows.access.clients import create_client
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from promenade.workflows.replica.uploading import upload_portion
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from promenade.workflows.uplink import Uplink

__all__ = ["run"]

LINES = 8
PORTION = 100  # sales that a store sends at once
SECRET = "benchmark-of-an-outage"
RECORDED = str(uuid.UUID(int=1))
PROBE_SECONDS = 0.5
DAY_SECONDS = 86_400
BEAT_SECONDS = CHECK_SECONDS = 60


@dataclass
class Recorder:
    """A cloud that accepts everything and keeps what was sent."""

    bodies: list[bytes] = field(default_factory=list)

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        raise AssertionError(path)

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        sent = msgspec.json.encode(body)
        self.bodies.append(sent)
        read = msgspec.json.decode(sent)
        accepted = {"status": "accepted"}
        return {
            "results": [accepted] * len(read["transactions"]),
            "coupons": [accepted] * len(read["coupons"]),
            "cancellations": [accepted] * len(read["cancellations"]),
        }


@dataclass
class Outcome:
    """What the stores saw, in seconds, and the server's memory in megabytes."""

    done: list[float] = field(default_factory=list)
    sent_away: int = 0
    beats: list[float] = field(default_factory=list)
    megabytes: float = 0.0


def run(scale: Scale) -> None:
    """Print every table of this part."""
    stores, sales, calls = scale.of(200, 40, 3), scale.of(300, 100, 4), scale.of(2_000, 2_000, 20)
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{directory}/store.db"
        bodies = asyncio.run(_recorded(url, open_shop(url), sales))
    for place in places():
        _measure(place, bodies, stores, sales, calls)


async def _recorded(url: str, shop: Shop, sales: int) -> list[bytes]:
    """Sell and return the uploads of it, in portions."""
    recorder = Recorder()
    async with opened_context(Settings(database=url, data_dir=Path())) as cloud:
        uplink = Uplink(client=recorder, is_connected=True, deployment_id=RECORDED)
        context = replace(cloud, uplink=uplink, source="local-store")
        for number in range(sales):
            await _sell(context, shop, number)
            if (number + 1) % PORTION == 0 or number + 1 == sales:
                worker = Worker(context)
                while await worker.run_once():
                    pass
                while (await upload_portion(context, "demo")).sent:
                    pass
    return recorder.bodies


async def _sell(context: Context, shop: Shop, number: int) -> None:
    request = json.loads(shop.evaluate_body(number, LINES), parse_float=Decimal)["request"]
    lines = tuple(
        BasketLine(str(at), one["articleNumber"], one["quantity"] * 1000, int(Decimal(one["unitPrice"]) * 100))
        for at, one in enumerate(request["items"])
    )
    transaction = f"sale-{number}"
    priced = await evaluate(
        context,
        "demo",
        PricingRequest(lines=lines, transaction_id=transaction, pos_group_code=request["posGroupCode"]),
    )
    assert priced.transaction_counter is not None
    entries = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied)
    fingerprint = hashlib.sha256(transaction.encode()).digest()
    command = ConfirmCommand(transaction, priced.transaction_counter, entries, fingerprint)
    await confirm(context, "demo", command)


def _measure(place: Place, bodies: list[bytes], stores: int, sales: int, calls: int) -> None:
    open_shop(place.url)
    asyncio.run(_admit(place.url))
    with running(place.url, place.home) as (port, process_id):
        target = Target(port, token(port, "stores", SECRET), process_id)
        asyncio.run(_come_back(place.database, target, bodies, stores, sales, calls))


async def _admit(url: str) -> None:
    async with opened_context(Settings(database=url, data_dir=Path())) as context:
        await create_client(
            context.database, client_id="stores", secret=SECRET, tenant_id="demo", scopes=("svc.Sync",), name=None,
            at=clock(),
        )  # fmt: skip


async def _come_back(database: str, target: Target, bodies: list[bytes], stores: int, sales: int, calls: int) -> None:
    http = httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{target.port}",
        headers={"authorization": f"Bearer {target.token}", "content-type": "application/json"},
        timeout=300,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=stores + 10),
    )
    async with http:
        deployments = [await _register(http, f"S{number}") for number in range(stores + 1)]
        at_rest, busy = _megabytes(target.process_id), target.cpu_seconds()
        began, found = time.perf_counter(), Outcome()
        probing = asyncio.create_task(_probe(http, target, deployments[-1], found))
        await asyncio.gather(*(_send(http, one, bodies, began, found) for one in deployments[:-1]))
        seconds, busy = time.perf_counter() - began, target.cpu_seconds() - busy
        probing.cancel()
        done = sorted(found.done)
        beats = sorted([int(one * 1e6) for one in found.beats])
        show(
            f"{stores} stores come back with {sales} sales each of {LINES} lines, {database}",
            (
                "sales/s",
                "CPU ms a sale",
                "first",
                "half",
                "95 %",
                "all",
                "sent away",
                "heartbeat p50",
                "p95",
                "MB",
                "at rest",
            ),
            [
                (
                    f"{stores * sales / seconds:,.0f}",
                    f"{busy * 1e3 / (stores * sales):.2f}",
                    f"{done[0]:.1f} s",
                    f"{done[len(done) // 2]:.1f} s",
                    f"{done[len(done) * 95 // 100]:.1f} s",
                    f"{seconds:.1f} s",
                    f"{found.sent_away:,}",
                    f"{percentile(beats, 50) / 1e3:.0f} ms",
                    f"{percentile(beats, 95) / 1e3:.0f} ms",
                    f"{found.megabytes:.0f}",
                    f"{at_rest:.0f}",
                )
            ],
            "First, half, 95 %, all: stores that are done with everything. Heartbeats are those of another store, "
            "meanwhile. MB: the most resident memory of the serving process. The stores run on the same machine.",
        )
        await _cost_of_a_day(http, database, target, deployments, busy / (stores * sales), calls)


async def _register(http: httpx2.AsyncClient, code: str) -> str:
    answer = await http.post("/sync/register", json={"storeCode": code, "name": code, "version": "1"})
    return str(answer.raise_for_status().json()["deploymentId"])


async def _send(http: httpx2.AsyncClient, deployment: str, bodies: list[bytes], began: float, found: Outcome) -> None:
    """Upload as a store does: one portion after the other, and later if the cloud says so."""
    for body in bodies:
        own = body.replace(RECORDED.encode(), deployment.encode())
        while True:
            answer = await http.post("/sync/transactions", params={"deploymentId": deployment}, content=own)
            if answer.status_code != httpx2.codes.TOO_MANY_REQUESTS:
                break
            found.sent_away += 1
            await asyncio.sleep(int(answer.headers["retry-after"]))
        told = answer.raise_for_status().json()
        if {one["status"] for one in told["results"]} - {"accepted"}:
            raise SystemExit(f"the cloud did not accept a sale: {answer.text[:500]}")
    found.done.append(time.perf_counter() - began)


async def _probe(http: httpx2.AsyncClient, target: Target, deployment: str, found: Outcome) -> None:
    while True:
        began = time.perf_counter()
        await _beat(http, deployment)
        found.beats.append(time.perf_counter() - began)
        found.megabytes = max(found.megabytes, _megabytes(target.process_id))
        await asyncio.sleep(PROBE_SECONDS)


async def _beat(http: httpx2.AsyncClient, deployment: str) -> str:
    body = {"deploymentId": deployment, "status": "UP", "version": "1", "promotionsLoaded": 1,
            "pendingTransactions": 0, "reservesSince": "2026-01-01T00:00:00Z"}  # fmt: skip
    return str((await http.post("/sync/heartbeat", json=body)).raise_for_status().json()["latestCursor"])


async def _cost_of_a_day(
    http: httpx2.AsyncClient,
    database: str,
    target: Target,
    deployments: list[str],
    sale_seconds: float,
    calls: int,
) -> None:
    turns = -(-calls // len(deployments))
    cursor = await _beat(http, deployments[0])

    async def check(deployment: str) -> None:
        await http.get("/sync/promotions", params={"deploymentId": deployment, "cursor": cursor})

    async def cost(call: Any) -> float:
        before = target.cpu_seconds()
        for _ in range(turns):
            await asyncio.gather(*(call(one) for one in deployments))
        return (target.cpu_seconds() - before) / (turns * len(deployments))

    beat, look = await cost(lambda one: _beat(http, one)), await cost(check)
    day = DAY_SECONDS / BEAT_SECONDS * beat + DAY_SECONDS / CHECK_SECONDS * look
    show(
        f"What a store costs the cloud in a day, in seconds of processor time, {database}",
        ("a heartbeat", "a check for changes", "both, each minute", "1 000 sales", "10 000 stores at rest need"),
        [
            (
                f"{beat * 1e3:.2f} ms",
                f"{look * 1e3:.2f} ms",
                f"{day:.2f} s",
                f"{1000 * sale_seconds:.2f} s",
                f"{10_000 * day / DAY_SECONDS:.2f} cores",
            )
        ],
        "Without the database's own processes. A store asks for shares once for a sale that lacks some, and some ten "
        "times a day to fill up its reserves; each costs about as much as a heartbeat.",
    )


def _megabytes(process_id: int) -> float:
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
