"""Loyalty points of customers: their balances, and the transactions that add up to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Interval, case, insert, literal, select, type_coerce

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.types import Timestamp
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_BALANCES = table("loyalty_balances")
_TRANSACTIONS = table("LoyaltyTransactions")

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PointsRow:
    """Points to be booked; negative: taken back. ``promotion_id`` None: not from a promotion."""

    id: str
    promotion_id: str | None
    points: int


@dataclass(frozen=True, slots=True)
class PointsEntry:
    """A booking: its points, its cause and the balance after it; ``promotion_id`` None: not from a promotion."""

    transaction_id: str
    transaction_counter: int
    promotion_id: str | None
    points: int
    balance_after: int
    awarded_at: datetime


async def read_balance(session: Session, customer_id: str) -> int:
    """Return a customer's points; 0 for an unknown customer."""
    rows = await session.execute(select(_BALANCES.c.points).where(_BALANCES.c.customer_id == customer_id))
    return int(rows[0].points) if rows else 0


async def read_entries(session: Session, customer_id: str, limit: int) -> list[PointsEntry]:
    """Return a customer's latest bookings, the newest first."""
    columns = [_TRANSACTIONS.c[name] for name in PointsEntry.__dataclass_fields__]
    statement = select(*columns).where(_TRANSACTIONS.c.customer_id == customer_id)
    rows = await session.execute(statement.order_by(_TRANSACTIONS.c.awarded_at.desc()).limit(limit))
    return [PointsEntry(*tuple(row)) for row in rows]


async def book_points(
    session: Session,
    customer_id: str,
    rows: Sequence[PointsRow],
    *,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    at: datetime,
) -> int:
    """Book points of a customer, one LoyaltyTransactions row each, and return the new balance.

    The balance's row is locked until the unit of work ends, so that bookings of one customer run one after the other.
    Each has its own timestamp, later than the previous one even if the workers' clocks differ, so that the last one by
    ``awarded_at`` holds the balance.
    """
    balance, last = await _add(session, customer_id, sum(row.points for row in rows), len(rows), at)
    after, booked = balance, []
    for place, row in enumerate(reversed(rows)):
        booked.append(
            {
                "id": row.id,
                "customer_id": customer_id,
                "origin": origin,
                "transaction_id": transaction_id,
                "transaction_counter": transaction_counter,
                "promotion_id": row.promotion_id,
                "points": row.points,
                "balance_after": after,
                "awarded_at": last - place * _TICK,
                "created_at": at,
                "modified_at": at,
            }
        )
        after -= row.points
    await session.execute_many(insert(_TRANSACTIONS), booked)
    return balance


async def _add(session: Session, customer_id: str, points: int, rows: int, at: datetime) -> tuple[int, datetime]:
    """Add points to a balance and advance its time by at least one microsecond per row; return both."""
    given = {"given_customer": customer_id, "given_points": points, "given_at": at + (rows - 1) * _TICK}
    found = await session.execute(_adding(session.dialect, rows), given)
    return int(found[0].points), found[0].updated_at


@lru_cache(100)
def _adding(dialect: str, rows: int) -> Kept:
    adding = upsert(dialect, _BALANCES).values(
        customer_id=parameter("given_customer", _BALANCES.c.customer_id.type),
        points=parameter("given_points", _BALANCES.c.points.type),
        updated_at=parameter("given_at", _BALANCES.c.updated_at.type),
    )
    next_free, first_free = _later(dialect, rows), adding.excluded.updated_at
    return Kept(
        adding.on_conflict_do_update(
            index_elements=[_BALANCES.c.tenant_id, _BALANCES.c.customer_id],
            set_={
                "points": _BALANCES.c.points + adding.excluded.points,
                "updated_at": case((next_free > first_free, next_free), else_=first_free),
            },
        ).returning(_BALANCES.c.points, _BALANCES.c.updated_at)
    )


def _later(dialect: str, ticks: int) -> ColumnElement[Any]:
    """Return the time ``ticks`` microseconds after the last change of a balance."""
    if dialect == "postgresql":
        return _BALANCES.c.updated_at + literal(ticks * _TICK, Interval())
    return type_coerce(type_coerce(_BALANCES.c.updated_at, BigInteger()) + ticks, Timestamp())
