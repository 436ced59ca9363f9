"""Queries of the indexes of texts that `store.driver.text_index` declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import sqlalchemy as sa

from odata_server.sql.few import keys_up_to
from odata_server.sql.model import Needed
from promenade.model.declare import EntityType, Service
from promenade.store.driver.schema import table
from promenade.store.driver.text_index import NUMBER, finder_of

__all__ = ["StoredTextIndex", "text_index_of"]

_TRIGRAM = 3
_TRIGRAMS_MAX = 24  # of the texts that a row needs together: FTS5 limits how deep an expression may be


def text_index_of(entity: EntityType, service: Service) -> StoredTextIndex | None:
    """Return the index of an entity's texts for the queries of a service."""
    if not entity.text_index:
        return None
    shown = (field.wire for field in entity.fields if field.searchable and field.shown_in(service))
    return StoredTextIndex(table(entity.set_name), frozenset(shown))


@dataclass(frozen=True, slots=True)
class StoredTextIndex:
    """The index of a table's texts, for the queries of a service that shows them as ``properties``."""

    table: sa.Table
    properties: frozenset[str]

    def candidates(self, dialect: str, needed: Needed, most: int) -> sa.Select[Any]:
        """Return a SELECT of the keys of rows that may contain the texts, see `TextIndex`."""
        if dialect == "sqlite":
            return keys_up_to(most, _candidates_on_sqlite(self.table, needed), sqlite=True)
        given = msgspec.json.encode([sorted(texts) for texts in needed]).decode()
        find = getattr(sa.func, finder_of(self.table.name))
        return sa.select(find(sa.literal(given, sa.Text()), sa.literal(most, sa.Integer()), type_=sa.Text()))


def _candidates_on_sqlite(table: sa.Table, needed: Needed) -> sa.Select[Any]:
    name = f"{table.name}_texts"
    texts = sa.table(name, sa.column("rowid", sa.Integer), sa.column(name, sa.Text))
    due = sa.table(f"{name}_due", sa.column("number", sa.Integer))
    wanted = sa.literal(" OR ".join(f"({_trigrams(texts)})" for texts in needed), sa.Text())
    matching = sa.select(texts.c.rowid).where(texts.c[name].op("MATCH")(wanted))
    numbers = sa.union_all(sa.select(due.c.number), matching).subquery()
    # A sub-select for each number: SQLite would expect fewer rows of the tenant than of the index, and begin there.
    row = table.alias("row_with_texts")
    number = sa.literal_column(f"row_with_texts.{NUMBER}", sa.Integer)
    key = sa.select(row.c.id).where(number == numbers.c.number).scalar_subquery()
    keys = sa.select(key.label("id")).select_from(numbers).subquery()
    return sa.select(keys.c.id).where(keys.c.id.is_not(None))


def _trigrams(texts: Any) -> str:
    """Return the condition that all trigrams of these texts occur, in the language of FTS5."""
    found = sorted({text[at : at + _TRIGRAM] for text in texts for at in range(len(text) - _TRIGRAM + 1)})
    quoted = ('"' + one.replace('"', '""') + '"' for one in found[:: -(-len(found) // _TRIGRAMS_MAX)])
    return " AND ".join(quoted)
