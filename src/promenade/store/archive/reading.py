"""The rows that an archive holds: their kinds, their columns, and pages of them in an order that does not change.

A month is one of UTC, by the time that each kind names. Where an index leads to that time a month is read alone, in the
order of time and ID. Elsewhere a pass goes over all rows of the tenant in the order of their IDs and serves several
months: an index for it would cost every sale something, and an archive needs it once a month.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Row, and_, or_, select

from promenade.store.driver.schema import table
from promenade.store.driver.types import ExactDecimal, Json, Timestamp
from promenade.store.driver.unit import Session
from promenade.store.sales.log_parts import part_types, unpack

PAGE_ROWS = 2_000
PAGE_LOGS = 500
"""Logs of sales in a page: each brings its lines and promotions."""

_PARTS = table("calculation_log_parts")
_ITEMS, _PROMOTIONS = "calculation_log_items", "calculation_log_promotions"
_SETS = {_ITEMS: "CalculationLogItems", _PROMOTIONS: "CalculationLogPromotions"}
_OF_LOG = ("confirmed_at", "status", "currency")  # what parts repeat of their log, so that no query has to join them

Form = Literal["text", "json", "integer", "long", "boolean", "moment", "decimal"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an archived table; ``precision`` and ``scale`` of a decimal."""

    name: str
    form: Form
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows. ``moment`` is the column with their time, ``tables`` what becomes of them, the rows' own last.

    ``by_time``: an index leads to a month; else a pass reads all rows.
    """

    name: str
    set_name: str
    moment: str
    by_time: bool
    parts: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the archived tables."""
        return (*self.parts, self.name)


KINDS: Mapping[str, Kind] = {
    one.name: one
    for one in (
        Kind("calculation_logs", "CalculationLogs", "confirmed_at", by_time=True, parts=(_ITEMS, _PROMOTIONS)),
        Kind("redemption_logs", "RedemptionLogs", "occurred_at", by_time=False),
        Kind("loyalty_transactions", "LoyaltyTransactions", "awarded_at", by_time=False),
        Kind("budget_consumptions", "BudgetConsumptions", "consumed_at", by_time=False),
        Kind("audit_logs", "AuditLogs", "timestamp", by_time=True),
    )
}
"""By name: that of the table."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a reader has come: the last row; ``at`` its time where that orders the rows."""

    id: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Rows by archived table, as values in the order of `columns_of`; ``following`` None: there are no more."""

    rows: Mapping[str, Sequence[Sequence[Any]]]
    following: Place | None


@cache
def columns_of(name: str) -> tuple[Column, ...]:
    """Return the columns of an archived table: those of the database's but the tenant, which is in the file's path.

    Lines and promotions of sales begin with time, status and currency of their log.
    """
    logs = table("CalculationLogs")
    if name in _SETS:
        of_log = {column: logs.c[column].type for column in _OF_LOG}
        own = {"id": logs.c.id.type, "log_id": logs.c.id.type, **part_types(_SETS[name])}
        return tuple(_column(*one) for one in (of_log | own).items())
    rows = table(KINDS[name].set_name)
    return tuple(_column(column.name, column.type) for column in rows.c if column.name != "tenant_id")


def _column(name: str, kind: sa.types.TypeEngine[Any]) -> Column:
    if isinstance(kind, ExactDecimal):
        return Column(name, "decimal", kind.precision, kind.scale)
    forms: tuple[tuple[type, Form], ...] = (
        (Timestamp, "moment"), (Json, "json"), (sa.Boolean, "boolean"), (sa.BigInteger, "long"),
        (sa.Integer, "integer"), (sa.String, "text"),
    )  # fmt: skip
    return Column(name, next(form for one, form in forms if isinstance(kind, one)))


async def first_after(session: Session, kind: Kind, since: datetime | None) -> datetime | None:
    """Return the time of the first row from ``since`` on (None: of all), by the index; None: there is none."""
    moment = table(kind.set_name).c[kind.moment]
    statement = select(moment).order_by(moment).limit(1)
    found = await session.execute(statement if since is None else statement.where(moment >= since))
    return found[0][0] if found else None


async def read_times(session: Session, kind: Kind, after: str | None) -> tuple[Sequence[datetime], str | None]:
    """Return the times of the next rows by ID, for kinds without an index, and the last ID; None: that was all."""
    rows = table(kind.set_name)
    some = select(rows.c.id, rows.c[kind.moment].label("at")).order_by(rows.c.id).limit(PAGE_ROWS)
    found = await session.execute(some if after is None else some.where(rows.c.id > after))
    return [row.at for row in found], found[-1].id if len(found) == PAGE_ROWS else None


async def read_page(session: Session, kind: Kind, begins: datetime, ends: datetime, after: Place | None) -> Page:
    """Read the rows of ``begins`` to before ``ends`` that follow ``after``.

    A page may be empty and yet not be the last, where no index leads to the time.
    """
    if not kind.by_time:
        return await _page_by_id(session, kind, begins, ends, after)
    rows = table(kind.set_name)
    moment, limit = rows.c[kind.moment], PAGE_LOGS if kind.parts else PAGE_ROWS
    conditions: list[ColumnElement[bool]] = [moment < ends]
    if after is None or after.at is None:
        conditions.append(moment >= begins)
    else:
        conditions += [moment >= after.at, or_(moment > after.at, rows.c.id > after.id)]
    columns = [rows.c[one.name] for one in columns_of(kind.name)]
    statement = select(*columns)
    if kind.parts:
        statement = select(*columns, _PARTS.c.lines, _PARTS.c.promotions).select_from(
            rows.outerjoin(_PARTS, and_(_PARTS.c.log_id == rows.c.id, _PARTS.c.tenant_id == rows.c.tenant_id))
        )
    found = await session.execute(statement.where(*conditions).order_by(moment, rows.c.id).limit(limit))
    last = found[-1] if len(found) == limit else None
    own = [tuple(row)[: len(columns)] for row in found]
    parts = {name: _unpacked(name, found) for name in kind.parts}
    return Page({**parts, kind.name: own}, None if last is None else Place(last.id, last._mapping[moment]))


async def _page_by_id(session: Session, kind: Kind, begins: datetime, ends: datetime, after: Place | None) -> Page:
    rows = table(kind.set_name)
    looked = select(rows.c.id).order_by(rows.c.id).limit(PAGE_ROWS)
    if after is not None:
        looked = looked.where(rows.c.id > after.id)
    ids = [row.id for row in await session.execute(looked)]
    if not ids:
        return Page({kind.name: ()}, None)
    moment = rows.c[kind.moment]
    statement = select(*(rows.c[one.name] for one in columns_of(kind.name))).where(
        rows.c.id >= ids[0], rows.c.id <= ids[-1], moment >= begins, moment < ends
    )
    found = await session.execute(statement.order_by(rows.c.id))
    return Page({kind.name: [tuple(row) for row in found]}, Place(ids[-1]) if len(ids) == PAGE_ROWS else None)


def _unpacked(name: str, logs: Sequence[Row[Any]]) -> list[tuple[Any, ...]]:
    packed = "lines" if name == _ITEMS else "promotions"
    own = [column.name for column in columns_of(name)][len(_OF_LOG) :]
    found: list[tuple[Any, ...]] = []
    for log in logs:
        of_log = tuple(log._mapping[column] for column in _OF_LOG)
        parts = unpack(_SETS[name], log.id, log._mapping[packed] or ())
        found += ((*of_log, *(getattr(part, column) for column in own)) for part in parts)
    return found
