"""Jobs that the clock starts: one row each, run by whoever holds its lease.

Any number of workers look at the rows; one claims a job by a conditional UPDATE and gets a token that is new with every
claim. INVARIANT: what a run writes, it writes while its token stands in the row, held until the unit of work ends
(`Leased`); so of two that both believe to have a job, after a clock has jumped, one can do anything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, and_, select, update

from promenade.store.schema import table
from promenade.store.tenancy import Scope
from promenade.store.unit import Database, Session, Work
from promenade.store.upsert import upsert

__all__ = ["ClockRow", "LeaseLost", "Leased", "add_clock_rows", "claim", "finish", "read_clock"]

T = TypeVar("T")

_CLOCK = table("clockwork")
_ERROR_MAX = 1000


class LeaseLost(Exception):
    """Another worker has this job by now; nothing of the unit was stored."""


@dataclass(frozen=True, slots=True)
class ClockRow:
    """A job as it stands; ``lease_owner`` and ``lease_until`` are null while nobody runs it."""

    name: str
    due_at: datetime
    last_run_at: datetime | None
    cursor: str | None
    last_error: str | None
    lease_owner: str | None
    lease_until: datetime | None


async def add_clock_rows(session: Session, names: Collection[str], at: datetime) -> None:
    """Make the rows of jobs that have none, due at once."""
    statement = upsert(session.dialect, _CLOCK).on_conflict_do_nothing(index_elements=[_CLOCK.c.name])
    await session.execute_many(statement, [{"name": name, "due_at": at} for name in sorted(names)])


async def read_clock(session: Session) -> list[ClockRow]:
    """All jobs, those first that have been due for longest."""
    rows = await session.execute(select(_CLOCK).order_by(_CLOCK.c.due_at, _CLOCK.c.name))
    return [ClockRow(**row._mapping) for row in rows]


async def claim(session: Session, seen: ClockRow, lease_owner: str, lease_until: datetime) -> ClockRow | None:
    """Take a job that was seen to be due, its row still as it was seen; None: somebody was quicker.

    ``lease_owner`` must be new for every claim: it is what `Leased` and `finish` are checked against.
    """
    same = [_same(_CLOCK.c[name], getattr(seen, name)) for name in ("due_at", "lease_owner", "lease_until")]
    taken = update(_CLOCK).where(_CLOCK.c.name == seen.name, *same)
    if not await session.rowcount(taken.values(lease_owner=lease_owner, lease_until=lease_until)):
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
    """Write what came of a run and let go of the job; False: the lease was lost, and nothing is written."""
    text = None if error is None else error[:_ERROR_MAX].replace("\0", "")
    values: dict[str, Any] = {"due_at": due_at, "last_run_at": last_run_at, "cursor": cursor, "last_error": text}
    done = update(_CLOCK).where(_holding(held)).values(lease_owner=None, lease_until=None, **values)
    return await session.rowcount(done) == 1


def _holding(held: ClockRow) -> ColumnElement[bool]:
    return and_(_CLOCK.c.name == held.name, _CLOCK.c.lease_owner == held.lease_owner)


class Leased(Database):
    """A database in which a unit of work can write only while a job's lease is held; it raises LeaseLost otherwise.

    Hot statements that are units of their own go past that: no job writes by one.
    """

    def __init__(self, database: Database, held: ClockRow) -> None:
        self._database = database
        self._held = held
        self.dialect = database.dialect
        self.url = database.url

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        async def held(session: Session) -> T:
            row = select(_CLOCK.c.name).where(_holding(self._held))
            # Shared: the units of one run do not wait for each other, but whoever claims the job waits for them.
            if not await session.execute(row if session.dialect == "sqlite" else row.with_for_update(read=True)):
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
