"""How PostgreSQL accesses the articles of an import without statistics on their table or their tenant."""

from __future__ import annotations

import asyncpg
import pytest

from promenade.store.driver.hot import HOT
from promenade.store.driver.unit import Database
from tests.kit.databases import past_the_wall

FIND = HOT["find articles"].postgresql
ROWS = """
    INSERT INTO articles (tenant_id, id, article_number, unit, source, is_active, created_at, modified_at)
    SELECT $3::varchar, gen_random_uuid()::varchar, 'A' || number, 'PCE', 'MANUAL', true, now(), now()
    FROM generate_series($1::int, $2::int) AS number
"""


@pytest.mark.parametrize("dialect", ["postgresql"])
@pytest.mark.parametrize("others", [0, 100_000])
async def test_articles_are_found_by_their_numbers_however_many_there_are(
    database_url: str, database: Database, dialect: str, others: int
) -> None:
    connection = await asyncpg.connect(past_the_wall(database_url))
    try:
        await connection.execute("SET plan_cache_mode = force_generic_plan")
        await connection.execute("SET enable_sort = off")
        if others:  # the tenant is new, and all statistics are about another
            await connection.execute(ROWS, 1, others, "other")
            await connection.execute("ANALYZE articles")
        count = 0
        for more in (0, 1, 50, 250, 1000, 4000):
            await connection.execute(ROWS, count + 1, count + more, "t")
            count += more
            await connection.execute(f"PREPARE find_{count} (varchar, varchar[]) AS {FIND}")
            plan = await connection.fetch(f"EXPLAIN EXECUTE find_{count} ('t', '{{A1,A2,B1}}')")
            text = "\n".join(line for (line,) in plan)
            assert "using uq_articles__article_number" in text, f"{count} articles: {text}"
            assert "wanted.number" in text.partition("Index Cond")[2].partition("\n")[0], text
    finally:
        await connection.close()
