"""SQLite: one writer thread with group commit, readers on connections of their own.

The writer drives every unit of work as a coroutine that never suspends. Units that wait together share one
``BEGIN IMMEDIATE``, a savepoint each, and one sync of the disk. One connection writes and checkpoints: SQLite before
3.51.3 can damage a WAL that two connections reset.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Executable, Row, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

from promenade.errors import Unavailable
from promenade.store.hot import HOT
from promenade.store.tenancy import NOBODY, Scope, acting, guard_dialect
from promenade.store.unit import Database, Session, Work

__all__ = ["SqliteDatabase"]

T = TypeVar("T")

GROUP_MAX = 256  # units in one commit: bounds how long the first of them waits
READERS = 4
LOOK_SECONDS = 1.0  # a look holds the event loop; its statements take microseconds
_OF_THE_MACHINE = tuple(
    f"SQLITE_{name}" for name in ("BUSY", "CANTOPEN", "CORRUPT", "FULL", "INTERRUPT", "IOERR", "LOCKED", "NOMEM")
)
PROGRESS_STEPS = 20_000  # virtual machine steps between two looks at the clock


class _SqliteSession(Session):
    __slots__ = ("_connection", "_raw", "_system_cache")

    def __init__(self, connection: Connection, raw: sqlite3.Connection, system_cache: Any, scope: Scope) -> None:
        super().__init__("sqlite", scope)
        self._connection = connection
        self._raw = raw
        self._system_cache = system_cache

    def _run(self, statement: Executable, params: Any) -> Any:
        options = {"compiled_cache": self._system_cache} if self.scope.system else None
        with acting(self.scope):
            return self._connection.execute(statement, params, execution_options=options)

    async def _rows(self, statement: Executable, params: Any) -> Sequence[Row[Any]]:
        result = self._run(statement, params)
        return cast("Sequence[Row[Any]]", result.fetchall()) if result.returns_rows else ()

    async def _count(self, statement: Executable, params: Any) -> int:
        return int(self._run(statement, params).rowcount)

    async def hot(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        return HOT[name].sqlite(self._raw, params)

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._savepoint()

    @asynccontextmanager
    async def _savepoint(self) -> AsyncIterator[None]:
        self._raw.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._raw.in_transaction:  # a full disk has undone everything already
                self._raw.execute("ROLLBACK TO part")
                self._raw.execute("RELEASE part")
            raise
        self._raw.execute("RELEASE part")


def _drive(coroutine: Awaitable[T]) -> T:
    """Run a unit of work to its end without an event loop."""
    steps = coroutine.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return cast("T", end.value)
    steps.close()
    raise RuntimeError("a unit of work awaits nothing but methods of its session")


class _Line:
    """One SQLite connection with its SQLAlchemy face; used by one thread at a time."""

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
            self.raw.execute("PRAGMA wal_autocheckpoint=4000")
        self.raw.execute("PRAGMA cache_size=-32000")
        self.raw.execute("PRAGMA temp_store=MEMORY")
        self.raw.set_progress_handler(self._late, PROGRESS_STEPS)
        self._engine = create_engine("sqlite://", creator=lambda: self.raw, poolclass=StaticPool)
        guard_dialect(self._engine.dialect)
        self.connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._system_cache: Any = LRUCache(500)

    def _late(self) -> int:
        return time.monotonic() > self._deadline

    def session(self, scope: Scope) -> _SqliteSession:
        """A session whose statements end within the time allowed, counted from now."""
        self._deadline = time.monotonic() + self._seconds_max
        return _SqliteSession(self.connection, self.raw, self._system_cache, scope)

    def look(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        """Run a reading hot statement, outside of any transaction."""
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


class _Unit:
    """A unit of work that waits for the writer, and the caller that waits for it."""

    __slots__ = ("durable", "error", "future", "loop", "run", "scope", "value")

    def __init__(
        self,
        run: Callable[[_SqliteSession], Any],
        scope: Scope,
        durable: bool,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.run = run
        self.scope = scope
        self.durable = durable
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.value: Any = None
        self.error: BaseException | None = None


class _Writer(threading.Thread):
    """Takes waiting units in groups and commits each group once."""

    def __init__(self, line: _Line, answer: Callable[[list[_Unit]], None]) -> None:
        super().__init__(name="sqlite-writer", daemon=True)
        self.queue: SimpleQueue[_Unit | None] = SimpleQueue()
        self._line = line
        self._answer = answer
        self._synchronous = ""

    def run(self) -> None:
        while True:
            group, last = self._next_group()
            if group:
                self._commit(group)
                self._answer(group)
            if last:
                return

    def _next_group(self) -> tuple[list[_Unit], bool]:
        group: list[_Unit] = []
        unit = self.queue.get()
        while unit is not None:
            group.append(unit)
            if len(group) == GROUP_MAX:
                return group, False
            try:
                unit = self.queue.get_nowait()
            except Empty:
                return group, False
        return group, True

    def _commit(self, group: list[_Unit]) -> None:
        line = self._line
        try:
            self._sync_as("FULL" if any(unit.durable for unit in group) else "NORMAL")
            line.begin("BEGIN IMMEDIATE")
            for unit in group:
                self._run_unit(unit, alone=len(group) == 1)
            if line.raw.in_transaction:
                line.begin("COMMIT")
        except BaseException as error:  # whatever it is, nobody may be told that it was stored
            if line.raw.in_transaction:
                line.begin("ROLLBACK")
            for unit in group:
                unit.error = unit.error or _unavailable(error)

    def _sync_as(self, mode: str) -> None:
        if mode != self._synchronous:
            self._line.begin(f"PRAGMA synchronous={mode}")
            self._synchronous = mode

    def _run_unit(self, unit: _Unit, *, alone: bool) -> None:
        raw = self._line.raw
        session = self._line.session(unit.scope)
        if not alone:
            raw.execute("SAVEPOINT unit")
        try:
            unit.value = unit.run(session)
        except BaseException as error:
            unit.error = _translated(error)
            if not raw.in_transaction:  # a full disk or an interrupted write undoes the whole group
                raise
            raw.execute("ROLLBACK" if alone else "ROLLBACK TO unit")
        if not alone:
            raw.execute("RELEASE unit")


class SqliteDatabase(Database):
    """A SQLite file in WAL mode; one process at a time has it open for writing."""

    dialect = "sqlite"

    def __init__(self, url: str, path: Path, waiting_max: int, seconds_max: float) -> None:
        self.url = url
        self._waiting_max = waiting_max
        self._waiting = 0
        self._closed = False
        self._writing = _Line(path, writable=True, seconds_max=seconds_max)
        self._writer = _Writer(self._writing, self._answer)
        self._reading: SimpleQueue[_Line] = SimpleQueue()
        self._readers = ThreadPoolExecutor(READERS, "sqlite-reader")
        for _ in range(READERS):
            self._reading.put(_Line(path, writable=False, seconds_max=seconds_max))
        self._looking = _Line(path, writable=False, seconds_max=min(seconds_max, LOOK_SECONDS))
        self._writer.start()

    @classmethod
    async def open(cls, url: str, *, waiting_max: int, seconds_max: float) -> SqliteDatabase:
        """Open the file of ``sqlite:///path``, made if it is not there; a database in memory is refused."""
        name = make_url(url).database
        if not name or name == ":memory:":
            raise ValueError("a SQLite database needs a file: sqlite:///path")
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        return cls(url, path, waiting_max, seconds_max)

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        function = HOT[name].sqlite
        return cast("Sequence[Sequence[Any]]", await self._queued(lambda s: function(s._raw, params), NOBODY, durable))

    async def look(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        # Here and now, on the event loop: a few rows by key take 10 to 20 us and wait for no writer, whereas a thread
        # costs ten times that to be woken and to hand the interpreter over.
        if self._closed:
            raise Unavailable("DATABASE_CLOSED", "The service is shutting down.")
        try:
            return self._looking.look(name, params)
        except sqlite3.Error as error:
            raise _translated(error) from error

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        return cast("T", await self._queued(lambda session: _drive(work(session)), scope, durable))

    async def _queued(self, run: Callable[[_SqliteSession], Any], scope: Scope, durable: bool) -> Any:
        self._take_place()
        unit = _Unit(run, scope, durable, asyncio.get_running_loop())
        self._writer.queue.put(unit)
        return await unit.future

    def _take_place(self) -> None:
        if self._closed:
            raise Unavailable("DATABASE_CLOSED", "The service is shutting down.")
        if self._waiting >= self._waiting_max:
            raise Unavailable("DATABASE_BUSY", "Too many requests are waiting for the database; try again.")
        self._waiting += 1

    def _answer(self, group: list[_Unit]) -> None:
        """Called by the writer: wakes each event loop once for the whole group."""
        loops: dict[asyncio.AbstractEventLoop, list[_Unit]] = {}
        for unit in group:
            loops.setdefault(unit.loop, []).append(unit)
        for loop, units in loops.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._wake, units)

    def _wake(self, units: list[_Unit]) -> None:
        self._waiting -= len(units)
        for unit in units:
            if unit.future.done():  # its caller has gone; what it asked for stands
                continue
            if unit.error is None:
                unit.future.set_result(unit.value)
            else:
                unit.future.set_exception(unit.error)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        self._take_place()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, self._read_now, work, scope)
        finally:
            self._waiting -= 1

    def _read_now(self, work: Work[T], scope: Scope) -> T:
        line = self._reading.get()
        try:
            line.begin("BEGIN")
            try:
                return _drive(work(line.session(scope)))
            finally:
                if line.raw.in_transaction:
                    line.begin("ROLLBACK")
        except (DBAPIError, sqlite3.Error) as error:
            raise _translated(error) from error
        finally:
            self._reading.put(line)

    async def ping(self) -> None:
        await self.read(_nothing)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._writer.queue.put(None)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._writer.join)
        await loop.run_in_executor(None, self._readers.shutdown)
        while not self._reading.empty():
            self._reading.get().close()
        self._looking.close()
        self._writing.close()


async def _nothing(session: Session) -> None:
    await session.hot("ping", ())


def _translated(error: BaseException) -> BaseException:
    """An error of the machine becomes Unavailable; one of the data (a broken constraint) stays what it is."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", "")
    if isinstance(cause, sqlite3.Error) and name.startswith(_OF_THE_MACHINE):
        return _unavailable(cause)
    return error


def _unavailable(error: BaseException) -> Unavailable:
    if isinstance(error, Unavailable):
        return error
    fault = Unavailable("DATABASE_UNAVAILABLE", "The database could not carry this out; nothing was stored.")
    fault.__cause__ = error
    return fault
