"""SQLAlchemy engines as the database of a service: one transaction per unit of work.

A unit that writes is serialisable: on SQLite it takes the write lock when it begins; on PostgreSQL it is retried after
a serialisation failure. A unit that reads sees one state of the database and cannot change it. With a synchronous
engine a unit runs in a thread, which drives its coroutine itself: a unit may await only its connection.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine, Executable, Row
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import StaticPool

from odata_server.errors import ODataError
from odata_server.sql.connection import Kept

__all__ = ["EngineConnection", "EngineDatabase"]

T = TypeVar("T")

_TRIES = 10
_SERIALIZATION_FAILURE, _DEADLOCK = "40001", "40P01"
_LOCKED = ("database is locked", "database table is locked")


class EngineConnection:
    """The connection of one unit of work."""

    __slots__ = ("_connection", "dialect", "failure")

    def __init__(self, connection: Connection | AsyncConnection, dialect: str) -> None:
        self.dialect = dialect
        self.failure: DBAPIError | None = None
        self._connection = connection

    async def execute(self, statement: Executable, params: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """Run one statement and return its rows (of a select, or RETURNING), or an empty result."""
        result = await self._run(statement, params)
        return cast("Sequence[Row[Any]]", result.fetchall()) if result.returns_rows else ()

    async def run_kept(self, kept: Kept, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Run a reusable statement with these values of its named parameters."""
        return await self.execute(kept.statement, values)

    async def rowcount(self, statement: Executable, params: Mapping[str, Any] | None = None) -> int:
        """Run one insert, update or delete and return the number of rows affected."""
        return int((await self._run(statement, params)).rowcount)

    async def execute_many(self, statement: Executable, params: Sequence[Mapping[str, Any]]) -> None:
        """Run one statement for every parameter set; do nothing if there is none."""
        if params:
            await self._run(statement, list(params))

    async def _run(self, statement: Executable, params: Any) -> Any:
        try:
            if isinstance(self._connection, AsyncConnection):
                return await self._connection.execute(statement, params)
            return self._connection.execute(statement, params)
        except DBAPIError as error:
            self.failure = error
            raise


Work = Callable[[EngineConnection], Awaitable[T]]


class EngineDatabase:
    """The database of a service: an engine of SQLite or PostgreSQL, synchronous or asynchronous.

    The caller owns ``engine``: it configures it (SQLite checks foreign keys only if enabled) and disposes of it. A
    SQLite database in memory needs a `StaticPool`; its units then run one after the other. Raise ValueError for another
    database.
    """

    def __init__(self, engine: Engine | AsyncEngine) -> None:
        if engine.dialect.name not in {"sqlite", "postgresql"}:
            raise ValueError(f"{engine.dialect.name} is neither sqlite nor postgresql")
        self.dialect = engine.dialect.name
        self._engine = engine
        self._shared = isinstance(engine.pool, StaticPool)
        self._thread_lock = threading.Lock()
        self._task_lock = asyncio.Lock()

    async def read(self, work: Work[T]) -> T:
        """Run ``work`` on a read-only snapshot of the database."""
        return await self._run(work, writes=False)

    async def write(self, work: Work[T]) -> T:
        """Run ``work`` in a transaction and commit it; restart it after a conflict with another transaction.

        Raise `ODataError` 503 UNAVAILABLE if the conflicts persist.
        """
        return await self._run(work, writes=True)

    async def _run(self, work: Work[T], *, writes: bool) -> T:
        for _ in range(_TRIES):
            try:
                return await self._once(work, writes)
            except DBAPIError as error:
                if not _is_collision(error):
                    raise
        raise ODataError(
            503, "UNAVAILABLE", "The database is busy with other changes; try again.", headers={"Retry-After": "1"}
        )

    async def _once(self, work: Work[T], writes: bool) -> T:
        if isinstance(self._engine, AsyncEngine):
            if not self._shared:
                return await self._in_task(self._engine, work, writes)
            async with self._task_lock:
                return await self._in_task(self._engine, work, writes)
        return await asyncio.to_thread(self._in_thread, self._engine, work, writes)

    async def _in_task(self, engine: AsyncEngine, work: Work[T], writes: bool) -> T:
        async with engine.connect() as plain:
            connection = await plain.execution_options(**_options(self.dialect, writes))
            unit = EngineConnection(connection, self.dialect)
            begin, done, undo = _statements(self.dialect, writes)
            try:
                for statement in begin:
                    await connection.exec_driver_sql(statement)
                result = await work(unit)
                _refuse_failed(unit)
                for statement in done:
                    await connection.exec_driver_sql(statement)
                await connection.commit()
            except BaseException:
                for statement in undo:
                    with suppress(DBAPIError):  # SQLite may already have rolled back; the first error counts
                        await connection.exec_driver_sql(statement)
                await connection.rollback()
                raise
            return result

    def _in_thread(self, engine: Engine, work: Work[T], writes: bool) -> T:
        guard: AbstractContextManager[Any] = self._thread_lock if self._shared else nullcontext()
        with guard, engine.connect() as plain:
            connection = plain.execution_options(**_options(self.dialect, writes))
            unit = EngineConnection(connection, self.dialect)
            begin, done, undo = _statements(self.dialect, writes)
            try:
                for statement in begin:
                    connection.exec_driver_sql(statement)
                result = _drive(work(unit))
                _refuse_failed(unit)
                for statement in done:
                    connection.exec_driver_sql(statement)
                connection.commit()
            except BaseException:
                for statement in undo:
                    with suppress(DBAPIError):  # SQLite may already have rolled back; the first error counts
                        connection.exec_driver_sql(statement)
                connection.rollback()
                raise
            return result


def _options(dialect: str, writes: bool) -> dict[str, Any]:
    if dialect == "sqlite":
        return {"isolation_level": "AUTOCOMMIT"}  # the driver would begin the transaction too late; see `_statements`
    if writes:
        return {"isolation_level": "SERIALIZABLE"}
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def _statements(dialect: str, writes: bool) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Return the statements to begin, commit and roll back a transaction, where the driver does not do it itself."""
    if dialect != "sqlite":
        return (), (), ()
    if writes:
        return ("BEGIN IMMEDIATE",), ("COMMIT",), ("ROLLBACK",)
    free = "PRAGMA query_only = OFF"
    return ("PRAGMA query_only = ON", "BEGIN"), ("COMMIT", free), ("ROLLBACK", free)


def _refuse_failed(unit: EngineConnection) -> None:
    """Raise if a statement failed: PostgreSQL would answer the COMMIT with a rollback and no error."""
    if unit.failure is not None and unit.dialect == "postgresql":
        raise unit.failure


def _drive(work: Awaitable[T]) -> T:
    """Run a coroutine that never suspends to completion."""
    coroutine = cast("Coroutine[Any, Any, T]", work)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    coroutine.close()
    raise RuntimeError("a unit of work awaits nothing but its connection")


def _is_collision(error: DBAPIError) -> bool:
    """Return whether the transaction was rolled back because of a conflict with another one."""
    state = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
    if state in {_SERIALIZATION_FAILURE, _DEADLOCK}:
        return True
    return isinstance(error, OperationalError) and str(error.orig) in _LOCKED
