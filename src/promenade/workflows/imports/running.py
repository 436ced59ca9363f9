"""Import jobs are carried out: a stretch of one at a time, each slice of rows in a transaction, or all rows in one.

Whatever becomes of a worker, a row counts once: the rows of a slice, what became of each, and how far the job is are
one unit of work that holds the job under the worker's token (`store.import_work`). What the database cannot carry out,
or what fails for whatever reason, is tried again later; after `ATTEMPTS_MAX` attempts without getting on the job is
FAILED.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from promenade.errors import Unavailable
from promenade.store import import_work
from promenade.store.import_outcomes import Counts, note_message
from promenade.store.import_parts import NumberedRow, read_part, unpack
from promenade.store.import_work import RETRY_SECONDS_MAX, ImportClaim, LeaseLost
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.imports.busy import Busy
from promenade.workflows.imports.ending import Ended, end, record_metrics, succeeded
from promenade.workflows.imports.importing import Portion, RowFault, RowImporter
from promenade.workflows.imports.progress import counted, failed_rows, note_portion

__all__ = ["ATTEMPTS_MAX", "LEASE_SECONDS", "ImportRun", "Importers", "Pace", "claim_import", "return_claim"]

LEASE_SECONDS = 60
STRETCH_SECONDS = 1.0  # then other tenants have their turn
TELL_SECONDS = 2.0  # between two words of how far a job is whose rows count all at once
ATTEMPTS_MAX = 5
RETRY_SECONDS = (2, 10, 60, RETRY_SECONDS_MAX)  # after the first failed attempt, the second, ...

_log = structlog.get_logger(__name__)


class Importers(Protocol):
    """Gives an importer of an entity set, for one slice of rows or for all of a job."""

    def __call__(self, entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter: ...


class Pace(Protocol):
    """How many rows a slice has, and how long the worker rests between two; times are of the processor."""

    @property
    def rows(self) -> int: ...

    def worked(self, rows: int, seconds: float) -> None: ...

    async def rest(self) -> None: ...

    async def rest_within(self) -> None: ...


class _Faulty(Exception):
    """A row that keeps all others from being stored; undoes the unit."""

    def __init__(self, faults: Sequence[RowFault]) -> None:
        super().__init__()
        self.faults = faults


class _Stopped(Exception):
    """The worker is told to stop; undoes the unit."""


@dataclass(slots=True)
class _Told:
    """What the unit that stores everything tells the one beside it, and is told by it."""

    rows: int = 0
    is_lost: bool = False


async def claim_import(context: Context, after: str, lease_seconds: int = LEASE_SECONDS) -> ImportClaim | None:
    """Claim the next job of the tenant whose turn it is after tenant ``after``; None: there is nothing to do now.

    Raises Unavailable with the database away.
    """
    if not await context.database.read(import_work.is_anything_waiting, system=True):
        return None
    owner = context.new_id()

    async def take(session: Session) -> ImportClaim | None:
        return await import_work.claim(
            session, lease_owner=owner, at=context.clock(), lease_seconds=lease_seconds, after=after
        )

    return await context.database.write(take, system=True, durable=False)


async def return_claim(context: Context, held: ImportClaim, *, seconds: float = 0, attempts: int | None = None) -> None:
    """Let another have a job, so many seconds from now; ``attempts`` replaces their number."""
    due_at = context.clock() + timedelta(seconds=seconds)

    async def work(session: Session) -> bool:
        return await import_work.give_back(session, held, due_at=due_at, attempts=attempts)

    await context.database.write(work, tenant=held.tenant_id, durable=False)


class ImportRun:
    """One claim of a job. ``stopping`` tells whether the worker is to stop; ``held`` is the job as it stands."""

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
        """Work on the job for a stretch, or to its end where all rows count at once, then let go of it.

        Raises Unavailable when the database is away and the job could not be given back.
        """
        if self.held.attempts > ATTEMPTS_MAX:  # whoever had it died in it
            await self._give_up("It was begun again and again, and never finished.")
            return
        try:
            await (self._slice_by_slice() if self.held.continue_on_error else self._all_at_once())
        except LeaseLost:
            _log.info("imports.lease_lost", job=self.held.job_id)
        except Unavailable as error:
            _log.warning("imports.put_off", job=self.held.job_id, attempts=self.held.attempts, reason=error.message)
            await self._put_off("The database could not carry it out.")
        except Exception:
            # What databases say holds statements and rows, which are for the log alone.
            _log.exception("imports.put_off", job=self.held.job_id, attempts=self.held.attempts)
            await self._put_off("The service failed at it; its log says more.")

    # --- slices that count one by one ---------------------------------------------------------------------------------

    async def _slice_by_slice(self) -> None:
        over = self._now() + self._stretch_seconds
        importer = self._importer()
        has_got_on = False
        while self.held.next_part < self.held.parts:
            number = self.held.next_part
            rows = await self._read(number)
            while self.held.next_part == number:
                # At least one slice: where reading a part takes longer than a stretch, the job would never get on.
                if self._stopping() or (has_got_on and self._now() >= over):
                    await return_claim(self._context, self.held, attempts=0)
                    return
                few = rows[self.held.offset :][: min(self._pace.rows, importer.rows_max)]
                ended = await self._store_slice(importer, few, len(rows))
                has_got_on = True
                if ended is not None:
                    record_metrics(self.held, ended, self._context.clock())
                    return
                await self._pace.rest()
        await self._end(succeeded(self.held, Counts(self.held.rows_succeeded, self.held.rows_failed)))

    async def _read(self, number: int) -> list[NumberedRow]:
        tenant_id, job_id = self.held.tenant_id, self.held.job_id
        part = await self._context.database.read(lambda session: read_part(session, job_id, number), tenant=tenant_id)
        if part is None:
            raise LeaseLost  # the job has ended meanwhile
        return await asyncio.to_thread(unpack, part)

    async def _store_slice(self, importer: RowImporter, few: Sequence[NumberedRow], of: int) -> Ended | None:
        """Store some rows of a part of ``of`` rows; what the job came to, if they were the last."""
        held = self.held
        offset = held.offset + len(few)
        next_part, offset = (held.next_part, offset) if offset < of else (held.next_part + 1, 0)
        # What the power takes along before the job has ended is done again, together with the note that it was done.
        durable = next_part == held.parts
        await asyncio.to_thread(importer.prepare, few)

        async def work(session: Session) -> tuple[Counts, Ended | None]:
            at = self._context.clock()
            await import_work.advance(
                session, held, next_part=next_part, at=at, lease_seconds=self._lease_seconds, durable=durable
            )
            busy = Busy(importer.store(session, few, at=at, keep_good=True))
            portion = await busy
            self._pace.worked(len(few), busy.seconds)
            _check(portion, few)
            counts = counted(held, portion)
            await note_portion(session, held, portion, counts, at=at, new_id=self._context.new_id)
            if next_part < held.parts:
                return counts, None
            ended = succeeded(held, counts)
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
        told = _Told()
        try:
            async with self._telling(told):
                ended = await self._context.database.write(
                    lambda session: self._store_all(session, told), tenant=self.held.tenant_id
                )
        except _Faulty as faulty:
            await self._fail(faulty.faults)
        except _Stopped:
            await return_claim(self._context, self.held, attempts=self.held.attempts - 1)
        else:
            record_metrics(self.held, ended, self._context.clock())

    async def _store_all(self, session: Session, told: _Told) -> Ended:
        """May run twice: it begins with the first row each time, and has noted nothing outside of the unit."""
        held, at, importer = self.held, self._context.clock(), self._importer()
        told.rows = 0
        for number in range(held.parts):
            part = await read_part(session, held.job_id, number)
            if part is None:
                raise LeaseLost
            rows = unpack(part)
            done = 0
            while done < len(rows):
                if self._stopping():
                    raise _Stopped
                if told.is_lost:
                    raise LeaseLost
                # On SQLite the writer is held until all are stored, and small slices only make that longer.
                rows_max = importer.rows_max if session.dialect == "sqlite" else min(self._pace.rows, importer.rows_max)
                few = rows[done : done + rows_max]
                await self._store_few(session, importer, few, at)
                done += len(few)
                told.rows += len(few)
        ended = succeeded(held, Counts(told.rows, 0))
        await end(self._context, session, held, ended, at)
        return ended

    async def _store_few(
        self, session: Session, importer: RowImporter, few: Sequence[NumberedRow], at: datetime
    ) -> None:
        session.renew()
        if session.dialect == "postgresql":
            await asyncio.to_thread(importer.prepare, few)
        busy = Busy(importer.store(session, few, at=at, keep_good=False))
        portion = await busy
        if portion.faults:
            raise _Faulty(portion.faults)
        _check(portion, few)
        if session.dialect == "postgresql":  # on SQLite the writer would be held while it rests
            self._pace.worked(len(few), busy.seconds)
            await self._pace.rest_within()

    async def _fail(self, faults: Sequence[RowFault]) -> None:
        """End a job of whose rows none was stored, with what is wrong with the first that is faulty."""
        first = min(faults, key=lambda fault: fault.number)
        portion = Portion(faults=tuple(fault for fault in faults if fault.number == first.number))
        message = f"Nothing was imported, because of row {first.number}: {first.message}"
        await self._end(Ended("FAILED", Counts(0, 1), message), portion)

    @asynccontextmanager
    async def _telling(self, told: _Told) -> AsyncIterator[None]:
        """Tell how far the job is and keep the lease while all is stored: on SQLite beforehand, then nobody can write.

        Nobody can claim the job there either.
        """
        await self._tell(told)
        if self._context.database.dialect == "sqlite":
            yield
            return
        over = asyncio.Event()
        task = asyncio.create_task(self._keep_telling(told, over))
        try:
            yield
        finally:
            over.set()
            await task

    async def _keep_telling(self, told: _Told, over: asyncio.Event) -> None:
        while not told.is_lost:
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), min(TELL_SECONDS, self._lease_seconds / 4))
            if over.is_set():
                return
            try:
                await self._tell(told)
            except LeaseLost:
                told.is_lost = True
            except Exception as error:  # the other unit finds out what is wrong
                _log.warning("imports.not_told", job=self.held.job_id, reason=str(error))

    async def _tell(self, told: _Told) -> None:
        held = self.held
        message = f"{told.rows} of {held.rows} rows have been checked; none counts until all have."

        async def work(session: Session) -> None:
            at = self._context.clock()
            await import_work.keep(session, held, at=at, lease_seconds=self._lease_seconds)
            await note_message(session, held.job_id, message, at)

        await self._context.database.write(work, tenant=held.tenant_id, durable=False)

    # --- the end ------------------------------------------------------------------------------------------------------

    async def _put_off(self, why: str) -> None:
        """Try again later, each time a little later, or not at all."""
        if self.held.attempts >= ATTEMPTS_MAX:
            await self._give_up(why)
        else:
            await return_claim(self._context, self.held, seconds=RETRY_SECONDS[self.held.attempts - 1])

    async def _give_up(self, why: str) -> None:
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
    """INVARIANT: each row is told of. How far a job is, is known by their number."""
    told = len(portion.stored) + failed_rows(portion.faults)
    if told != len(rows):
        raise RuntimeError(f"an importer told of {told} rows of {len(rows)}")
