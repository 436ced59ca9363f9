"""Coupons at the till: reserving and redeeming compared with the bare minimum in SQL, and issuing."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.databases import places
from benchmarks.load import RESERVATION, post
from benchmarks.measure import milliseconds, show
from benchmarks.over_http import Target, load, rate, ratio, running, token
from benchmarks.rows.retail import identity
from benchmarks.scale import Scale
from promenade.app import clock, opened_context
from promenade.settings import Settings
from promenade.store.driver.migrations import upgrade
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant

__all__ = ["run"]

CLIENTS = (1, 16, 64)
PAIRS = {1: 600, 16: 4_000, 64: 4_000}
TENANTS = 12  # each may be issued 1 000 coupons a minute: five in single calls, the others a hundred at a time
SINGLE_TENANTS, SINGLE_CALLS, HUNDREDS = 5, 800, 9
ANSWER_BYTES = 170  # about the size of a reserve response
SECRET = "of-this-benchmark-only"
MADE = datetime(2026, 1, 1, tzinfo=UTC)
CHUNK = 5_000
ROUNDS = 3

_HOLD = """UPDATE coupon_codes SET status = 'RESERVED', reservation_ref = {0}, reserved_by_transaction_id = {0},
    version = version + 1 WHERE tenant_id = 'bench-0' AND id = {1} AND status = 'ACTIVE'"""
_SPEND = """UPDATE coupon_codes SET status = 'REDEEMED', redeemed_transaction_id = {0}, version = version + 1
    WHERE tenant_id = 'bench-0' AND id = {1} AND reservation_ref = {0} AND status = 'RESERVED'"""


def run(scale: Scale) -> None:
    """Print every table of this part."""
    for place in places():
        bare = _bare_sqlite if place.is_sqlite else _bare_postgresql
        _measure(place.database, place.url, place.home, scale, partial(bare, place.url))


def _measure(database: str, url: str, home: Path, scale: Scale, bare: Callable[[int, Iterator[int]], float]) -> None:
    pairs = {clients: scale.of(count, count // 6, 2 * clients + 2) for clients, count in PAIRS.items()}
    rounds = scale.of(ROUNDS, 1, 1)
    codes = iter(range(2 * (rounds + 1) * sum(pairs.values())))
    upgrade(url)
    asyncio.run(_fill(url, 2 * (rounds + 1) * sum(pairs.values())))
    bars = {
        clients: max(bare(clients, (next(codes) for _ in range(count))) for _ in range(rounds))
        for clients, count in pairs.items()
    }
    with running(url, home) as (port, process_id):
        targets = [Target(port, token(port, f"bench-{number}", SECRET), process_id) for number in range(TENANTS)]
        _reservations(database, targets[0], pairs, codes, bars, rounds)
        _issues(database, targets, scale)


def _reservations(
    database: str, target: Target, pairs: dict[int, int], codes: Iterator[int], bars: dict[int, float], rounds: int
) -> None:
    _pairs(target, 4, [next(codes) for _ in range(min(pairs.values()) // 2)])  # warm up
    rows = []
    for clients, count in pairs.items():
        null = [post(f"/null/{ANSWER_BYTES}", b'{"code":"B00000000","transactionId":"T00000000"}', {})]
        least = load(target, null, follow=null, clients=clients, limit=count)
        done = [_pairs(target, clients, [next(codes) for _ in range(count)]) for _ in range(rounds)]
        best = max(done, key=rate)
        rows.append(
            (
                clients,
                f"{rate(best):,.0f}",
                milliseconds(best["p50"]),
                milliseconds(best["p99"]),
                f"{best['cpu'] * 1e6:,.0f}",
                f"{rate(least):,.0f}",
                ratio(rate(best), rate(least)),
                f"{bars[clients]:,.0f}",
                ratio(rate(best), bars[clients]),
            )
        )
    show(
        f"Reserve, then redeem over HTTP on {database}: pairs of requests, two durable commits each, one process",
        ("clients", "pairs/s", "p50 ms", "p99 ms", "CPU us", "null/s", "share", "bare/s", "share"),
        rows,
        f"Best of {rounds}, each code once. Null: two requests that the same server answers with a constant. Bare: two "
        "conditional updates of a code, each committed, through the driver alone, by so many connections "
        "(SQLite has one); no log, no limits, no HTTP.",
    )


def _pairs(target: Target, clients: int, codes: list[int]) -> dict[str, Any]:
    """Reserve and redeem each of the codes."""
    headers = {"Authorization": f"Bearer {target.token}"}
    reserve, redeem = [], []
    for number in codes:
        transaction = f"T{number:08}"
        body = {"code": f"B{number:08}", "transactionId": transaction}
        reserve.append(post("/pos/coupons/reserve", json.dumps(body).encode(), headers))
        body = {"reservationId": RESERVATION, "transactionId": transaction}
        redeem.append(post("/pos/coupons/redeem", json.dumps(body).encode(), headers))
    return load(target, reserve, follow=redeem, expect='"redeemed":true', clients=clients, limit=len(codes))


def _issues(database: str, targets: list[Target], scale: Scale) -> None:
    single, hundreds = scale.of(SINGLE_CALLS, SINGLE_CALLS // 4, 16), scale.of(HUNDREDS, HUNDREDS, 1)
    rows = []
    for name, tenants, customers, calls, clients in (
        ("1 coupon", targets[:SINGLE_TENANTS], 1, single, 1),
        ("1 coupon", targets[:SINGLE_TENANTS], 1, single // 4, 16),
        ("100 coupons", targets[SINGLE_TENANTS:], 100, hundreds, 1),
    ):
        asked = [_issue(target, customers, call) for call in range(calls) for target in tenants]
        done = load(targets[0], asked, expect='"failedCount":0', clients=clients, limit=len(asked))
        rows.append(
            (
                name,
                clients,
                f"{rate(done):,.0f}",
                f"{customers * rate(done):,.0f}",
                milliseconds(done["p50"]),
                milliseconds(done["p99"]),
            )
        )
    show(
        f"Issue over HTTP on {database}: each call one durable commit",
        ("a call issues", "clients", "calls/s", "coupons/s", "p50 ms", "p99 ms"),
        rows,
        "By several tenants in turn, for each may be issued 1 000 coupons a minute. All codes are drawn anew.",
    )


def _issue(target: Target, customers: int, call: int) -> str:
    body = {"couponTypeName": "bench", "customerIds": [f"C{call}-{number}" for number in range(customers)]}
    return post("/pos/coupons/issue", json.dumps(body).encode(), {"Authorization": f"Bearer {target.token}"})


# ---- the bars -----------------------------------------------------------------------------------------------------


def _bare_sqlite(url: str, _clients: int, codes: Iterator[int]) -> float:
    """Return the pairs of updates per second on one connection, with the service's durability."""
    hold, spend = _HOLD.format("?1", "?2"), _SPEND.format("?1", "?2")
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        chosen = list(codes)
        start = time.perf_counter()
        for number in chosen:
            key = identity("CouponCodes", number)
            for statement in (hold, spend):
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute(statement, (f"T{number:08}", key)).rowcount != 1:
                    raise SystemExit(f"code {number} was not there")
                connection.execute("COMMIT")
        return len(chosen) / (time.perf_counter() - start)


def _bare_postgresql(url: str, clients: int, codes: Iterator[int]) -> float:
    """Return the pairs of updates per second on so many connections."""
    return asyncio.run(_by_asyncpg(url, clients, codes))


async def _by_asyncpg(url: str, clients: int, codes: Iterator[int]) -> float:
    connections = [await asyncpg.connect(url) for _ in range(clients)]
    hold = [await one.prepare(_HOLD.format("$1", "$2")) for one in connections]
    spend = [await one.prepare(_SPEND.format("$1", "$2")) for one in connections]
    count = 0

    async def client(number: int) -> None:
        nonlocal count
        for code in codes:
            key, transaction = identity("CouponCodes", code), f"T{code:08}"
            await hold[number].fetch(transaction, key)
            await spend[number].fetch(transaction, key)
            count += 1

    start = time.perf_counter()
    await asyncio.gather(*map(client, range(clients)))
    seconds = time.perf_counter() - start
    for one in connections:
        await one.close()
    return count / seconds


# ---- rows ---------------------------------------------------------------------------------------------------------


async def _fill(url: str, codes: int) -> None:
    """Create tenants with one coupon type and one till each; the first has codes."""
    async with opened_context(Settings(database=url, data_dir=Path())) as context:
        for number in range(TENANTS):
            tenant = f"bench-{number}"
            await create_tenant(context.database, tenant, settings={}, at=clock(), user="benchmark")
            await create_client(
                context.database,
                client_id=tenant,
                secret=SECRET,
                tenant_id=tenant,
                scopes=("svc.POSReader",),
                at=clock(),
            )
            kind = {"ID": identity("CouponTypes", 0), "code": "bench", "name": "bench", "status": "ACTIVE"}

            async def types(session: Session, kind: dict[str, Any] = kind) -> None:
                await insert_rows(session, "CouponTypes", [kind], at=MADE, by="benchmark")

            await context.database.write(types, tenant=tenant, durable=False)
        for first in range(0, codes, CHUNK):
            rows = [_code(number) for number in range(first, min(first + CHUNK, codes))]

            async def work(session: Session, rows: list[dict[str, Any]] = rows) -> None:
                await insert_rows(session, "CouponCodes", rows, at=MADE, by="benchmark")

            await context.database.write(work, tenant="bench-0", durable=False)


def _code(number: int) -> dict[str, Any]:
    return {
        "ID": identity("CouponCodes", number),
        "code": f"B{number:08}",
        "couponType_ID": identity("CouponTypes", 0),
        "status": "ACTIVE",
        "issuedAt": MADE,
    }
