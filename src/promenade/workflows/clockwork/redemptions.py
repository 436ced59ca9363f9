"""Delete events of coupon codes that a tenant does not want to keep, once their code has ended: by whole months of UTC.

No index leads to the time of an event, so once a month a pass looks at all events of a tenant, in the order of their
IDs. It begins by raising a mark; readers take what is before it for gone. What stays all the same:

- what happened to a code that may still be redeemed, or to one that many share,
- that a code became valid again.

Stores keep their events.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from promenade.store.clockwork import redemptions as store
from promenade.store.clockwork.dropping import Mark, read_days, read_mark, write_mark
from promenade.store.clockwork.redemptions import Look
from promenade.store.driver.unit import Session
from promenade.store.sales.kept import REDEMPTIONS
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import walking
from promenade.workflows.context import Context

EVERY = timedelta(hours=1)
_DAYS = "redemption_log_days"
LOOKED = 500  # events that a portion reads by their key
UNIT_ROWS = 40  # how many of them it deletes at most, as `workflows.clockwork.purges` has it


@clock_job("purge.redemptions", every=EVERY)
async def redemptions(context: Context, cursor: str | None) -> JobResult:
    """Delete events of coupon codes, of the tenants that have set how long they stay."""
    if context.is_store:
        return JobResult(0)
    return await walking(context, cursor, _DAYS, partial(_Pass, context))


@dataclass(frozen=True, slots=True)
class _Step:
    """What a pass does next: raise the ``mark``, or delete what it has ``seen`` before ``until``."""

    mark: Mark
    until: datetime
    seen: Look | None


class _Pass:
    """A look at all events of a tenant; ``place`` is the last one that was looked at."""

    def __init__(self, context: Context, tenant_id: str, place: str) -> None:
        self.place = place
        self._context = context
        self._tenant_id = tenant_id

    async def portion(self) -> tuple[int, bool]:
        """Begin a pass, go on with it, or end it; return how many events went, and whether there is more to do."""
        step = await self._context.database.read(self._plan, tenant=self._tenant_id)
        if step is None:
            return 0, False
        seen, gone = step.seen, 0
        if seen is None:
            self.place = ""
            await self._write_mark(replace(step.mark, purged_before=step.until))
            return 0, True
        few = seen.due[:UNIT_ROWS]
        if few:
            gone = await self._context.database.write(
                lambda session: store.drop(session, few, step.until), tenant=self._tenant_id, durable=False
            )
        if len(few) < len(seen.due):
            self.place = few[-1]
        elif seen.last is not None:
            self.place = seen.last
        else:
            await self._write_mark(replace(step.mark, spared_before=step.mark.purged_before))
            return gone, False
        return gone, True

    async def _plan(self, session: Session) -> _Step | None:
        mark, days = await read_mark(session, REDEMPTIONS), await read_days(session, _DAYS)
        if days is None:
            return None
        limit, begun = self._limit(days), mark.purged_before
        if begun is None or begun < limit:
            return _Step(mark, limit, None)
        if mark.spared_before == begun:  # this month's pass has ended
            return None
        until = min(limit, begun)
        return _Step(mark, until, await store.look(session, self.place, until, LOOKED))

    def _limit(self, days: int) -> datetime:
        """Return the beginning of the month that the tenant's days, and all that erasures go by, lead back to."""
        kept = self._context.retention
        before = self._context.clock() - timedelta(days=max(days, kept.sales, kept.iterations, kept.events))
        return before.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)

    async def _write_mark(self, mark: Mark) -> None:
        await self._context.database.write(
            lambda session: write_mark(session, mark, REDEMPTIONS), tenant=self._tenant_id, durable=False
        )
