"""The cost of a sale and its side effects, reports and advice does not grow with the stored data: none of their
statements scans all of a tenant's rows, with only the existing indexes and without statistics.
"""

from __future__ import annotations

import contextlib
import random
import re
import sqlite3
from typing import Any

import pytest
from sqlalchemy import make_url

from promenade.store.driver.session import open_database
from promenade.store.driver.types import unpacked
from promenade.workflows.access.erasures import list_erasures
from promenade.workflows.reports.aggregating import aggregate_all
from tests.demo.test_seeding import seed_anew
from tests.kit.databases import Databases
from tests.reliability.test_cancellations import Till
from tests.workflows.clockwork.erasures.ledgers import branches, erase, live
from tests.workflows.shop import open_shop

# Tables that sales, articles and codes extend for as long as the retailer exists.
GROWS = {
    "advice_converted", "advice_shown", "articles", "audit_logs", "budget_consumptions", "calculation_log_parts",
    "calculation_log_blocks", "calculation_logs", "cancellations", "confirmations", "coupon_claims", "coupon_codes",
    "coupon_reservations", "coupon_usage", "forecast_customers", "iteration_counters", "iterations", "loyalty_balances",
    "loyalty_transactions", "notification_logs", "outbox_events", "promotion_article_sums", "promotion_pos_group_sums",
    "promotion_usage", "promotion_usage_by_day", "promotion_usage_by_hour", "promotion_utc_days", "redemption_logs",
    "side_effect_jobs",
}  # fmt: skip
_STEP = re.compile(
    r"(?P<kind>SCAN|SEARCH) (?P<table>\w+)(?: USING (?:COVERING )?INDEX (?P<index>\w+))?(?: \((?P<by>.*)\))?"
)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Statements as SQLite executed them, one of each form."""
    forms: dict[str, str] = {}
    connect = sqlite3.connect

    def note(statement: str) -> None:
        if statement.startswith("INSERT") and "SELECT" not in statement:  # most are these: they search nothing
            forms.setdefault(statement.partition(" VALUES ")[0], statement)
            return
        values = re.sub(r"'[^']*'|\b\d+\b", "?", statement)
        forms.setdefault(re.sub(r"\?(, \?)+", "?", values), statement)

    def opened(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)
        connection.set_trace_callback(note)
        return connection

    monkeypatch.setattr(sqlite3, "connect", opened)
    return forms


def whole(connection: sqlite3.Connection, statement: str) -> list[str]:
    """Return the growing tables of which the statement scans all rows, or all of a tenant's rows."""
    found = []
    for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}"):
        match = _STEP.match(step)
        if match and match["table"] in GROWS and (match["kind"] == "SCAN" or match["by"] == "tenant_id=?"):
            indexes = connection.execute(f"PRAGMA index_list({match['table']})").fetchall()
            is_partial = any(index[1] == match["index"] and index[4] for index in indexes)  # contains only due rows
            if not is_partial:
                found.append(step)
    return found


async def test_sales_never_scan_all_rows_of_a_tenant(traced: dict[str, str], databases: Databases) -> None:
    url = databases.create("sqlite")
    await seed_anew(url)
    assert_no_scan(traced, url)


def assert_no_scan(traced: dict[str, str], url: str) -> None:
    statements = [one for one in traced.values() if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", one)]
    assert len(statements) > 100
    with contextlib.closing(sqlite3.connect(make_url(url).database or "")) as connection:
        connection.create_function("unpacked", 1, unpacked)
        found = [f"{step}\n    {one}" for one in statements for step in whole(connection, one)]
    assert not found, "\n".join(found)


async def test_cancels_never_scan_all_rows_of_a_tenant(traced: dict[str, str], databases: Databases) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    try:
        till = Till(await open_shop(database), ("EUR", 2))
        await till.open()
        await till.sell("T1", random.Random(1))
        await till.give_back("R1", "T1", "1")
        await till.shop.work()
        await aggregate_all(till.shop.context, till.shop.tenant)
        await till.cancel("R1")
        await till.cancel("T1")
        await aggregate_all(till.shop.context, till.shop.tenant)
    finally:
        await database.close()
    assert_no_scan(traced, url)


async def test_erasing_a_customer_never_scans_all_rows_of_a_tenant(
    traced: dict[str, str], databases: Databases
) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    try:
        (shop,) = await branches(database, "tenant-a")
        await live([shop], seed=1)
        await erase(shop)
        assert [one.status for one in await list_erasures(database, shop.tenant)] == ["COMPLETED"]
    finally:
        await database.close()
    assert_no_scan(traced, url)
