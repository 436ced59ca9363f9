"""The connections for hot statements: bare, and each one remembers for which tenant the server takes it.

Telling the server the tenant is a round trip, as long as a hot statement itself. So a connection is told once and then
lent for the same tenant again; only where none such is free is one told anew. What is remembered is forgotten before
the server is told and remembered after it has confirmed, and a connection whose statement did not end in an answer is
closed: the two cannot differ.

Behind a pooler that deals out server connections by transaction, such as PgBouncer, nothing can be told to a
connection. It shows by the number of the server's process, which a pooler makes up: then each statement is wrapped in a
transaction that says everything itself, three round trips instead of one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import asyncpg

from promenade.store.row_security import tell

__all__ = ["IDLE_SECONDS_MAX", "HotConnections"]

IDLE_SECONDS_MAX = 300.0  # firewalls forget connections that nobody uses

_FAREWELLS = ("08", "57P")  # kinds of errors after which the server closes the connection

Connect = Callable[[], Awaitable[asyncpg.Connection]]
State = tuple[str, bool]
"""The setting of `store.row_security`, and whether a commit waits for the disk."""


class _Held:
    """One connection; ``state`` is what the server has confirmed, None while that is not certain."""

    __slots__ = ("connection", "idle_since", "is_pooled", "state")

    def __init__(self, connection: asyncpg.Connection, *, is_pooled: bool) -> None:
        self.connection = connection
        self.is_pooled = is_pooled
        self.state: State | None = None
        self.idle_since = 0.0

    async def fetch(self, text: str, params: tuple[Any, ...], state: State | None) -> Sequence[Sequence[Any]]:
        """Run one statement, its transaction; ``state`` None: it reads no tenant's rows."""
        connection = self.connection
        if state is None or state == self.state:
            return cast("Sequence[Sequence[Any]]", await connection.fetch(text, *params))
        setting, durable = state
        wait = "on" if durable else "off"
        if self.is_pooled:
            return await self._wrapped(
                text, params, f"{tell(setting, local=True)}; SET LOCAL synchronous_commit = {wait}"
            )
        self.state = None
        await connection.execute(f"{tell(setting, local=False)}; SET SESSION synchronous_commit = {wait}")
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
    """At most ``size`` connections, opened at need."""

    def __init__(self, connect: Connect, size: int) -> None:
        self._connect = connect
        self._size = size
        self._open = 0  # with those that are lent or being opened
        self._free: list[_Held] = []  # the one that was used last at the end
        self._waiting: deque[asyncio.Future[_Held | None]] = deque()
        self._is_closing = False
        self._all_ended: asyncio.Future[None] | None = None

    async def fetch(self, text: str, params: tuple[Any, ...], state: State | None) -> Sequence[Sequence[Any]]:
        """Run one statement as a transaction of its own; ``state`` None: for one that reads no tenant's rows.

        Raises what the driver raises.
        """
        for _ in range(self._size):
            try:
                return await self._fetched(text, params, state)
            except asyncpg.InternalClientError:
                continue  # the server has said farewell to the idle connection: nothing was sent
        return await self._fetched(text, params, state)

    async def _fetched(self, text: str, params: tuple[Any, ...], state: State | None) -> Sequence[Sequence[Any]]:
        held = self._matching(state) or await self._taken()
        try:
            found = await held.fetch(text, params, state)
        except asyncpg.PostgresError as error:
            if str(error.sqlstate).startswith(_FAREWELLS):
                held.connection.terminate()
            self._give_back(held)  # else the server has answered, and the connection goes on
            raise
        except BaseException:
            held.connection.terminate()
            self._give_back(held)
            raise
        self._give_back(held)
        return found

    def _matching(self, state: State | None) -> _Held | None:
        """A free connection on which nothing has to be told."""
        free = self._free
        for place in range(len(free) - 1, -1, -1):
            held = free[place]
            if (held.state == state or state is None) and self._is_alive(held):
                return free.pop(place)
        return None

    async def _taken(self) -> _Held:
        """A connection for whatever is to be told: one more, while there may be more, else one that is free."""
        while True:
            if self._open < self._size:
                try:
                    return await self._opened()
                except asyncpg.PostgresError:  # it takes no more, perhaps, but those that are here go on
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

    def _give_back(self, held: _Held) -> None:
        if held.connection.is_closed() or self._is_closing:
            self._drop(held)
            self._pass_on(None)
        else:
            held.idle_since = asyncio.get_running_loop().time()
            self._pass_on(held)

    def _pass_on(self, held: _Held | None) -> None:
        """Hand a connection, or the room for one, to whoever waits for it first."""
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
        """Let the statements that run come to their end, then close every connection."""
        self._is_closing = True
        free, self._free = self._free, []
        self._open -= len(free)
        for held in free:
            await held.connection.close()
        if self._open:
            self._all_ended = asyncio.get_running_loop().create_future()
            await self._all_ended
