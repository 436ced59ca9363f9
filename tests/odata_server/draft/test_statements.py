"""Active rows are read as if there were no drafts: from their own tables, with cached plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import Row
from sqlalchemy.dialects import postgresql, sqlite

from odata_server.source import Query
from odata_server.sql.connection import Kept, SqlConnection
from odata_server.sql.reader import SqlReader
from tests.odata_server.draft.conftest import Counter
from tests.odata_server.draft.counter import model_of, query_of


class Recording:
    """A connection that records the statements it executes and which of them are cached."""

    def __init__(self, connection: Any) -> None:
        self.dialect = connection.dialect
        self.texts: list[str] = []
        self.kept: list[Kept] = []
        self._connection = connection

    async def execute(self, statement: Any) -> Sequence[Row[Any]]:
        compiler = sqlite.dialect() if self.dialect == "sqlite" else postgresql.dialect()  # type: ignore[no-untyped-call]
        self.texts.append(" ".join(str(statement.compile(dialect=compiler)).split()))
        rows: Sequence[Row[Any]] = await self._connection.execute(statement)
        return rows

    async def rowcount(self, statement: Any) -> int:
        raise AssertionError("a reader writes nothing")

    async def execute_many(self, statement: Any, params: Any) -> None:
        raise AssertionError("a reader writes nothing")

    async def run_kept(self, kept: Kept, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        self.kept.append(kept)
        self.texts.append(" ".join(str(kept.statement).split()))
        rows: Sequence[Sequence[Any]] = await self._connection.run_kept(kept, values)
        return rows


async def recorded(counter: Counter, reader: SqlReader, query: Query) -> Recording:
    async def work(connection: SqlConnection) -> Recording:
        recording = Recording(connection)
        await reader.read(recording, query)
        return recording

    return await counter.database.read(work)


@pytest.mark.parametrize(
    ("address", "tables"),
    [
        ("Orders?$select=ID,name&$orderby=name", ["orders"]),
        ("Orders?$select=ID,name&$filter=IsActiveEntity eq true and amount gt 1&$count=true", ["orders"]),
        ("Orders(1)?$select=name&$expand=items($select=label)", ["orders", "items"]),
        ("Orders(1)/items?$select=label", ["orders", "items"]),
        ("Orders?$select=ID&$filter=items/any(i:i/label eq 'x')", ["orders", "items"]),
        ("Orders?$select=ID&$filter=IsActiveEntity eq false", ["orders_drafts"]),
        ("Orders(ID=1,IsActiveEntity=false)?$select=ID&$expand=items($select=ID)", ["orders_drafts", "items_drafts"]),
        ("Orders(ID=1,IsActiveEntity=false)?$select=ID&$expand=SiblingEntity($select=ID)", ["orders", "orders_drafts"]),
    ],
)
async def test_a_statement_reads_only_the_tables_it_needs(counter: Counter, address: str, tables: list[str]) -> None:
    recording = await recorded(counter, SqlReader(model_of("ann")), query_of(address))
    text = " ".join(recording.texts)
    found = {one for one in ("orders", "items", "orders_drafts", "items_drafts") if f"{one} " in f"{text} "}
    assert found == set(tables)
    assert "UNION" not in text


async def test_items_of_active_orders_are_found_by_their_order_only(counter: Counter) -> None:
    reader = SqlReader(model_of("ann"))
    query = query_of("Orders?$expand=items($select=label)")
    await recorded(counter, reader, query)
    await recorded(counter, reader, query)
    recording = await recorded(counter, reader, query)
    assert len(recording.kept) == 2
    _, _, condition = recording.texts[-1].partition(" WHERE ")
    assert condition.startswith('items_1."order_ID" IN (')
    assert "AND" not in condition
