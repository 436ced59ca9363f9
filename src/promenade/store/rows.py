"""Rows as the wire names them, straight into their tables: for seeding and for tests, never for a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

from sqlalchemy import insert

from promenade import model
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["insert_rows"]


async def insert_rows(
    session: Session, set_name: str, rows: Iterable[Mapping[str, Any]], *, at: datetime, by: str
) -> int:
    """Insert ``rows`` (properties by wire name) of one entity set, made ``at`` some time ``by`` some user.

    Returns how many there were. The caller answers for their validity; only the database's constraints are checked.
    Raises KeyError for an unknown entity set or property.
    """
    columns = _columns(set_name)
    stamp = (
        {"created_at": at, "created_by": by, "modified_at": at, "modified_by": by}
        if model.entity(set_name).managed
        else {}
    )
    named = [{**stamp, **{columns[wire]: value for wire, value in row.items()}} for row in rows]
    # One statement takes rows with the same columns only; sorting keeps the rows of each shape in their order.
    for shape, batch in groupby(sorted(named, key=_shape), key=_shape):
        await session.execute_many(insert(table(set_name)), _with(shape, batch))
    return len(named)


def _shape(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(row))


def _with(shape: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
    return [{column: row[column] for column in shape} for row in rows]


@cache
def _columns(set_name: str) -> Mapping[str, str]:
    """Wire name -> column of an entity set."""
    entity = model.entity(set_name)
    fields = {field.wire: field.name for field in entity.fields if not field.virtual}
    return fields | {link.property_wire: link.column for link in entity.links}
