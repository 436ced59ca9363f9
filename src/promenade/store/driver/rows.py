"""Insert rows by their OData property names directly into the tables: for seeding and tests, not for requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

from sqlalchemy import insert

from promenade import model
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session


async def insert_rows(
    session: Session, set_name: str, rows: Iterable[Mapping[str, Any]], *, at: datetime, by: str
) -> int:
    """Insert ``rows`` (by property name) into one entity set, created at ``at`` by user ``by``; return their number.

    The caller is responsible for their validity; only the database's constraints are checked. Raises KeyError for an
    unknown entity set or property.
    """
    columns = _columns(set_name)
    stamp = (
        {"created_at": at, "created_by": by, "modified_at": at, "modified_by": by}
        if model.entity(set_name).managed
        else {}
    )
    named = [{**stamp, **{columns[wire]: value for wire, value in row.items()}} for row in rows]
    # One statement takes only rows with the same columns; sorting keeps the order of the rows with the same columns.
    for shape, batch in groupby(sorted(named, key=_shape), key=_shape):
        await session.execute_many(insert(table(set_name)), _with(shape, batch))
    return len(named)


def _shape(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(row))


def _with(shape: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
    return [{column: row[column] for column in shape} for row in rows]


@cache
def _columns(set_name: str) -> Mapping[str, str]:
    """Map the property names of an entity set to its columns."""
    entity = model.entity(set_name)
    fields = {field.wire: field.name for field in entity.fields if not field.virtual}
    return fields | {link.property_wire: link.column for link in entity.links}
