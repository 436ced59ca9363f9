"""Insert, update and delete rows with everything that a body nests in them: plan, check, then write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import DataError, IntegrityError

from odata_server.edm import ComplexType, EntityType, NavigationProperty, Primitive
from odata_server.errors import ODataError, bad_request, not_found, not_implemented
from odata_server.source import Key, Nested, Payload
from odata_server.sql.connection import SqlConnection
from odata_server.tables.checks import Gone, RowChange, check_rows, check_unused
from odata_server.tables.places import Place, Places, chunks

__all__ = ["Plan", "Writer"]


class Writer:
    """Writes in one transaction; ``new_id`` generates keys of type Guid."""

    def __init__(self, places: Places, connection: SqlConnection, new_id: Callable[[], str]) -> None:
        self._places = places
        self._connection = connection
        self._new_id = new_id

    async def create(self, entity_type: EntityType, payload: Payload) -> Key:
        """Create an entity. Raise `ODataError` like `check_rows`."""
        plan = self._plan()
        row = await plan.create(self._places.of(entity_type), payload)
        await self._carry_out(plan)
        return row.place.key_of(row.values)

    async def update(self, entity_type: EntityType, key: Key, payload: Payload, *, replace: bool) -> None:
        """Update an entity. Raise `ODataError` 404, or like `check_rows`."""
        plan, place = self._plan(), self._places.of(entity_type)
        before = await plan.load(place, key)
        if before is None:
            raise not_found()
        await plan.change(place, before, payload, replace=replace)
        await self._carry_out(plan)

    async def delete(self, entity_type: EntityType, key: Key) -> None:
        """Delete an entity and its compositions. Raise `ODataError` 404, or 409 IN_USE."""
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
        """Write rows level by level: first the rows that they refer to, last the rows that refer to them."""
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
            row.values |= place.key_of(place.loaded(made[0]))  # the number that the table generated
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
    """Convert errors that only the database can detect: its own constraints, and the ranges of its types."""
    try:
        yield
    except IntegrityError:
        raise ODataError(409, "CONFLICT", "This violates a constraint of the database.") from None
    except DataError:
        raise bad_request("INVALID_VALUE", "A value is outside the range that the database can store.") from None


_Tuple = tuple[Any, ...]


class Plan:
    """Rows to write: ``roots`` with their dependent rows, ``removals`` in the order in which they were found.

    Planning reads existing rows and writes nothing.
    """

    def __init__(self, places: Places, connection: SqlConnection, new_id: Callable[[], str]) -> None:
        self.places = places
        self.roots: list[RowChange] = []
        self.removals: list[tuple[Place, list[dict[str, Any]]]] = []
        self._connection = connection
        self._new_id = new_id

    @property
    def gone(self) -> Gone:
        """The keys of the rows to delete, by entity type."""
        found: Gone = {}
        for place, rows in self.removals:
            found.setdefault(place.entity_type.name, []).extend(place.key_of(row) for row in rows)
        return found

    # ---- rows ----

    async def create(self, place: Place, payload: Payload) -> RowChange:
        """Plan a new row with everything nested in it."""
        row = self._new(place, payload.values, "", set())
        self.roots.append(row)
        await self._nest(row, payload)
        return row

    async def change(self, place: Place, before: dict[str, Any], payload: Payload, *, replace: bool) -> RowChange:
        """Plan the update of a row; with ``replace`` properties missing in the body get their default."""
        row = self._changed(place, before, payload.values, "")
        if replace:
            row.values = {**self._blank(place, row.path), **row.values}
        self.roots.append(row)
        await self._nest(row, payload)
        return row

    def _new(self, place: Place, values: Mapping[str, Any], path: str, filled: set[str]) -> RowChange:
        entity_type = place.entity_type
        defaults = {one.name: one.default for one in entity_type.properties if one.default is not None}
        found = {**defaults, **values}
        for prop in entity_type.key_properties:
            missing = found.get(prop.name) is None and prop.name not in filled
            if missing and prop.type is Primitive.GUID and not place.fills(prop.name):
                found[prop.name] = self._new_id()
        return RowChange(place, found, path, filled=filled)

    def _changed(self, place: Place, before: dict[str, Any], values: Mapping[str, Any], path: str) -> RowChange:
        properties = place.entity_type.property_by_name
        fixed = {one.name for one in properties.values() if one.immutable or one.name in place.entity_type.key}
        found = {name: value for name, value in values.items() if name not in fixed}
        for name, value in found.items():
            # JSON: omitted parts keep their values
            whole = name in place.columns and isinstance(before.get(name), dict)
            if whole and isinstance(properties[name].type, ComplexType) and isinstance(value, dict):
                found[name] = {**before[name], **value}
        return RowChange(place, found, path, before)

    def _blank(self, place: Place, path: str) -> dict[str, Any]:
        """Return the defaults of all properties that can be changed."""
        entity_type = place.entity_type
        found = {}
        for prop in entity_type.properties:
            kept = prop.computed or prop.immutable or prop.name in entity_type.key
            if not kept and not self.places.within(entity_type, prop):
                found[prop.name] = prop.default
        return found

    # ---- what is nested ----

    async def _nest(self, row: RowChange, payload: Payload) -> None:
        navigations = row.place.entity_type.navigation_by_name
        for name, nested in payload.nested.items():
            navigation = self._joined(navigations[name])
            if self.places.refers(row.place.entity_type, navigation):
                await self._referred(row, navigation, nested)
            else:
                await self._children(row, navigation, nested, payload.links.get(name, ()))
        for name, keys in payload.links.items():
            await self._link(row, self._joined(navigations[name]), keys)

    def _joined(self, navigation: NavigationProperty) -> NavigationProperty:
        if not navigation.on:
            raise not_implemented(f"Writing through {navigation.name}")
        return navigation

    async def _referred(self, row: RowChange, navigation: NavigationProperty, nested: Nested) -> None:
        """Plan an entity that the row refers to: insert it before the row, or update it."""
        if not nested.items:
            row.values.update({own: None for own, _ in navigation.on})
            return
        place, item = self.places.target(navigation), nested.items[0]
        path = f"{row.path}{navigation.name}/"
        known = await self._known(place, [item.values])
        before = known.get(_key(place, item.values))
        if before is None:
            child = self._new(place, item.values, path, set())
        else:
            child = self._changed(place, before, item.values, path)
        row.first.append((navigation, child))
        row.filled |= {own for own, _ in navigation.on}
        await self._nest(child, item)

    async def _children(
        self, row: RowChange, navigation: NavigationProperty, nested: Nested, linked: Sequence[Key]
    ) -> None:
        """Plan the entities that refer to the row: the whole new set of them, or changes to it."""
        place = self.places.target(navigation)
        others = {other: row.after.get(own) for own, other in navigation.on}
        present = {} if row.before is None else await self._present(place, others)
        items = [{**item.values, **others} for item in nested.items]
        elsewhere = {} if navigation.composition else await self._known(place, items)
        stays = {tuple(key[name] for name in place.entity_type.key) for key in linked}
        for number, (item, values) in enumerate(zip(nested.items, items, strict=True)):
            path = f"{row.path}{navigation.name}/" + (f"{number}/" if navigation.collection else "")
            key = _key(place, values)
            if not navigation.collection and present and any(part is None for part in key):
                key = next(iter(present))  # the existing one, although the body does not name it
            before = present.get(key) or elsewhere.get(key)
            if before is None:
                child = self._new(place, values, path, set(others))
            else:
                child = self._changed(place, before, values, path)
                child.filled = set(others)
                stays.add(key)
            row.then.append((navigation, child))
            await self._nest(child, item)
        leaving = {tuple(key[name] for name in place.entity_type.key) for key in nested.removed}
        going = [one for key, one in present.items() if (key in leaving if nested.delta else key not in stays)]
        if navigation.composition:
            await self.remove(place, going)
        else:
            self._unlink(place, navigation, going, f"{row.path}{navigation.name}")

    def _unlink(self, place: Place, navigation: NavigationProperty, rows: list[dict[str, Any]], path: str) -> None:
        for _, other in navigation.on:
            if rows and not place.entity_type.property_by_name[other].nullable:
                message = f"{path}: a {place.entity_type.name} must always belong to one; delete it instead."
                raise bad_request("NOT_NULLABLE", message, path)
        nothing = {other: None for _, other in navigation.on}
        self.roots += (RowChange(place, dict(nothing), f"{path}/", before=one) for one in rows)

    async def _link(self, row: RowChange, navigation: NavigationProperty, keys: Sequence[Key]) -> None:
        place = self.places.target(navigation)
        known = await self._known(place, keys)
        path = f"{row.path}{navigation.name}"
        for key in keys:
            found = known.get(_key(place, key))
            if found is None:
                named = ", ".join(map(str, key.values()))
                raise bad_request("UNKNOWN_REFERENCE", f"{path}: there is no {navigation.target} {named}.", path)
            if self.places.refers(row.place.entity_type, navigation):
                row.values.update({own: found[other] for own, other in navigation.on})
            else:
                child = RowChange(place, {}, f"{path}/", before=found, filled={other for _, other in navigation.on})
                row.then.append((navigation, child))

    # ---- what is there ----

    async def load(self, place: Place, key: Key) -> dict[str, Any] | None:
        """Return the row with a key."""
        rows = await self._connection.execute(select(*place.selected).where(place.is_key(key)))
        return place.loaded(rows[0]) if rows else None

    async def _known(self, place: Place, items: Sequence[Mapping[str, Any]]) -> dict[_Tuple, dict[str, Any]]:
        """Return the existing rows with the keys of some items, ignoring incomplete keys."""
        keys = [key for key in (_key(place, item) for item in items) if None not in key]
        return await self._select(place, place.entity_type.key, keys)

    async def _present(self, place: Place, others: Mapping[str, Any]) -> dict[_Tuple, dict[str, Any]]:
        if None in others.values():
            return {}
        return await self._select(place, tuple(others), [tuple(others.values())])

    async def _select(
        self, place: Place, names: Sequence[str], tuples: Sequence[_Tuple]
    ) -> dict[_Tuple, dict[str, Any]]:
        found = {}
        for some in chunks(list(dict.fromkeys(tuples))):
            for row in await self._connection.execute(select(*place.selected).where(place.among(names, some))):
                values = place.loaded(row)
                found[_key(place, values)] = values
        return found

    # ---- deletion ----

    async def remove(self, place: Place, rows: Sequence[dict[str, Any]]) -> None:
        """Plan the deletion of rows with all their compositions."""
        seen = {_key(place, one) for other, some in self.removals if other is place for one in some}
        rows = [row for row in rows if _key(place, row) not in seen]
        if not rows:
            return
        self.removals.append((place, list(rows)))
        for navigation in place.entity_type.navigations:
            if navigation.composition and navigation.on:
                others = [other for _, other in navigation.on]
                parents = [tuple(row[own] for own, _ in navigation.on) for row in rows]
                target = self.places.target(navigation)
                await self.remove(target, list((await self._select(target, others, parents)).values()))


def _key(place: Place, values: Mapping[str, Any]) -> _Tuple:
    return tuple(values.get(name) for name in place.entity_type.key)
