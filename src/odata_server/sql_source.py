"""A model on plain SQLAlchemy tables as the source of a service: reading, writing, and operations of the host's own.

::

    source = SqlSource(SqlModel(EDM, {...}), EngineDatabase(engine), {"Bookshop.restock": restock})
    app = Service(EDM, source, Hooks(), root="/shop")

    async def restock(unit: SqlUnit, call: OperationCall) -> Result:
        await unit.connection.execute(update(books).where(...).values(...))
        return Result()

What a body leaves out gets the default of the model, else that of the column. Keys of type Guid are made by
``new_id``; an ETag column of integers counts the changes of its row, one of another type is kept up by the table itself
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

__all__ = ["Handler", "SqlDatabase", "SqlSource", "SqlUnit"]

T = TypeVar("T")


class SqlDatabase(Protocol):
    """Runs units of work; `odata_server.engines.EngineDatabase` does, for SQLAlchemy engines."""

    async def read(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Run ``work`` with a connection on one state of the database."""
        ...

    async def write(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Run ``work`` with a connection in a transaction, and commit it."""
        ...


class SqlUnit:
    """One transaction. ``connection`` is for handlers of operations, which may also use the other methods."""

    def __init__(self, source: SqlSource, connection: SqlConnection, caller: Any) -> None:
        self.connection = connection
        self.caller = caller
        self._source = source
        self._edm = source.model.edm
        self._writer = Writer(source.places, connection, source.new_id)

    async def read(self, query: Query) -> Rows:
        """A page of entities."""
        return await self._source.reader.read(self.connection, query)

    async def count(self, query: Query) -> int:
        """How many there are."""
        return await self._source.reader.count(self.connection, query)

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        """Make an entity. Raises `ODataError` 400 REQUIRED, UNKNOWN_REFERENCE or 409 ALREADY_EXISTS."""
        return await self._writer.create(self._edm.entity_types[entity_set.entity_type], payload)

    async def update(self, entity_set: EntitySet, key: Key, payload: Payload, *, replace: bool) -> None:
        """Change an entity. Raises `ODataError` as `create` does."""
        entity_type = self._edm.entity_types[entity_set.entity_type]
        await self._writer.update(entity_type, key, payload, replace=replace)

    async def delete(self, entity_set: EntitySet, key: Key) -> None:
        """Delete an entity with what it is composed of. Raises `ODataError` 409 IN_USE."""
        await self._writer.delete(self._edm.entity_types[entity_set.entity_type], key)

    async def invoke(self, call: OperationCall) -> Result:
        """Carry out an operation by its handler. Raises `ODataError` 501 where there is none."""
        name = self._edm.qualified(call.operation.name)
        handler = self._source.operations.get(name)
        if handler is None:
            raise not_implemented(name)
        return await handler(self, call)


Handler = Callable[[SqlUnit, OperationCall], Awaitable[Result]]
"""Carries out an operation in a unit. It awaits nothing but methods of the unit and its connection."""


class SqlSource:
    """A source over tables. ``operations`` are handlers by the qualified names of their operations."""

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
