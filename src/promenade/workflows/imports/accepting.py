"""Accept imports: store the received rows durably; a worker imports them later (reliability I1).

Rows are first staged, one part per unit of work, so that nobody waits long for the database. Then one durable unit
creates their job, or finds an existing one. Rows staged in vain are removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from promenade.errors import Conflict, PromenadeError, TooMany, Unavailable
from promenade.store.driver.unit import Session
from promenade.store.imports.jobs import NewJob, add_job, claim_key, find_key, unfinished
from promenade.store.imports.parts import Part, drop_staged, stage
from promenade.workflows.context import Context

RETRY_AFTER_SECONDS = 5  # for a tenant with too many jobs
_USER_LENGTH_MAX = 255


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """A request to import rows into the set ``entity``, on behalf of ``user``.

    ``source`` is as in ImportJobs. ``key`` with its ``key_scope`` (BULK_IMPORT or MASTER_DATA) makes repeats one job;
    if a ``digest`` is set, a repeat with a different one is refused. ``rows_skipped`` rows were received but are in no
    part.
    ``unfinished_max``: how many unfinished jobs of this source the tenant may have; None: any number.
    """

    entity: str
    source: str
    user: str
    continue_on_error: bool
    key: str | None = None
    key_scope: str | None = None
    digest: bytes | None = None
    rows_skipped: int = 0
    callback_url: str | None = None
    unfinished_max: int | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The job of a request; ``is_replay``: it existed already, and nothing was written."""

    job_id: str
    is_replay: bool


Also = Callable[[Session, str], Awaitable[None]]
"""What is written in the unit that accepts: it is given the session and the ID of the job, and may run twice."""


async def accept_import(
    context: Context, tenant_id: str, order: ImportOrder, parts: Iterable[Part], also: Also | None = None
) -> Accepted:
    """Create a job from ``parts``, which are fetched one at a time in a thread; it is durable on return.

    A key seen within 24 hours stands for its job. Raises Conflict (KEY_REUSED) if the digest differs, TooMany
    (TOO_MANY_JOBS) beyond ``unfinished_max``, whatever ``parts`` and ``also`` raise, and Unavailable.
    """
    job_id = context.new_id()
    staging = _Staging(context, tenant_id, job_id)
    try:
        await staging.stage_all_but_last(iter(parts))
    except BaseException:
        await staging.remove()
        raise
    try:
        accepted = await _accept(context, tenant_id, order, staging, also)
    except Unavailable:
        raise  # it may have been stored nevertheless; if not, the purge removes its rows
    except PromenadeError:
        await staging.remove()
        raise
    if accepted.is_replay:
        await staging.remove()
    else:
        context.imports_ready.set()
    return accepted


async def find_accepted(
    context: Context, tenant_id: str, scope: str, key: str, digest: bytes | None = None
) -> Accepted | None:
    """Find the job of a request seen within 24 hours: a cheap check before a repeat is processed.

    Raises Conflict (KEY_REUSED) if the digest differs.
    """
    at = context.clock()

    async def work(session: Session) -> Accepted | None:
        found = await find_key(session, scope, key, at=at)
        return None if found is None else _repeat(found.job_id, found.digest, digest)

    return await context.database.read(work, tenant=tenant_id)


async def check_room(context: Context, tenant_id: str, source: str, unfinished_max: int, *, under_way: int = 0) -> None:
    """Check quickly whether the tenant may have another job of this source; ``under_way`` others are being received.

    Raises TooMany (TOO_MANY_JOBS).
    """

    async def work(session: Session) -> int:
        return await unfinished(session, source)

    _check_number(under_way + await context.database.read(work, tenant=tenant_id), unfinished_max)


async def _accept(
    context: Context, tenant_id: str, order: ImportOrder, staging: _Staging, also: Also | None
) -> Accepted:
    at = context.clock()
    job = NewJob(
        id=staging.job_id,
        entity=order.entity,
        source=order.source,
        user=order.user[:_USER_LENGTH_MAX],
        continue_on_error=order.continue_on_error,
        key=order.key,
        callback_url=order.callback_url,
        total_rows=staging.row_count + order.rows_skipped,
        rows_skipped=order.rows_skipped,
    )

    async def work(session: Session) -> Accepted:
        if order.key is not None and order.key_scope is not None:
            seen = await claim_key(session, order.key_scope, order.key, job_id=job.id, digest=order.digest, at=at)
            if seen is not None:
                return _repeat(seen.job_id, seen.digest, order.digest)
        if order.unfinished_max is not None:
            _check_number(await unfinished(session, order.source, alone=True), order.unfinished_max)
        await add_job(session, job, at=at)
        if staging.last is not None:
            await stage(session, job.id, [staging.last], at=at)
        if also is not None:
            await also(session, job.id)
        return Accepted(job.id, is_replay=False)

    return await context.database.write(work, tenant=tenant_id)


def _repeat(job_id: str, seen: bytes | None, digest: bytes | None) -> Accepted:
    if digest is not None and digest != seen:
        raise Conflict("KEY_REUSED", "Another request with this key, but different content, was accepted before.")
    return Accepted(job_id, is_replay=True)


def _check_number(jobs: int, jobs_max: int) -> None:
    if jobs >= jobs_max:
        message = f"{jobs_max} imports of the tenant have not ended yet, and no more are allowed; try again later."
        raise TooMany("TOO_MANY_JOBS", message, RETRY_AFTER_SECONDS)


@dataclass(slots=True)
class _Staging:
    """The staged parts of a job that does not exist yet. The last part is kept for the unit that creates the job."""

    context: Context
    tenant_id: str
    job_id: str
    row_count: int = 0
    last: Part | None = None
    has_staged: bool = field(default=False, init=False)

    async def stage_all_but_last(self, parts: Iterator[Part]) -> None:
        while True:
            part = await asyncio.to_thread(next, parts, None)
            if part is None:
                return
            if self.last is not None:
                await self._stage(self.last)
            self.row_count += part.row_count
            self.last = part

    async def _stage(self, part: Part) -> None:
        at = self.context.clock()

        async def work(session: Session) -> None:
            await stage(session, self.job_id, [part], at=at)

        self.has_staged = True
        # INVARIANT: any later durable write makes this durable too, as databases write to one log.
        await self.context.database.write(work, tenant=self.tenant_id, durable=False)

    async def remove(self) -> None:
        """Delete the staged rows, unless the job exists after all; if that fails, the purge deletes them later."""
        if not self.has_staged:
            return

        async def work(session: Session) -> None:
            await drop_staged(session, self.job_id)

        with suppress(Unavailable):
            await self.context.database.write(work, tenant=self.tenant_id, durable=False)
