"""The confirmed sales of a period, page by page in the order in which they were confirmed.

A sale belongs to a day by its `confirmedAt` on the clock of its POS group (UTC, where the group is gone). Each
confirmed transaction counts once, with the iteration that was confirmed; refused confirms do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import ColumnElement, FromClause, Select, and_, func, or_, select

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["Cursor", "SaleRow", "Windows", "count_sales", "read_sales", "read_windows"]

_LOGS = table("CalculationLogs")
_ITERATIONS = table("iterations")
_GROUPS = table("PosGroups")
_ZONE = func.coalesce(_GROUPS.c.time_zone, "UTC")

SLICE_DAYS = 31  # how much of a period one statement counts


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the order of sales: the one that was read last."""

    confirmed_at: datetime
    log_id: str


@dataclass(frozen=True, slots=True)
class Windows:
    """The days of a period in each time zone that sales may be in: name, from (included), to (not included)."""

    zones: tuple[tuple[str, datetime, datetime], ...]

    @property
    def starts(self) -> datetime:
        """When the first of them begins."""
        return min(starts for _, starts, _ in self.zones)

    @property
    def ends(self) -> datetime:
        """When the last of them has ended."""
        return max(ends for _, _, ends in self.zones)


@dataclass(frozen=True, slots=True)
class SaleRow:
    """A confirmed sale. ``record`` is its iteration's (see `store.iterations`); None: it is not kept here."""

    cursor: Cursor
    customer_id: str | None
    day: date
    record: bytes | None


async def read_windows(session: Session, date_from: date, date_to: date) -> Windows:
    """The days ``date_from`` to ``date_to``, both included, on the clocks of the tenant's POS groups."""
    rows = await session.execute(select(_GROUPS.c.time_zone).distinct())
    names = {"UTC", *(row.time_zone for row in rows if row.time_zone)}
    after = date_to + timedelta(days=1)
    return Windows(
        tuple((name, _midnight(date_from, _zone(name)), _midnight(after, _zone(name))) for name in sorted(names))
    )


async def count_sales(session: Session, windows: Windows, recorded_until: datetime, limit: int | None = None) -> int:
    """How many sales there are; with a ``limit``, no more than that are counted."""
    if limit is not None:
        few = _sales(select(_LOGS.c.id), windows, recorded_until, windows.starts, windows.ends).limit(limit)
        return int((await session.execute(select(func.count()).select_from(few.subquery())))[0][0])
    total, starts = 0, windows.starts
    while starts < windows.ends:
        ends = min(starts + timedelta(days=SLICE_DAYS), windows.ends)
        rows = await session.execute(_sales(select(func.count()), windows, recorded_until, starts, ends))
        total += int(rows[0][0])
        starts = ends
    return total


async def read_sales(
    session: Session, windows: Windows, recorded_until: datetime, after: Cursor | None, limit: int
) -> list[SaleRow]:
    """The next sales after ``after`` (None: the first ones), at most ``limit``; fewer: there are no more."""
    columns = select(_LOGS.c.id, _LOGS.c.confirmed_at, _LOGS.c.customer_id, _ZONE.label("zone"), _ITERATIONS.c.record)
    starts = windows.starts if after is None else after.confirmed_at
    source = _LOGS.outerjoin(_GROUPS, _GROUPS.c.id == _LOGS.c.pos_group_id).outerjoin(
        _ITERATIONS,
        and_(
            _ITERATIONS.c.origin == _LOGS.c.origin,
            _ITERATIONS.c.transaction_id == _LOGS.c.transaction_id,
            _ITERATIONS.c.transaction_counter == _LOGS.c.transaction_counter,
        ),
    )
    statement = _sales(columns, windows, recorded_until, starts, windows.ends, source)
    if after is not None:
        statement = statement.where(or_(_LOGS.c.confirmed_at > after.confirmed_at, _LOGS.c.id > after.log_id))
    rows = await session.execute(statement.order_by(_LOGS.c.confirmed_at, _LOGS.c.id).limit(limit))
    return [
        SaleRow(
            Cursor(row.confirmed_at, row.id),
            row.customer_id,
            row.confirmed_at.astimezone(_zone(row.zone)).date(),
            row.record,
        )
        for row in rows
    ]


def _sales(
    columns: Select[Any],
    windows: Windows,
    recorded_until: datetime,
    starts: datetime,
    ends: datetime,
    source: FromClause | None = None,
) -> Select[Any]:
    """The confirmed sales between two moments that lie inside the window of their POS group."""
    joined = _LOGS.outerjoin(_GROUPS, _GROUPS.c.id == _LOGS.c.pos_group_id) if source is None else source
    return columns.select_from(joined).where(
        _LOGS.c.status == "CALCULATED",
        _LOGS.c.confirmed_at >= starts,
        _LOGS.c.confirmed_at < ends,
        _LOGS.c.created_at <= recorded_until,
        or_(*(_inside(name, opens, closes) for name, opens, closes in windows.zones)),
    )


def _inside(zone: str, opens: datetime, closes: datetime) -> ColumnElement[bool]:
    return and_(
        _ZONE == zone,  # noqa: SIM300
        _LOGS.c.confirmed_at >= opens,
        _LOGS.c.confirmed_at < closes,
    )


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
