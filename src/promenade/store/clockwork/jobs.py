"""Jobs that the clock starts: one row each, run by whoever holds its lease.

Any number of workers look at the rows; one claims a job that is still as it was seen. INVARIANT: what a run writes, it
writes in a unit of work that holds the row under its lease (`Leased`, `store.driver.leases`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, and_, select

from promenade.store.driver.leases import CLOCK, LeaseLost
from promenade.store.driver.schema import table
from promenade.store.driver.tenancy import Scope
from promenade.store.driver.unit import Database, Session, Work
from promenade.store.driver.upsert import upsert

T = TypeVar("T")

_CLOCK = table("clockwork")
_ERROR_MAX = 1000


@dataclass(frozen=True, slots=True)
class ClockRow:
    """The state of a job; ``lease_owner`` and ``lease_until`` are null while it is not running."""

    name: str
    due_at: datetime
    last_run_at: datetime | None
    cursor: str | None
    last_error: str | None
    lease_owner: str | None
    lease_until: datetime | None


async def add_clock_rows(session: Session, names: Collection[str], at: datetime) -> None:
    """Insert rows for jobs that have none, due at once."""
    statement = upsert(session.dialect, _CLOCK).on_conflict_do_nothing(index_elements=[_CLOCK.c.name])
    await session.execute_many(statement, [{"name": name, "due_at": at} for name in sorted(names)])


async def read_clock(session: Session) -> list[ClockRow]:
    """Return all jobs, those that have been due longest first."""
    rows = await session.execute(select(_CLOCK).order_by(_CLOCK.c.due_at, _CLOCK.c.name))
    return [ClockRow(**row._mapping) for row in rows]


async def claim(session: Session, seen: ClockRow, lease_owner: str, lease_until: datetime) -> ClockRow | None:
    """Claim a due job if its row is unchanged since it was ``seen``; None: another worker claimed it first.

    ``lease_owner`` must be new for every claim: `Leased` and `finish` check it.
    """
    same = [_same(_CLOCK.c[name], getattr(seen, name)) for name in ("name", "due_at", "lease_owner", "lease_until")]
    if not await CLOCK.take(session, and_(*same), lease_owner=lease_owner, until=lease_until):
        return None
    return replace(seen, lease_owner=lease_owner, lease_until=lease_until)


def _same(column: ColumnElement[Any], value: object) -> ColumnElement[bool]:
    return column.is_(None) if value is None else column == value


async def finish(
    session: Session,
    held: ClockRow,
    *,
    due_at: datetime,
    last_run_at: datetime | None,
    cursor: str | None,
    error: str | None,
) -> bool:
    """Write the result of a run and release its lease; False: the lease was lost, and nothing is written."""
    text = None if error is None else error[:_ERROR_MAX].replace("\0", "")
    values: dict[str, Any] = {"last_run_at": last_run_at, "cursor": cursor, "last_error": text}
    return await CLOCK.release(session, held, due_at=due_at, **values)


class Leased(Database):
    """A database whose units of work can write only while a job's lease is held; they raise LeaseLost otherwise.

    Hot statements that are units of work of their own bypass this; no job writes through one.
    """

    def __init__(self, database: Database, held: ClockRow) -> None:
        self._database = database
        self._held = held
        self.dialect = database.dialect
        self.url = database.url

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        async def held(session: Session) -> T:
            # Shared: the units of one run do not wait for each other, but a worker that claims the job waits for them.
            if await CLOCK.hold(session, self._held, shared=True) is None:
                raise LeaseLost(f"another worker runs {self._held.name} by now")
            return await work(session)

        return await self._database._write(held, scope, durable)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        return await self._database._read(work, scope)

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        return await self._database.hot(name, params, durable=durable)

    async def look(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        return await self._database.look(name, params)

    async def ping(self) -> None:
        await self._database.ping()

    async def close(self) -> None:
        raise RuntimeError("a run does not close the database that it was lent")
