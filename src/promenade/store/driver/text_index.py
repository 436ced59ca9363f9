"""Indexes of texts: they find the rows of a table by parts of their texts, for searches and ``contains``.

An index only narrows: the statement that reads the rows tests its own condition. So it may find too many rows, but must
not miss any.

On SQLite it is an FTS5 table of the trigrams of all indexed columns together, without the texts. It needs a number of
each row that stays the same when the file is vacuumed, so the table gets `NUMBER`, its INTEGER PRIMARY KEY; the model
does not know this column. FTS5 takes ten times as long for single rows as for many, so triggers only note the rows that
have changed, with their text in the index, and every `FOLDED_TOGETHER` rows are brought into the index together. Until
then a search reads them from the notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql.compiler import DDLCompiler

NUMBER = "text_number"
FOLDED_TOGETHER = 500

_COLUMNS = "text_columns"  # in the info of a table


def declare(table: sa.Table, columns: Sequence[str]) -> None:
    """Give a table an index of the texts of ``columns``."""
    table.info[_COLUMNS] = tuple(columns)
    for dialect in ("sqlite",):
        for statement in statements(table, dialect):
            made = sa.DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]
            sa.event.listen(table, "after_create", made.execute_if(dialect=dialect))


def statements(table: sa.Table, dialect: str) -> Iterator[str]:
    """Yield the statements that create the index of ``table``; none if it has none."""
    columns: Sequence[str] = table.info.get(_COLUMNS, ())
    if columns and dialect == "sqlite":
        yield from _on_sqlite(table.name, columns)


def is_of_model(found: Any, name: str | None, kind: str, reflected: bool, compared_to: Any) -> bool:
    """Return whether Alembic shall compare an object with the model; not what an index of texts consists of."""
    if not reflected or compared_to is not None:
        return True
    if kind == "table":
        return not any(part in str(name) for part in ("_texts", "_texts_due"))
    return not (name == NUMBER or (kind == "unique_constraint" and str(name).startswith("pk_")))


@compiles(CreateTable, "sqlite")
def _numbered(element: CreateTable, compiler: DDLCompiler, **kw: Any) -> str:
    text: str = compiler.visit_create_table(element, **kw)  # type: ignore[no-untyped-call]
    table = element.element
    if _COLUMNS not in table.info:
        return text
    key = f"CONSTRAINT {table.primary_key.name}"
    return text.replace(f"{key} PRIMARY KEY", f"{NUMBER} INTEGER PRIMARY KEY, \n\t{key} UNIQUE", 1)


def _text(columns: Sequence[str], prefix: str = "") -> str:
    return " || char(10) || ".join(f"coalesce({prefix}{column}, '')" for column in columns)


def _on_sqlite(table: str, columns: Sequence[str]) -> Iterator[str]:
    texts, due = f"{table}_texts", f"{table}_texts_due"
    changed = " OR ".join(f"old.{column} IS NOT new.{column}" for column in columns)
    note = f"INSERT INTO {due} (number, indexed) VALUES"
    once = "ON CONFLICT (number) DO NOTHING;\nEND"
    yield (f"CREATE VIRTUAL TABLE {texts} USING fts5(text, content='', columnsize=0, tokenize='trigram', detail=none)")
    yield (f"CREATE TABLE {due} (\n\tseq INTEGER PRIMARY KEY,\n\tnumber INTEGER NOT NULL UNIQUE,\n\tindexed TEXT\n)")
    yield (f"CREATE TRIGGER {texts}_insert AFTER INSERT ON {table} BEGIN\n\t{note} (new.{NUMBER}, NULL) {once}")
    yield (
        f"CREATE TRIGGER {texts}_update AFTER UPDATE OF {', '.join(columns)} ON {table}\nWHEN {changed} BEGIN\n"
        f"\t{note} (old.{NUMBER}, {_text(columns, 'old.')}) {once}"
    )
    yield (
        f"CREATE TRIGGER {texts}_delete AFTER DELETE ON {table} BEGIN\n"
        f"\t{note} (old.{NUMBER}, {_text(columns, 'old.')}) {once}"
    )
    forget = f"SELECT 'delete', number, indexed FROM {due} WHERE indexed IS NOT NULL"  # noqa: S608 - our own names
    learn = f"SELECT {NUMBER}, {_text(columns)} FROM {table}"  # noqa: S608 - our own names
    steps = (
        f"INSERT INTO {texts} ({texts}, rowid, text) {forget}",
        f"INSERT INTO {texts} (rowid, text) {learn} WHERE {NUMBER} IN (SELECT number FROM {due})",  # noqa: S608
        f"DELETE FROM {due}",  # noqa: S608 - our own names
    )
    head = f"CREATE TRIGGER {texts}_fold AFTER INSERT ON {due} WHEN new.seq >= {FOLDED_TOGETHER} BEGIN"
    yield "\n".join((head, *(f"\t{step};" for step in steps), "END"))
