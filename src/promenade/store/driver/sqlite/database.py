"""SQLite: one writing connection with group commit, readers on connections of their own.

Units that wait together share one ``BEGIN IMMEDIATE``, with a savepoint each, and one disk sync. A writer thread drives
them; each is a coroutine that never suspends. While the thread is idle, hot statements that need no sync run on the
event loop: handing one over and switching the GIL back and forth costs three times as much as the write. Only one
connection writes and checkpoints: SQLite before 3.51.3 can corrupt a WAL that two connections reset.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from promenade.errors import Unavailable
from promenade.store.driver.hot import HOT
from promenade.store.driver.sqlite.files import keep_private
from promenade.store.driver.sqlite.line import Line, SqliteSession, drive, translated, unavailable
from promenade.store.driver.tenancy import NOBODY, Scope
from promenade.store.driver.unit import Database, Load, Session, Work
from promenade.tracing import span

T = TypeVar("T")

# a group with this many units is committed without waiting for more: bounds the delay of its first unit
GROUP_MAX = 256
READERS = 4
LOOK_SECONDS = 1.0  # a look blocks the event loop; its statements take microseconds
WRITTEN_NOW_MAX = 300  # units written on the event loop before the thread gets one and can run the checkpoint
# How the writing connection commits. Only the thread may wait: for another process, the disk or a checkpoint.
_CHECKPOINT = "PRAGMA wal_autocheckpoint=4000"
_DURABLY = ("PRAGMA synchronous=FULL", _CHECKPOINT, "PRAGMA busy_timeout=5000")
_LAZILY = ("PRAGMA synchronous=NORMAL", _CHECKPOINT, "PRAGMA busy_timeout=5000")
_AT_ONCE = ("PRAGMA synchronous=NORMAL", "PRAGMA wal_autocheckpoint=0", "PRAGMA busy_timeout=0")


class _Unit:
    """A unit of work in the writer's queue, with its waiting caller."""

    __slots__ = ("durable", "error", "future", "is_hot", "loop", "run", "scope", "value")

    def __init__(
        self,
        run: Callable[[SqliteSession], Any],
        scope: Scope,
        durable: bool,
        is_hot: bool,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.run = run
        self.scope = scope
        self.durable = durable
        self.is_hot = is_hot
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.value: Any = None
        self.error: BaseException | None = None


class _Writer(threading.Thread):
    """The thread that takes waiting units in groups and commits each group once."""

    def __init__(self, line: Line, answer: Callable[[list[_Unit]], None]) -> None:
        super().__init__(name="sqlite-writer", daemon=True)
        self.queue: SimpleQueue[list[_Unit] | None] = SimpleQueue()
        self._line = line
        self._answer = answer
        self._alone = threading.Lock()
        self._mode: tuple[str, ...] = ()
        self._written_now = 0

    def run(self) -> None:
        while True:
            group, last = self._next_group()
            if group:
                with self._alone:
                    self._written_now = 0
                    self._commit(group)
                self._answer(group)
            if last:
                return

    def _next_group(self) -> tuple[list[_Unit], bool]:
        group: list[_Unit] = []
        units = self.queue.get()
        while units is not None:
            group += units
            if len(group) >= GROUP_MAX:
                return group, False
            try:
                units = self.queue.get_nowait()
            except Empty:
                return group, False
        return group, True

    def commit_now(self, group: list[_Unit]) -> bool:
        """Commit on the calling thread if that needs neither waiting nor a checkpoint; False: nothing was done."""
        if self._written_now >= WRITTEN_NOW_MAX or not self._alone.acquire(blocking=False):
            return False
        try:
            self._begin(_AT_ONCE)
        except sqlite3.Error:  # most likely another process is writing: only the thread may wait for it
            return False
        else:
            self._run_units(group)
            self._written_now += len(group)
            return True
        finally:
            self._alone.release()

    def _commit(self, group: list[_Unit]) -> None:
        try:
            self._begin(_DURABLY if any(unit.durable for unit in group) else _LAZILY)
        except sqlite3.Error as error:
            for unit in group:
                unit.error = unavailable(error)
        else:
            self._run_units(group)

    def _begin(self, mode: tuple[str, ...]) -> None:
        line = self._line
        if line.raw.in_transaction:  # the previous rollback has failed
            line.begin("ROLLBACK")
        if mode is not self._mode:
            self._mode = ()  # unknown, in case a pragma fails
            for pragma in mode:
                line.begin(pragma)
            self._mode = mode
        line.begin("BEGIN IMMEDIATE")

    def _run_units(self, group: list[_Unit]) -> None:
        """Run the units in the open transaction and commit it."""
        line = self._line
        try:
            for unit in group:
                self._run_unit(unit, alone=len(group) == 1)
            if line.raw.in_transaction:
                line.begin("COMMIT")
        except BaseException as error:  # after any error no caller may get a success
            for unit in group:
                unit.error = unit.error or unavailable(error)
            with suppress(sqlite3.Error):  # if it fails, the next transaction begins with it
                if line.raw.in_transaction:
                    line.begin("ROLLBACK")

    def _run_unit(self, unit: _Unit, *, alone: bool) -> None:
        raw = self._line.raw
        session = self._line.session(unit.scope)
        if not alone:
            raw.execute("SAVEPOINT unit")
        try:
            unit.value = unit.run(session)
            if not raw.in_transaction:
                raise unavailable(sqlite3.OperationalError("undone by a statement that failed inside the unit"))
        except BaseException as error:
            unit.error = translated(error)
            if not raw.in_transaction:  # a full disk or an interrupted write rolls back the whole group
                raise
            raw.execute("ROLLBACK" if alone else "ROLLBACK TO unit")
        if not alone:
            raw.execute("RELEASE unit")


class SqliteDatabase(Database):
    """A SQLite file in WAL mode; only one process has it open for writing."""

    dialect = "sqlite"

    def __init__(self, url: str, path: Path, waiting_max: int, seconds_max: float) -> None:
        self.url = url
        self._waiting_max = waiting_max
        self._waiting = 0
        self._at_the_thread = 0
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Unit]] = {}
        self._closed = False
        self._writing = Line(path, writable=True, seconds_max=seconds_max)
        self._writer = _Writer(self._writing, self._answer)
        # One per thread, most recently used last: its pages and statements are cached.
        self._reading: list[Line] = []
        self._readers = ThreadPoolExecutor(READERS, "sqlite-reader")
        for _ in range(READERS):
            self._reading.append(Line(path, writable=False, seconds_max=seconds_max))
        self._looking = Line(path, writable=False, seconds_max=min(seconds_max, LOOK_SECONDS))
        self._writer.start()

    @classmethod
    async def open(cls, url: str, *, waiting_max: int, seconds_max: float) -> SqliteDatabase:
        """Open the file of ``sqlite:///path``, creating it if missing; in-memory databases are refused."""
        name = make_url(url).database
        if not name or name == ":memory:":
            raise ValueError("a SQLite database needs a file: sqlite:///path")
        path = Path(name)
        keep_private(url)
        return cls(url, path, waiting_max, seconds_max)

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        function = HOT[name].sqlite
        run: Callable[[SqliteSession], Any] = lambda session: function(session.raw, params)  # noqa: E731
        with span("store statement"):
            return cast("Sequence[Sequence[Any]]", await self._queued(run, NOBODY, durable, is_hot=True))

    async def look(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        # Directly on the event loop: reading a few rows by key takes 10 to 20 us and waits for no writer, whereas
        # waking a thread and handing the GIL over costs ten times that.
        if self._closed:
            raise Unavailable("DATABASE_CLOSED", "The service is shutting down.")
        try:
            return self._looking.look(name, params)
        except sqlite3.Error as error:
            raise translated(error) from error

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        here = copy_context()  # of the request, which the unit's events and lines of the log name
        return cast("T", await self._queued(lambda session: here.run(drive, work(session)), scope, durable))

    async def _queued(
        self, run: Callable[[SqliteSession], Any], scope: Scope, durable: bool, is_hot: bool = False
    ) -> Any:
        self._take_place()
        loop = asyncio.get_running_loop()
        unit = _Unit(run, scope, durable, is_hot, loop)
        gathered = self._gathered.get(loop)
        if gathered is None:
            self._gathered[loop] = [unit]
            loop.call_soon(self._hand_over, loop)  # together with all others of this iteration of the event loop
        else:
            gathered.append(unit)
        return await unit.future

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        units = self._gathered.pop(loop, None)
        if not units:
            return
        if (
            not self._at_the_thread
            and all(unit.is_hot and not unit.durable for unit in units)
            and self._writer.commit_now(units)
        ):
            self._wake(units)
        else:
            self._at_the_thread += len(units)
            self._writer.queue.put(units)

    def _take_place(self) -> None:
        if self._closed:
            raise Unavailable("DATABASE_CLOSED", "The service is shutting down.")
        if self._waiting >= self._waiting_max:
            raise Unavailable("DATABASE_BUSY", "Too many requests are waiting for the database; try again.")
        self._waiting += 1

    def _answer(self, group: list[_Unit]) -> None:
        """Wake each event loop once for the whole group; called by the writer."""
        loops: dict[asyncio.AbstractEventLoop, list[_Unit]] = {}
        for unit in group:
            loops.setdefault(unit.loop, []).append(unit)
        for loop, units in loops.items():
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._on_thread_idle, units)

    def _on_thread_idle(self, units: list[_Unit]) -> None:
        self._at_the_thread -= len(units)
        self._wake(units)

    def _wake(self, units: list[_Unit]) -> None:
        self._waiting -= len(units)
        for unit in units:
            if unit.future.done():  # the caller was cancelled; its unit remains committed
                continue
            if unit.error is None:
                unit.future.set_result(unit.value)
            else:
                unit.future.set_exception(unit.error)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        self._take_place()
        try:
            run = copy_context().run
            return await asyncio.get_running_loop().run_in_executor(self._readers, run, self._read_now, work, scope)
        finally:
            self._waiting -= 1

    def _read_now(self, work: Work[T], scope: Scope) -> T:
        line = self._reading.pop()
        try:
            line.begin("BEGIN")
            try:
                return drive(work(line.session(scope)))
            finally:
                if line.raw.in_transaction:
                    line.begin("ROLLBACK")
        except (DBAPIError, sqlite3.Error) as error:
            raise translated(error) from error
        finally:
            self._reading.append(line)

    def load(self) -> Load:
        return Load(self._waiting)

    async def ping(self) -> None:
        await self.read(_nothing)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        self._hand_over(loop)
        self._writer.queue.put(None)
        await loop.run_in_executor(None, self._writer.join)
        await loop.run_in_executor(None, self._readers.shutdown)
        while self._reading:
            self._reading.pop().close()
        self._looking.close()
        self._writing.close()


async def _nothing(session: Session) -> None:
    await session.hot("ping", ())
