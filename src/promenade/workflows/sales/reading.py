"""Read a transaction again: for a till that crashed and does not know what was answered, confirmed or returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from promenade.errors import NotFound
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import StoredIteration, find_iteration
from promenade.store.sales import loyalty
from promenade.store.sales.loyalty import PointsEntry
from promenade.store.sales.transactions import (
    ConfirmationRow,
    IterationRow,
    read_confirmation,
    read_iterations,
)
from promenade.workflows.context import Context
from promenade.workflows.settlement.returns import decode_record

ENTRIES_MAX = 20

_QUANTITIES = msgspec.msgpack.Decoder(dict[str, int])


@dataclass(frozen=True, slots=True)
class SoldLine:
    """A sale line of a confirmed transaction, and how much of it was returned so far; quantities in thousandths."""

    reference: str
    quantity_thousandths: int
    returned_thousandths: int


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The confirm of a transaction; ``response`` is its answer, ``lines`` are its sale lines."""

    transaction_counter: int
    confirmed_at: datetime
    response: bytes
    lines: tuple[SoldLine, ...]


@dataclass(frozen=True, slots=True)
class TransactionState:
    """A transaction with its latest iterations, the newest first; ``confirmed`` None: it was not confirmed."""

    transaction_id: str
    iterations: Sequence[IterationRow]
    confirmed: Confirmed | None


@dataclass(frozen=True, slots=True)
class LoyaltyAccount:
    """A customer's points and the latest bookings, the newest first."""

    customer_id: str
    balance: int
    entries: Sequence[PointsEntry]


async def read_iteration(
    context: Context, tenant_id: str, transaction_id: str, transaction_counter: int
) -> StoredIteration:
    """Return a stored iteration. Raises NotFound (ITERATION_NOT_FOUND)."""

    async def work(session: Session) -> StoredIteration | None:
        return await find_iteration(session, context.origin, transaction_id, transaction_counter)

    stored = await context.database.read(work, tenant=tenant_id)
    if stored is None:
        raise NotFound("ITERATION_NOT_FOUND", "There is no such iteration.", "transactionCounter")
    return stored


async def read_transaction(context: Context, tenant_id: str, transaction_id: str) -> TransactionState:
    """Return the state of a transaction of this instance. Raises NotFound (TRANSACTION_NOT_FOUND)."""

    async def work(session: Session) -> tuple[Sequence[IterationRow], ConfirmationRow | None]:
        iterations = await read_iterations(session, context.origin, transaction_id)
        return iterations, await read_confirmation(session, context.origin, transaction_id)

    iterations, confirmation = await context.database.read(work, tenant=tenant_id)
    if not iterations and confirmation is None:
        raise NotFound("TRANSACTION_NOT_FOUND", "There is no such transaction.", "transactionId")
    return TransactionState(transaction_id, iterations, None if confirmation is None else _confirmed(confirmation))


def _confirmed(row: ConfirmationRow) -> Confirmed:
    returned = _QUANTITIES.decode(row.returned) if row.returned is not None else {}
    carried = decode_record(row.carried).lines if row.carried is not None else ()
    lines = [SoldLine(one.reference, one.quantity_thousandths, returned.get(one.reference, 0)) for one in carried]
    return Confirmed(row.transaction_counter, row.confirmed_at, row.response, tuple(lines))


async def read_loyalty(context: Context, tenant_id: str, customer_id: str) -> LoyaltyAccount:
    """Return a customer's balance and the last `ENTRIES_MAX` bookings; 0 and none for an unknown customer."""

    async def work(session: Session) -> LoyaltyAccount:
        balance = await loyalty.read_balance(session, customer_id)
        return LoyaltyAccount(customer_id, balance, await loyalty.read_entries(session, customer_id, ENTRIES_MAX))

    return await context.database.read(work, tenant=tenant_id)
