"""The confirmed sales of a period, in pages and in the order of their confirmation.

A sale belongs to a day by its `confirmedAt` in the time zone of its POS group (UTC if the group no longer exists). Each
confirmed transaction counts once, with the iteration that was confirmed; rejected confirms do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import ColumnElement, FromClause, Select, and_, func, or_, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.packing import PackedRecord, StoredRecord, packed_records
from promenade.store.sales.kept import kept_since

_LOGS = table("CalculationLogs")
_ITERATIONS = table("iterations")
_GROUPS = table("PosGroups")
_ZONE = func.coalesce(_GROUPS.c.time_zone, "UTC")

SLICE_DAYS = 31  # days counted by one statement


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in the order of sales: the last one read."""

    confirmed_at: datetime
    log_id: str


@dataclass(frozen=True, slots=True)
class Windows:
    """The period in each time zone that sales may be in: name, start (inclusive), end (exclusive)."""

    zones: tuple[tuple[str, datetime, datetime], ...]

    @property
    def starts(self) -> datetime:
        """The earliest start."""
        return min(starts for _, starts, _ in self.zones)

    @property
    def ends(self) -> datetime:
        """The latest end."""
        return max(ends for _, _, ends in self.zones)


@dataclass(frozen=True, slots=True)
class SaleRow:
    """A confirmed sale. ``record`` is its iteration's (see `decode_record`); None: it is not kept here."""

    cursor: Cursor
    customer_id: str | None
    day: date
    record: PackedRecord | None


async def read_windows(session: Session, date_from: date, date_to: date) -> Windows:
    """Return the windows of ``date_from`` to ``date_to``, both inclusive, in the time zones of the POS groups."""
    rows = await session.execute(select(_GROUPS.c.time_zone).distinct())
    names = {"UTC", *(row.time_zone for row in rows if row.time_zone)}
    after = date_to + timedelta(days=1)
    return Windows(
        tuple((name, _midnight(date_from, _zone(name)), _midnight(after, _zone(name))) for name in sorted(names))
    )


async def kept_in(session: Session, windows: Windows) -> datetime | None:
    """Return since when logs of the sales are kept; None: all that there were are there."""
    since = await kept_since(session)
    return since if since is not None and since > windows.starts else None


async def count_sales(session: Session, windows: Windows, recorded_until: datetime, limit: int | None = None) -> int:
    """Count the sales; with a ``limit``, counting stops there."""
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
    """Read up to ``limit`` sales after ``after`` (None: from the start); if fewer are returned, there are no more."""
    record = [_ITERATIONS.c[name] for name in StoredRecord._fields]
    columns = select(_LOGS.c.id, _LOGS.c.confirmed_at, _LOGS.c.customer_id, _ZONE.label("zone"), *record)
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
    records = iter(await packed_records(session, [StoredRecord.of(row) for row in rows if row.record is not None]))
    return [
        SaleRow(
            Cursor(row.confirmed_at, row.id),
            row.customer_id,
            row.confirmed_at.astimezone(_zone(row.zone)).date(),
            None if row.record is None else next(records),
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
    """Select the confirmed sales between two times that are inside the window of their POS group."""
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
