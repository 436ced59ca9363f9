"""A row with all that it owns, read set-wise: one statement per entity set, whatever its size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, select

from promenade import model
from promenade.model.declare import EntityType
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["Tree", "read_tree"]


@dataclass(frozen=True, slots=True)
class Tree:
    """A row by its columns; ``parts`` are the rows of its compositions, by the composition's Python name."""

    entity: EntityType
    row: Mapping[str, Any]
    parts: Mapping[str, Sequence[Tree]]


async def read_tree(session: Session, set_name: str, entity_id: str) -> Tree | None:
    """The row and its compositions down to the last, each in the order of sequence and ID; None: there is no row.

    The row is held until the unit ends. Whoever changes what it owns waits for that, so the tree is of one moment.
    """
    entity, rows = model.entity(set_name), table(set_name)
    root = select(rows).where(rows.c.id == entity_id)
    found = await session.execute(root if session.dialect == "sqlite" else root.with_for_update(read=True))
    if not found:
        return None
    parts = await _parts(session, entity, select(rows.c.id).where(rows.c.id == entity_id))
    return _tree(entity, found[0], parts)


# By composition, as (entity set, name), and parent's ID: a row and the entity set it is of.
_Parts = dict[tuple[str, str], dict[str, list[Row[Any]]]]


async def _parts(session: Session, entity: EntityType, parents: Select[tuple[str]]) -> _Parts:
    """All rows below those that ``parents`` selects the IDs of."""
    found: _Parts = {}
    for part in entity.collections:
        if part.composition:
            child, rows = model.entity(part.target), table(part.target)
            column = rows.c[child.link(part.by).column]
            by_parent: dict[str, list[Row[Any]]] = defaultdict(list)
            for row in await session.execute(select(rows).where(column.in_(parents)).order_by(*_order(rows))):
                by_parent[getattr(row, column.key)].append(row)
            found[entity.set_name, part.name] = by_parent
            if by_parent:
                found |= await _parts(session, child, select(rows.c.id).where(column.in_(parents)))
    return found


def _order(rows: Table) -> list[ColumnElement[Any]]:
    return [rows.c[name] for name in ("sequence", "id") if name in rows.c]


def _tree(entity: EntityType, row: Row[Any], parts: _Parts) -> Tree:
    below = {
        part.name: [
            _tree(model.entity(part.target), each, parts)
            for each in parts.get((entity.set_name, part.name), {}).get(row.id, ())
        ]
        for part in entity.collections
        if part.composition
    }
    return Tree(entity, row._asdict(), below)
