"""The cost of the clockwork's frequent queries depends on the due rows, not on all rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import insert, text
from sqlalchemy.dialects import postgresql, sqlite

from promenade.store.clockwork.due import TimedMove, find_due, statement_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.clockwork import passages
from tests.workflows.shop import NOON

PASSAGES = (*passages.PROMOTIONS, *passages.CAMPAIGNS, *passages.BUDGETS)


async def fill(database: Database) -> None:
    """Create some tenants, one of them with many promotions that are not due."""

    async def tenants(session: Session) -> None:
        await session.execute_many(insert(table("Tenants")), [{"tenant_id": f"t{n}", "name": "T"} for n in range(20)])

    async def promotions_of_one(session: Session) -> None:
        rows = [
            {"id": str(uuid4()), "code": f"P{n}", "name": "P", "status": "ACTIVE", "valid_to": NOON + timedelta(days=9)}
            for n in range(3000)
        ]
        await session.execute_many(insert(table("Promotions")), rows)

    async def analyze(session: Session) -> None:
        await session.execute(text("ANALYZE"))

    await database.write(tenants, system=True)
    await database.write(promotions_of_one, tenant="t7")
    if database.dialect == "postgresql":
        await database.write(analyze, system=True)


async def plan(database: Database, passage: TimedMove) -> str:
    async def work(session: Session) -> Sequence[str]:
        options = {"render_postcompile": True}
        kept = statement_of(passage, 500)
        if session.dialect == "sqlite":
            compiled = str(kept.statement.compile(dialect=sqlite.dialect(), compile_kwargs=options))
            question = re.sub(r"\?", "'x'", compiled).replace("LIMIT 'x'", "LIMIT 5").replace("OFFSET 'x'", "")
            return [row.detail for row in await session.execute(text(f"EXPLAIN QUERY PLAN {question}"))]
        dialect = postgresql.dialect(paramstyle="named")  # type: ignore[no-untyped-call]
        compiled = str(kept.statement.compile(dialect=dialect, compile_kwargs=options))
        question = compiled.replace(":at", f"timestamptz '{NOON.isoformat()}'").replace(":param_1", "5")
        question = re.sub(r"(?<!:):[a-z_]+\d*(_\d+)*", "'ACTIVE'", question)
        return [row[0] for row in await session.execute(text(f"EXPLAIN {question}"))]

    return "\n".join(await database.read(work, system=True))


@pytest.mark.parametrize("passage", PASSAGES, ids=lambda one: f"{one.set_name}-{one.verb}")
async def test_due_rows_of_each_tenant_are_found_by_an_index(database: Database, passage: TimedMove) -> None:
    await fill(database)
    shown = await plan(database, passage)
    kind = {"Promotions": "valid_to", "Campaigns": "end_at", "Budgets": "valid_to"}[passage.set_name]
    name = f"ix_{passage.set_name.lower()}__status_{kind}"
    if database.dialect == "sqlite":
        assert f"{name} (tenant_id=? AND status=?" in shown, shown
    elif passage.set_name == "Promotions":  # the other sets are too small for an index to pay off
        assert name in shown, shown
    assert await database.read(lambda session: find_due(session, passage, NOON, None, 5), system=True) == []
