"""What a unit of work sees: a session, and the database that carries it out. See `store.driver.session`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Executable, Insert, Row

from odata_server.sql.connection import Kept
from promenade.errors import Invalid
from promenade.store.driver.tenancy import NOBODY, SYSTEM, Columns, Params, Scope, admit
from promenade.tracing import span

T = TypeVar("T")

Statement = Executable | Kept
"""What a session runs: a statement, or one that was worked out before."""


class Session(ABC):
    """The statements of one unit of work, bound to one tenant by `store.driver.tenancy`."""

    __slots__ = ("dialect", "scope")

    def __init__(self, dialect: str, scope: Scope) -> None:
        self.dialect = dialect
        self.scope = scope

    @property
    def tenant(self) -> str | None:
        """The tenant whose rows this session sees; None: none, or all in a system session."""
        return self.scope.tenant

    # A prepared statement was admitted when it was built.

    async def execute(self, statement: Statement, params: Params | None = None) -> Sequence[Row[Any]]:
        """Run one statement and return its rows (of a select, or RETURNING), or an empty result."""
        if isinstance(statement, Kept):
            return await self._rows(statement, params)
        return await self._rows(*admit(statement, params, self.scope))

    async def rowcount(self, statement: Statement, params: Params | None = None) -> int:
        """Run one insert, update or delete and return the number of rows affected."""
        if isinstance(statement, Kept):
            return await self._count(statement, params)
        return await self._count(*admit(statement, params, self.scope))

    async def execute_many(self, statement: Statement, params: Sequence[Params]) -> None:
        """Run one statement for every parameter set; do nothing if there is none."""
        if not params:
            return
        if isinstance(statement, Kept):
            await self._count(statement, params)
        else:
            await self._count(*admit(statement, params, self.scope))

    @abstractmethod
    async def merge_columns(self, upsert: Kept, columns: Columns) -> None:
        """Run an upsert for rows with different keys, in their order: in one statement where the database can.

        There is at least one row.
        """

    async def insert_together(
        self, parts: Sequence[tuple[Insert, Sequence[Params]]], hot: tuple[str, tuple[Any, ...]] | None = None
    ) -> None:
        """Insert rows into several tables, in one round trip where the database can; each part as `execute_many`.

        ``hot``: name and parameters of a hot statement that inserts too, and returns nothing.
        """
        for statement, rows in parts:
            await self.execute_many(statement, rows)
        if hot is not None:
            await self.hot(*hot)

    @abstractmethod
    def limit(self, seconds: float) -> None:
        """Limit the run time of this unit's reads: beyond it they fail with Invalid (QUERY_TOO_EXPENSIVE).

        For queries that clients compose. On SQLite the limit is for all statements from now on, on PostgreSQL for each
        one.
        """

    def renew(self) -> None:
        """Restart the time limit of the unit's statements, for a unit that is long because it has much to do.

        This is for SQLite; on PostgreSQL each statement has its own time limit, and this does nothing.
        """
        return

    @abstractmethod
    async def run_kept(self, kept: Kept, values: Params) -> Sequence[Sequence[Any]]:
        """Run a select that has been worked out before, see `kept`; ``values`` by the names of its parameters."""

    @abstractmethod
    async def hot(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        """Run the hand-written statement ``name`` of `store.driver.hot`; it names its tenant itself."""

    @abstractmethod
    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """Return a block within the unit that can fail alone: it is rolled back when the block raises."""

    @abstractmethod
    async def _rows(self, statement: Statement, params: Any) -> Sequence[Row[Any]]: ...

    @abstractmethod
    async def _count(self, statement: Statement, params: Any) -> int: ...


def too_expensive(seconds: float) -> Invalid:
    """Return the error for a query that was stopped."""
    message = (
        f"The query would take more than {seconds:g} seconds. Filter by a property that has an index, by the start of a"
        " text rather than by what it contains, or ask for less at a time."
    )
    return Invalid("QUERY_TOO_EXPENSIVE", message)


Work = Callable[[Session], Awaitable[T]]

Look = Callable[[str, tuple[Any, ...]], Awaitable[Sequence[Sequence[Any]]]]
"""`Session.hot` or `Database.look`: runs a reading hot statement, inside a unit of work or on its own."""


@dataclass(frozen=True, slots=True)
class Load:
    """How busy a process keeps its database: ``units`` of work wait or run; of PostgreSQL the pools' connections."""

    units: int
    connections_in_use: int | None = None
    connections_max: int | None = None


class Database(ABC):
    """An open database; ``dialect`` is ``sqlite`` or ``postgresql``, ``url`` as passed (it may contain a password)."""

    dialect: str
    url: str

    async def write(
        self,
        work: Work[T],
        *,
        tenant: str | None = None,
        system: bool = False,
        durable: bool = True,
        user: str | None = None,
        at: datetime | None = None,
        agent: str | None = None,
    ) -> T:
        """Run ``work`` in a transaction and commit it; ``user``, ``at`` and ``agent``: see `driver.tenancy.Scope`.

        ``durable=False`` lets the commit reach the disk a moment later: for what may be lost with the power.
        Raises `Unavailable` when the database cannot be reached, is overloaded, or could not commit.
        """
        with span("store write"):
            return await self._write(work, _scope(tenant, system, user, at, agent), durable)

    async def read(
        self,
        work: Work[T],
        *,
        tenant: str | None = None,
        system: bool = False,
        user: str | None = None,
        at: datetime | None = None,
        agent: str | None = None,
    ) -> T:
        """Run ``work`` on one consistent snapshot of the database; it cannot write."""
        with span("store read"):
            return await self._read(work, _scope(tenant, system, user, at, agent))

    @abstractmethod
    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        """A whole transaction that is one statement of `store.driver.hot`, in one round trip."""

    async def look(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        """Run one hot statement that reads a few rows by key, on its own."""
        return await self.hot(name, params)

    def load(self) -> Load:
        """Return how busy it is at this moment; asks nobody."""
        return Load(0)

    @abstractmethod
    async def ping(self) -> None:
        """Return when the database answers; raise `Unavailable` if it does not within a second or two."""

    @abstractmethod
    async def close(self) -> None:
        """Finish the units already accepted, then close every connection; idempotent."""

    @abstractmethod
    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T: ...

    @abstractmethod
    async def _read(self, work: Work[T], scope: Scope) -> T: ...


def _scope(tenant: str | None, system: bool, user: str | None, at: datetime | None, agent: str | None) -> Scope:
    if system:
        if tenant is not None:
            raise ValueError("a session is for a tenant or for the system, not both")
        return SYSTEM
    return NOBODY if tenant is None else Scope(tenant, user=user, at=at, agent=agent)
