"""Moves that time brings, for rows of all tenants: in portions, through the rules of authoring.

A row is judged again once it is held; somebody may have moved it, or its end, since it was found. A row that cannot be
moved is left, named in the job's trouble, and tried again in the next round: others do not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

import structlog

from promenade.errors import Unavailable
from promenade.store.clock_rows import DueRow, Passage, find_due
from promenade.store.clockwork import LeaseLost
from promenade.store.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork.jobs import Ran
from promenade.workflows.context import Context

__all__ = ["SYSTEM", "move_all"]

SYSTEM = "system"
"""Who acts when only time does."""

FOUND_MAX = 500  # rows of one look
PORTION = 25  # rows of one unit: tills that need one of them, or the writer of SQLite, wait no longer than it takes
RUN_SECONDS = 1.0  # then the other jobs have their turn
REST_SECONDS_MAX = 0.1  # between two units, as long as the one took: tills have the other half
TROUBLES_SHOWN = 5

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Round:
    """One run: until when it may look for more, how many moved, what could not."""

    ends_at: float
    moved: int = 0
    troubles: list[str] = field(default_factory=list)

    def came_to(self, cursor: str | None) -> Ran:
        shown = self.troubles[:TROUBLES_SHOWN]
        more = len(self.troubles) - len(shown)
        trouble = "; ".join([*shown, *([f"and {more} more"] if more else [])]) or None
        return Ran(self.moved, more=cursor is not None, cursor=cursor, trouble=trouble)


async def move_all(context: Context, passages: Sequence[Passage], cursor: str | None) -> Ran:
    """Carry out what is due of ``passages``, in their order, for about a second; the cursor is where to go on."""
    loop = asyncio.get_running_loop()
    now = _Round(loop.time() + RUN_SECONDS)
    first, after = _read(cursor, len(passages))
    for place, passage in enumerate(passages[first:], first):
        while True:
            at = context.clock()
            found = await context.database.read(lambda s: find_due(s, passage, at, after, FOUND_MAX), system=True)  # noqa: B023
            for portion in _portions(found):
                began = loop.time()
                await _move_portion(context, passage, portion, now)
                after = portion[-1]
                if loop.time() >= now.ends_at:
                    return now.came_to(f"{place} {after.tenant_id} {after.id}")
                await asyncio.sleep(min(loop.time() - began, REST_SECONDS_MAX))
            if len(found) < FOUND_MAX:
                break
        after = None
    return now.came_to(None)


def _read(cursor: str | None, passages: int) -> tuple[int, DueRow | None]:
    """Which passage to go on with, and after which row; one that another version left begins anew."""
    parts = (cursor or "").split(" ")
    if len(parts) != 3 or not parts[0].isdecimal() or int(parts[0]) >= passages:
        return 0, None
    return int(parts[0]), DueRow(parts[1], parts[2])


def _portions(found: Sequence[DueRow]) -> list[list[DueRow]]:
    """Rows of one tenant each, and not too many."""
    portions: list[list[DueRow]] = []
    for _, each in groupby(found, key=attrgetter("tenant_id")):
        rows = list(each)
        portions += [rows[start : start + PORTION] for start in range(0, len(rows), PORTION)]
    return portions


async def _move_portion(context: Context, passage: Passage, portion: Sequence[DueRow], now: _Round) -> None:
    try:
        now.moved += await _move(context, passage, portion)
    except (LeaseLost, Unavailable):
        raise
    except Exception:
        if len(portion) > 1:  # one of them: which, shows when each is alone
            for row in portion:
                await _move_portion(context, passage, [row], now)
            return
        name = f"{passage.set_name} {portion[0].id} of {portion[0].tenant_id}"
        _log.exception("clockwork.row_left", verb=passage.verb, row=name)
        now.troubles.append(f"{passage.verb} of {name} failed")


async def _move(context: Context, passage: Passage, portion: Sequence[DueRow]) -> int:
    async def work(session: Session) -> int:
        at = context.clock()
        authoring = Authoring(session, user=SYSTEM, at=at, new_id=context.new_id, by_clock=True)
        await authoring.begin(alone=False)

        def is_due(row: Mapping[str, Any]) -> bool:
            return row["status"] in passage.sources and passage.has_come(row[passage.column], at)

        ids = [row.id for row in portion]
        moved = await authoring.transition_many(passage.set_name, ids, passage.verb, if_=is_due)
        await authoring.finish()
        return len(moved)

    return await context.database.write(work, tenant=portion[0].tenant_id)
