"""Leases: how workers share a queue. Each queue is declared once; the statements derive from the declaration.

A worker claims a row by writing its token and the end of the lease. Then it renews the lease, releases the row for a
later attempt, or finishes it. If a worker dies, its lease expires and another worker claims the row.
INVARIANT: ``lease_owner``, the token, is new with every claim, and every write by a holder has it in its condition. So
of two workers that both believe they hold a row, after a clock has jumped, only one can write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Row, Table, and_, delete, or_, select, true, tuple_, update

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

CLOCKS_APART = timedelta(seconds=10)
"""By how much the clocks of two workers may differ, or a worker be late with the time it has read."""

_TRUE = true()  # a single object, because statements are cached by the identity of their parts


class LeaseLost(Exception):
    """Another worker holds the row now, or it was deleted; nothing of the unit of work was stored."""


class Held(Protocol):
    """A claimed row; it also has the columns of its queue's key as attributes."""

    @property
    def lease_owner(self) -> str | None:
        """The token of the claim."""


@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """A table whose rows are claimed by workers; ``key`` names the columns that identify a row.

    ``statuses`` are those of a waiting and of a claimed row, if the table has statuses. ``is_due_again``: the
    ``due_at`` of a claimed row is the end of its lease. ``pauses`` are the seconds to wait after the first failed
    attempt, the second, ..., of ``attempts_max``; the last one applies to all that follow. Values written to the
    columns ``sums`` are added to the existing ones.
    """

    rows: Table
    key: tuple[str, ...]
    lease_seconds: int = 60
    statuses: tuple[str, str] | None = None
    is_due_again: bool = False
    attempts_max: int = 0
    pauses: tuple[int, ...] = ()
    sums: tuple[str, ...] = ()

    def retry_at(self, at: datetime, attempts: int, attempts_max: int | None = None) -> datetime | None:
        """Return when to retry after ``attempts`` attempts, the last of which failed ``at``; None: no more retries."""
        if attempts >= (attempts_max or self.attempts_max):
            return None
        return at + timedelta(seconds=self.pauses[min(attempts, len(self.pauses)) - 1])

    # ---- claiming -------------------------------------------------------------------------------------------------

    def is_free(self, at: datetime, until: datetime) -> ColumnElement[bool]:
        """Return the condition that nobody holds the row, or its lease has expired.

        ``until`` is the end of a lease granted now. A lease that ends much later was granted by a clock that has been
        set back since: waiting for its end could take as long as the clock was wrong.
        """
        end = self.rows.c.lease_until
        return or_(end.is_(None), end <= at, end > until + CLOCKS_APART)

    def _is_due(self, at: datetime) -> ColumnElement[bool]:
        due, ahead_max = self.rows.c.due_at, timedelta(seconds=max((self.lease_seconds, *self.pauses))) + CLOCKS_APART
        return or_(due <= at, due > at + ahead_max)  # such a time, too, comes from a clock that has been set back

    def _is_claimable(self, at: datetime, until: datetime) -> ColumnElement[bool]:
        if self.statuses is None:
            return and_(self.is_free(at, until), self._is_due(at))
        (waiting, held), status = self.statuses, self.rows.c.status
        return or_(and_(status == waiting, self._is_due(at)), and_(status == held, self.is_free(at, until)))

    async def claim(
        self,
        session: Session,
        *,
        lease_owner: str,
        at: datetime,
        until: datetime,
        limit: int = 1,
        where: ColumnElement[bool] = _TRUE,
        order: Sequence[ColumnElement[Any]] = (),
        returning: Sequence[str] = (),
    ) -> Sequence[Row[Any]]:
        """Claim up to ``limit`` rows that are due or whose lease has expired; needs a system session.

        ``lease_owner`` must be new for every claim. The rows are ordered by due time unless ``order`` says otherwise,
        and have all columns unless ``returning`` names some.
        """
        rows = self.rows
        picked = (
            select(*self._key)
            .where(self._is_claimable(at, until), where)
            .order_by(*(order or (rows.c.due_at,)))
            .limit(limit)
            .with_for_update(skip_locked=True)  # PostgreSQL only, so that nobody waits; SQLite has one writer
        )
        few = picked.cte("few")  # as a subquery it might run more than once and pick too many rows
        statement = (
            update(rows)
            .where(tuple_(*self._key).in_(select(*few.c)))
            .values(**self._lease(lease_owner, until), attempts=rows.c.attempts + 1)
            .returning(*([rows.c[name] for name in returning] or rows.c))
        )
        return await session.execute(statement)

    async def take(self, session: Session, chosen: ColumnElement[bool], *, lease_owner: str, until: datetime) -> int:
        """Claim the chosen rows, which the caller knows to be due; return how many. No attempt is counted."""
        return await session.rowcount(update(self.rows).where(chosen).values(self._lease(lease_owner, until)))

    def _lease(self, lease_owner: str, until: datetime) -> dict[str, Any]:
        lease: dict[str, Any] = {"lease_owner": lease_owner, "lease_until": until}
        if self.statuses is not None:
            lease["status"] = self.statuses[1]
        if self.is_due_again:
            lease["due_at"] = until
        return lease

    @property
    def _key(self) -> list[ColumnElement[Any]]:
        return [self.rows.c[name] for name in self.key]

    # ---- holding --------------------------------------------------------------------------------------------------

    async def hold(
        self, session: Session, held: Held, column: str = "lease_owner", *, shared: bool = False
    ) -> Row[Any] | None:
        """Lock a claimed row until the unit of work ends, and read a column of it; None: the lease was lost.

        ``shared`` allows several units of work to hold it together; a new claim of the row waits for all of them.
        """
        rows = await session.execute(_holding(self, column, shared), self._values(held))
        return rows[0] if rows else None

    async def write(
        self,
        session: Session,
        held: Held,
        where: ColumnElement[bool] = _TRUE,
        given: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> bool:
        """Update a claimed row, which stays locked until the unit of work ends; set ``lease_until`` to renew the lease.

        ``where`` is an additional condition with parameters in ``given``. False: the lease was lost.
        """
        return await session.rowcount(_writing(self, tuple(values), where), self._values(held, values, given)) == 1

    async def finish(self, session: Session, held: Held, **values: Any) -> bool:
        """Release a lease and write the result; False: the lease was lost."""
        return await self.write(session, held, **values, lease_owner=None, lease_until=None)

    async def release(self, session: Session, held: Held, *, due_at: datetime, **values: Any) -> bool:
        """Release a lease; the row may be claimed again from ``due_at`` on. False: the lease was lost."""
        return await self.finish(session, held, **self._waiting, due_at=due_at, **values)

    async def release_all(self, session: Session, claims: Sequence[tuple[Held, Mapping[str, Any]]]) -> None:
        """Release several leases, each with values of the same columns; rows claimed by others since are not
        changed.
        """
        if claims:
            ended = {**self._waiting, "lease_owner": None, "lease_until": None}
            kept = _writing(self, (*ended, *claims[0][1]), _TRUE)
            await session.execute_many(kept, [self._values(held, {**ended, **values}) for held, values in claims])

    async def drop(self, session: Session, held: Held) -> bool:
        """Delete a finished row; False: the lease was lost."""
        return await session.rowcount(_dropping(self), self._values(held)) == 1

    @property
    def _waiting(self) -> dict[str, str]:
        return {} if self.statuses is None else {"status": self.statuses[0]}

    def _values(
        self, held: Held, new: Mapping[str, Any] | None = None, given: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        named = {f"of_{name}": getattr(held, name) for name in (*self.key, "lease_owner")}
        return {**named, **{f"new_{name}": value for name, value in (new or {}).items()}, **(given or {})}

    # ---- leases of workers that are gone --------------------------------------------------------------------------

    async def end(self, session: Session, at: datetime, chosen: ColumnElement[bool] | None = None) -> int:
        """End the leases of the chosen rows, or of all, and make the rows due; return how many.

        If a worker still holds one of them, it cannot write any more.
        """
        ended: dict[str, Any] = {"lease_owner": None, "lease_until": None}
        if self.is_due_again:
            ended["due_at"] = at
        if chosen is None:
            chosen = self.rows.c.lease_owner.is_not(None)
        return await session.rowcount(update(self.rows).where(chosen).values(ended))


def _is_held(queue: Queue) -> ColumnElement[bool]:
    """Return the condition "the row still has the token of the claim"."""
    columns = queue.rows.c
    asked = [columns[name] == parameter(f"of_{name}", columns[name].type) for name in (*queue.key, "lease_owner")]
    return and_(*asked, true() if queue.statuses is None else columns.status == queue.statuses[1])


@cache
def _holding(queue: Queue, column: str, shared: bool) -> Kept:
    return Kept(select(queue.rows.c[column]).where(_is_held(queue)).with_for_update(read=shared, key_share=not shared))


@cache
def _writing(queue: Queue, names: tuple[str, ...], where: ColumnElement[bool]) -> Kept:
    columns = queue.rows.c
    new: dict[str, Any] = {name: parameter(f"new_{name}", columns[name].type) for name in names}
    for name in queue.sums:
        if name in new:
            new[name] += columns[name]
    return Kept(update(queue.rows).where(_is_held(queue), where).values(new))


@cache
def _dropping(queue: Queue) -> Kept:
    return Kept(delete(queue.rows).where(_is_held(queue)))


# ---- the queues ---------------------------------------------------------------------------------------------------

SALES = Queue(
    table("side_effect_jobs"),
    key=("tenant_id", "id"),
    statuses=("PENDING", "RUNNING"),
    attempts_max=8,
    pauses=(2, 4, 8, 16, 32, 64, 128, 256, 300),
    sums=("loyalty_points_earned",),
)
"""The asynchronous stage of each sale."""

IMPORTS = Queue(
    table("import_work"),
    key=("tenant_id", "job_id"),
    attempts_max=5,
    pauses=(2, 10, 60, 300),
)
"""Import jobs that have not ended; attempts are counted since a job last came on."""

FORECASTS = Queue(table("forecast_jobs"), key=("tenant_id", "forecast_id"), attempts_max=5, pauses=(2, 4, 8, 16))
"""Forecasts that are not finished; attempts are counted since one last came on."""

CLOCK = Queue(table("clockwork"), key=("name",))
"""Jobs that the clock starts; when they are due, `workflows.clockwork.runs` says."""

DELIVERIES = Queue(table("webhook_queue"), key=("tenant_id", "delivery_id"), is_due_again=True)
"""Deliveries of events; when they are tried again, the schedule in the settings says."""

_QUEUES = (SALES, IMPORTS, FORECASTS, CLOCK, DELIVERIES)


async def end_all(session: Session, *, at: datetime) -> int:
    """End all leases of all queues and make their rows due; return how many. Needs a system session.

    For a process that knows that no other one is running.
    """
    return sum([await queue.end(session, at) for queue in _QUEUES])
