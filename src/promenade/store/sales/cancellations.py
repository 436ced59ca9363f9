"""The single cancellation of each confirmed sale that was cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_CANCELLATIONS = table("cancellations")


@dataclass(frozen=True, slots=True)
class Cancellation:
    """The cancellation of a sale: the iteration that had been confirmed, and the response to the cancel."""

    transaction_counter: int
    response: bytes


async def find(session: Session, origin: str, transaction_id: str) -> Cancellation | None:
    """Return the cancellation of a sale, or None."""
    rows = await session.execute(
        select(_CANCELLATIONS.c.transaction_counter, _CANCELLATIONS.c.response).where(
            _CANCELLATIONS.c.origin == origin, _CANCELLATIONS.c.transaction_id == transaction_id
        )
    )
    return Cancellation(*tuple(rows[0])) if rows else None


async def insert_cancellation(
    session: Session,
    *,
    cancellation_id: str,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    reason: str | None,
    response: bytes,
    log_id: str | None,
    at: datetime,
) -> None:
    """Insert the cancellation of a sale whose confirmation this unit of work has locked."""
    row = {
        "id": cancellation_id,
        "origin": origin,
        "transaction_id": transaction_id,
        "transaction_counter": transaction_counter,
        "reason": reason,
        "response": response,
        "log_id": log_id,
        "cancelled_at": at,
        "reported": False,
    }
    await session.rowcount(insert(_CANCELLATIONS), row)
