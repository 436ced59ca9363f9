"""Read a row with everything it owns in bulk: one statement per entity set, regardless of its size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, select

from promenade import model
from promenade.model.declare import Collection, EntityType
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session


class TreeTooLarge(Exception):
    """A row owns more rows than the caller's limit."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A row by its columns; ``parts`` are the rows of its compositions, by the composition's Python name."""

    entity: EntityType
    row: Mapping[str, Any]
    parts: Mapping[str, Sequence[Tree]]


async def read_tree(session: Session, set_name: str, entity_id: str, rows_max: int) -> Tree | None:
    """Return the row and all its nested compositions, each ordered by sequence and ID; None: it does not exist.

    The row is locked until the unit ends, and writers of its compositions wait for that lock, so the tree is
    consistent. Raises TreeTooLarge when it owns more than ``rows_max`` rows, having read no more than that.
    """
    entity, rows = model.entity(set_name), table(set_name)
    root = select(rows).where(rows.c.id == entity_id)
    found = await session.execute(root if session.dialect == "sqlite" else root.with_for_update(read=True))
    if not found:
        return None
    reading = _Reading(session, rows_max)
    await reading.below(entity, select(rows.c.id).where(rows.c.id == entity_id))
    return reading.tree(entity, found[0])


async def read_owned(session: Session, set_name: str, column: str, value: str, rows_max: int) -> list[Tree]:
    """Return the rows of a set whose ``column`` is ``value``, with their compositions, ordered by sequence and ID.

    Raises TreeTooLarge when there are more than ``rows_max`` in total.
    """
    entity, rows = model.entity(set_name), table(set_name)
    wanted = rows.c[column] == value
    found = await session.execute(select(rows).where(wanted).order_by(*_order(rows)).limit(rows_max + 1))
    if len(found) > rows_max:
        raise TreeTooLarge
    reading = _Reading(session, rows_max - len(found))
    if found:
        await reading.below(entity, select(rows.c.id).where(wanted))
    return [reading.tree(entity, row) for row in found]


class _Reading:
    """The rows of a tree while it is read: by composition, as (entity set, name), and by their parent's ID."""

    def __init__(self, session: Session, rows_max: int) -> None:
        self._session = session
        self._rows_left = rows_max
        self._parts: dict[tuple[str, str], dict[str, list[Row[Any]]]] = {}

    async def below(self, entity: EntityType, parents: Select[tuple[str]]) -> None:
        """Read all rows below those whose IDs ``parents`` selects."""
        for part in _compositions(entity):
            child, rows = model.entity(part.target), table(part.target)
            column = rows.c[child.link(part.by).column]
            statement = select(rows).where(column.in_(parents)).order_by(*_order(rows)).limit(self._rows_left + 1)
            found = await self._session.execute(statement)
            self._rows_left -= len(found)
            if self._rows_left < 0:
                raise TreeTooLarge
            by_parent: dict[str, list[Row[Any]]] = defaultdict(list)
            for row in found:
                by_parent[getattr(row, column.key)].append(row)
            self._parts[entity.set_name, part.name] = by_parent
            if found:
                await self.below(child, select(rows.c.id).where(column.in_(parents)))

    def tree(self, entity: EntityType, row: Row[Any]) -> Tree:
        """Assemble the tree of a row from the rows read."""
        below = {
            part.name: [
                self.tree(model.entity(part.target), each)
                for each in self._parts.get((entity.set_name, part.name), {}).get(row.id, ())
            ]
            for part in _compositions(entity)
        }
        return Tree(entity, row._asdict(), below)


def _order(rows: Table) -> list[ColumnElement[Any]]:
    return [rows.c[name] for name in ("sequence", "id") if name in rows.c]


def _compositions(entity: EntityType) -> Iterator[Collection]:
    return (part for part in entity.collections if part.composition)
