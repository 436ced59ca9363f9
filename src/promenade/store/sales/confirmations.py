"""The single confirmation of each transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update

from odata_server.sql.connection import Kept
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.recurring import parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Session

_CONFIRMATIONS = table("confirmations")
_ITERATIONS = table("iterations")
_LOGS = table("CalculationLogs")

_FIND = Kept(
    select(_CONFIRMATIONS.c.transaction_counter, _CONFIRMATIONS.c.fingerprint, _CONFIRMATIONS.c.response).where(
        _CONFIRMATIONS.c.origin == parameter("given_origin", _CONFIRMATIONS.c.origin.type),
        _CONFIRMATIONS.c.transaction_id == parameter("given_transaction_id", _CONFIRMATIONS.c.transaction_id.type),
    )
)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The first confirm of a transaction: its iteration, the fingerprint of its request, and its response."""

    transaction_counter: int
    fingerprint: bytes
    response: bytes


@dataclass(frozen=True, slots=True)
class Sale:
    """A confirmed sale; ``carried`` is compressed, ``returned`` is MessagePack."""

    transaction_counter: int
    carried: bytes
    returned: bytes | None


@dataclass(frozen=True, slots=True)
class NamedSale:
    """A confirmed sale that a return line names, read without locking it."""

    transaction_id: str
    origin: str
    sale: Sale


async def find(session: Session, origin: str, transaction_id: str) -> Confirmation | None:
    """Return the confirmation of a transaction, whichever iteration it confirmed."""
    rows = await session.run_kept(_FIND, {"given_origin": origin, "given_transaction_id": transaction_id})
    return Confirmation(*rows[0]) if rows else None


async def was_evaluated_later(session: Session, origin: str, transaction_id: str, transaction_counter: int) -> bool:
    """Return whether an iteration was evaluated after its transaction had been confirmed, by the service's clock."""
    confirmed = (
        select(_LOGS.c.created_at)
        .join(_CONFIRMATIONS, _CONFIRMATIONS.c.log_id == _LOGS.c.id)
        .where(_CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id)
        .scalar_subquery()
    )
    rows = await session.execute(
        select(_ITERATIONS.c.created_at).where(
            _ITERATIONS.c.origin == origin,
            _ITERATIONS.c.transaction_id == transaction_id,
            _ITERATIONS.c.transaction_counter == transaction_counter,
            _ITERATIONS.c.created_at > confirmed,
        )
    )
    return bool(rows)


async def find_all(session: Session, origin: str, transaction_ids: Collection[str]) -> dict[str, Confirmation]:
    """Return the confirmations of those transactions that have one, by transaction."""
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
    """Return the origins (the cloud, and stores) that have a sale with this transaction ID."""
    return [one.origin for one in await _sales(session, [transaction_id])]


async def read_sales(session: Session, origin: str, transaction_ids: Collection[str]) -> list[NamedSale]:
    """Return the confirmed sales with these transaction IDs, at most one of each: see `chosen_origin`."""
    rows = await _sales(session, transaction_ids)
    origins: dict[str, list[str]] = {}
    for row in rows:
        origins.setdefault(row.transaction_id, []).append(row.origin)
    return [
        NamedSale(row.transaction_id, row.origin, Sale(row.transaction_counter, row.sale, row.returned))
        for row in rows
        if row.origin == chosen_origin(origin, origins[row.transaction_id])
    ]


def chosen_origin(origin: str, found: Collection[str]) -> str | None:
    """Decide which sale a return line means if it names a transaction that these origins have; None: none of them.

    That of the own origin, else the only one: goods bought in one store may be returned in another. Sales of several
    other origins are ambiguous.
    """
    if origin in found:
        return origin
    return next(iter(found)) if len(found) == 1 else None


async def _sales(session: Session, transaction_ids: Collection[str]) -> list[Any]:
    return await read_among(session, (_CONFIRMATIONS.c.transaction_id,), sorted(transaction_ids), _SALES.where)


_SALES = select(
    *(_CONFIRMATIONS.c[name] for name in ("transaction_id", "origin", "transaction_counter", "sale", "returned"))
).where(_CONFIRMATIONS.c.sale.is_not(None))


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
    priced_at: datetime | None = None,
) -> bool:
    """Insert the confirmation if the transaction has none; False: another confirm came first.

    ``priced_at``: also False if the iteration is not stored, or is another one than was created then; None: the caller
    has read it. Waits for a concurrent confirm of the same transaction, so that the answer is final.
    """
    key = (session.tenant, origin, transaction_id, transaction_counter)
    row = (*key, fingerprint, response, log_id, carried, confirmed_at, priced_at)
    return bool(await session.hot("confirm first", row))


@hot_statement(
    "confirm first",
    postgresql="""
    INSERT INTO confirmations (tenant_id, origin, transaction_id, transaction_counter, fingerprint, response, log_id,
        sale, confirmed_at)
    SELECT $1::varchar, $2::varchar, $3::varchar, $4::integer, $5::bytea, $6::bytea, $7::varchar, $8::bytea,
        $9::timestamptz
    WHERE $10::timestamptz IS NULL OR EXISTS (
        SELECT FROM iterations WHERE tenant_id = $1::varchar AND origin = $2::varchar
            AND transaction_id = $3::varchar AND transaction_counter = $4::integer AND created_at = $10::timestamptz
    )
    ON CONFLICT DO NOTHING
    RETURNING transaction_counter
    """,
)
def _confirm_first(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    *given, confirmed_at, priced_at = params
    at = None if priced_at is None else to_microseconds(priced_at)
    done = connection.execute(_FIRST_ON_SQLITE, (*given, to_microseconds(confirmed_at), at))
    return [(given[3],)] if done.rowcount else []


_FIRST_ON_SQLITE = """
    INSERT INTO confirmations (tenant_id, origin, transaction_id, transaction_counter, fingerprint, response, log_id,
        sale, confirmed_at)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
    WHERE ?10 IS NULL OR EXISTS (
        SELECT 1 FROM iterations WHERE tenant_id = ?1 AND origin = ?2 AND transaction_id = ?3
            AND transaction_counter = ?4 AND created_at = ?10
    )
    ON CONFLICT DO NOTHING
"""


async def note_carried(session: Session, origin: str, transaction_id: str, carried: bytes) -> None:
    """Update the record of the sale's contents, which this unit of work has confirmed or locked."""
    await session.rowcount(
        update(_CONFIRMATIONS)
        .where(_CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id)
        .values(sale=carried)
    )


async def lock_sale(session: Session, origin: str, transaction_id: str) -> Sale | None:
    """Return a confirmed sale, locked until the unit of work ends: concurrent returns of it run one after the other."""
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


async def log_of(session: Session, origin: str, transaction_id: str) -> tuple[str | None, datetime]:
    """Return the calculation log of a confirmed sale, if it has one, and when the sale was confirmed."""
    rows = await session.execute(
        select(_CONFIRMATIONS.c.log_id, _CONFIRMATIONS.c.confirmed_at).where(
            _CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id
        )
    )
    return rows[0].log_id, rows[0].confirmed_at


async def carried_by(session: Session, origin: str, transaction_id: str) -> bytes | None:
    """Return the record of a sale; None: there is no such sale."""
    rows = await session.execute(
        select(_CONFIRMATIONS.c.sale).where(
            _CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id
        )
    )
    return rows[0].sale if rows else None


async def note_returned(session: Session, origin: str, transaction_id: str, returned: bytes) -> None:
    """Store what has been returned of a sale that this unit of work has locked."""
    await session.rowcount(
        update(_CONFIRMATIONS)
        .where(_CONFIRMATIONS.c.origin == origin, _CONFIRMATIONS.c.transaction_id == transaction_id)
        .values(returned=returned)
    )
