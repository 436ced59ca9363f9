"""Import jobs are carried out: a stretch of one at a time, each slice of rows in a transaction, or all rows in one.

Whatever becomes of a worker, a row counts once: the rows of a slice, what became of each, and how far the job is are
one unit of work that holds the job under the worker's token (`store.imports.work`). What the database cannot carry out,
or what fails for whatever reason, is tried again later; after `ATTEMPTS_MAX` attempts without getting on the job is
FAILED.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from promenade import metrics, model
from promenade.errors import Unavailable
from promenade.events import (
    ArticleImportJobCompleted,
    ArticleImportJobFailed,
    Event,
)
from promenade.log import Logger
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.driver.leases import IMPORTS, LeaseLost
from promenade.store.driver.unit import Session
from promenade.store.imports import work as import_work
from promenade.store.imports.outcomes import Counts, end_article_job, end_job, note_message, read_master_data_callback
from promenade.store.imports.parts import NumberedRow, read_part, unpack
from promenade.store.imports.work import ImportClaim, drop
from promenade.store.webhooks.outbox import emit
from promenade.workflows.authoring.jobs import job_event
from promenade.workflows.context import Context
from promenade.workflows.imports.importing import Portion, RowFault, RowImporter
from promenade.workflows.imports.master_data import INTERFACE, MASTER_DATA
from promenade.workflows.imports.progress import counted, failed_rows, note_portion, storable
from promenade.workflows.imports.repeats import RepeatedKeys

LEASE_SECONDS = IMPORTS.lease_seconds
STRETCH_SECONDS = 1.0  # then other tenants have their turn
REPORT_SECONDS = 2.0  # between two progress reports of a job that stores all rows at once
ATTEMPTS_MAX = IMPORTS.attempts_max

_log = Logger(__name__)


class Importers(Protocol):
    """Returns an importer of an entity set, for one slice of rows or for all rows of a job."""

    def __call__(self, entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter: ...


class Pace(Protocol):
    """How many rows a slice has, and how long the worker pauses between two slices; times are CPU times."""

    @property
    def rows(self) -> int: ...

    def worked(self, rows: int, seconds: float) -> None: ...

    async def rest(self) -> None: ...

    async def rest_within(self) -> None: ...


class _Faulty(Exception):
    """A faulty row prevents all others from being stored; rolls the unit back."""

    def __init__(self, faults: Sequence[RowFault]) -> None:
        super().__init__()
        self.faults = faults


class _Stopped(Exception):
    """The worker is being stopped; rolls the unit back."""


@dataclass(slots=True)
class _ReportedProgress:
    """State shared between the unit that stores all rows and the one that reports progress."""

    rows: int = 0
    is_lost: bool = False


async def claim_import(context: Context, after: str, lease_seconds: int = LEASE_SECONDS) -> ImportClaim | None:
    """Claim the next job of the tenant that comes after tenant ``after``; None: there is nothing to do now.

    Raises Unavailable if the database is unreachable.
    """
    if not await context.database.read(import_work.is_anything_waiting, system=True):
        return None
    owner = context.new_id()

    async def take(session: Session) -> ImportClaim | None:
        return await import_work.claim(
            session, lease_owner=owner, at=context.clock(), lease_seconds=lease_seconds, after=after
        )

    return await context.database.write(take, system=True, durable=False)


async def return_claim(
    context: Context, held: ImportClaim, *, due_at: datetime | None = None, attempts: int | None = None
) -> None:
    """Release a job for other workers, at once or from ``due_at``; ``attempts`` replaces their number."""
    due = due_at or context.clock()

    async def work(session: Session) -> bool:
        return await import_work.release(session, held, due_at=due, attempts=attempts)

    await context.database.write(work, tenant=held.tenant_id, durable=False)


class ImportRun:
    """One claim of a job. ``stopping`` returns whether the worker should stop; ``held`` is the job's current state."""

    def __init__(
        self,
        context: Context,
        held: ImportClaim,
        importers: Importers,
        pace: Pace,
        stopping: Callable[[], bool],
        *,
        lease_seconds: int = LEASE_SECONDS,
        stretch_seconds: float = STRETCH_SECONDS,
    ) -> None:
        self.held = held
        self._context = context
        self._importers = importers
        self._pace = pace
        self._stopping = stopping
        self._lease_seconds = lease_seconds
        self._stretch_seconds = stretch_seconds
        self._now = asyncio.get_running_loop().time

    async def carry_out(self) -> None:
        """Work on the job for a stretch, or to its end if all rows are stored at once, then release it.

        Raises Unavailable if the database is unreachable and the job could not be released.
        """
        if self.held.attempts > ATTEMPTS_MAX:  # the previous workers died during it
            await self._fail_finally("It was started several times and never finished.")
            return
        try:
            await (self._slice_by_slice() if self.held.continue_on_error else self._all_at_once())
        except LeaseLost:
            _log.info("imports.lease_lost", job=self.held.job_id)
        except Unavailable as error:
            _log.warning("imports.put_off", job=self.held.job_id, attempts=self.held.attempts, reason=error.message)
            await self._retry_later("The database could not store the rows.")
        except Exception:
            # Database errors contain statements and rows, which only belong in the log.
            _log.exception("imports.put_off", job=self.held.job_id, attempts=self.held.attempts)
            await self._retry_later("It failed with an internal error; the service's log says more.")

    # --- slices that count one by one ---------------------------------------------------------------------------------

    async def _slice_by_slice(self) -> None:
        over = self._now() + self._stretch_seconds
        importer = self._importer()
        keys = RepeatedKeys(model.entity(self.held.entity))
        for number in range(self.held.next_part):
            await asyncio.to_thread(keys.add, await self._read(number))
        has_got_on = False
        while self.held.next_part < self.held.parts:
            number = self.held.next_part
            rows = await self._read(number)
            await asyncio.to_thread(keys.add, rows)
            while self.held.next_part == number:
                # At least one slice: if reading a part takes longer than a stretch, the job would never progress.
                if self._stopping() or (has_got_on and self._now() >= over):
                    await return_claim(self._context, self.held, attempts=0)
                    return
                few = rows[self.held.offset :][: min(self._pace.rows, importer.rows_max)]
                ended = await self._store_slice(importer, keys, few, len(rows))
                has_got_on = True
                if ended is not None:
                    record_metrics(self.held, ended, self._context.clock())
                    return
                await self._pace.rest()
        await self._end(finished(self.held, Counts(self.held.rows_succeeded, self.held.rows_failed), keys))

    async def _read(self, number: int) -> list[NumberedRow]:
        tenant_id, job_id = self.held.tenant_id, self.held.job_id
        part = await self._context.database.read(lambda session: read_part(session, job_id, number), tenant=tenant_id)
        if part is None:
            raise LeaseLost  # the job has ended in the meantime
        return await asyncio.to_thread(unpack, part)

    async def _store_slice(
        self, importer: RowImporter, keys: RepeatedKeys, few: Sequence[NumberedRow], of: int
    ) -> Ended | None:
        """Store some rows of a part of ``of`` rows; return the job's result if they were the last."""
        held = self.held
        offset = held.offset + len(few)
        next_part, offset = (held.next_part, offset) if offset < of else (held.next_part + 1, 0)
        # If a power failure loses this before the job ends, the progress is lost with it, and the slice is repeated.
        durable = next_part == held.parts
        await asyncio.to_thread(importer.prepare, few)

        async def work(session: Session) -> tuple[Counts, Ended | None]:
            at = self._context.clock()
            await import_work.advance(
                session, held, next_part=next_part, at=at, lease_seconds=self._lease_seconds, durable=durable
            )
            busy = Busy(importer.store(session, few, at=at, keep_good=True))
            portion = keys.named(await busy)
            self._pace.worked(len(few), busy.seconds)
            _check(portion, few)
            counts = counted(held, portion)
            await note_portion(session, held, portion, counts, at=at, new_id=self._context.new_id)
            if next_part < held.parts:
                return counts, None
            ended = finished(held, counts, keys)
            await end(self._context, session, held, ended, at)
            return counts, ended

        counts, ended = await self._context.database.write(work, tenant=held.tenant_id, durable=durable)
        self.held = replace(
            held,
            next_part=next_part,
            offset=offset,
            rows_succeeded=counts.succeeded,
            rows_failed=counts.failed,
            attempts=1,
        )
        return ended

    def _importer(self) -> RowImporter:
        held = self.held
        return self._importers(held.entity, self._context, tenant_id=held.tenant_id, user=held.user, source=held.source)

    # --- all rows or none ---------------------------------------------------------------------------------------------

    async def _all_at_once(self) -> None:
        told = _ReportedProgress()
        try:
            async with self._reporting(told):
                ended = await self._context.database.write(
                    lambda session: self._store_all(session, told), tenant=self.held.tenant_id
                )
        except _Faulty as faulty:
            await self._fail(faulty.faults)
        except _Stopped:
            await return_claim(self._context, self.held, attempts=self.held.attempts - 1)
        else:
            record_metrics(self.held, ended, self._context.clock())

    async def _store_all(self, session: Session, told: _ReportedProgress) -> Ended:
        """Store all rows. May run twice: it starts with the first row each time, without effects outside of the
        unit.
        """
        held, at, importer = self.held, self._context.clock(), self._importer()
        keys = RepeatedKeys(model.entity(held.entity))
        told.rows = 0
        for number in range(held.parts):
            part = await read_part(session, held.job_id, number)
            if part is None:
                raise LeaseLost
            rows = unpack(part)
            keys.add(rows)
            done = 0
            while done < len(rows):
                if self._stopping():
                    raise _Stopped
                if told.is_lost:
                    raise LeaseLost
                # On SQLite the writer is locked until all rows are stored; small slices only prolong that.
                rows_max = importer.rows_max if session.dialect == "sqlite" else min(self._pace.rows, importer.rows_max)
                few = rows[done : done + rows_max]
                await self._store_few(session, importer, keys, few, at)
                done += len(few)
                told.rows += len(few)
        ended = finished(held, Counts(told.rows, 0), keys)
        await end(self._context, session, held, ended, at)
        return ended

    async def _store_few(
        self, session: Session, importer: RowImporter, keys: RepeatedKeys, few: Sequence[NumberedRow], at: datetime
    ) -> None:
        session.renew()
        if session.dialect == "postgresql":
            await asyncio.to_thread(importer.prepare, few)
        busy = Busy(importer.store(session, few, at=at, keep_good=False))
        portion = await busy
        if portion.faults:
            raise _Faulty(keys.named(portion).faults)
        _check(portion, few)
        if session.dialect == "postgresql":  # on SQLite the writer would be locked during the pause
            self._pace.worked(len(few), busy.seconds)
            await self._pace.rest_within()

    async def _fail(self, faults: Sequence[RowFault]) -> None:
        """End a job that stored nothing, with the faults of the first faulty row."""
        first = min(faults, key=lambda fault: fault.number)
        portion = Portion(faults=tuple(fault for fault in faults if fault.number == first.number))
        message = f"Nothing was imported, because of row {first.number}: {first.message}"
        await self._end(Ended("FAILED", Counts(0, 1), message), portion)

    @asynccontextmanager
    async def _reporting(self, told: _ReportedProgress) -> AsyncIterator[None]:
        """Report progress and renew the lease while all rows are stored.

        On SQLite only beforehand: nobody else can write then, so nobody can claim the job either.
        """
        await self._report_progress(told)
        if self._context.database.dialect == "sqlite":
            yield
            return
        over = asyncio.Event()
        task = asyncio.create_task(self._keep_reporting(told, over))
        try:
            yield
        finally:
            over.set()
            await task

    async def _keep_reporting(self, told: _ReportedProgress, over: asyncio.Event) -> None:
        while not told.is_lost:
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), min(REPORT_SECONDS, self._lease_seconds / 4))
            if over.is_set():
                return
            try:
                await self._report_progress(told)
            except LeaseLost:
                told.is_lost = True
            except Exception as error:  # the other unit will run into it too
                _log.warning("imports.not_told", job=self.held.job_id, reason=str(error))

    async def _report_progress(self, told: _ReportedProgress) -> None:
        held = self.held
        message = f"{told.rows} of {held.rows} rows have been checked; none is stored until all have been."

        async def work(session: Session) -> None:
            at = self._context.clock()
            await import_work.keep(session, held, at=at, lease_seconds=self._lease_seconds)
            await note_message(session, held.job_id, message, at)

        await self._context.database.write(work, tenant=held.tenant_id, durable=False)

    # --- the end ------------------------------------------------------------------------------------------------------

    async def _retry_later(self, why: str) -> None:
        """Retry later with growing delays, or give up."""
        due_at = IMPORTS.retry_at(self._context.clock(), self.held.attempts)
        if due_at is None:
            await self._fail_finally(why)
        else:
            await return_claim(self._context, self.held, due_at=due_at)

    async def _fail_finally(self, why: str) -> None:
        held = self.held
        stored = f"{held.rows_succeeded} of {held.rows} rows were" if held.rows_succeeded else "Nothing was"
        message = f"{stored} imported; the import was given up after {ATTEMPTS_MAX} attempts. {why}"
        await self._end(Ended("FAILED", Counts(held.rows_succeeded, held.rows_failed), message))

    async def _end(self, ended: Ended, portion: Portion | None = None) -> None:
        held = self.held

        async def work(session: Session) -> None:
            at = self._context.clock()
            await import_work.keep(session, held, at=at, lease_seconds=self._lease_seconds)
            if portion is not None:
                await note_portion(session, held, portion, ended.counts, at=at, new_id=self._context.new_id)
            await end(self._context, session, held, ended, at)

        try:
            await self._context.database.write(work, tenant=held.tenant_id)
        except LeaseLost:
            _log.info("imports.lease_lost", job=held.job_id)
        else:
            record_metrics(held, ended, self._context.clock())


def _check(portion: Portion, rows: Sequence[NumberedRow]) -> None:
    """INVARIANT: each row has a result, because the job's progress is derived from their number."""
    told = len(portion.stored) + failed_rows(portion.faults)
    if told != len(rows):
        raise RuntimeError(f"an importer told of {told} rows of {len(rows)}")


# --- how long work keeps a processor busy -----------------------------------------------------------------------------

# Beside tills a slice of rows takes longer by the clock, because they have their turns meanwhile, and the longer the
# more there are of them. What it takes from them is its own processor time alone.

T = TypeVar("T")


class Busy(Generic[T]):
    """An awaitable: ``await Busy(work)`` returns the result of ``work``; ``seconds`` is its CPU time in this thread."""

    __slots__ = ("_work", "seconds")

    def __init__(self, work: Awaitable[T]) -> None:
        self._work = work
        self.seconds = 0.0

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._work.__await__()
        go_on: Callable[[], Any] = partial(next, steps)
        while True:
            began = time.thread_time()
            try:
                waited_for = go_on()
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            finally:
                self.seconds += time.thread_time() - began
            try:
                yield waited_for
            except BaseException as error:  # a cancellation, for which the work may have to clean up
                go_on = partial(steps.throw, error)
            else:
                go_on = partial(next, steps)


# --- how a job ends ---------------------------------------------------------------------------------------------------

_MESSAGE_MAX = 2000


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a job: ``status`` is SUCCEEDED or FAILED, ``message`` a sentence for the sender of the rows."""

    status: str
    counts: Counts
    message: str


def finished(held: ImportClaim, counts: Counts, keys: RepeatedKeys) -> Ended:
    """The result of a job whose rows were all processed; a till's batch has failed if no article could be stored."""
    if held.source == "POS_BATCH" and counts.failed and not counts.succeeded:
        return Ended("FAILED", counts, f"None of the {held.rows} articles could be stored.")
    message = f"{counts.succeeded} of {held.rows} rows were imported"
    message += f", {counts.failed} failed." if counts.failed else "."
    if held.rows_skipped:
        message += f" {held.rows_skipped} were skipped."
    message += keys.sentence()
    return Ended("SUCCEEDED", counts, message)


async def end(context: Context, session: Session, held: ImportClaim, ended: Ended, at: datetime) -> None:
    """Write a job's result, notify subscribers and its callbackUrl, and delete its rows; raises LeaseLost.

    A concurrent change of the callbackUrl either commits before the job's row is written here, and is used, or finds
    the job ended, and calls it itself.
    """
    await drop(session, held)
    message = storable(ended.message, _MESSAGE_MAX)
    callback_url = await end_job(session, held.job_id, status=ended.status, counts=ended.counts, message=message, at=at)
    if callback_url is None and held.source in MASTER_DATA:
        callback_url = await read_master_data_callback(session, held.tenant_id)
    await emit(session, _event(held, ended), event_id=context.new_id(), at=at, callback_url=callback_url)
    if held.source == "POS_BATCH":
        await end_article_job(session, held.job_id, status=ended.status, counts=ended.counts, at=at)
        await emit(session, _article_event(held, ended), event_id=context.new_id(), at=at)
    if held.entity == "Articles":
        await _audit_articles(context, session, held, message, at)


def _event(held: ImportClaim, ended: Ended) -> Event:
    job = {
        "id": held.job_id,
        "entity": held.entity,
        "source": held.source,
        "total_rows": held.total_rows,
        "rows_succeeded": ended.counts.succeeded,
        "rows_failed": ended.counts.failed,
        "rows_skipped": held.rows_skipped,
    }
    return job_event(job, ended.status, ended.message)


def _article_event(held: ImportClaim, ended: Ended) -> Event:
    counts = ended.counts
    numbers = (held.total_rows, counts.succeeded + counts.failed, counts.failed)  # as in the job's row
    if ended.status == "SUCCEEDED":
        return ArticleImportJobCompleted(held.job_id, *numbers)
    return ArticleImportJobFailed(held.job_id, *numbers, ended.message)


async def _audit_articles(context: Context, session: Session, held: ImportClaim, message: str, at: datetime) -> None:
    """Write one audit entry for all articles of a job; other rows are audited one by one when they are stored."""
    job = Subject("Articles", held.job_id, held.source)
    await write_trail(session, [trail_entry(context.new_id(), at, held.user, "IMPORT", job, note=message)])


def record_metrics(held: ImportClaim, ended: Ended, at: datetime) -> None:
    """Count an ended job in the metrics, once it is committed."""
    seconds = max(0.0, (at - held.began).total_seconds())
    metrics.imports.labels(held.tenant_id, held.source, ended.status).inc()
    metrics.imports_duration.labels(held.tenant_id, held.source).observe(seconds)
    if held.source in MASTER_DATA:
        metrics.drfout_job_duration.labels(held.tenant_id, INTERFACE).observe(seconds)
