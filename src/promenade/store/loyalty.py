"""Points of customers: a balance each, and the transactions that it is the sum of."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import insert

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = ["add_points", "insert_transaction"]

_BALANCES = table("loyalty_balances")
_TRANSACTIONS = table("LoyaltyTransactions")


async def add_points(session: Session, customer_id: str, points: int, at: datetime) -> int:
    """Add to a customer's balance (below zero: take away) and return the new one."""
    adding = upsert(session.dialect, _BALANCES)
    rows = await session.execute(
        adding.on_conflict_do_update(
            index_elements=[_BALANCES.c.tenant_id, _BALANCES.c.customer_id],
            set_={"points": _BALANCES.c.points + adding.excluded.points, "updated_at": at},
        ).returning(_BALANCES.c.points),
        {"customer_id": customer_id, "points": points, "updated_at": at},
    )
    return int(rows[0].points)


async def insert_transaction(
    session: Session,
    *,
    transaction_row_id: str,
    customer_id: str,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    promotion_id: str | None,
    points: int,
    balance_after: int,
    at: datetime,
) -> None:
    """Write one LoyaltyTransactions row."""
    row = {
        "id": transaction_row_id,
        "customer_id": customer_id,
        "origin": origin,
        "transaction_id": transaction_id,
        "transaction_counter": transaction_counter,
        "promotion_id": promotion_id,
        "points": points,
        "balance_after": balance_after,
        "awarded_at": at,
        "created_at": at,
        "modified_at": at,
    }
    await session.rowcount(insert(_TRANSACTIONS), row)
