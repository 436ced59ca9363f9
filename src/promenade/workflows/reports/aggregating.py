"""Add confirmed sales to the aggregates behind the reports: each once, in portions.

A confirmed sale never changes; a cancelled one is added all the same, and taken out again afterwards, once. So a
portion is read without blocking the tills; the writing unit of work only marks its uncounted sales and calls every
fold to add them. If the process is killed, marks and sums are either all written or not at all.

Several workers count sales of one tenant at the same time: each marks its own and adds them up, and only then takes the
tenant's row of `report_state`, to write. Whoever writes waits for nobody, and all take their locks in the same order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from time import perf_counter, thread_time
from typing import Any, TypeVar

from promenade import metrics
from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.driver.leases import LeaseLost
from promenade.store.driver.unit import Session
from promenade.store.reports import queue as store
from promenade.store.reports.queue import CancelledSale, Lane, State, Unreported
from promenade.store.reports.sums import add_rows
from promenade.workflows.context import Context
from promenade.workflows.reports.folds import Fold, Write, folds, refreshers
from promenade.workflows.reports.sales import LoggedSale, sales_of

PORTION = 100
RUNS = "AggregatorRuns"

_log = Logger(__name__)
T = TypeVar("T")


@dataclass(slots=True)
class Run:
    """One run over a tenant's sales, with the IDs of its AggregatorRuns rows, generated when first needed.

    ``at`` is the fold that is running, or was running when an error occurred.
    """

    new_id: Callable[[], str]
    ids: dict[str, str] = field(default_factory=dict)
    at: str | None = None

    def id_of(self, name: str) -> str:
        """Return the ID of the run of the part ``name``."""
        if name not in self.ids:
            self.ids[name] = self.new_id()
        return self.ids[name]


class Stopwatch:
    """The duration of a unit of work in CPU time, as most wall-clock time on a busy machine belongs to others.

    At least a quarter of the wall-clock time, for units that mostly wait, for example for a disk. On a database server,
    it is the wall-clock time.
    """

    __slots__ = ("_began", "_waited", "_worked")

    def __init__(self, session: Session) -> None:
        self._began = perf_counter()
        self._waited = 0.0
        self._worked = thread_time() if session.dialect == "sqlite" else None

    async def aside(self, waiting: Awaitable[T]) -> T:
        """Await what waits for other workers, and leave out how long that takes."""
        began = perf_counter()
        try:
            return await waiting
        finally:
            self._waited += perf_counter() - began

    @property
    def seconds(self) -> float:
        """The duration so far."""
        passed = perf_counter() - self._began - self._waited
        return passed if self._worked is None else max(thread_time() - self._worked, passed / 4)


@dataclass(frozen=True, slots=True)
class Portion:
    """How many sales were ``found``, how many of them ``counted``, and how many seconds writing them took.

    Fewer are counted than found if another worker counted them first, or during a rebuild. ``oldest`` is the time at
    which the first of them was queued, if they come from the queue.
    """

    found: int
    counted: int
    seconds: float
    oldest: datetime | None = None


async def aggregate(context: Context, tenant_id: str, *, limit: int = PORTION) -> int:
    """Count up to ``limit`` uncounted sales of the tenant; return how many. 0: none are left."""
    return (await count_portion(context, tenant_id, Run(context.new_id), limit)).counted


async def aggregate_all(context: Context, tenant_id: str, *, limit: int = PORTION) -> int:
    """Count all uncounted sales, then compute the derived reports; return how many sales were counted.

    ``limit``: sales at a time; the more of them, the less is written, and the longer others wait.
    """
    run, counted = Run(context.new_id), 0
    while (portion := await count_portion(context, tenant_id, run, limit)).counted:
        counted += portion.counted
    await refresh(context, tenant_id)
    return counted


class _Rebuilding(Exception):
    """A rebuild has begun: what is written now would be deleted, or counted twice."""


async def count_portion(
    context: Context, tenant_id: str, run: Run, limit: int, leave: Sequence[str] = (), lane: Lane | None = None
) -> Portion:
    """Count one portion, skipping the jobs ``leave``. If a fold raises, so does this, and nothing is counted.

    ``lane``: only sales of this part of the queue, and no cancelled ones.
    """

    async def look(session: Session) -> tuple[list[Unreported], dict[str, LoggedSale]]:
        found = await store.unreported(session, limit, leave, lane)
        return found, sales_of(await store.read_logs(session, [one.log_id for one in found if one.log_id is not None]))

    found, sales = await context.database.read(look, tenant=tenant_id)
    if not found:
        return Portion(0, 0, 0.0) if lane is not None else await _take_cancelled(context, tenant_id, run, limit)
    seconds = 0.0

    async def work(session: Session) -> list[Unreported]:
        nonlocal seconds
        watch = Stopwatch(session)
        new = await store.mark_reported(session, [one.job_id for one in found])
        marked = [one for one in found if one.job_id in new]
        sums = await add_up(context, session, run, [sales[one.log_id] for one in marked if one.log_id in sales])
        if marked:
            if (await watch.aside(store.hold_state(session))).rebuild is not None:
                raise _Rebuilding
            await write_sums(context, session, run, sums)
        seconds = watch.seconds
        return marked

    try:
        marked = await context.database.write(work, tenant=tenant_id, durable=False)
    except _Rebuilding:
        return Portion(len(found), 0, 0.0, found[0].enqueued_at)
    at = context.clock()
    for one in marked:
        metrics.report_delay.observe(max(0.0, (at - one.enqueued_at).total_seconds()))
    return Portion(len(found), len(marked), seconds, found[0].enqueued_at)


async def _take_cancelled(context: Context, tenant_id: str, run: Run, limit: int) -> Portion:
    """Take up to ``limit`` cancelled sales, which were counted before, out of the aggregates again."""

    async def look(session: Session) -> tuple[list[CancelledSale], dict[str, LoggedSale]]:
        found = await store.cancelled(session, limit)
        return found, sales_of(await store.read_logs(session, [one.log_id for one in found if one.log_id is not None]))

    found, sales = await context.database.read(look, tenant=tenant_id)
    if not found:
        return Portion(0, 0, 0.0)
    seconds = 0.0

    async def work(session: Session) -> int:
        nonlocal seconds
        watch = Stopwatch(session)
        new = await store.mark_taken(session, [one.cancellation_id for one in found])
        gone = [sales[one.log_id] for one in found if one.cancellation_id in new and one.log_id in sales]
        sums = await add_up(context, session, run, gone, -1)
        if (await watch.aside(store.hold_state(session))).rebuild is not None:
            raise _Rebuilding
        await write_sums(context, session, run, sums)
        seconds = watch.seconds
        return len(new)

    try:
        taken = await context.database.write(work, tenant=tenant_id, durable=False)
    except _Rebuilding:
        return Portion(len(found), 0, 0.0, found[0].cancelled_at)
    return Portion(len(found), taken, seconds, found[0].cancelled_at)


Sums = Sequence[tuple[Fold, datetime, Write]]
"""What folds have added up and not written yet, and when they began."""


async def add_up(context: Context, session: Session, run: Run, sales: Sequence[LoggedSale], sign: int = 1) -> Sums:
    """Let every fold add up ``sales``, or (``sign`` -1) what is to be taken out again of cancelled ones.

    The caller's unit of work ensures that each is added once, and taken out once.
    """
    found: list[tuple[Fold, datetime, Write]] = []
    for one in folds().values() if sales else ():
        run.at = one.name
        began_at = context.clock()
        found.append((one, began_at, await one.add(session, sales, began_at, sign)))
    run.at = None
    return found


async def write_sums(context: Context, session: Session, run: Run, sums: Sums) -> None:
    """Write what folds have added up. The unit of work must hold the tenant's state."""
    for one, began_at, write in sums:
        run.at = one.name
        rows = await write(session)
        row = _came_to(run.id_of(one.name), one.name, began_at, context.clock(), rows)
        await add_rows(session, RUNS, [row])
    run.at = None


async def note_failure(context: Context, tenant_id: str, run: Run) -> None:
    """Record in AggregatorRuns that the running fold failed; does nothing if none was running."""
    if run.at is None:
        return
    at = context.clock()
    row = _came_to(run.id_of(run.at), run.at, at, at, 0, "FAILED")
    await context.database.write(lambda session: add_rows(session, RUNS, [row]), tenant=tenant_id, durable=False)


def _came_to(
    run_id: str, name: str, started_at: datetime, completed_at: datetime, rows: int, status: str = "COMPLETED"
) -> dict[str, Any]:
    return {
        "id": run_id,
        "name": name,
        "started_at": started_at,
        "completed_at": completed_at,
        "rows": rows,
        "status": status,
    }


# --- What is computed from aggregates ---------------------------------------------------------------------------------


def _refresh_is_due(state: State, at: datetime, every: timedelta) -> bool:
    """Whether sales were counted since the last refresh, at least ``every`` ago, or a new UTC day has begun."""
    if state.rebuild is not None:
        return False
    if state.refreshed_at is None or state.refreshed_at.date() != at.date():
        return True
    return state.portions != state.refreshed_portions and abs(at - state.refreshed_at) >= every


async def refresh(context: Context, tenant_id: str, *, every: timedelta = timedelta()) -> str | None:
    """Recompute what is derived from aggregates, if due; return the errors as text, or None.

    A part that fails is recorded as FAILED in AggregatorRuns and retried after the next sale; the others continue.
    """
    at = context.clock()
    state = await context.database.read(store.read_state, tenant=tenant_id)
    if not _refresh_is_due(state, at, every):
        return None
    troubles: list[str] = []
    for one in refreshers().values():
        started_at = context.clock()
        try:
            rows, status = await one.refresh(context, tenant_id, at), "COMPLETED"
        except (LeaseLost, Unavailable):
            raise
        except Exception as error:
            _log.exception("reports.refresh_failed", tenant=tenant_id, refresher=one.name)
            troubles.append(f"{one.name} of {tenant_id}: {type(error).__name__}")
            rows, status = 0, "FAILED"
        if rows or status == "FAILED":
            row = _came_to(context.new_id(), one.name, started_at, context.clock(), rows, status)
            await context.database.write(partial(add_rows, name=RUNS, rows=[row]), tenant=tenant_id, durable=False)
    await context.database.write(
        lambda session: store.note_refreshed(session, state.portions, at), tenant=tenant_id, durable=False
    )
    return "; ".join(troubles) or None
