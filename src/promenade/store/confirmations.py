"""The one confirmation that each transaction has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "Confirmation",
    "Sale",
    "find",
    "insert_first",
    "lock_sale",
    "note_carried",
    "note_returned",
]

_CONFIRMATIONS = table("confirmations")


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The first confirm of a transaction: which iteration, of which request, and what it was answered."""

    transaction_counter: int
    fingerprint: bytes
    response: bytes


@dataclass(frozen=True, slots=True)
class Sale:
    """A confirmed sale whose row this unit of work holds. ``carried`` and ``returned`` are MessagePack."""

    transaction_counter: int
    carried: bytes
    returned: bytes | None


async def find(session: Session, origin: str, transaction_id: str) -> Confirmation | None:
    """The confirmation of a transaction, whichever of its iterations it is of."""
    rows = await session.execute(
        select(_CONFIRMATIONS.c.transaction_counter, _CONFIRMATIONS.c.fingerprint, _CONFIRMATIONS.c.response).where(
            _CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id
        )
    )
    return Confirmation(*tuple(rows[0])) if rows else None


async def insert_first(
    session: Session,
    *,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    fingerprint: bytes,
    response: bytes,
    carried: bytes,
    log_id: str,
    confirmed_at: datetime,
) -> bool:
    """Write the confirmation if the transaction has none; False: another confirm was first.

    Waits for a confirm of the same transaction that is under way, so that the answer is final.
    """
    row = {
        "origin": origin,
        "transaction_id": transaction_id,
        "transaction_counter": transaction_counter,
        "fingerprint": fingerprint,
        "response": response,
        "sale": carried,
        "log_id": log_id,
        "confirmed_at": confirmed_at,
    }
    return await session.rowcount(upsert(session.dialect, _CONFIRMATIONS).on_conflict_do_nothing(), row) == 1


async def note_carried(session: Session, origin: str, transaction_id: str, carried: bytes) -> None:
    """Change the record of what a sale carried, in the unit of work that confirms it."""
    await session.rowcount(
        update(_CONFIRMATIONS)
        .where(_CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id)
        .values(sale=carried)
    )


async def lock_sale(session: Session, origin: str, transaction_id: str) -> Sale | None:
    """A confirmed sale, held until the unit of work ends: concurrent returns of it come one after the other."""
    rows = await session.execute(
        update(_CONFIRMATIONS)
        .where(
            _CONFIRMATIONS.c.origin == origin,
            _CONFIRMATIONS.c.transaction_id == transaction_id,
            _CONFIRMATIONS.c.sale.is_not(None),
        )
        .values(returned=_CONFIRMATIONS.c.returned)
        .returning(_CONFIRMATIONS.c.transaction_counter, _CONFIRMATIONS.c.sale, _CONFIRMATIONS.c.returned)
    )
    return Sale(*tuple(rows[0])) if rows else None


async def note_returned(session: Session, origin: str, transaction_id: str, returned: bytes) -> None:
    """Keep what has come back of a sale that this unit of work holds."""
    await session.rowcount(
        update(_CONFIRMATIONS)
        .where(_CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id)
        .values(returned=returned)
    )
