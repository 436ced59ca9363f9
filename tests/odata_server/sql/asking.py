"""Queries of the bookshop: a set (or a target) and the text of the options in, rows out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from odata_server.engines import EngineDatabase
from odata_server.parse import parse_options
from odata_server.source import ByFilter, ByKey, ByNavigation, Query, Rows, Step, Target
from odata_server.sql.reader import SqlReader
from tests.odata_server.bookshop import EDM, sql_model

__all__ = ["NOW", "READER", "ask", "count", "ids", "query_of", "target_of"]

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
READER = SqlReader(sql_model())


def target_of(set_name: str, *path: Mapping[str, Any] | str | ByFilter) -> Target:
    """Return the target of ``target_of("Authors", {"ID": author(1)}, "books")`` and the like."""
    root = EDM.entity_sets[set_name]
    entity_type = EDM.entity_types[root.entity_type]
    steps: list[Step] = []
    single = False
    for part in path:
        if isinstance(part, str):
            navigation = entity_type.navigation_by_name[part]
            entity_type = EDM.entity_types[navigation.target]
            steps.append(ByNavigation(navigation, entity_type))
            single = not navigation.collection
        elif isinstance(part, ByFilter):
            steps.append(part)
        else:
            steps.append(ByKey(part))
            single = True
    entity_set = EDM.set_of(entity_type.name)
    return Target(root=root, entity_type=entity_type, entity_set=entity_set, steps=tuple(steps), single=single)


def query_of(target: Target | str, options: str = "", **more: Any) -> Query:
    """Return a query; ``options`` need no encoding."""
    if isinstance(target, str):
        target = target_of(target)
    return Query(
        **{"target": target, "options": parse_options(quote(options, safe="=&$,()'/:@;*!")), "now": NOW, **more}
    )


async def ask(database: EngineDatabase, target: Target | str, options: str = "", **more: Any) -> Rows:
    """Read a page."""
    query = query_of(target, options, **more)
    return await database.read(lambda connection: READER.read(connection, query))


async def count(database: EngineDatabase, target: Target | str, options: str = "") -> int:
    """Return the count."""
    query = query_of(target, options)
    return await database.read(lambda connection: READER.count(connection, query))


def ids(rows: Rows) -> list[int]:
    """Return the numbers at the end of the rows' IDs."""
    return [one["ID"] if isinstance(one["ID"], int) else int(one["ID"][-12:]) for one in rows.items]
