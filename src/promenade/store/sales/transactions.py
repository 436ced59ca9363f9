"""What is known of a till's transaction: its iterations, its confirmation and what has been returned of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

ITERATIONS_MAX = 100

_ITERATIONS = table("iterations")
_CONFIRMATIONS = table("confirmations")


@dataclass(frozen=True, slots=True)
class IterationRow:
    """An iteration by its counter, with the time it was evaluated for."""

    transaction_counter: int
    evaluated_at: datetime
    receipt_id: str | None


@dataclass(frozen=True, slots=True)
class ConfirmationRow:
    """The confirmation of a transaction; ``carried`` is compressed, ``returned`` MessagePack."""

    transaction_counter: int
    confirmed_at: datetime
    response: bytes
    carried: bytes | None
    returned: bytes | None


async def has_iterations(session: Session) -> bool:
    """Return whether any basket of the tenant was priced and kept."""
    return bool(await session.execute(select(_ITERATIONS.c.transaction_id).limit(1)))


async def read_iterations(session: Session, origin: str, transaction_id: str) -> Sequence[IterationRow]:
    """Return the transaction's latest iterations, the newest first; at most `ITERATIONS_MAX`."""
    rows = _ITERATIONS.c
    statement = (
        select(rows.transaction_counter, rows.evaluated_at, rows.receipt_id)
        .where(rows.origin == origin, rows.transaction_id == transaction_id)
        .order_by(rows.transaction_counter.desc())
        .limit(ITERATIONS_MAX)
    )
    return [IterationRow(*tuple(row)) for row in await session.execute(statement)]


async def read_confirmation(session: Session, origin: str, transaction_id: str) -> ConfirmationRow | None:
    """Return the transaction's confirmation; None: it was not confirmed."""
    rows = _CONFIRMATIONS.c
    columns = (rows.transaction_counter, rows.confirmed_at, rows.response, rows.sale, rows.returned)
    statement = select(*columns).where(rows.origin == origin, rows.transaction_id == transaction_id)
    found = await session.execute(statement)
    return ConfirmationRow(*tuple(found[0])) if found else None
