"""Articles that others create and price while they are imported."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

import asyncpg
import pytest
from sqlalchemy import select

from promenade.errors import Conflict
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.imports.articles import ArticleImporter
from promenade.workflows.imports.importing import NumberedRow, Portion
from promenade.workflows.imports.rows import EntityImporter
from promenade.workflows.pricing.evaluate import simulate
from tests.kit.databases import past_the_wall
from tests.workflows.pricing.test_evaluate import OFF, PROMOTION, TENANT, a_context, author, basket, percent_off
from tests.workflows.pricing.test_evaluate import uuid as known

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def _new_id() -> str:
    return str(uuid.uuid4())


async def _imported(database: Database, *rows: dict[str, Any]) -> Portion:
    others = EntityImporter("Articles", tenant_id=TENANT, user="erp", new_id=_new_id)
    importer = ArticleImporter(_new_id, user="erp", others=others)
    numbered = [NumberedRow(number, json.dumps(row).encode()) for number, row in enumerate(rows, 1)]
    importer.prepare(numbered)
    return await database.write(lambda session: importer.store(session, numbered, at=AT, keep_good=True), tenant=TENANT)


async def _articles(database: Database) -> Sequence[Any]:
    return await database.read(lambda session: session.execute(select(table("Articles"))), tenant=TENANT)


async def test_an_import_finds_articles_created_concurrently(database: Database, seed: int) -> None:
    random = Random(seed)
    numbers = [f"A{number}" for number in range(60)]

    async def created(number: str) -> None:
        async def work(session: Session) -> None:
            authoring = Authoring(session, user="ann", at=AT, new_id=_new_id)
            await authoring.create("Articles", {"articleNumber": number, "name": "made"})
            await authoring.finish()

        with suppress(Conflict):  # the import was faster
            await database.write(work, tenant=TENANT)

    async def imported(place: int) -> Portion:
        rows = [{"articleNumber": number, "ean": f"{place}"} for number in random.sample(numbers, 40)]
        return await _imported(database, *rows)

    told = await asyncio.gather(*map(imported, range(4)), *map(created, random.sample(numbers, 60)), imported(4))
    for portion in told:
        assert portion is None or (len(portion.stored) == 40 and not portion.faults)
    there = {row.article_number: row for row in await _articles(database)}
    assert sorted(there) == sorted(numbers)
    new = [one for portion in told if portion is not None for one in portion.stored if one.is_new]
    assert all(there[one.name].id == one.id for one in new)
    assert len(new) == sum(row.created_by == "erp" for row in there.values())


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=False)
@pytest.mark.parametrize("ending", ["COMMIT", "ROLLBACK"])
async def test_an_article_that_is_being_made_is_waited_for(
    database_url: str, database: Database, ending: str, dialect: str
) -> None:
    maker, looker = [await asyncpg.connect(past_the_wall(database_url)) for _ in range(2)]
    try:
        await maker.execute("BEGIN")
        await maker.execute(
            "INSERT INTO articles"
            " (tenant_id, id, article_number, name, unit, source, is_active, created_at, modified_at)"
            " VALUES ($1, $2, 'A2', 'made', 'PCE', 'MANUAL', true, now(), now())",
            TENANT,
            known(2),
        )
        rows = [{"articleNumber": number, "ean": "1"} for number in ("A1", "A2", "A3")]
        importing = asyncio.create_task(_imported(database, *rows))
        while not await looker.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            assert not importing.done()
        await maker.execute(ending)
        portion = await importing
    finally:
        await maker.close()
        await looker.close()
    made = ending == "COMMIT"
    assert [(one.name, one.is_new) for one in portion.stored] == [("A1", True), ("A2", not made), ("A3", True)]
    there = {row.article_number: row for row in await _articles(database)}
    assert [(there[name].ean, there[name].version) for name in ("A1", "A2", "A3")] == [
        ("1", 1),
        ("1", 2 if made else 1),
        ("1", 1),
    ]
    assert there["A2"].name == ("made" if made else None)
    assert [one.id for one in portion.stored] == [there[name].id for name in ("A1", "A2", "A3")]


async def test_the_next_basket_of_every_process_is_priced_with_what_was_imported(database: Database) -> None:
    rows = percent_off(1, 10)
    rows["PosGroups"] = [{"ID": known(1, 1), "code": "S1", "name": "Shop 1", "currency": "EUR"}]
    rows["DiscountActions"] = [
        {"ID": OFF, "promotion_ID": PROMOTION, "actionType": "FREE_ITEM", "freeItemArticleNumber": "mug"}
        | {"freeItemQuantity": Decimal(1)}
    ]
    condition = {"ID": known(4, 1), "promotion_ID": PROMOTION, "conditionType": "ARTICLE", "articleNumber": "beer"}
    await author(database, "Promotions", rows | {"Conditions": [condition]}, PROMOTION)
    here, elsewhere = a_context(database), a_context(database)
    for price in ("4.50", "5", "0.99"):
        await _imported(database, {"articleNumber": "mug", "basePrice": float(price), "currency": "EUR"})
        for context in (here, elsewhere):
            (granted,) = (await simulate(context, TENANT, basket())).outcome.granted
            worth = granted.price_source, granted.reference_price_minor
            assert worth == ("MASTER_DATA", int(Decimal(price) * 100))
