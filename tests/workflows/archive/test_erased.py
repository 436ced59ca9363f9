"""An archive that is written again after an erasure does not name the customer any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from promenade.store.archive.reading import KINDS
from promenade.store.driver.unit import Database
from promenade.workflows.archive.checking import Checked, check_archive
from promenade.workflows.archive.places import Directory
from promenade.workflows.archive.writing import write_archive
from tests.workflows.clockwork.erasures.ledgers import ERASED, OTHERS, branches, erase, live
from tests.workflows.shop import Shop

ALL = list(KINDS.values())


@pytest.fixture
async def shop(database: Database, seed: int) -> Shop:
    """A shop with a history of several customers."""
    (opened,) = await branches(database, "tenant-a")
    await live([opened], seed)
    return opened


def archived(root: Path) -> list[tuple[Any, ...]]:
    """Return all rows of all files, as DuckDB reads them."""
    return [row for file in sorted(root.rglob("*.parquet")) for row in duckdb.read_parquet(str(file)).fetchall()]


def naming(rows: list[tuple[Any, ...]], customer: str) -> int:
    return sum(customer in str(row) for row in rows)


async def test_a_month_that_is_written_again_names_an_erased_customer_no_more(shop: Shop, tmp_path: Path) -> None:
    place, database = Directory(tmp_path / "archive"), shop.context.database
    shop.later(days=60)
    await write_archive(database, place, shop.tenant, ALL, at=shop.now[0])
    before = archived(tmp_path)
    assert naming(before, ERASED) > 0
    await erase(shop)
    await write_archive(database, place, shop.tenant, ALL, at=shop.now[0], again=True)
    after = archived(tmp_path)
    assert naming(after, ERASED) == 0
    assert naming(after, "erased-") > 0
    assert len(after) == len(before)
    assert [naming(after, other) for other in OTHERS] == [naming(before, other) for other in OTHERS]
    found: list[Checked] = []
    await check_archive(database, place, shop.tenant, ALL, at=shop.now[0], tell=found.append)
    assert {one.verdict for one in found} == {"same"}
