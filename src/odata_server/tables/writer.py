"""Rows made, changed and deleted, with all that a body nests in them: planned, checked, then written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import delete, insert, update
from sqlalchemy.exc import DataError, IntegrityError

from odata_server.edm import EntityType
from odata_server.errors import ODataError, bad_request, not_found
from odata_server.source import Key, Payload
from odata_server.sql.connection import SqlConnection
from odata_server.tables.checks import RowChange, check_rows, check_unused
from odata_server.tables.places import Place, Places, chunks
from odata_server.tables.plan import Plan

__all__ = ["Writer"]


class Writer:
    """Writes in one transaction; ``new_id`` makes keys of type Guid."""

    def __init__(self, places: Places, connection: SqlConnection, new_id: Callable[[], str]) -> None:
        self._places = places
        self._connection = connection
        self._new_id = new_id

    async def create(self, entity_type: EntityType, payload: Payload) -> Key:
        """Make an entity. Raises `ODataError` as `check_rows` does."""
        plan = self._plan()
        row = await plan.create(self._places.of(entity_type), payload)
        await self._carry_out(plan)
        return row.place.key_of(row.values)

    async def update(self, entity_type: EntityType, key: Key, payload: Payload, *, replace: bool) -> None:
        """Change an entity. Raises `ODataError` 404, or as `check_rows` does."""
        plan, place = self._plan(), self._places.of(entity_type)
        before = await plan.load(place, key)
        if before is None:
            raise not_found()
        await plan.change(place, before, payload, replace=replace)
        await self._carry_out(plan)

    async def delete(self, entity_type: EntityType, key: Key) -> None:
        """Delete an entity and what it is composed of. Raises `ODataError` 404, or 409 IN_USE."""
        plan, place = self._plan(), self._places.of(entity_type)
        before = await plan.load(place, key)
        if before is None:
            raise not_found()
        await plan.remove(place, [before])
        await self._carry_out(plan)

    def _plan(self) -> Plan:
        return Plan(self._places, self._connection, self._new_id)

    async def _carry_out(self, plan: Plan) -> None:
        rows = [row for root in plan.roots for row in root.every()]
        await check_rows(self._connection, self._places, rows, plan.gone)
        await check_unused(self._connection, self._places, plan.removals)
        with _told():
            for place, going in reversed(plan.removals):
                tuples = [tuple(row[name] for name in place.entity_type.key) for row in going]
                for some in chunks(tuples):
                    where = place.among(place.entity_type.key, some)
                    await self._connection.rowcount(delete(place.table).where(where))
            await self._write(plan.roots)

    async def _write(self, rows: Sequence[RowChange]) -> None:
        """Rows level by level: first what they refer to, last what refers to them."""
        first = [child for row in rows for _, child in row.first]
        if first:
            await self._write(first)
        for row in rows:
            for navigation, child in row.first:
                row.values.update({own: child.after[other] for own, other in navigation.on})
        await self._insert([row for row in rows if row.before is None])
        for row in rows:
            if row.before is not None:
                await self._change(row)
        then = []
        for row in rows:
            for navigation, child in row.then:
                child.values.update({other: row.after[own] for own, other in navigation.on})
                then.append(child)
        if then:
            await self._write(then)

    async def _insert(self, rows: Sequence[RowChange]) -> None:
        alike: dict[tuple[Place, tuple[str, ...]], list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            place = row.place
            stored = place.stored(row.values)
            if place.version is not None and place.version.default is None:
                stored.setdefault(place.version.name, 1)
            if all(row.values.get(name) is not None for name in place.entity_type.key):
                alike[place, tuple(stored)].append(stored)
                continue
            stored = {name: value for name, value in stored.items() if value is not None}
            made = await self._connection.execute(insert(place.table).values(stored).returning(*place.selected))
            row.values |= place.key_of(place.loaded(made[0]))  # the table's own number
        for (place, _), values in alike.items():
            await self._connection.execute_many(insert(place.table), values)

    async def _change(self, row: RowChange) -> None:
        place, before = row.place, row.before or {}
        changes: dict[str, Any] = place.stored(row.values)
        if place.version is not None:
            changes[place.version.name] = place.version + 1
        if changes:
            statement = update(place.table).where(place.is_key(place.key_of(before))).values(changes)
            await self._connection.rowcount(statement)


@contextmanager
def _told() -> Iterator[None]:
    """What only the database knows: constraints of its own, and ranges of its types."""
    try:
        yield
    except IntegrityError:
        raise ODataError(409, "CONFLICT", "A constraint of the database does not admit this.") from None
    except DataError:
        raise bad_request("INVALID_VALUE", "A value is outside of what the database can keep.") from None
