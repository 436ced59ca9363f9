"""Delete the logs of sales that a tenant does not want to keep: whole days of UTC, or whole months of an archive.

A log goes `salesLogDays` after its sale was made and written, and not before the sale's evaluations, jobs and events
(`Retention`): an erasure of its customer finds those by the log. First a mark is raised to the end of the next day or
month, in the unit of work that deletes its first logs; readers take what is before it for gone. The mark does not pass

- what a check of the archive has found there, unless the tenant wants no archive; logs that were written or changed
  after that check stay,
- the start of a running pilot,
- a sale that reports have not counted, or not taken out again.

Nothing is deleted while reports are counted anew. Stores keep their logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from promenade.store.clockwork import dropping as store
from promenade.store.clockwork.dropping import Bounds, Due, Mark, Wish
from promenade.store.driver.unit import Database, Session
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import in_portions
from promenade.workflows.context import Context, Retention
from promenade.workflows.settlement.returns import decode_record, encode_record

EVERY = timedelta(hours=1)
UNIT_ROWS = 40  # as `workflows.clockwork.purges` has it
_DAY = timedelta(days=1)


@clock_job("purge.logs", every=EVERY)
async def logs(context: Context, cursor: str | None) -> JobResult:
    """Delete logs of sales, with their lines and promotions, of the tenants that have set how long they stay."""
    if context.is_store:
        return JobResult(0)
    wishes = {one.tenant_id for one in await context.database.read(store.read_wishes, system=True)}
    return await in_portions(context, cursor, wishes, partial(_portion, context))


@dataclass(frozen=True, slots=True)
class _Term:
    """What may go at a time, by the tenant's wish: sales made and written before ``before``."""

    wish: Wish
    before: datetime

    @classmethod
    def of(cls, kept: Retention, at: datetime, wish: Wish) -> _Term:
        return cls(wish, at - timedelta(days=max(wish.days, kept.sales, kept.iterations, kept.events)))

    def bounds(self, mark: Mark) -> Bounds | None:
        """Return which logs may go below the mark; None: none."""
        if mark.purged_before is None:
            return None
        until = min(mark.purged_before, begin_of_day(self.before))
        if self.wish.is_unarchived:
            return Bounds(None, until, self.before, None)
        if mark.unchanged_since is None:  # it was raised when no archive was wanted
            return None
        return Bounds(mark.spared_before, until, self.before, mark.unchanged_since)

    async def limit(self, session: Session) -> datetime:
        """Return the time before which logs may go, whatever an archive has."""
        needed = await store.first_needed(session)
        return begin_of_day(self.before) if needed is None else min(needed, begin_of_day(self.before))

    async def raised(self, session: Session, mark: Mark) -> Mark | None:
        """Return the next mark; None: it must not rise now."""
        limit = await self.limit(session)
        if not self.wish.is_unarchived:
            if mark.archived_before is None:
                return None
            limit = min(limit, mark.archived_before)
        first = await store.first_log(session, mark.purged_before)
        if first is None or first >= limit:
            return None
        begin, end = self._span(first)
        if end > limit:
            return None
        if self.wish.is_unarchived:
            return replace(mark, purged_before=end, spared_before=None, unchanged_since=None)
        spared = max(begin, mark.purged_before or begin)
        return replace(mark, purged_before=end, spared_before=spared, unchanged_since=mark.archived_at)

    def _span(self, at: datetime) -> tuple[datetime, datetime]:
        """Return the beginning and the end of the day, or of the month of the archive, that a time is in."""
        day = begin_of_day(at)
        if self.wish.is_unarchived:
            return day, day + _DAY
        begin = day.replace(day=1)
        return begin, (begin + 31 * _DAY).replace(day=1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Months of a tenant whose logs would go if a check of the archive had found them there.

    ``first`` and ``last`` are times in the first and the last of these months; ``checked_at`` is when the archive was
    last checked, None: never.
    """

    tenant_id: str
    first: datetime
    last: datetime
    checked_at: datetime | None


async def waiting_for_check(database: Database, kept: Retention, at: datetime) -> list[Waiting]:
    """Return which logs wait for nothing but a check of the archive, by tenant; a few reads by index for each."""
    found = []
    for wish in await database.read(store.read_wishes, system=True):
        if not wish.is_unarchived:
            read = partial(_waiting, term=_Term.of(kept, at, wish))
            found.append(await database.read(read, tenant=wish.tenant_id))
    return [one for one in found if one is not None]


async def _waiting(session: Session, term: _Term) -> Waiting | None:
    mark = await store.read_mark(session)
    until = begin_of_day(await term.limit(session)).replace(day=1)
    passed = [one for one in (mark.purged_before, mark.archived_before) if one is not None]
    first = await store.first_log(session, max(passed, default=None))
    if first is None or first >= until:
        return None
    return Waiting(term.wish.tenant_id, first, await store.last_log(session, until) or first, mark.archived_at)


def begin_of_day(at: datetime) -> datetime:
    """Return the midnight, in UTC, that a day began with."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


async def _portion(context: Context, tenant_id: str) -> tuple[int, bool]:
    """Delete some logs below the mark; if there are none, raise it. Return how many went, and whether there is more."""

    async def plan(session: Session) -> tuple[Mark, Mark | None]:
        mark, wish = await store.read_mark(session), await store.read_wish(session)
        if wish is None:
            return mark, None
        term = _Term.of(context.retention, context.clock(), wish)
        bounds = term.bounds(mark)
        if bounds is not None and await store.due_logs(session, bounds, 1):
            return mark, mark
        return mark, await term.raised(session, mark)

    seen, wanted = await context.database.read(plan, tenant=tenant_id)
    if wanted is None:
        return 0, False

    async def work(session: Session) -> tuple[int, bool]:
        counted = await store.hold_reports(session)
        wish, mark = await store.read_wish(session), await store.read_mark(session)
        if not counted or wish is None or mark != seen:
            return 0, False
        if wanted != mark:
            await store.write_mark(session, wanted)
        bounds = _Term.of(context.retention, context.clock(), wish).bounds(wanted)
        gone = 0 if bounds is None else await _delete(session, bounds)
        return gone, gone > 0 or wanted != mark

    return await context.database.write(work, tenant=tenant_id, durable=False)


async def _delete(session: Session, bounds: Bounds) -> int:
    due = await store.due_logs(session, bounds, UNIT_ROWS)
    if not due:
        return 0
    named = [one for one in due if one.customer_id is not None]
    records = await store.hold_records(session, named)
    gone = await store.drop_logs(session, due, bounds)
    await store.write_records(session, _without_customers(named, gone, records))
    return len(gone)


def _without_customers(
    due: Sequence[Due], gone: set[str], records: Sequence[tuple[str, str, bytes]]
) -> list[tuple[str, str, bytes]]:
    """Return the records of sales that need their customer no more: no points would come back with a return.

    An erasure finds the others by the booking of their points.
    """
    over = {(one.transaction_id, one.origin) for one in due if one.log_id in gone}
    found = []
    for transaction_id, origin, packed in records:
        record = decode_record(packed)
        if (transaction_id, origin) in over and record.customer_id is not None and not record.points:
            found.append((transaction_id, origin, encode_record(replace(record, customer_id=None))))
    return found
