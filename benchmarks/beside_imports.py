"""The cost of an import for the tills of the same process: evaluate before and during imports, on both databases."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.databases import places
from benchmarks.load import post
from benchmarks.measure import milliseconds, show
from benchmarks.over_http import Target, load, rate, ratio, token
from benchmarks.scale import Scale
from benchmarks.shop import Shop, open_shop
from promenade.app import clock, opened_context
from promenade.settings import Settings
from promenade.workflows.access.clients import authenticate_client, create_client
from tests.kit.service import Service

__all__ = ["run"]

BOUND = 2.0  # by how much an import may slow evaluation down
ROWS = 10_000
BASKETS = 50
TILLS = 4
LINES = (5, 20)
QUIET_SECONDS = 3.0
UPLOAD_BYTES = 64 * 1024 * 1024 - 64 * 1024
IMPORTER = "importer"
SECRET = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
ENDED = ("SUCCEEDED", "FAILED")

Row = Callable[[str, int], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Beside:
    """A served shop whose process also accepts imports. ``places`` are IDs of POS groups."""

    target: Target
    api: httpx2.Client
    places: tuple[str, ...]
    home: Path


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of import: its entity, the rows of a run, and whether tills are measured during the upload."""

    name: str
    entity: str
    row: Row
    keep_good: bool
    upload_only: bool = False


def run(scale: Scale) -> None:
    """Print every table of this part."""
    rows = scale.of(ROWS, ROWS // 10, 20)
    for place in places():
        with _serving(place.url, place.home) as beside:
            _measure(place.database, beside, rows, scale.of(LINES, LINES[:1], LINES[:1]), scale)


def _measure(database: str, beside: Beside, rows: int, lines: tuple[int, ...], scale: Scale) -> None:
    quiet_seconds, upload_bytes = (
        scale.of(QUIET_SECONDS, QUIET_SECONDS, 0.1),
        scale.of(UPLOAD_BYTES, UPLOAD_BYTES, 2**18),
    )
    _evaluate(beside, lines[0], seconds=quiet_seconds / 3)
    measured = []
    for kind in _kinds(beside.places):
        for line_count in lines:
            before = _evaluate(beside, line_count, seconds=quiet_seconds)
            during, seconds = _during(beside, kind, rows, line_count, upload_bytes)
            measured.append(
                (
                    kind.name,
                    line_count,
                    f"{rows / seconds:,.0f}",
                    f"{rate(before):,.0f} > {rate(during):,.0f}",
                    ratio(rate(before), rate(during)),
                    *_compared(before["p50"], during["p50"]),
                    *_compared(before["p99"], during["p99"]),
                    milliseconds(during["max"]),
                )
            )
    show(
        f"Evaluate beside imports of {rows:,} rows on {database}: one process, {TILLS} clients",
        ("import", "lines", "rows/s", "baskets/s", "x", "p50", "x", "p99", "x", "worst"),
        measured,
        f"Before > during, latencies in ms. x: how much slower, promised to be at most {BOUND:g}. Worst: the longest "
        "that one basket waited. rows/s: from the request to the end of the job (of an upload: to its answer).",
    )


def _compared(before: int, during: int) -> tuple[str, str]:
    return f"{milliseconds(before)} > {milliseconds(during)}", ratio(during, before)


def _kinds(places: tuple[str, ...]) -> Iterator[Kind]:
    def promotion(run: str, number: int) -> dict[str, Any]:
        return {
            "code": f"{run}-{number}",
            "name": f"Imported {number}",
            "description": "Two of these for the price of one, while stocks last.",
            "validFrom": "2026-01-01T00:00:00Z",
            "validTo": "2027-01-01T00:00:00Z",
            "posGroups": [{"posGroup_ID": places[(number + one) % len(places)]} for one in range(3)],
            "calculationConfig": {"mode": "ADDITIVE", "precision": 2},
        }

    for keep_good in (True, False):
        mode = "each" if keep_good else "all or none"
        yield Kind(f"articles, {mode}", "Articles", _article, keep_good)
        yield Kind(f"promotions, {mode}", "Promotions", promotion, keep_good)
    yield Kind("upload of 64 MiB", "Articles", _long_article, keep_good=True, upload_only=True)


def _article(run: str, number: int) -> dict[str, Any]:
    return {
        "articleNumber": f"{run}-{number}",
        "name": f"Article {number}",
        "ean": f"{4_000_000_000_000 + number}",
        "manufacturer": f"Maker {number % 500}",
        "category": "Imported",
        "basePrice": f"{number % 90 + 1}.99",
        "currency": "EUR",
    }


def _long_article(run: str, number: int) -> dict[str, Any]:
    """An article with some hundred stored bytes; the rest is white space, which costs the upload as much as text."""
    return _article(run, number) | {"description": "x" * 1000}


def _body(kind: Kind, run: str, rows: int, upload_bytes: int) -> bytes:
    texts = [json.dumps(kind.row(run, number)) for number in range(rows)]
    if kind.upload_only:
        texts = [text.ljust(upload_bytes // rows) for text in texts]
    return f'{{"header":{{"continueOnError":{json.dumps(kind.keep_good)}}},"rows":[{",".join(texts)}]}}'.encode()


def _during(beside: Beside, kind: Kind, rows: int, line_count: int, upload_bytes: int) -> tuple[dict[str, Any], float]:
    """Evaluate from just before the request until the job's end (or the upload's response); return the time taken."""
    body, ended = _body(kind, uuid.uuid4().hex[:8], rows, upload_bytes), beside.home / uuid.uuid4().hex
    taken: list[float] = []

    def work() -> None:
        try:
            taken.append(_import(beside, kind, body))
        finally:
            ended.touch()

    thread = threading.Thread(target=work)
    thread.start()
    during = _evaluate(beside, line_count, until=str(ended))
    thread.join()
    _wait_for_jobs(beside)
    return during, taken[0]


def _import(beside: Beside, kind: Kind, body: bytes) -> float:
    began = time.perf_counter()
    answer = beside.api.post(f"/api/v1/{kind.entity}:bulk-import", content=body)
    assert answer.status_code == 202, answer.text
    if not kind.upload_only:
        job = _wait(beside, answer.json()["statusUrl"])
        assert job["status"] == "SUCCEEDED", job
        assert job["rowsFailed"] == 0, job
    return time.perf_counter() - began


def _wait(beside: Beside, address: str) -> dict[str, Any]:
    while True:
        job: dict[str, Any] = beside.api.get(address).json()
        if job["status"] in ENDED:
            return job
        time.sleep(0.2)


def _wait_for_jobs(beside: Beside) -> None:
    """Wait until no import is running."""
    waiting = "/api/v1/ImportJobs?$filter=status ne 'SUCCEEDED' and status ne 'FAILED'&$top=1"
    while beside.api.get(waiting).json()["value"]:
        time.sleep(0.2)


def _evaluate(beside: Beside, line_count: int, *, seconds: float = 0.0, until: str = "") -> dict[str, Any]:
    target = beside.target
    assert target.shop is not None
    headers = {"Authorization": f"Bearer {target.token}"}
    bodies = [target.shop.evaluate_body(number, line_count) for number in range(BASKETS)]
    asked = [post("/pos/v2/evaluate", body, headers) for body in bodies]
    return load(target, asked, clients=TILLS, seconds=seconds, until=until)


# ---- serving ------------------------------------------------------------------------------------------------------


@contextmanager
def _serving(url: str, home: Path) -> Iterator[Beside]:
    """Serve a seeded shop with the command, with a client that may import."""
    shop = open_shop(url)
    asyncio.run(_admit(url, shop))
    service = Service(home / "service.log", "--database-url", url, "--data-dir", str(home))
    service.start()
    try:
        target = Target(service.port, token(service.port, shop.client_id, shop.client_secret), service.pid, shop)
        headers = {
            "Authorization": f"Bearer {token(service.port, IMPORTER, SECRET)}",
            "Content-Type": "application/json",
        }
        with httpx2.Client(base_url=service.url, headers=headers, timeout=300) as api:
            places = tuple(one["ID"] for one in api.get("/api/v1/PosGroups?$select=ID").json()["value"])
            yield Beside(target, api, places, home)
    finally:
        service.stop()


async def _admit(url: str, shop: Shop) -> None:
    async with opened_context(Settings(database=url, data_dir=Path())) as context:
        till = await authenticate_client(context.database, shop.client_id, shop.client_secret, at=clock())
        assert till is not None
        await create_client(
            context.database,
            client_id=IMPORTER,
            secret=SECRET,
            tenant_id=till.tenant_id,
            scopes=("PublicApi.Read", "PublicApi.Write"),
            at=clock(),
        )
