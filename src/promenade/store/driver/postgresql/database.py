"""PostgreSQL: pooled asyncpg connections, through SQLAlchemy for most statements, raw for hot statements.

A connection that the server has closed is detected at checkout, without a round trip. A unit of work whose connection
breaks before its COMMIT was sent has certainly not been applied: it is run once more.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from time import monotonic
from typing import Any, TypeVar, cast

import asyncpg
from sqlalchemy import Executable, Insert, Row, event
from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from odata_server.sql.connection import Kept
from promenade.errors import Unavailable
from promenade.store.driver.connecting import connect
from promenade.store.driver.hot import HOT, RolledBack
from promenade.store.driver.kept import Form, form_of
from promenade.store.driver.plain_insert import PlainInserts, Upsert
from promenade.store.driver.postgresql.hot_connections import IDLE_SECONDS_MAX, HotConnections
from promenade.store.driver.row_security import EVERY_TENANT, NO_TENANT, of_tenant, setting_of, statement_for
from promenade.store.driver.sqlalchemy_private import is_read_only, set_transaction, statement_cache
from promenade.store.driver.tenancy import Columns, Params, Scope, acting, admit, guard_dialect
from promenade.store.driver.unit import Database, Load, Session, Statement, Work, too_expensive
from promenade.tracing import span

T = TypeVar("T")

CONNECTIONS = 12
HOT_CONNECTIONS = 8
STATEMENTS_MAX = 500  # prepared on each connection; the number of kept statements depends on the tables and their uses
POOL_SECONDS = 5.0
CONNECT_SECONDS = 5.0
PING_SECONDS = 1.0

# Responses of a server that rejected or rolled back the work: nothing of it was committed.
_UNDONE = (
    asyncpg.exceptions.AdminShutdownError,
    asyncpg.exceptions.CannotConnectNowError,
    asyncpg.exceptions.CrashShutdownError,
    asyncpg.exceptions.DeadlockDetectedError,
    asyncpg.exceptions.SerializationError,
    asyncpg.exceptions.InternalClientError,  # nothing could be sent: the server was closing the connection
)
_BROKEN = (asyncpg.exceptions.PostgresConnectionError, asyncpg.exceptions.InterfaceError, OSError, TimeoutError)
_OVERLOADED = (
    asyncpg.exceptions.InsufficientResourcesError,  # no connections left, disk full
    asyncpg.exceptions.OperatorInterventionError,  # the statement timed out
)


_BEGIN_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class _Transaction:
    """A transaction that SQLAlchemy's driver adapter can end; it was begun in one message with its tenant."""

    __slots__ = ("_driver",)

    def __init__(self, driver: asyncpg.Connection) -> None:
        self._driver = driver

    async def commit(self) -> None:
        await self._driver.execute("COMMIT")

    async def rollback(self) -> None:
        await self._driver.execute("ROLLBACK")


class _PostgresqlSession(Session):
    __slots__ = ("_connection", "_driver", "_ended", "_failure", "_inserts", "_parts", "_seconds", "_system_cache")

    def __init__(self, connection: AsyncConnection, inserts: PlainInserts, system_cache: Any, scope: Scope) -> None:
        super().__init__("postgresql", scope)
        self._connection = connection
        self._inserts = inserts
        self._system_cache = system_cache
        self._seconds: float | None = None
        self._parts = 0  # number of savepoints so far
        self._ended: str | None = None  # the savepoint that has ended but is not released yet
        self._driver: asyncpg.Connection | None = None  # set on first direct use of the driver
        self._failure: DBAPIError | None = None  # of a failed statement that no savepoint has rolled back

    def limit(self, seconds: float) -> None:
        self._seconds = seconds

    @asynccontextmanager
    async def _limited(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._seconds):
                yield
        except TimeoutError as error:
            if self._seconds is None:
                raise
            raise too_expensive(self._seconds) from error

    async def commit(self) -> None:
        """Commit, unless a statement failed: the server would answer the COMMIT by rolling back, without an error."""
        if self._failure is not None:
            raise RuntimeError(
                "a unit of work goes on after a failed statement only with a savepoint"
            ) from self._failure
        await self._connection.commit()

    async def _run(self, statement: Executable, params: Any) -> Any:
        options = {"compiled_cache": self._system_cache} if self.scope.system else None
        await self._driven()
        with acting(self.scope):
            try:
                running = self._connection.execute(statement, params, execution_options=options)
                if self._seconds is None:
                    return await running
                async with self._limited():
                    return await running
            except DBAPIError as error:
                self._failure = error
                raise

    async def _rows(self, statement: Statement, params: Any) -> Sequence[Row[Any]]:
        if isinstance(statement, Kept):
            return self._form(statement).rows(await self._fetched(statement, params or {}))
        result = await self._run(statement, params)
        return cast("Sequence[Row[Any]]", result.fetchall()) if result.returns_rows else ()

    async def _count(self, statement: Statement, params: Any) -> int:
        sets = params if isinstance(params, list) else [params]
        if isinstance(statement, Kept):
            form = self._form(statement)
            return await self._written(form.text, [form.bound(one or {}, self.scope) for one in sets])
        plain = self._inserts.of(statement, sets) if params else None
        if plain is not None:
            return sum([await self._written(text, values) for text, values in plain])
        return int((await self._run(statement, params)).rowcount)

    async def insert_together(
        self, parts: Sequence[tuple[Insert, Sequence[Params]]], hot: tuple[str, tuple[Any, ...]] | None = None
    ) -> None:
        admitted = [admit(statement, rows, self.scope) for statement, rows in parts if rows]
        run = self._inserts.together(admitted, hot) if admitted else None
        if run is None:
            await super().insert_together(parts, hot)
        else:
            await self._written(*run)

    async def merge_columns(self, upsert: Kept, columns: Columns) -> None:
        form = self._form(upsert)
        bound = form.bound_columns(columns, self.scope)
        many = Upsert.of(form.text) if len(bound[0]) > 1 else None
        if many is None:
            await self._written(form.text, list(zip(*bound, strict=True)))
            return
        for run in many.runs(bound):
            await self._written(*run)

    async def run_kept(self, kept: Kept, values: Params) -> Sequence[Sequence[Any]]:
        return self._form(kept).converted(await self._fetched(kept, values))

    def _form(self, kept: Kept) -> Form:
        return form_of(kept, self._connection.dialect, self.scope)

    async def _fetched(self, kept: Kept, values: Params) -> Sequence[Sequence[Any]]:
        form = self._form(kept)
        values_bound = form.bound(values, self.scope)
        driver = await self._driven()
        return cast("Sequence[Sequence[Any]]", await self._drive(form.text, driver.fetch(form.text, *values_bound)))

    async def _written(self, text: str, values: Sequence[Sequence[Any]]) -> int:
        driver = await self._driven()
        if len(values) > 1:
            await self._drive(text, driver.executemany(text, values))
            return len(values)
        tag = await self._drive(text, driver.execute(text, *values[0]))
        return int(tag.rpartition(" ")[2])  # for example INSERT 0 1

    async def _drive(self, text: str, running: Awaitable[Any]) -> Any:
        """Await one statement on the raw driver, and raise its errors as SQLAlchemy would."""
        try:
            if self._seconds is None:  # the usual case; a time limit would cost as much as a short statement
                return await running
            async with self._limited():
                return await running
        except asyncpg.PostgresError as error:
            is_of_the_data = isinstance(error, asyncpg.IntegrityConstraintViolationError)
            self._failure = (IntegrityError if is_of_the_data else DBAPIError)(text, None, error)
            raise self._failure from error

    async def _driven(self) -> asyncpg.Connection:
        """Return the driver's connection with its transaction begun; SQLAlchemy knows about it and commits it."""
        if self._driver is None:
            adapted: Any = (await self._connection.get_raw_connection()).dbapi_connection
            await self._connection.begin()
            driver = adapted.driver_connection
            begin = _BEGIN_READING if is_read_only(adapted) else _BEGIN_WRITING
            message = f"{begin}; {statement_for(setting_of(self.scope), local=True)}"
            # Set before BEGIN is sent, so that an interruption in between is rolled back too.
            set_transaction(adapted, _Transaction(driver))
            await driver.execute(message)
            self._driver = driver
        return self._driver

    async def hot(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        statement = HOT[name]
        text = statement.postgresql
        driver = await self._driven()
        if statement.across:
            await self._drive(text, driver.execute(statement_for(EVERY_TENANT, local=True)))
        try:
            found = cast("Sequence[Sequence[Any]]", await self._drive(text, driver.fetch(text, *params)))
        except DBAPIError as error:
            if isinstance(error.orig, asyncpg.DivisionByZeroError):
                raise RolledBack(name) from error
            raise
        if statement.across:
            await self._drive(text, driver.execute(statement_for(setting_of(self.scope), local=True)))
        return found

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._savepoint()

    @asynccontextmanager
    async def _savepoint(self) -> AsyncIterator[None]:
        before = self._failure
        driver = await self._driven()
        self._parts += 1
        name = f"part_{self._parts}"
        await driver.execute(f"{self._releasing()}SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            self._ended = None  # it was nested in this one and is rolled back with it
            if not driver.is_closed():
                await driver.execute(f"ROLLBACK TO SAVEPOINT {name}; RELEASE SAVEPOINT {name}")
                self._failure = before  # failures inside the savepoint are rolled back
            raise
        self._ended = name

    def _releasing(self) -> str:
        """Return the SQL that releases the ended savepoint, sent with the next one; the last one is never released."""
        ended, self._ended = self._ended, None
        return f"RELEASE SAVEPOINT {ended}; " if ended else ""


class PostgresqlDatabase(Database):
    """A PostgreSQL server; any number of processes share it."""

    dialect = "postgresql"

    def __init__(self, url: str, waiting_max: int, seconds_max: float) -> None:
        self.url = url
        self._waiting_max = waiting_max
        self._waiting = 0
        self._closed = False
        self._settings = {
            "application_name": "promenade",
            "jit": "off",
            "statement_timeout": str(int(seconds_max * 1000)),
            "idle_in_transaction_session_timeout": str(int(seconds_max * 1000)),
            "timezone": "UTC",
        }
        self._engine = self._make_engine()
        self._reading = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._system_cache: Any = statement_cache(500)
        self._inserts = PlainInserts(self._engine.dialect)
        self._hot = HotConnections(self._connect_bare, HOT_CONNECTIONS)

    @classmethod
    async def open(cls, url: str, *, waiting_max: int, seconds_max: float) -> PostgresqlDatabase:
        """Create the pools; the server need not be available yet."""
        return cls(url, waiting_max, seconds_max)

    def _make_engine(self) -> AsyncEngine:
        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self._connect_pooled,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=POOL_SECONDS,
            # The most recently used connection has its statements prepared and planned; with FIFO, every connection
            # would need it.
            pool_use_lifo=True,
            hide_parameters=True,  # errors are logged, and rows contain secrets
        )
        guard_dialect(engine.sync_engine.dialect)

        @event.listens_for(engine.sync_engine, "checkin")
        def _note_when(_connection: Any, record: Any) -> None:
            record.info["idle_since"] = monotonic()

        @event.listens_for(engine.sync_engine, "checkout")
        def _refuse_dead(connection: Any, record: Any, _proxy: Any) -> None:
            if connection.driver_connection.is_closed():
                raise DisconnectionError("the server closed this connection while it was idle")
            if monotonic() - record.info.get("idle_since", math.inf) > IDLE_SECONDS_MAX:
                raise DisconnectionError("this connection was idle for so long that something between may forget it")

        return engine

    async def _connect_pooled(self) -> asyncpg.Connection:
        """Open a connection for SQLAlchemy."""
        return await connect(
            self.url, timeout=CONNECT_SECONDS, statement_cache_size=STATEMENTS_MAX, server_settings=self._settings
        )

    async def _connect_bare(self) -> asyncpg.Connection:
        """Open a connection for hot statements."""
        return await connect(
            self.url, timeout=CONNECT_SECONDS, max_cached_statement_lifetime=0, server_settings=self._settings
        )

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        with span("store statement"), self._place():
            try:
                return await self._hot_once(name, params, durable)
            except (*_UNDONE, *_BROKEN, *_OVERLOADED) as error:
                if not isinstance(error, (*_UNDONE, ConnectionRefusedError)):
                    raise _unavailable(error) from error
            try:
                return await self._hot_once(name, params, durable)
            except (*_UNDONE, *_BROKEN, *_OVERLOADED) as error:
                raise _unavailable(error) from error

    async def _hot_once(self, name: str, params: tuple[Any, ...], durable: bool) -> Sequence[Sequence[Any]]:
        statement = HOT[name]
        if statement.tenant is not None:
            setting = of_tenant(params[statement.tenant - 1])
        else:
            setting = EVERY_TENANT if statement.across else NO_TENANT
        # No time limit on the wait for a connection: it would cost a task per call, and the statements ahead are
        # limited.
        try:
            return await self._hot.fetch(statement.postgresql, params, (setting, durable))
        except asyncpg.DivisionByZeroError as error:
            raise RolledBack(name) from error

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        return await self._unit(self._engine, work, scope)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        return await self._unit(self._reading, work, scope)

    async def _unit(self, engine: AsyncEngine, work: Work[T], scope: Scope) -> T:
        with self._place():
            for last in (False, True):
                committing = False
                try:
                    async with engine.connect() as connection:
                        session = _PostgresqlSession(connection, self._inserts, self._system_cache, scope)
                        value = await work(session)
                        committing = True
                        await session.commit()
                        return value
                except (DBAPIError, PoolTimeoutError, asyncpg.PostgresError, *_UNDONE, *_BROKEN) as error:
                    cause = _driver_error(error)
                    if committing or last or not isinstance(cause, (*_UNDONE, *_BROKEN)):
                        if isinstance(cause, (*_UNDONE, *_BROKEN, *_OVERLOADED)):
                            raise _unavailable(cause) from error
                        raise
        raise AssertionError("the second attempt returns or raises")

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Take a place among the waiting and running units of work, whose number is limited."""
        if self._closed:
            raise Unavailable("DATABASE_CLOSED", "The service is shutting down.")
        if self._waiting >= self._waiting_max:
            raise Unavailable("DATABASE_BUSY", "Too many requests are waiting for the database; try again.")
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def load(self) -> Load:
        in_use = cast("Any", self._engine.pool).checkedout() + self._hot.in_use
        return Load(self._waiting, in_use, CONNECTIONS + HOT_CONNECTIONS)

    async def ping(self) -> None:
        try:
            async with asyncio.timeout(PING_SECONDS):
                await self._hot.fetch(HOT["ping"].postgresql, (), None)
        except (asyncpg.PostgresError, *_UNDONE, *_BROKEN) as error:
            raise _unavailable(error) from error

    async def close(self) -> None:
        self._closed = True
        await self._hot.close()
        await self._engine.dispose()


def _driver_error(error: BaseException) -> BaseException:
    """Return asyncpg's own error from inside SQLAlchemy's wrappers."""
    if isinstance(error, PoolTimeoutError):
        return TimeoutError(str(error))
    while isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig
    return error.__cause__ or error


def _unavailable(error: BaseException) -> Unavailable:
    if isinstance(error, asyncpg.exceptions.QueryCanceledError):
        return Unavailable("DATABASE_TIMEOUT", "The database took too long; try again.")
    return Unavailable("DATABASE_UNAVAILABLE", "The database could not carry this out; try again.")
