"""No answer reveals another tenant's data, on both databases, and with row-level security alone (S1 to S3).

A usual run asks a part of all questions, sampled by the seed; the soak asks all.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from promenade.model.declare import Service
from promenade.store.driver.schema import metadata
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from tests.kit.databases import Databases
from tests.reliability.tenants.asking import Question, everything_else, of_service
from tests.reliability.tenants.canaries import THEIRS
from tests.reliability.tenants.conftest import asking, routes

WITHOUT_FILTER = "tests.reliability.tenants.without_filter"
# The database, the serving command, and whether row-level security is bypassed.
WAYS: dict[str, tuple[str, str, bool]] = {
    "filter on SQLite": ("sqlite", "tests.kit.without_worker", False),
    "filter without wall": ("postgresql", "tests.kit.without_worker", True),
    "wall without filter": ("postgresql", WITHOUT_FILTER, False),
}
PART = 12  # of the questions to OData services, one in so many


@pytest.mark.parametrize("way", WAYS)
def test_no_answer_reveals_data_of_another_tenant(databases: Databases, logs: Path, seed: int, way: str) -> None:
    of_odata = [question for service in Service for question in of_service(service)]
    drawn = random.Random(seed).sample(of_odata, len(of_odata) // PART)
    crawl(databases, logs, way, [*drawn, *everything_else(routes(databases))])


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("way", WAYS)
def test_no_random_request_reveals_data_of_another_tenant(databases: Databases, logs: Path, way: str) -> None:
    of_odata = [question for service in Service for question in of_service(service)]
    crawl(databases, logs, way, [*of_odata, *everything_else(routes(databases))])


def crawl(databases: Databases, logs: Path, way: str, questions: Sequence[Question]) -> None:
    """Ask and check that nothing leaked, most requests succeeded, and the other tenant's rows are unchanged."""
    dialect, module, as_superuser = WAYS[way]
    with asking(databases, dialect, logs, module=module, as_superuser=as_superuser) as (asker, url):
        before = asyncio.run(rows_of_theirs(url))
        leaks = asker.ask(questions)
        assert not leaks, "\n".join(map(str, leaks[:5]))
        assert max(asker.statuses) < 500, asker.statuses
        assert asker.statuses[200] > len(questions) // 3, asker.statuses
        assert asyncio.run(rows_of_theirs(url)) == before


async def rows_of_theirs(url: str) -> dict[str, list[Any]]:
    """Return every row of the other tenant."""
    database = await open_database(url)

    async def work(session: Session) -> dict[str, list[Any]]:
        found = {}
        for table in metadata.sorted_tables:
            if table.info["tenant_owned"]:
                rows = await session.execute(select(table).order_by(*table.primary_key.columns))
                found[table.name] = [tuple(row) for row in rows]
        return found

    try:
        return await database.read(work, tenant=THEIRS)
    finally:
        await database.close()


def test_without_both_barriers_the_crawl_finds_leaks(databases: Databases, logs: Path) -> None:
    lists = [one for one in of_service(Service.PUBLIC) if "$count=true&$top" in one.path]
    with asking(databases, "postgresql", logs, module=WITHOUT_FILTER, as_superuser=True) as (asker, _):
        leaks = asker.ask(lists)
    assert {"ZQXJKV", "cafeba11", "1987654321", "19876.5", "2087-06-05"} <= {seen for one in leaks for seen in one.seen}
    assert len(leaks) > 20
