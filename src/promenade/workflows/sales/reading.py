"""Read a transaction again: for a till that crashed and does not know what was answered, confirmed or returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from promenade.errors import NotFound
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import StoredIteration, find_iteration
from promenade.store.sales import cancellations, loyalty
from promenade.store.sales.cancellations import Cancellation
from promenade.store.sales.loyalty import PointsEntry
from promenade.store.sales.transactions import (
    ConfirmationRow,
    IterationRow,
    read_confirmation,
    read_iterations,
)
from promenade.workflows.context import Context
from promenade.workflows.settlement.refunds import with_amounts
from promenade.workflows.settlement.returns import decode_given, decode_record

ENTRIES_MAX = 20


@dataclass(frozen=True, slots=True)
class SoldLine:
    """A sale line of a confirmed transaction, what was paid for it, and what of it came back so far."""

    reference: str
    quantity_thousandths: int
    paid_minor: int
    returned_thousandths: int
    refunded_minor: int


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The confirm of a transaction; ``response`` is its answer, ``lines`` are its sale lines.

    ``currency`` is empty in records from before amounts were refunded.
    """

    transaction_counter: int
    confirmed_at: datetime
    response: bytes
    currency: str
    lines: tuple[SoldLine, ...]


@dataclass(frozen=True, slots=True)
class TransactionState:
    """A transaction with its latest iterations, the newest first; ``confirmed`` None: it was not confirmed.

    ``cancellation`` is the answer to the cancel of the sale, if it was cancelled.
    """

    transaction_id: str
    iterations: Sequence[IterationRow]
    confirmed: Confirmed | None
    cancellation: bytes | None = None


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

    async def work(session: Session) -> tuple[Sequence[IterationRow], ConfirmationRow | None, Cancellation | None]:
        iterations = await read_iterations(session, context.origin, transaction_id)
        confirmation = await read_confirmation(session, context.origin, transaction_id)
        if confirmation is None:
            return iterations, None, None
        return iterations, confirmation, await cancellations.find(session, context.origin, transaction_id)

    iterations, confirmation, cancellation = await context.database.read(work, tenant=tenant_id)
    if not iterations and confirmation is None:
        raise NotFound("TRANSACTION_NOT_FOUND", "There is no such transaction.", "transactionId")
    return TransactionState(
        transaction_id,
        iterations,
        None if confirmation is None else _confirmed(confirmation),
        None if cancellation is None else cancellation.response,
    )


def _confirmed(row: ConfirmationRow) -> Confirmed:
    if row.carried is None:
        return Confirmed(row.transaction_counter, row.confirmed_at, row.response, "", ())
    record = decode_record(row.carried)
    given = with_amounts(record, decode_given(row.returned))
    refunded = given.refunded or {}
    lines = tuple(
        SoldLine(
            one.reference,
            one.quantity_thousandths,
            one.worth_minor,
            given.quantities.get(one.reference, 0),
            refunded.get(one.reference, 0),
        )
        for one in record.lines
    )
    return Confirmed(row.transaction_counter, row.confirmed_at, row.response, record.currency, lines)


async def read_loyalty(context: Context, tenant_id: str, customer_id: str) -> LoyaltyAccount:
    """Return a customer's balance and the last `ENTRIES_MAX` bookings; 0 and none for an unknown customer."""

    async def work(session: Session) -> LoyaltyAccount:
        balance = await loyalty.read_balance(session, customer_id)
        return LoyaltyAccount(customer_id, balance, await loyalty.read_entries(session, customer_id, ENTRIES_MAX))

    return await context.database.read(work, tenant=tenant_id)
