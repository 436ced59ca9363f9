"""Throughput of the public API: lists, single reads and creates, compared with the same SQL run by hand."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import asyncpg

from benchmarks.databases import places
from benchmarks.load import get, post
from benchmarks.measure import milliseconds, percentile, show
from benchmarks.over_http import Target, load, rate, running, token
from benchmarks.rows.retail import PROMOTIONS, TENANT, Rows, fill, identity
from benchmarks.scale import Scale
from promenade import model

__all__ = ["run"]

CLIENTS = (1, 16)
DAY = "2026-06-01T00:00:00Z"
LIST = f"$filter=status eq 'ACTIVE' and validTo gt {DAY}&$orderby=name&$top=50&$count=true"
EXPANDS = "$expand=posGroups,calculationConfig,campaign"
# Indexed fields of Articles, and how a million rows are queried by them.
INDEXED: dict[str, Callable[[int], str]] = {
    "key of one": lambda n: f"$filter=articleNumber eq 'A{n:08}'",
    "EAN of one": lambda n: f"$filter=ean eq '{4_000_000_000_000 + n}'",
    "start of a number": lambda n: f"$filter=startswith(articleNumber,'A{n // 100:06}')&$top=50",
    "numbers from one on": lambda n: f"$filter=articleNumber gt 'A{n:08}'&$orderby=articleNumber&$top=50",
    "word of one": lambda n: f"$search=A{n:08}&$count=true",
    "part of a name": lambda n: f"$filter=contains(name,'{n:06}')&$orderby=name&$top=50&$count=true",
    "sorted by name": lambda n: f"$orderby=name&$skip={n % 50}&$top=50",
}


def run(scale: Scale) -> None:
    """Print every table of this part."""
    articles = scale.of(1_000_000, 50_000, 500)
    promotions = scale.of(PROMOTIONS, PROMOTIONS, 200)
    seconds = scale.of(5.0, 1.0, 0.04)
    for place in places():
        rows = fill(place.url, articles, promotions)
        by_hand = _sqlite_by_hand if place.is_sqlite else _postgresql
        _measure(place.database, place.url, rows, place.home, seconds, partial(by_hand, place.url, seconds))


def _measure(
    database: str, url: str, rows: Rows, home: Path, seconds: float, by_hand: Callable[[], tuple[float, int]]
) -> None:
    raw_rate, raw_p50 = by_hand()
    with running(url, home) as (port, process_id):
        target = Target(port, token(port, rows.client_id, rows.client_secret), process_id)
        headers = {"Authorization": f"Bearer {target.token}"}
        _reads_and_creates(database, target, headers, rows, seconds, raw_rate, raw_p50)
        _by_index(database, target, headers, rows, seconds)


def _reads_and_creates(
    database: str, target: Target, headers: dict[str, str], rows: Rows, seconds: float, raw_rate: float, raw_p50: int
) -> None:
    list_of_50 = [get(f"/api/v1/Promotions?{_encoded(LIST)}", headers)]
    single = [
        get(f"/api/v1/Promotions({identity('Promotions', number)})?{_encoded(EXPANDS)}", headers)
        for number in range(0, rows.promotions, 37)
    ]
    bodies = ({"name": f"Made {number}", "code": f"N{time.time_ns()}-{number}"} for number in itertools.count())
    lines = []
    for clients in CLIENTS:
        answers = {
            f"list of 50 of {rows.promotions:,}": load(target, list_of_50, clients=clients, seconds=seconds),
            "one with three expands": load(target, single, clients=clients, seconds=seconds),
        }
        creates = [
            post("/api/v1/Promotions", json.dumps(body).encode(), headers)
            for body in itertools.islice(bodies, rows.promotions // 10)
        ]
        answers["create, durable"] = load(target, creates, clients=clients, limit=len(creates))
        for name, answer in answers.items():
            share = f"{rate(answer) / raw_rate:.2f}" if name.startswith("list") else ""
            timing = (f"{rate(answer):,.0f}", milliseconds(answer["p50"]), milliseconds(answer["p99"]))
            lines.append((name, clients, *timing, f"{answer['cpu'] * 1e6:,.0f}", share))
    show(
        f"Public API over HTTP on {database}, one process",
        ("request", "clients", "requests/s", "p50 ms", "p99 ms", "CPU us", "of SQL by hand"),
        lines,
        "The list is filtered, ordered and counted. "
        f"SQL by hand: both statements of the list on one connection of the bare driver, rows fetched and dropped: "
        f"{raw_rate:,.0f}/s, p50 {milliseconds(raw_p50)} ms.",
    )


def _by_index(database: str, target: Target, headers: dict[str, str], rows: Rows, seconds: float) -> None:
    lines = []
    for name, options in INDEXED.items():
        asked = [
            get(f"/api/v1/Articles?{_encoded(options(number * 7919 % rows.articles))}", headers)
            for number in range(200)
        ]
        answer = load(target, asked, clients=1, seconds=seconds / 2)
        lines.append((name, f"{rate(answer):,.0f}", milliseconds(answer["p50"]), milliseconds(answer["p99"])))
    show(
        f"One of {rows.articles:,} articles on {database}: $filter over HTTP, one client",
        ("by", "requests/s", "p50 ms", "p99 ms"),
        lines,
    )


def _encoded(options: str) -> str:
    return quote(options, safe="$=&(),'")


# ---- the same by hand ---------------------------------------------------------------------------------------------


def _columns() -> str:
    entity = model.entity("Promotions")
    return ", ".join(
        [
            *(field.name for field in entity.fields if not field.virtual),
            *(link.column for link in entity.links),
            "version",
        ]
    )


def _sqlite_by_hand(url: str, seconds: float) -> tuple[float, int]:
    """Return both statements per second on one sqlite3 connection, and the p50 in nanoseconds."""
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    since = 1_780_272_000_000_000  # 2026-06-01 in microseconds
    where = "FROM promotions WHERE tenant_id = ? AND status = 'ACTIVE' AND valid_to > ?"

    def once() -> None:
        connection.execute(f"SELECT count(*) {where}", (TENANT, since)).fetchall()
        query = f"SELECT {_COLUMNS} {where} ORDER BY name, id LIMIT 50"
        connection.execute(query, (TENANT, since)).fetchall()

    try:
        return _rate_of(once, seconds)
    finally:
        connection.close()


def _rate_of(once: Callable[[], object], seconds: float) -> tuple[float, int]:
    once()
    return _summary(list(_timed(once, seconds)))


def _timed(once: Callable[[], object], seconds: float) -> Iterator[int]:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter_ns()
        once()
        yield time.perf_counter_ns() - start


def _summary(taken: Sequence[int]) -> tuple[float, int]:
    return len(taken) / (sum(taken) / 1e9), percentile(sorted(taken), 50)


def _postgresql(url: str, seconds: float) -> tuple[float, int]:
    return asyncio.run(_postgresql_by_hand(url, seconds))


async def _postgresql_by_hand(url: str, seconds: float) -> tuple[float, int]:
    """Return the same on one asyncpg connection with prepared statements."""
    connection = await asyncpg.connect(url)
    try:
        since = (await connection.fetchrow("SELECT $1::text::timestamptz", DAY))[0]
        where = "FROM promotions WHERE tenant_id = $1 AND status = 'ACTIVE' AND valid_to > $2"
        count = await connection.prepare(f"SELECT count(*) {where}")
        page = await connection.prepare(f"SELECT {_COLUMNS} {where} ORDER BY name, id LIMIT 50")
        taken: list[int] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter_ns()
            await count.fetch(TENANT, since)
            await page.fetch(TENANT, since)
            taken.append(time.perf_counter_ns() - start)
        return _summary(taken[1:])
    finally:
        await connection.close()


_COLUMNS = _columns()
