"""One SQLite connection: the sessions that use it, and the translation of its errors."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Executable, Row, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from odata_server.sql.connection import Kept
from odata_server.sql.terms.sqlite_functions import install
from promenade.errors import Unavailable
from promenade.store.driver.hot import HOT
from promenade.store.driver.kept import Form, form_of
from promenade.store.driver.plain_insert import PlainInserts
from promenade.store.driver.sqlalchemy_private import statement_cache
from promenade.store.driver.tenancy import Columns, Params, Scope, acting, guard_dialect
from promenade.store.driver.types import unpacked
from promenade.store.driver.unit import Session, Statement, too_expensive

T = TypeVar("T")

_OF_THE_MACHINE = tuple(
    f"SQLITE_{name}" for name in ("BUSY", "CANTOPEN", "CORRUPT", "FULL", "INTERRUPT", "IOERR", "LOCKED", "NOMEM")
)
PROGRESS_STEPS = 20_000  # virtual machine steps between two checks of the clock


class SqliteSession(Session):
    """The session of a unit of work on a SQLite connection; none of its methods ever suspends."""

    __slots__ = ("_connection", "_end_by", "_inserts", "_seconds", "_seconds_max", "_system_cache", "raw")

    def __init__(
        self,
        connection: Connection,
        raw: sqlite3.Connection,
        inserts: PlainInserts,
        system_cache: Any,
        scope: Scope,
        end_by: Callable[[float], None],
        seconds_max: float,
    ) -> None:
        super().__init__("sqlite", scope)
        self._end_by = end_by
        self._seconds_max = seconds_max
        self._seconds: float | None = None
        self._connection = connection
        self._inserts = inserts
        self.raw = raw
        self._system_cache = system_cache

    def _run(self, statement: Executable, params: Any) -> Any:
        options = {"compiled_cache": self._system_cache} if self.scope.system else None
        with acting(self.scope):
            try:
                return self._connection.execute(statement, params, execution_options=options)
            except DBAPIError as error:
                self._refuse_if_late(error.orig, error)
                raise

    def limit(self, seconds: float) -> None:
        self._seconds = seconds
        self._end_by(time.monotonic() + seconds)

    def renew(self) -> None:
        self._end_by(time.monotonic() + self._seconds_max)

    def _refuse_if_late(self, cause: BaseException | None, error: Exception) -> None:
        if self._seconds is not None and getattr(cause, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            raise too_expensive(self._seconds) from error

    async def _rows(self, statement: Statement, params: Any) -> Sequence[Row[Any]]:
        if isinstance(statement, Kept):
            return self._form(statement).rows(self._fetched(statement, params or {}))
        result = self._run(statement, params)
        try:
            return cast("Sequence[Row[Any]]", result.fetchall()) if result.returns_rows else ()
        except DBAPIError as error:
            self._refuse_if_late(error.orig, error)
            raise

    async def _count(self, statement: Statement, params: Any) -> int:
        sets = params if isinstance(params, list) else [params]
        if isinstance(statement, Kept):
            form = self._form(statement)
            return self._written(form.text, [form.bound(one or {}, self.scope) for one in sets])
        plain = self._inserts.of(statement, sets) if params else None
        if plain is not None:
            return sum(self._written(text, values) for text, values in plain)
        return int(self._run(statement, params).rowcount)

    async def merge_columns(self, upsert: Kept, columns: Columns) -> None:
        form = self._form(upsert)
        self._written(form.text, list(zip(*form.bound_columns(columns, self.scope), strict=True)))

    def _written(self, text: str, values: Sequence[Sequence[Any]]) -> int:
        try:
            return self.raw.executemany(text, values).rowcount
        except sqlite3.Error as error:
            raise DBAPIError.instance(text, None, error, sqlite3.Error) from error

    async def run_kept(self, kept: Kept, values: Params) -> Sequence[Sequence[Any]]:
        return self._form(kept).converted(self._fetched(kept, values))

    def _form(self, kept: Kept) -> Form:
        return form_of(kept, self._connection.dialect, self.scope)

    def _fetched(self, kept: Kept, values: Params) -> Sequence[Sequence[Any]]:
        form = self._form(kept)
        try:
            return self.raw.execute(form.text, form.bound(values, self.scope)).fetchall()
        except sqlite3.OperationalError as error:
            self._refuse_if_late(error, error)
            raise

    async def hot(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        return HOT[name].sqlite(self.raw, params)

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._savepoint()

    @asynccontextmanager
    async def _savepoint(self) -> AsyncIterator[None]:
        self.raw.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self.raw.in_transaction:  # a full disk has already rolled back everything
                self.raw.execute("ROLLBACK TO part")
                self.raw.execute("RELEASE part")
            raise
        self.raw.execute("RELEASE part")


def drive(coroutine: Awaitable[T]) -> T:
    """Run a unit of work to completion without an event loop."""
    steps = coroutine.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return cast("T", end.value)
    steps.close()
    raise RuntimeError("a unit of work awaits nothing but methods of its session")


class Line:
    """A SQLite connection wrapped for SQLAlchemy; used by one thread at a time."""

    def __init__(self, path: Path, *, writable: bool, seconds_max: float) -> None:
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if writable else 'ro'}"
        self.raw = sqlite3.connect(
            uri, uri=True, timeout=5.0, isolation_level=None, check_same_thread=False, cached_statements=512
        )
        self._seconds_max = seconds_max
        self._deadline = float("inf")
        self.raw.execute("PRAGMA foreign_keys=ON")
        if writable:
            self.raw.execute("PRAGMA journal_mode=WAL")
            self.raw.execute("PRAGMA journal_size_limit=67108864")
        self.raw.execute("PRAGMA cache_size=-32000")
        self.raw.execute("PRAGMA temp_store=MEMORY")
        install(self.raw)
        self.raw.create_function("unpacked", 1, unpacked, deterministic=True)
        self.raw.set_progress_handler(self._late, PROGRESS_STEPS)
        # Errors are logged, and rows may contain secrets.
        self._engine = create_engine("sqlite://", creator=lambda: self.raw, poolclass=StaticPool, hide_parameters=True)
        guard_dialect(self._engine.dialect)
        self._inserts = PlainInserts(self._engine.dialect)
        self.connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._system_cache: Any = statement_cache(500)

    def _late(self) -> int:
        return time.monotonic() > self._deadline

    def session(self, scope: Scope) -> SqliteSession:
        """Return a session whose statements must finish within the allowed time from now."""
        self._deadline = time.monotonic() + self._seconds_max
        return SqliteSession(
            self.connection, self.raw, self._inserts, self._system_cache, scope, self._end_by, self._seconds_max
        )

    def _end_by(self, deadline: float) -> None:
        self._deadline = deadline

    def look(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        """Run a read-only hot statement outside of any transaction."""
        self._deadline = time.monotonic() + self._seconds_max
        return HOT[name].sqlite(self.raw, params)

    def begin(self, statement: str) -> None:
        self._deadline = float("inf")
        self.raw.execute(statement)

    def close(self) -> None:
        self._deadline = float("inf")
        self.connection.close()
        self._engine.dispose()
        self.raw.close()


def translated(error: BaseException) -> BaseException:
    """Turn an operational error into Unavailable; return a data error (a violated constraint) unchanged."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", "")
    if isinstance(cause, sqlite3.Error) and name.startswith(_OF_THE_MACHINE):
        return unavailable(cause)
    return error


def unavailable(error: BaseException) -> Unavailable:
    """Return the error for the caller, with ``error`` as its cause; one meant for callers is returned unchanged."""
    if isinstance(error, Unavailable):
        return error
    fault = Unavailable("DATABASE_UNAVAILABLE", "The database could not carry this out; nothing was stored.")
    fault.__cause__ = error
    return fault
