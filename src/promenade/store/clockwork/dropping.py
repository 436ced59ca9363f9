"""Logs of sales that a tenant does not want to keep; see `workflows.clockwork.dropping`.

Logs are deleted in the order of their sales, below a mark that readers ask (`store.sales.kept`) and that only rises. A
deleted log is one that reports have counted, and taken out again if its sale was cancelled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, false, func, select, text, union_all, update

from promenade.store.driver.recurring import among, one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.sales.kept import MARKS, SALES
from promenade.store.sales.log_parts import unpack

_TENANTS = table("Tenants")
_LOGS = table("CalculationLogs")
_PARTS = table("calculation_log_parts")
_BLOCKS = table("calculation_log_blocks")
_JOBS = table("side_effect_jobs")
_ITERATIONS = table("iterations")
_CANCELLED = table("cancellations")
_CONFIRMATIONS = table("confirmations")
_CONFIGS = table("PromotionPilotConfigs")
_PROMOTIONS = table("Promotions")
_STATE = table("report_state")
_SALE = ("origin", "transaction_id")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a tenant has set: after how many ``days`` logs go, and whether that needs no archive."""

    tenant_id: str
    days: int
    is_unarchived: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the logs of a tenant are dropped, and archived; see the table's columns."""

    purged_before: datetime | None = None
    spared_before: datetime | None = None
    unchanged_since: datetime | None = None
    archived_before: datetime | None = None
    archived_at: datetime | None = None


_MARK_COLUMNS = tuple(MARKS.c[one.name] for one in fields(Mark))


async def read_wishes(session: Session) -> list[Wish]:
    """Return the tenants that want logs to be dropped, by ID. Needs a system session."""
    columns = (_TENANTS.c.tenant_id, _TENANTS.c.sales_log_days, _TENANTS.c.sales_logs_unarchived)
    wanted = select(*columns).where(_TENANTS.c.sales_log_days.is_not(None)).order_by(_TENANTS.c.tenant_id)
    return [_wish(row) for row in await session.execute(wanted)]


async def read_wish(session: Session) -> Wish | None:
    """Return what the session's tenant wants now; None: logs are kept."""
    columns = (_TENANTS.c.tenant_id, _TENANTS.c.sales_log_days, _TENANTS.c.sales_logs_unarchived)
    rows = await session.execute(select(*columns).where(_TENANTS.c.tenant_id == session.tenant))
    if not rows or rows[0].sales_log_days is None:
        return None
    return _wish(rows[0])


def _wish(row: Any) -> Wish:
    return Wish(row.tenant_id, row.sales_log_days, bool(row.sales_logs_unarchived))


async def hold_reports(session: Session) -> bool:
    """Keep reports from being counted, or counted anew, until the unit of work ends.

    False: they are being counted anew, or have never been counted.
    """
    rows = await session.execute(select(_STATE.c.rebuild).with_for_update())
    return bool(rows) and rows[0].rebuild is None


async def read_wishing(session: Session, setting: str) -> list[str]:
    """Return the tenants that have set ``setting``, a column of days, by ID. Needs a system session."""
    wanted = select(_TENANTS.c.tenant_id).where(_TENANTS.c[setting].is_not(None)).order_by(_TENANTS.c.tenant_id)
    return [row.tenant_id for row in await session.execute(wanted)]


async def read_days(session: Session, setting: str) -> int | None:
    """Return what the session's tenant has set as ``setting``, a column of days."""
    days = _TENANTS.c[setting].label("days")
    rows = await session.execute(select(days).where(_TENANTS.c.tenant_id == session.tenant))
    return rows[0].days if rows else None


async def read_mark(session: Session, kind: str = SALES) -> Mark:
    """Return how far logs of a kind are dropped and archived."""
    rows = await session.execute(select(*_MARK_COLUMNS).where(MARKS.c.kind == kind))
    return Mark(*tuple(rows[0])) if rows else Mark()


async def write_mark(session: Session, mark: Mark, kind: str = SALES) -> None:
    """Tell readers that logs of a kind before another time are gone."""
    values = asdict(mark)
    statement = upsert(session.dialect, MARKS).on_conflict_do_update(index_elements=["tenant_id", "kind"], set_=values)
    await session.rowcount(statement, {"kind": kind, **values})


async def first_log(session: Session, since: datetime | None) -> datetime | None:
    """Return the time of the first log from ``since`` on; None: there is none."""
    first = select(_LOGS.c.confirmed_at).order_by(_LOGS.c.confirmed_at).limit(1)
    rows = await session.execute(first if since is None else first.where(_LOGS.c.confirmed_at >= since))
    return rows[0].confirmed_at if rows else None


async def last_log(session: Session, before: datetime) -> datetime | None:
    """Return the time of the last log before ``before``; None: there is none."""
    last = select(_LOGS.c.confirmed_at).where(_LOGS.c.confirmed_at < before)
    rows = await session.execute(last.order_by(_LOGS.c.confirmed_at.desc()).limit(1))
    return rows[0].confirmed_at if rows else None


async def first_needed(session: Session) -> datetime | None:
    """Return the time from which somebody still counts logs; None: nobody does.

    That is the start of a running pilot, or the time of the first sale that reports have not counted or, if it was
    cancelled, not taken out again.
    """
    piloted = and_(_PROMOTIONS.c.id == _CONFIGS.c.promotion_id, _PROMOTIONS.c.status == "PILOT")
    pilots = select(func.min(_CONFIGS.c.pilot_start_at).label("at")).select_from(_CONFIGS.join(_PROMOTIONS, piloted))
    # In the words of their indexes, which SQLite wants to hear.
    waiting = (
        select(func.min(_CONFIRMATIONS.c.confirmed_at).label("at"))
        .select_from(rows.join(_CONFIRMATIONS, and_(*(rows.c[name] == _CONFIRMATIONS.c[name] for name in _SALE))))
        .where(text(f"NOT {rows.name}.reported"))
        for rows in (_JOBS, _CANCELLED)
    )
    found = await session.execute(union_all(pilots, *waiting))
    return min((row.at for row in found if row.at is not None), default=None)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which logs may go: of sales from ``since`` (None: of all) to before ``until``, written before ``written_before``.

    ``unchanged_since`` (None: whenever): logs that were written or changed later differ from the archive, and stay.
    """

    since: datetime | None
    until: datetime
    written_before: datetime
    unchanged_since: datetime | None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions that a log may go."""
        found = [_LOGS.c.confirmed_at < self.until, _LOGS.c.created_at < self.written_before, *_is_over()]
        if self.since is not None:
            found.append(_LOGS.c.confirmed_at >= self.since)
        if self.unchanged_since is not None:
            found += [_LOGS.c.created_at < self.unchanged_since, _LOGS.c.modified_at < self.unchanged_since]
        return found


def _is_over() -> list[ColumnElement[bool]]:
    """Return the conditions that nothing of a sale but its confirmation is kept, and that reports have taken it out if
    it was cancelled.

    Its job goes when reports have counted the sale; an erasure finds jobs and evaluations by the log alone.
    """
    sale = ("tenant_id", *_SALE)
    same = {rows.name: [rows.c[name] == _LOGS.c[name] for name in sale] for rows in (_JOBS, _ITERATIONS, _CANCELLED)}
    return [
        ~exists().where(*same[_JOBS.name]),
        ~exists().where(*same[_ITERATIONS.name]),
        ~exists().where(*same[_CANCELLED.name], _CANCELLED.c.reported == false()),
    ]


@dataclass(frozen=True, slots=True)
class Due:
    """A log that may go: its ID, and the key of its sale; ``customer_id`` as in the log."""

    log_id: str
    transaction_id: str
    origin: str
    customer_id: str | None


async def due_logs(session: Session, bounds: Bounds, limit: int) -> list[Due]:
    """Return up to ``limit`` logs that may go, the first sales first."""
    columns = select(_LOGS.c.id, _LOGS.c.transaction_id, _LOGS.c.origin, _LOGS.c.customer_id)
    few = columns.where(*bounds.conditions()).order_by(_LOGS.c.confirmed_at, _LOGS.c.id).limit(limit)
    return [Due(*tuple(row)) for row in await session.execute(few)]


async def hold_records(session: Session, due: Sequence[Due]) -> list[tuple[str, str, bytes]]:
    """Lock the sales of these logs in the order in which a cancellation does; return each with its packed record."""
    if not due:
        return []
    key = (_CONFIRMATIONS.c.transaction_id, _CONFIRMATIONS.c.origin)
    sales = sorted({(one.transaction_id, one.origin) for one in due})
    held = select(*key, _CONFIRMATIONS.c.sale).where(one_of(key, sales), _CONFIRMATIONS.c.sale.is_not(None))
    found = await session.execute(held.order_by(*key).with_for_update())
    return [(row.transaction_id, row.origin, row.sale) for row in found]


async def write_records(session: Session, records: Sequence[tuple[str, str, bytes]]) -> None:
    """Store the packed records of sales that this unit of work holds."""
    if records:
        its = _CONFIRMATIONS.c.transaction_id == bindparam("of_id"), _CONFIRMATIONS.c.origin == bindparam("of_origin")
        changing = update(_CONFIRMATIONS).where(*its).values(sale=bindparam("new_sale"))
        values = [{"of_id": one, "of_origin": origin, "new_sale": sale} for one, origin, sale in records]
        await session.execute_many(changing, values)


async def drop_logs(session: Session, due: Sequence[Due], bounds: Bounds) -> set[str]:
    """Delete those of these logs that still may go, with lines and promotions; return their IDs.

    A log that somebody is changing stays.
    """
    ids = [one.log_id for one in due]
    held = select(_LOGS.c.id).where(_LOGS.c.id.in_(ids)).order_by(_LOGS.c.id).with_for_update(skip_locked=True)
    ids = [row.id for row in await session.execute(held)]
    # Again: what was committed meanwhile is seen now that the rows are held.
    ids = [row.id for row in await session.execute(select(_LOGS.c.id).where(_LOGS.c.id.in_(ids), *bounds.conditions()))]
    noted = await _notes(session, ids)
    await session.rowcount(delete(_PARTS).where(_PARTS.c.log_id.in_(ids)))
    await session.rowcount(delete(_LOGS).where(_LOGS.c.id.in_(ids)))
    await _forget(session, noted, bounds.written_before)
    return set(ids)


# ---- blocks ----------------------------------------------------------------------------------------------------------


async def _notes(session: Session, ids: Sequence[str]) -> set[tuple[int, str]]:
    """Return the blocks of these logs with their promotions."""
    columns = select(_PARTS.c.log_id, _PARTS.c.block, _PARTS.c.promotions)
    return _pairs(await session.execute(columns.where(_PARTS.c.log_id.in_(ids))))


def _pairs(parts: Sequence[Any]) -> set[tuple[int, str]]:
    return {
        (row.block, one.promotion_id)
        for row in parts
        for one in unpack("CalculationLogPromotions", row.log_id, row.promotions or ())
    }


async def _forget(session: Session, noted: Collection[tuple[int, str]], written_before: datetime) -> None:
    """Delete the notes of promotions that no log of their block has any more.

    Those of a block that a process may still be filling stay.
    """
    if not noted:
        return
    columns = select(_PARTS.c.log_id, _PARTS.c.block, _PARTS.c.promotions, _PARTS.c.created_at)
    left = await session.execute(*among((_PARTS.c.block,), sorted({block for block, _ in noted}), columns.where))
    filling = {row.block for row in left if row.created_at >= written_before}
    over = sorted((one, block) for block, one in set(noted) - _pairs(left) if block not in filling)
    if over:  # one by one: for a list of keys SQLite would look at all blocks of a promotion
        its = _BLOCKS.c.promotion_id == bindparam("of_promotion"), _BLOCKS.c.block == bindparam("of_block")
        await session.execute_many(
            delete(_BLOCKS).where(*its), [{"of_promotion": one, "of_block": block} for one, block in over]
        )
