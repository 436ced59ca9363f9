"""Private parts of SQLAlchemy that the store uses: after an upgrade, these tests show first which of them changed."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
import sqlalchemy
from sqlalchemy import (
    Column,
    Date,
    Dialect,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    delete,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import asyncpg

from promenade.store.driver import sqlalchemy_private as private

ROWS = Table("rows", MetaData(), Column("id", Integer), Column("name", String(9)), Column("day", Date))


T = TypeVar("T")


def tried(part: str, call: Callable[[], T]) -> T:
    """Return the result of ``call`` if it is true; else fail with the name of the changed part."""
    why = "another result"
    try:
        if found := call():
            return found
    except Exception as error:
        why = repr(error)
    version = sqlalchemy.__version__
    pytest.fail(f"SQLAlchemy {version} has changed {part} ({why}): adapt promenade/store/driver/sqlalchemy_private.py")


def test_the_private_parts_of_the_compiler_behave_as_used() -> None:
    listed = select(ROWS.c.id, ROWS.c.day).where(ROWS.c.name.in_(["a", "b"]))
    made = tried("SQLCompiler", lambda: private.compiled(listed, sqlite.dialect()))
    tried("SQLCompiler.string and its expansion of lists", lambda: made.text.endswith("IN (?, ?)"))
    tried("SQLCompiler.positiontup", lambda: len(made.names) == 2)
    tried("SQLCompiler.construct_params", lambda: [made.values[name] for name in made.names] == ["a", "b"])
    tried("SQLCompiler.binds", lambda: bool(made.parameters))
    tried("SQLCompiler._result_columns", lambda: [name for name, _ in made.columns] == ["id", "day"])
    on = private.compiled(select(ROWS.c.id).where(ROWS.c.day.in_([datetime.date(2026, 5, 4)])), sqlite.dialect())
    process = on.processes[on.names[0]]
    tried("SQLCompiler._bind_processors", lambda: process(datetime.date(2026, 5, 4)) == "2026-05-04")


def test_the_private_processors_of_types_convert_values_as_used() -> None:
    day = datetime.date(2026, 5, 4)
    on = sqlite.dialect()
    to_driver = tried("TypeEngine._cached_bind_processor", lambda: private.bind_process(Date(), on))
    from_driver = tried("TypeEngine._cached_result_processor", lambda: private.result_process(Date(), on, None))
    assert to_driver is not None
    assert from_driver is not None
    assert (to_driver(day), from_driver("2026-05-04")) == ("2026-05-04", day)
    assert private.result_process(Numeric(9, 2), asyncpg.dialect(), 1700) is None  # type: ignore[no-untyped-call]


def test_the_private_row_maker_gives_rows_with_named_columns() -> None:
    row = tried("engine.result.result_tuple", lambda: private.row_maker(["id", "name"])((1, "a")))
    assert (row.id, row.name, tuple(row)) == (1, "a", (1, "a"))


def test_the_private_parts_of_insert_and_update_name_their_values() -> None:
    some = {"name": "a"}
    tried("Insert without anything", lambda: private.is_plain(insert(ROWS)))
    for part, statement in {
        "Insert._values": insert(ROWS).values(some),
        "Insert._multi_values": insert(ROWS).values([some, some]),
        "Insert._returning": insert(ROWS).returning(ROWS.c.id),
        "Insert._prefixes": insert(ROWS).prefix_with("OR IGNORE"),
        "Insert.select": insert(ROWS).from_select(["id"], select(ROWS.c.id)),
    }.items():
        tried(part, lambda one=statement: not private.is_plain(one))  # type: ignore[misc]
    tried("Insert._multi_values", lambda: private.has_many_values(insert(ROWS).values([some, some])))
    tried("Insert._multi_values", lambda: not private.has_many_values(insert(ROWS).values(some)))
    filled = insert(ROWS).from_select(["id", "name"], select(ROWS.c.id, ROWS.c.name))
    tried("Insert._select_names", lambda: list(private.select_names(filled)) == ["id", "name"])
    changed = update(ROWS).values({ROWS.c.name: "a", "day": None})
    tried("Update._values", lambda: set(private.value_names(changed)) == {"name", "day"})


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()], ids=["sqlite", "postgresql"])  # type: ignore[no-untyped-call]
def test_the_gate_sees_every_table_that_is_read_and_every_write_inside_a_with(dialect: Dialect) -> None:
    seen: list[str] = []

    def share(_compiler: object, _table: object, text: str) -> str:
        seen.append(text)
        return "(SHARE)"

    private.gate_compiler(dialect, share, lambda: seen.append("write"))

    def text(statement: Any) -> str:
        seen.clear()
        return str(statement.compile(dialect=dialect))

    part = "SQLCompiler.visit_table"
    tried(part, lambda: "FROM (SHARE) AS rows" in text(select(ROWS.c.id)) and seen == ["rows"])
    other = ROWS.alias("other")
    tried(part, lambda: "(SHARE) AS other" in text(select(other.c.id)))
    inside = ROWS.c.id.in_(select(other.c.id))
    for write in (update(ROWS).values(name="a").where(inside), delete(ROWS).where(inside)):
        tried(part, lambda one=write: text(one).count("(SHARE)") == 1)  # type: ignore[misc]
    for returning in (
        insert(ROWS).values(name="a").returning(ROWS.c.id),
        update(ROWS).values(name="a").returning(ROWS.c.id),
        delete(ROWS).returning(ROWS.c.id),
    ):
        tried("visiting_cte", lambda one=returning: bool(text(select(one.cte("w").c.id))) and seen.count("write") == 1)  # type: ignore[misc]
    tried("visiting_cte", lambda: bool(text(update(ROWS).values(name="a"))) and "write" not in seen)


def test_the_private_lru_cache_serves_as_a_statement_cache() -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    cache = private.statement_cache(10)
    with engine.connect() as connection:
        connection.execute(select(literal(1)), execution_options={"compiled_cache": cache})
    tried("util.LRUCache as a compiled_cache", lambda: len(cache) == 1)


def test_the_adapter_of_asyncpg_connections_has_the_attributes_used() -> None:
    adapter = asyncpg.AsyncAdapt_asyncpg_connection
    tried("AsyncAdapt_asyncpg_connection.readonly", lambda: hasattr(adapter, "readonly"))
    tried("AsyncAdapt_asyncpg_connection._transaction", lambda: "_transaction" in adapter.__slots__)
