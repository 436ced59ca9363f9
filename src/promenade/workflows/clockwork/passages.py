"""Moves that time brings (data model, State machines), for rows of all tenants: in portions, by the rules of authoring.

A row is judged again once it is held; somebody may have moved it, or its end, since it was found. A row that cannot be
moved is left, named in the job's trouble, and tried again in the next round: others do not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.clockwork.due import DueRow, TimedMove, find_due
from promenade.store.driver.leases import LeaseLost
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import HALF
from promenade.workflows.context import Context
from promenade.workflows.pace import Pacer

SYSTEM = "system"
"""Who acts when only time does."""

FOUND_MAX = 500  # rows found by one query
PORTION = 25  # rows in one unit: limits how long tills wait for one of them, or for the writer of SQLite
RUN_SECONDS = 1.0  # then the other jobs have their turn
TROUBLES_SHOWN = 5

_log = Logger(__name__)


@dataclass(slots=True)
class _Progress:
    """One run: the number of rows changed, and the failures."""

    moved: int = 0
    troubles: list[str] = field(default_factory=list)

    def result(self, cursor: str | None) -> JobResult:
        shown = self.troubles[:TROUBLES_SHOWN]
        more = len(self.troubles) - len(shown)
        trouble = "; ".join([*shown, *([f"and {more} more"] if more else [])]) or None
        return JobResult(self.moved, more=cursor is not None, cursor=cursor, trouble=trouble)


async def move_all(context: Context, moves: Sequence[TimedMove], cursor: str | None) -> JobResult:
    """Apply the due ``moves``, in order, for about a second; the result's cursor is where to continue."""
    pace, now = Pacer(HALF, run_seconds=RUN_SECONDS), _Progress()
    first, after = _read(cursor, len(moves))
    for place, move in enumerate(moves[first:], first):
        while True:
            at = context.clock()
            found = await context.database.read(lambda s: find_due(s, move, at, after, FOUND_MAX), system=True)  # noqa: B023
            for portion in _portions(found):
                began = pace.now()
                await _move_portion(context, move, portion, now)
                after = portion[-1]
                if pace.is_over:
                    return now.result(f"{place} {after.tenant_id} {after.id}")
                await pace.rest_after(began)
            if len(found) < FOUND_MAX:
                break
        after = None
    return now.result(None)


def _read(cursor: str | None, moves: int) -> tuple[int, DueRow | None]:
    """Return the move and the row to continue after; a cursor of another version starts over."""
    parts = (cursor or "").split(" ")
    if len(parts) != 3 or not parts[0].isdecimal() or int(parts[0]) >= moves:
        return 0, None
    return int(parts[0]), DueRow(parts[1], parts[2])


def _portions(found: Sequence[DueRow]) -> list[list[DueRow]]:
    """Split rows into portions of one tenant and limited size."""
    portions: list[list[DueRow]] = []
    for _, each in groupby(found, key=attrgetter("tenant_id")):
        rows = list(each)
        portions += [rows[start : start + PORTION] for start in range(0, len(rows), PORTION)]
    return portions


async def _move_portion(context: Context, move: TimedMove, portion: Sequence[DueRow], now: _Progress) -> None:
    try:
        now.moved += await _move(context, move, portion)
    except (LeaseLost, Unavailable):
        raise
    except Exception:
        if len(portion) > 1:  # try each row alone to find the one that fails
            for row in portion:
                await _move_portion(context, move, [row], now)
            return
        name = f"{move.set_name} {portion[0].id} of {portion[0].tenant_id}"
        _log.exception("clockwork.row_left", verb=move.verb, row=name)
        now.troubles.append(f"{move.verb} of {name} failed")


async def _move(context: Context, move: TimedMove, portion: Sequence[DueRow]) -> int:
    async def work(session: Session) -> int:
        at = context.clock()
        authoring = Authoring(session, user=SYSTEM, at=at, new_id=context.new_id, by_clock=True)
        await authoring.begin(alone=False)

        def is_due(row: Mapping[str, Any]) -> bool:
            return row["status"] in move.sources and move.is_due(row[move.column], at)

        ids = [row.id for row in portion]
        moved = await authoring.transition_many(move.set_name, ids, move.verb, if_=is_due)
        await authoring.finish()
        return len(moved)

    return await context.database.write(work, tenant=portion[0].tenant_id)


# --- validities that end, windows that open ---------------------------------------------------------------------------

# In this order: a budget that is over already has no use for a start, a campaign whose window was missed goes through
# both.
BUDGETS = (
    TimedMove("Budgets", "expire", ("SCHEDULED", "ACTIVE", "EXHAUSTED"), "valid_to"),
    TimedMove("Budgets", "start", ("SCHEDULED",), "valid_from", open_start=True),
)
CAMPAIGNS = (
    TimedMove("Campaigns", "start", ("SCHEDULED",), "start_at", open_start=True),
    TimedMove("Campaigns", "end", ("ACTIVE",), "end_at"),
)
PROMOTIONS = (TimedMove("Promotions", "expire", ("ACTIVE", "PILOT"), "valid_to"),)


@clock_job("budgets.move", every=timedelta(seconds=5))
async def move_budgets(context: Context, cursor: str | None) -> JobResult:
    """SCHEDULED budgets become ACTIVE at validFrom; at validTo all that run become EXPIRED.

    One that starts with nothing left is EXHAUSTED at once, as authoring has it. Confirms charge budgets meanwhile: each
    side holds a budget's row for what it writes and takes budgets in the order of their IDs; no move writes amounts.
    """
    return await move_all(context, BUDGETS, cursor)


@clock_job("campaigns.move", every=timedelta(seconds=5))
async def move_campaigns(context: Context, cursor: str | None) -> JobResult:
    """SCHEDULED campaigns become ACTIVE at startAt (CAMPAIGN_STARTED), those COMPLETED at endAt (CAMPAIGN_ENDED).

    A campaign without a beginning is open already, so it starts as soon as it is scheduled; one without an end goes on
    until somebody cancels it. A lock does not hold the window up, for it is against authors.
    """
    return await move_all(context, CAMPAIGNS, cursor)


@clock_job("promotions.expire", every=timedelta(seconds=5))
async def expire_promotions(context: Context, cursor: str | None) -> JobResult:
    """ACTIVE and PILOT promotions expire at their validTo, in a locked campaign too: PROMOTION_EXPIRED.

    No price waits for that: evaluation judges validity itself. It is for people and for subscribers.
    """
    return await move_all(context, PROMOTIONS, cursor)
