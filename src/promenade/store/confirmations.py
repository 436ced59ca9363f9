"""The one confirmation that each transaction has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import select, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import one_of, parameter
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "Confirmation",
    "Sale",
    "find",
    "find_all",
    "insert_first",
    "lock_sale",
    "note_carried",
    "note_returned",
    "origins_of",
]

_CONFIRMATIONS = table("confirmations")
_DEPLOYMENTS = table("LocalDeployments")
_CLOUD = "cloud"
ORIGINS_MAX = 500  # asked for by one statement


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


async def find_all(session: Session, origin: str, transaction_ids: Collection[str]) -> dict[str, Confirmation]:
    """The confirmations of those transactions that have one, by transaction."""
    rows = await session.execute(
        select(
            _CONFIRMATIONS.c.transaction_id,
            _CONFIRMATIONS.c.transaction_counter,
            _CONFIRMATIONS.c.fingerprint,
            _CONFIRMATIONS.c.response,
        ).where(_CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id.in_(list(transaction_ids)))
    )
    return {row.transaction_id: Confirmation(*tuple(row)[1:]) for row in rows}


async def origins_of(session: Session, transaction_id: str) -> list[str]:
    """Who has made a sale of this name: the cloud, and stores.

    Each is asked for by its whole key: the name alone has no index, and would be looked for among all sales.
    """
    rows = await session.execute(select(_DEPLOYMENTS.c.id).order_by(_DEPLOYMENTS.c.id))
    origins = [_CLOUD, *[row.id for row in rows]]
    found: list[str] = []
    for start in range(0, len(origins), ORIGINS_MAX):
        keys = [(origin, transaction_id) for origin in origins[start : start + ORIGINS_MAX]]
        has_made = one_of((_CONFIRMATIONS.c.origin, _CONFIRMATIONS.c.transaction_id), keys)
        rows = await session.execute(
            select(_CONFIRMATIONS.c.origin).where(has_made, _CONFIRMATIONS.c.sale.is_not(None))
        )
        found += [row.origin for row in rows]
    return found


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
        "given_origin": origin,
        "given_transaction_id": transaction_id,
        "given_transaction_counter": transaction_counter,
        "given_fingerprint": fingerprint,
        "given_response": response,
        "given_sale": carried,
        "given_log_id": log_id,
        "given_confirmed_at": confirmed_at,
    }
    return await session.rowcount(_inserting(session.dialect), row) == 1


@cache  # made once: putting the statement together takes longer than running it
def _inserting(dialect: str) -> Kept:
    names = [column.name for column in _CONFIRMATIONS.c if column.name not in {"tenant_id", "returned"}]
    given = {name: parameter(f"given_{name}", _CONFIRMATIONS.c[name].type) for name in names}
    return Kept(upsert(dialect, _CONFIRMATIONS).values(**given).on_conflict_do_nothing())


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
