"""What it costs to delete logs that a tenant does not want to keep, and whether that grows with how many are stored.

The time is that of processors, not of the clock. How many rows go in an hour follows: these jobs rest two thirds of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import func, insert, select, update

from benchmarks import stored_sales
from benchmarks.databases import places, postgresql_analyzed, spent
from benchmarks.measure import show
from benchmarks.roles import as_served
from benchmarks.scale import Scale
from promenade.app import clock, opened_context
from promenade.demo.seeding import TENANT
from promenade.settings import Settings
from promenade.store.driver.migrations import upgrade
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.sales.log_parts import BLOCK_LOGS
from promenade.workflows.clockwork.dropping import logs
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.clockwork.redemptions import redemptions
from promenade.workflows.clockwork.trimming import entries
from promenade.workflows.context import Context

__all__ = ["run"]

LINES = 6
SOLD = 200  # sales that are made; the others are copies of these
DAYS = 400
FEW = 500  # copies in one unit of work
A_DAY = timedelta(days=1)
WISHES = {"sales_log_days": 400, "sales_logs_unarchived": True, "audit_log_days": 400, "redemption_log_days": 400}
Models = Mapping[str, Sequence[dict[str, Any]]]
JOBS: dict[str, tuple[str, Callable[[Context, str | None], Awaitable[JobResult]]]] = {
    "logs of sales": ("CalculationLogs", logs),
    "audit trail": ("AuditLogs", entries),
    "events of codes": ("RedemptionLogs", redemptions),
}


def run(scale: Scale) -> None:
    """Print every table of this part."""
    sizes, gone = scale.of((20_000, 500_000), (5_000, 50_000), (40, 80)), scale.of(4_000, 1_000, 20)
    for place in places():
        asyncio.run(measure(place.database, place.url, sizes, gone, scale))


async def measure(database: str, url: str, sizes: Sequence[int], gone: int, scale: Scale) -> None:
    """Print what it takes to delete ``gone`` rows of each kind, with ``sizes`` of them stored."""
    await asyncio.to_thread(upgrade, url)
    served = await asyncio.to_thread(as_served, url)
    async with opened_context(Settings(database=served, data_dir=Path())) as context:
        assortment = await stored_sales.prepare(context, articles=scale.of(20_000, 20_000, 5_000))
        await stored_sales.sell(context, assortment, range(scale.of(SOLD, SOLD, 4)), lines=LINES)
        await context.database.write(_wish, tenant=TENANT)
        models = await context.database.read(_models, tenant=TENANT)
        lines: list[tuple[str, ...]] = []
        stored = 0
        for size in sizes:
            await _fill(context, models, stored, size)
            stored = size
            if url.startswith("postgresql"):
                await postgresql_analyzed(url)  # a server in use does it by itself
            later = replace(context, clock=partial(_later, len(lines)))
            for kind, (name, job) in JOBS.items():
                lines.append(await _delete(later, url, (kind, name, job), size, gone))
    show(
        f"Deleting logs on {database}, CPU time per row",
        ("kind", "stored", "deleted", "worker ms", "server ms", "both ms", "rows/h"),
        lines,
        "Copies of real sales, spread over a year. Rows/h: a third of an hour, divided by what a row takes.",
    )


async def _delete(
    context: Context,
    url: str,
    what: tuple[str, str, Callable[[Context, str | None], Awaitable[JobResult]]],
    size: int,
    gone: int,
) -> tuple[str, ...]:
    kind, name, job = what
    before = await context.database.read(partial(_number, name=name), tenant=TENANT)
    done = 0

    async def work() -> None:
        nonlocal done
        cursor: str | None = None
        while done < gone:
            result = await job(context, cursor)
            done, cursor = done + result.done, result.cursor
            if not result.more:
                return

    took = await spent(url, work)
    after = await context.database.read(partial(_number, name=name), tenant=TENANT)
    worker, server = (one * 1000 / max(done, 1) for one in (took.program, took.server))
    both = max(worker + server, 1e-3)
    row = f"{worker:.3f}", f"{server:.3f}", f"{both:.3f}", f"{1_200_000 / both:,.0f}"
    return kind, f"{size:,}", f"{before - after:,}", *row


def _later(months: int) -> datetime:
    """Return a time: events of codes are looked through once a month."""
    return clock() + months * 31 * A_DAY


async def _wish(session: Session) -> int:
    return await session.rowcount(update(table("Tenants")).where(table("Tenants").c.tenant_id == TENANT).values(WISHES))


async def _number(session: Session, name: str) -> int:
    return int((await session.execute(select(func.count()).select_from(table(name))))[0][0])


# ---- copies ----------------------------------------------------------------------------------------------------------


async def _fill(context: Context, models: Models, first: int, last: int) -> None:
    """Write ``last - first`` copies of sales with their logs, of entries of the audit trail and of events of codes."""
    oldest = clock() - timedelta(days=2 * DAYS + 100)
    for begin in range(first, last, FEW):

        async def work(session: Session, begin: int = begin) -> None:
            numbers = range(begin, min(begin + FEW, last))
            for name, rows in _copies(models, numbers, last, oldest):
                await session.execute_many(insert(table(name)), rows)

        await context.database.write(work, tenant=TENANT)


async def _models(session: Session) -> Models:
    """Return the rows to copy: of each sale its confirmation, log and parts in the same place."""
    found = {}
    for name, key in (("CalculationLogs", "id"), ("calculation_log_parts", "log_id"), ("calculation_log_blocks", None)):
        rows = table(name)
        read = select(rows) if key is None else select(rows).order_by(rows.c[key])
        found[name] = [dict(row._mapping) for row in await session.execute(read)]
    logs_of = {(row["transaction_id"], row["origin"]): n for n, row in enumerate(found["CalculationLogs"])}
    sold = await session.execute(select(table("confirmations")))
    records = sorted(sold, key=lambda row: logs_of[row.transaction_id, row.origin])
    found["confirmations"] = [dict(row._mapping) for row in records]
    found["AuditLogs"] = [dict(row._mapping) for row in await session.execute(select(table("AuditLogs")).limit(100))]
    return found


def _copies(
    models: Models, numbers: Sequence[int], until: int, oldest: datetime
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the tables with their new rows, of which each is a while younger than the one before it."""
    made: dict[str, list[dict[str, Any]]] = {name: [] for name in (*models, "RedemptionLogs")}
    noted: set[tuple[str, int]] = set()
    for number in numbers:
        at = oldest + number * (DAYS * A_DAY) / until
        written = {"created_at": at, "modified_at": at}
        key = f"{number:08x}-0000-7000-8000-000000000000"
        model = number % len(models["confirmations"])
        log, parts, record = (
            models[name][model] for name in ("CalculationLogs", "calculation_log_parts", "confirmations")
        )
        sale = {"transaction_id": f"COPY-{number}", "confirmed_at": at}
        made["confirmations"].append(record | sale)
        made["CalculationLogs"].append(log | sale | written | {"id": key, "evaluated_at": at})
        block = number // BLOCK_LOGS
        made["calculation_log_parts"].append(parts | {"log_id": key, "block": block, "created_at": at})
        for one in models["calculation_log_blocks"]:
            if one["log_id"] == log["id"] and (one["promotion_id"], block) not in noted:
                noted.add((one["promotion_id"], block))
                made["calculation_log_blocks"].append(one | {"log_id": key, "block": block})
        entry = models["AuditLogs"][number % len(models["AuditLogs"])]
        made["AuditLogs"].append(entry | {"id": key, "timestamp": at, "action": "UPDATE"})
        made["RedemptionLogs"].append(
            {"id": key, "tenant_id": log["tenant_id"], "action": "REDEEM", "occurred_at": at, **written}
            | {"coupon_code_id": key, "coupon_type_id": key, "transaction_id": f"COPY-{number}"}
        )
    yield from made.items()
