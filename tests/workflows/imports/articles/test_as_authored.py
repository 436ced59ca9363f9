"""The fast import has the same results as authoring: the same rows in the database, results and errors."""

from __future__ import annotations

import asyncio
import itertools
import tracemalloc
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from sqlalchemy import insert, select

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.workflows.imports.articles import ArticleImporter
from promenade.workflows.imports.importing import NumberedRow, Portion, RowImporter
from promenade.workflows.imports.rows import EntityImporter
from tests.kit.examples import examples
from tests.workflows.imports.articles.made_up import FOOD, portions

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
Outcome = tuple[Any, ...]


class _RolledBack(Exception):
    pass


def _others(tenant: str) -> EntityImporter:
    return EntityImporter("Articles", tenant_id=tenant, user="ann", new_id=lambda: str(uuid.uuid4()), audited=False)


def _fast(tenant: str) -> ArticleImporter:
    return ArticleImporter(lambda: str(uuid.uuid4()), user="ann", others=_others(tenant))


async def _one_by_one(
    importer: RowImporter, session: Session, rows: Sequence[NumberedRow], at: datetime, keep_good: bool
) -> Portion:
    """Import each row as its own portion, as if it were created alone after those before it."""
    told = Portion()
    for row in rows:
        one = await importer.store(session, [row], at=at, keep_good=keep_good)
        if one.faults and not keep_good:
            return Portion(faults=one.faults)
        told = Portion(told.stored + one.stored, told.faults + one.faults)
    return told


async def _articles(session: Session) -> dict[str, dict[str, Any]]:
    rows = await session.execute(select(table("Articles")))
    return {row.article_number: {**row._mapping, "tenant_id": None} for row in rows}


async def _outcome(
    database: Database, portions: Sequence[Sequence[NumberedRow]], keep_good: bool, fast: bool
) -> Outcome:
    """Return the results of some portions and the database contents afterwards, without IDs made by the server."""
    tenant = f"t-{uuid.uuid4().hex[:20]}"
    group = {"id": FOOD, "group_id": "FOOD", "created_at": AT, "modified_at": AT}
    await database.write(lambda session: session.rowcount(insert(table("ArticleGroups")), group), tenant=tenant)
    told: list[Portion] = []
    for place, rows in enumerate(portions):
        at = AT + timedelta(hours=place)

        async def work(session: Session, rows: Sequence[NumberedRow] = rows, at: datetime = at) -> Portion:
            if fast:
                found = await _fast(tenant).store(session, rows, at=at, keep_good=keep_good)
            else:
                found = await _one_by_one(_others(tenant), session, rows, at, keep_good)
            told.append(found)
            if found.faults and not keep_good:
                raise _RolledBack
            return found

        try:
            await database.write(work, tenant=tenant)
        except _RolledBack:
            break
    held = await database.read(_articles, tenant=tenant)
    names = {row["id"]: number for number, row in held.items()}
    audited = await database.read(lambda session: session.execute(select(table("AuditLogs"))), tenant=tenant)
    shown = [
        Portion(tuple([replace(one, id=names.get(one.id, "gone")) for one in each.stored]), each.faults)
        for each in told
    ]
    kept = {number: row | {"id": row["id"] if row["id"].startswith("0000") else "made"} for number, row in held.items()}
    return shown, kept, len(audited)


@pytest.mark.parametrize("keep_good", [True, False])
@settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
@given(first=portions, second=portions)
@example(
    first=[b'{"articleNumber": "A1", "name": "a\\u0000"}'], second=[b'{"articleNumber": "A1", "source": "EXTERNAL"}']
)
@example(first=[b'{"articleNumber": "A1"}'], second=[b'{"articleNumber": "A1", "basePrice": 1.5}'] * 2)
def test_an_import_gives_the_same_rows_as_single_creates_and_changes(
    database_url: str, keep_good: bool, first: list[bytes], second: list[bytes]
) -> None:
    numbers = itertools.count(1)
    rows = [[NumberedRow(next(numbers), text) for text in each] for each in (first, second)]

    async def compare() -> tuple[Outcome, Outcome]:
        database = await open_database(database_url)
        try:
            return (
                await _outcome(database, rows, keep_good, fast=True),
                await _outcome(database, rows, keep_good, fast=False),
            )
        finally:
            await database.close()

    fast, one_by_one = asyncio.run(compare())
    assert fast == one_by_one


def test_an_invalid_price_is_not_kept_in_memory() -> None:
    rows = [NumberedRow(number, b'{"articleNumber":"A1","basePrice":"%d%s"}' % (number, b"x" * 1_000_000))
            for number in range(1, 31)]  # fmt: skip
    importer = _fast("t")
    tracemalloc.start()
    try:
        for row in rows:
            importer.prepare([row])
        importer.prepare([])
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 10_000_000
