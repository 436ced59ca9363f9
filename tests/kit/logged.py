"""Rows by the name of their entity or table, including the entities that are kept packed in the logs of sales."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from promenade import model
from promenade.model.declare import EntityType
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.types import unpacked
from promenade.store.driver.unit import Session
from promenade.store.sales.calculation_logs import NOTE_BLOCK
from promenade.store.sales.log_parts import pack, part_rows

__all__ = ["add_functions", "columns_of", "is_packed", "parts_of_logs", "rows_from", "seed_rows"]

_PARTS = ("CalculationLogItems", "CalculationLogPromotions")


def add_functions(connection: sa.Connection) -> None:
    """Add the function that statements about packed rows need on SQLite."""
    own: Any = connection.connection.dbapi_connection
    own.create_function("unpacked", 1, unpacked, deterministic=True)


def is_packed(name: str) -> bool:
    """Return whether rows of this entity are kept in the row of their log."""
    return name in _PARTS


def rows_from(name: str) -> sa.FromClause:
    """Return what the rows of an entity set or a table are read from."""
    return part_rows(name) if is_packed(name) else table(name)


def columns_of(entity: EntityType) -> Mapping[str, str]:
    """Return the columns of an entity's properties, by their names on the wire."""
    fields = {field.wire: field.name for field in entity.fields if not field.virtual}
    return fields | {link.property_wire: link.column for link in entity.links}


async def seed_rows(
    session: Session, set_name: str, rows: Iterable[Mapping[str, Any]], *, at: datetime, by: str
) -> None:
    """Insert rows by property name as `insert_rows` does; parts of logs with what is stored of their logs already."""
    if not is_packed(set_name):
        await insert_rows(session, set_name, rows, at=at, by=by)
        return
    columns = columns_of(model.entity(set_name))
    named = [{columns[wire]: value for wire, value in row.items()} for row in rows]
    for block, (log_id, own) in enumerate(sorted(parts_of_logs(named).items())):
        await _add(session, set_name, log_id, own, {"created_at": at, "created_by": by, "block": block})


def parts_of_logs(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return rows of parts by the ID of their log."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["log_id"], []).append(row)
    return found


async def _add(
    session: Session, set_name: str, log_id: str, rows: Sequence[Mapping[str, Any]], new: Mapping[str, Any]
) -> None:
    packed = table("calculation_log_parts")
    of_log = packed.c.log_id == log_id
    stored = await session.execute(sa.select(packed).where(of_log))
    are_promotions = set_name == "CalculationLogPromotions"
    own = pack((), rows) if are_promotions else pack(rows, ())
    if stored:
        before = {"lines": stored[0].lines, "promotions": stored[0].promotions}
        changed = {name: before[name] + parts for name, parts in own.items()}
        await session.rowcount(sa.update(packed).where(of_log).values(**changed))
    else:
        await session.rowcount(sa.insert(packed), {"log_id": log_id, **own, **new})
    if are_promotions:
        block = stored[0].block if stored else new["block"]
        noted = sorted({row["promotion_id"] for row in rows})
        await session.hot(NOTE_BLOCK, (session.tenant, noted, block, log_id))
