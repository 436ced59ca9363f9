"""Article imports by every interface, from the request to the end of the job, compared with raw inserts by the driver.

Each interface receives new articles first, then the same ones changed. Raw: one connection of the bare driver, one
transaction, `executemany` of inserts, then of updates by article number, into the same database.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import ssl
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from xml.sax.saxutils import escape

import asyncpg
import httpx2
from sqlalchemy.engine import make_url

from benchmarks.databases import places
from benchmarks.measure import show
from benchmarks.over_http import Target, token
from benchmarks.scale import Scale
from promenade.store.driver.migrations import upgrade
from promenade.store.driver.session import open_database
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.processes import free_port
from tests.kit.service import Service

__all__ = ["run"]

TENANT = "bench"
RAW = "raw"  # the tenant of rows inserted without the service
SECRET = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
SCOPES = ("PublicApi.Read", "PublicApi.Write", "svc.POSReader")
ROWS = 10_000
SYNC_ROWS = 1_000  # the maximum of one call
PROMISED = 3  # bulk import must reach a third of the raw rate

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """The time for so many articles in seconds: elapsed, and processor time of the process that stored them."""

    seconds: float
    cpu: float


Found = dict[str, list[Taken]]  # keyed by kind of articles: new, or changed


@dataclass(frozen=True, slots=True)
class Doors:
    """The interfaces of a running service: its API, and its mutual-TLS listener."""

    api: httpx2.Client
    mutual: httpx2.Client
    process: Target


def run(scale: Scale) -> None:
    """Print a table for each database."""
    rounds, rows = scale.of(3, 1, 1), scale.of(ROWS, ROWS, 50)
    for place in places():
        by_hand = _sqlite_by_hand if place.is_sqlite else _postgresql_by_hand
        _measure(place.database, place.url, place.home, rounds, rows, by_hand)


def _measure(
    database: str,
    url: str,
    home: Path,
    rounds: int,
    rows: int,
    by_hand: Callable[[str, Sequence[Row], Sequence[Row]], dict[str, Taken]],
) -> None:
    upgrade(url)
    asyncio.run(_furnish(url))
    found: dict[str, Found] = {}
    for round_number in range(rounds):
        key = f"R{round_number}"
        for state, taken in by_hand(url, _articles(key, rows), _articles(key, rows, changed=True)).items():
            found.setdefault(_BY_HAND, {}).setdefault(state, []).append(taken)
    with _served(url, home) as doors:
        for round_number in range(rounds):
            for place, (name, way) in enumerate(_WAYS.items()):
                for state in _STATES:
                    articles = _articles(f"{place}{round_number}", rows, changed=state == "changed")
                    before = doors.process.cpu_seconds()
                    seconds = way(doors, articles)
                    taken = Taken(seconds, doors.process.cpu_seconds() - before)
                    found.setdefault(name, {}).setdefault(state, []).append(taken)
    _show(database, found, rows)


_BY_HAND = "raw, through the driver"
_STATES = ("new", "changed")


def _show(database: str, found: dict[str, Found], rows: int) -> None:
    lines = []
    for name, by_state in found.items():
        cells = [name]
        for state in _STATES:
            seconds, cpu = (median(getattr(one, what) for one in by_state[state]) for what in ("seconds", "cpu"))
            raw = median(one.seconds for one in found[_BY_HAND][state])
            cells += [f"{rows / seconds:,.0f}", f"{raw / seconds:.2f}", f"{cpu / rows * 1e6:,.0f}"]
        lines.append(tuple(cells))
    show(
        f"{rows:,} articles on {database}, one process with its worker",
        ("way in", "new/s", "of raw", "CPU us", "changed/s", "of raw", "CPU us"),
        lines,
        f"From the first byte of the request to the end of its job; at the till {-(-rows // SYNC_ROWS)} calls of "
        f"{min(rows, SYNC_ROWS):,}, one after the other. CPU: for each article, of the service, or of who writes by "
        f"hand. Promised: new articles by bulk import at {1 / PROMISED:.2f} of raw.",
    )


# ---- the service --------------------------------------------------------------------------------------------------


async def _furnish(url: str) -> None:
    database = await open_database(url)
    now = datetime.now(UTC)
    try:
        await create_tenant(database, TENANT, settings={}, at=now, user="benchmark")
        await create_client(database, client_id=TENANT, secret=SECRET, tenant_id=TENANT, scopes=SCOPES, at=now)
    finally:
        await database.close()


@contextmanager
def _served(url: str, home: Path) -> Iterator[Doors]:
    """Start the service with a mutual-TLS listener, and a client of each interface."""
    issue = [sys.executable, "-m", "promenade", "trust", "issue", "--dir", str(home / "authority"), "--json"]
    issue += ["--host", "127.0.0.1", "--cn", "erp", "--tenant", TENANT, "--database-url", url]
    files = json.loads(subprocess.run(issue, check=True, capture_output=True).stdout)
    port = free_port()
    options = {name: files[name] for name in ("mtls-cert", "mtls-key", "mtls-ca", "mtls-crl")}
    options |= {"mtls-port": str(port), "database-url": url, "data-dir": str(home)}
    service = Service(home / "service.log", *[text for name, one in options.items() for text in (f"--{name}", one)])
    service.start()
    trusted = ssl.create_default_context(cafile=options["mtls-ca"])
    trusted.load_cert_chain(files["cert"], files["key"])
    process = Target(service.port, token(service.port, TENANT, SECRET), service.pid)
    bearer = {"Authorization": f"Bearer {process.token}"}
    try:
        with (
            httpx2.Client(base_url=service.url, headers=bearer, timeout=120, trust_env=False) as api,
            httpx2.Client(base_url=f"https://127.0.0.1:{port}", verify=trusted, timeout=120, trust_env=False) as mutual,
        ):
            yield Doors(api, mutual, process)
    finally:
        service.kill()


# ---- the ways in --------------------------------------------------------------------------------------------------


def _articles(key: str, count: int, *, changed: bool = False) -> list[Row]:
    """Return articles as master data contains them."""
    return [
        {
            "articleNumber": f"{key}-{number:08}",
            "name": f"Article {number}{' anew' if changed else ''}",
            "ean": f"{4_000_000_000_000 + number}",
            "manufacturer": f"Maker {number % 500}",
            "articleGroupId": f"G{number % 100}",
            "unit": "PCE",
        }
        for number in range(count)
    ]


def _bulk(doors: Doors, articles: Sequence[Row], *, keep_good: bool) -> float:
    body = json.dumps({"header": {"continueOnError": keep_good}, "rows": articles}).encode()
    began = time.perf_counter()
    answer = _posted(doors.api, "/api/v1/Articles:bulk-import", body, 202)
    return _ended(doors.api, answer["jobId"], len(articles)) - began


def _sync(doors: Doors, articles: Sequence[Row]) -> float:
    bodies = [
        json.dumps({"articles": articles[start : start + SYNC_ROWS]}).encode()
        for start in range(0, len(articles), SYNC_ROWS)
    ]
    began = time.perf_counter()
    for body in bodies:
        answer = _posted(doors.api, "/pos/articles/import", body, 200)
        if answer["failed"]:
            raise SystemExit(f"articles failed: {answer['errors'][:1]}")
    return time.perf_counter() - began


def _batch(doors: Doors, articles: Sequence[Row]) -> float:
    body = json.dumps({"name": "bench", "articles": articles}).encode()
    began = time.perf_counter()
    answer = _posted(doors.api, "/pos/articles/import-batch", body, 202)
    return _ended(doors.api, answer["jobId"], len(articles)) - began


_NAMES = {
    "articleNumber": "ProductID",
    "name": "Description",
    "ean": "GTIN",
    "manufacturer": "Brand",
    "articleGroupId": "MerchandiseCategoryID",
    "unit": "BaseUnitOfMeasure",
}
_BULK = "ProductMerchandiseViewReplicationBulkRequest"
_ITEM = "ProductMerchandiseViewReplicationRequestMessage"


def _rest(doors: Doors, articles: Sequence[Row]) -> float:
    items = [
        {"Product": {"ActionCode": "04"} | {_NAMES[name]: value for name, value in article.items()}}
        for article in articles
    ]
    body = json.dumps({"MessageHeader": {"ID": str(uuid.uuid4())}, _ITEM: items}).encode()
    began = time.perf_counter()
    answer = _posted(doors.mutual, f"/api/v1/master-data/{_BULK}", body, 202)
    return _ended(doors.mutual, answer["jobId"], len(articles)) - began


def _soap(doors: Doors, articles: Sequence[Row]) -> float:
    items = "".join(
        f'<{_ITEM}><Product ActionCode="04">'
        + "".join(f"<{_NAMES[name]}>{escape(value)}</{_NAMES[name]}>" for name, value in article.items())
        + f"</Product></{_ITEM}>"
        for article in articles
    )
    body = (
        '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
        f'<n:{_BULK} xmlns:n="urn:bench"><MessageHeader><ID>{uuid.uuid4()}</ID></MessageHeader>{items}</n:{_BULK}>'
        "</s:Body></s:Envelope>"
    ).encode()
    began = time.perf_counter()
    _posted(doors.mutual, "/api/v1/master-data/soap", body, 202, "text/xml; charset=utf-8")
    # SOAP responses do not name the job: it is the latest one.
    newest = {"$orderby": "createdAt desc", "$top": "1", "$select": "ID"}
    (job,) = doors.api.get("/api/v1/ImportJobs", params=newest).raise_for_status().json()["value"]
    return _ended(doors.api, job["ID"], len(articles)) - began


_WAYS: dict[str, Callable[[Doors, Sequence[Row]], float]] = {
    "bulk import, all or none": partial(_bulk, keep_good=False),
    "bulk import, each on its own": partial(_bulk, keep_good=True),
    "till, at once": _sync,
    "till, as a batch": _batch,
    "master data by SOAP": _soap,
    "master data by REST": _rest,
}


def _posted(client: httpx2.Client, path: str, body: bytes, status: int, kind: str = "application/json") -> Any:
    answer = client.post(path, content=body, headers={"Content-Type": kind})
    if answer.status_code != status:
        raise SystemExit(f"{path}: {answer.status_code} {answer.text[:1000]}")
    return answer.json() if kind == "application/json" else None


def _ended(client: httpx2.Client, job_id: str, rows: int) -> float:
    """Return when the job's end was seen; polled every 20 ms, at a millisecond or two each."""
    while True:
        job = client.get(f"/api/v1/jobs/{job_id}").raise_for_status().json()
        if job["status"] in ("SUCCEEDED", "FAILED"):
            if job["rowsSucceeded"] != rows:
                raise SystemExit(f"the job went wrong: {job}")
            return time.perf_counter()
        time.sleep(0.02)


# ---- the same by hand ---------------------------------------------------------------------------------------------

_COLUMNS = (
    *("tenant_id", "id", "article_number", "name", "ean", "manufacturer", "article_group_key", "unit", "base_price"),
    *("source", "is_active", "created_at", "created_by", "modified_at", "modified_by", "version"),
)
_INTO = f"INSERT INTO articles ({', '.join(_COLUMNS)})"


def _rows(articles: Sequence[Row], price: object, now: object) -> list[tuple[object, ...]]:
    stamps = (price, "IMPORTED", True, now, RAW, now, RAW, 1)
    return [(RAW, str(uuid.uuid4()), *article.values(), *stamps) for article in articles]


def _sqlite_by_hand(url: str, new: Sequence[Row], changed: Sequence[Row]) -> dict[str, Taken]:
    connection = sqlite3.connect(make_url(url).database or "", isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    inserts = _rows(new, 1299, time.time_ns() // 1000)
    updates = [(one["name"], RAW, one["articleNumber"]) for one in changed]
    marks = ", ".join("?" * len(_COLUMNS))

    def timed(statement: str, rows: Sequence[tuple[object, ...]]) -> Taken:
        began, cpu = time.perf_counter(), time.process_time()
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(statement, rows)
        connection.execute("COMMIT")
        return Taken(time.perf_counter() - began, time.process_time() - cpu)

    try:
        update = "UPDATE articles SET name = ?, version = version + 1 WHERE tenant_id = ? AND article_number = ?"
        return {"new": timed(f"{_INTO} VALUES ({marks})", inserts), "changed": timed(update, updates)}
    finally:
        connection.close()


def _postgresql_by_hand(url: str, new: Sequence[Row], changed: Sequence[Row]) -> dict[str, Taken]:
    return asyncio.run(_by_asyncpg(url, new, changed))


async def _by_asyncpg(url: str, new: Sequence[Row], changed: Sequence[Row]) -> dict[str, Taken]:
    connection = await asyncpg.connect(url)
    inserts = _rows(new, Decimal("12.99"), datetime.now(UTC))
    updates = [(one["name"], RAW, one["articleNumber"]) for one in changed]
    marks = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))

    async def timed(statement: str, rows: Sequence[tuple[object, ...]]) -> Taken:
        began, cpu = time.perf_counter(), time.process_time()
        async with connection.transaction():
            await connection.executemany(statement, rows)
        return Taken(time.perf_counter() - began, time.process_time() - cpu)

    try:
        update = "UPDATE articles SET name = $1, version = version + 1 WHERE tenant_id = $2 AND article_number = $3"
        inserted = await timed(f"{_INTO} VALUES ({marks})", inserts)
        await connection.execute("ANALYZE articles")
        return {"new": inserted, "changed": await timed(update, updates)}
    finally:
        await connection.close()
