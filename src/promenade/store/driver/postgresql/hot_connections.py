"""The connections for hot statements: raw, and each remembers the tenant that it is set to on the server.

Setting the tenant costs a round trip, as long as a hot statement itself. So a connection is set once and then reused
for the same tenant; only if no such connection is free is another one set anew. The remembered tenant is cleared before
it is set on the server and stored after the server has confirmed, and a connection whose statement did not end with a
response is closed: so the two cannot differ.

Behind a pooler that assigns server connections per transaction, such as PgBouncer, a connection cannot keep settings.
It is detected by the server's process ID, which a pooler invents: then each statement is wrapped in a transaction that
contains the settings, three round trips instead of one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import asyncpg

from promenade.store.driver.row_security import statement_for

IDLE_SECONDS_MAX = 300.0  # firewalls drop idle connections

_FAREWELLS = ("08", "57P")  # classes of errors after which the server closes the connection

Connect = Callable[[], Awaitable[asyncpg.Connection]]
State = tuple[str, bool]
"""The setting of `store.driver.row_security`, and whether a commit waits for the disk."""


class _Held:
    """One connection; ``state`` is what the server has confirmed, None while that is uncertain."""

    __slots__ = ("connection", "idle_since", "is_pooled", "state")

    def __init__(self, connection: asyncpg.Connection, *, is_pooled: bool) -> None:
        self.connection = connection
        self.is_pooled = is_pooled
        self.state: State | None = None
        self.idle_since = 0.0

    async def fetch(self, text: str, params: tuple[Any, ...], state: State | None) -> Sequence[Sequence[Any]]:
        """Run one statement as its own transaction; ``state`` None: it reads no tenant's rows."""
        connection = self.connection
        if state is None or state == self.state:
            return cast("Sequence[Sequence[Any]]", await connection.fetch(text, *params))
        setting, durable = state
        wait = "on" if durable else "off"
        if self.is_pooled:
            return await self._wrapped(
                text, params, f"{statement_for(setting, local=True)}; SET LOCAL synchronous_commit = {wait}"
            )
        self.state = None
        await connection.execute(f"{statement_for(setting, local=False)}; SET SESSION synchronous_commit = {wait}")
        self.state = state
        return cast("Sequence[Sequence[Any]]", await connection.fetch(text, *params))

    async def _wrapped(self, text: str, params: tuple[Any, ...], told: str) -> Sequence[Sequence[Any]]:
        await self.connection.execute(f"BEGIN; {told}")
        try:
            found = cast("Sequence[Sequence[Any]]", await self.connection.fetch(text, *params))
        except asyncpg.PostgresError:
            await self.connection.execute("ROLLBACK")
            raise
        await self.connection.execute("COMMIT")
        return found


class HotConnections:
    """A pool of at most ``size`` connections, opened on demand."""

    def __init__(self, connect: Connect, size: int) -> None:
        self._connect = connect
        self._size = size
        self._open = 0  # including those in use or being opened
        self._free: list[_Held] = []  # the most recently used one last
        self._waiting: deque[asyncio.Future[_Held | None]] = deque()
        self._is_closing = False
        self._all_ended: asyncio.Future[None] | None = None

    @property
    def in_use(self) -> int:
        """How many are in use or being opened."""
        return self._open - len(self._free)

    async def fetch(self, text: str, params: tuple[Any, ...], state: State | None) -> Sequence[Sequence[Any]]:
        """Run one statement as its own transaction; ``state`` None: it reads no tenant's rows.

        Raises the driver's errors.
        """
        for _ in range(self._size):
            try:
                return await self._fetched(text, params, state)
            except asyncpg.InternalClientError:
                continue  # the server has closed the idle connection: nothing was sent
        return await self._fetched(text, params, state)

    async def _fetched(self, text: str, params: tuple[Any, ...], state: State | None) -> Sequence[Sequence[Any]]:
        held = self._matching(state) or await self._acquire()
        try:
            found = await held.fetch(text, params, state)
        except asyncpg.PostgresError as error:
            if str(error.sqlstate).startswith(_FAREWELLS):
                held.connection.terminate()
            self._return(held)  # otherwise the server has answered, and the connection stays usable
            raise
        except BaseException:
            held.connection.terminate()
            self._return(held)
            raise
        self._return(held)
        return found

    def _matching(self, state: State | None) -> _Held | None:
        """Return a free connection that already has this state, or None."""
        free = self._free
        for place in range(len(free) - 1, -1, -1):
            held = free[place]
            if (held.state == state or state is None) and self._is_alive(held):
                return free.pop(place)
        return None

    async def _acquire(self) -> _Held:
        """Return a connection to be set to any state: a new one if the size allows, else a free one."""
        while True:
            if self._open < self._size:
                try:
                    return await self._opened()
                except asyncpg.PostgresError:  # the server may accept no more connections, but existing ones still work
                    if not self._free:
                        raise
            while self._free:
                held = self._free.pop(0)
                if self._is_alive(held):
                    return held
                self._drop(held)
            if self._open < self._size:
                continue
            turn: asyncio.Future[_Held | None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                handed = await turn
            except BaseException:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self._pass_on(turn.result())
                raise
            if handed is not None:
                return handed

    async def _opened(self) -> _Held:
        self._open += 1
        connection: asyncpg.Connection | None = None
        try:
            connection = await self._connect()
            is_pooled = connection.get_server_pid() != await connection.fetchval("SELECT pg_backend_pid()")
            return _Held(connection, is_pooled=is_pooled)
        except BaseException:
            if connection is not None:
                connection.terminate()
            self._open -= 1
            self._pass_on(None)
            raise

    def _is_alive(self, held: _Held) -> bool:
        if held.connection.is_closed():
            return False
        return asyncio.get_running_loop().time() - held.idle_since < IDLE_SECONDS_MAX

    def _drop(self, held: _Held) -> None:
        held.connection.terminate()
        self._open -= 1

    def _return(self, held: _Held) -> None:
        if held.connection.is_closed() or self._is_closing:
            self._drop(held)
            self._pass_on(None)
        else:
            held.idle_since = asyncio.get_running_loop().time()
            self._pass_on(held)

    def _pass_on(self, held: _Held | None) -> None:
        """Pass a connection, or the slot for a new one, to the first waiting task."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(held)
                return
        if held is not None:
            self._free.append(held)
        if self._all_ended is not None and self._open == 0 and not self._all_ended.done():
            self._all_ended.set_result(None)

    async def close(self) -> None:
        """Wait for running statements to finish, then close every connection."""
        self._is_closing = True
        free, self._free = self._free, []
        self._open -= len(free)
        for held in free:
            await held.connection.close()
        if self._open:
            self._all_ended = asyncio.get_running_loop().create_future()
            await self._all_ended
