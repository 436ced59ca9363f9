"""Plain SQLAlchemy tables as the source of a service: reading, writing, and custom operations of the host.

::

    source = SqlSource(SqlModel(EDM, {...}), EngineDatabase(engine), {"Bookshop.restock": restock})
    app = Service(EDM, source, Hooks(), root="/shop")

    async def restock(unit: SqlUnit, call: OperationCall) -> Result:
        await unit.connection.execute(update(books).where(...).values(...))
        return Result()

Properties missing in a body get the default of the model, else that of the column. ``new_id`` generates keys of type
Guid; an ETag column of integers counts the changes of its row, one of another type is maintained by the table itself
(``default``, ``onupdate``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from odata_server.edm import EntitySet
from odata_server.errors import not_implemented
from odata_server.source import Key, OperationCall, Payload, Query, Result, Rows, Unit
from odata_server.sql.connection import SqlConnection
from odata_server.sql.model import SqlModel
from odata_server.sql.reader import SqlReader
from odata_server.tables.places import Places
from odata_server.tables.writer import Writer

__all__ = ["Handler", "SqlSource", "SqlUnit"]

T = TypeVar("T")


class SqlDatabase(Protocol):
    """Runs units of work; `odata_server.engines.EngineDatabase` implements it for SQLAlchemy engines."""

    async def read(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Run ``work`` with a connection on one state of the database."""
        ...

    async def write(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Run ``work`` with a connection in a transaction, and commit it."""
        ...


class SqlUnit:
    """One transaction. ``connection`` is for operation handlers, which may also use the other methods."""

    def __init__(self, source: SqlSource, connection: SqlConnection, caller: Any) -> None:
        self.connection = connection
        self.caller = caller
        self._source = source
        self._edm = source.model.edm
        self._writer = Writer(source.places, connection, source.new_id)

    async def read(self, query: Query) -> Rows:
        """Return a page of entities."""
        return await self._source.reader.read(self.connection, query)

    async def count(self, query: Query) -> int:
        """Return the number of failed look-ups."""
        return await self._source.reader.count(self.connection, query)

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        """Create an entity. Raise `ODataError` 400 REQUIRED, UNKNOWN_REFERENCE or 409 ALREADY_EXISTS."""
        return await self._writer.create(self._edm.entity_types[entity_set.entity_type], payload)

    async def update(self, entity_set: EntitySet, key: Key, payload: Payload, *, replace: bool) -> None:
        """Update an entity. Raise `ODataError` like `create`."""
        entity_type = self._edm.entity_types[entity_set.entity_type]
        await self._writer.update(entity_type, key, payload, replace=replace)

    async def delete(self, entity_set: EntitySet, key: Key) -> None:
        """Delete an entity with its compositions. Raise `ODataError` 409 IN_USE."""
        await self._writer.delete(self._edm.entity_types[entity_set.entity_type], key)

    async def invoke(self, call: OperationCall) -> Result:
        """Run the handler of an operation. Raise `ODataError` 501 if there is none."""
        name = self._edm.qualified(call.operation.name)
        handler = self._source.operations.get(name)
        if handler is None:
            raise not_implemented(name)
        return await handler(self, call)


Handler = Callable[[SqlUnit, OperationCall], Awaitable[Result]]
"""Carries out an operation in a unit. It awaits nothing but methods of the unit and its connection."""


class SqlSource:
    """A source based on tables. ``operations`` maps the qualified names of operations to their handlers."""

    def __init__(
        self,
        model: SqlModel,
        database: SqlDatabase,
        operations: Mapping[str, Handler] = MappingProxyType({}),
        *,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self.model = model
        self.reader = SqlReader(model)
        self.places = Places(model)
        self.operations = operations
        self.new_id = new_id
        self._database = database

    async def transact(self, caller: Any, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        """Run ``work`` in one transaction."""

        async def run(connection: SqlConnection) -> T:
            return await work(SqlUnit(self, connection, caller))

        return await (self._database.write(run) if writes else self._database.read(run))
