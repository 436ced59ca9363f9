"""Cancel: undo a confirmed sale as a whole, once, in one transaction (pricing semantics, section 11; T1, T4).

What goes back is what the sale carried less what its returns have given back, by the same functions: so both together
add up to the unit. Return lines of the sale itself are undone as well: the sales that they name were never returned.
Rows are locked in the order of a confirm: sales, the job, coupons, points, usage, budgets last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta, Raw

from promenade.engine.money import minor_digits
from promenade.errors import Conflict, NotFound
from promenade.events import TransactionCancelled
from promenade.store.budgets import charges as budgets
from promenade.store.budgets.charges import Consumption
from promenade.store.clockwork.pilots import forget_tallies
from promenade.store.coupons.coming_back import was_reactivated
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import find_iteration
from promenade.store.sales import cancellations, confirmations, jobs
from promenade.store.sales.calculation_logs import CancelledLog, cancel_log
from promenade.store.sales.confirmations import Sale
from promenade.store.sales.kept import kept_since
from promenade.store.sales.loyalty import PointsRow, book_points
from promenade.store.sales.usage import uncount_applications
from promenade.store.webhooks.outbox import emit
from promenade.workflows.budgets.charging import BudgetMove, charge_budgets, moves_of
from promenade.workflows.context import Context
from promenade.workflows.coupons.claims import finish_claims
from promenade.workflows.coupons.coming_back import EarnedCoupon, SpentCoupon, end_earned, return_spent
from promenade.workflows.replica.queueing import queue_cancellation
from promenade.workflows.sales.returned import own_charges
from promenade.workflows.settlement.effects import Effects, decode_effects
from promenade.workflows.settlement.refunds import without
from promenade.workflows.settlement.repricing import give_back_repriced, rest_repriced
from promenade.workflows.settlement.returns import (
    BudgetCharge,
    GiveBack,
    Given,
    SaleRecord,
    all_returned,
    decode_given,
    decode_record,
    encode_given,
    encode_record,
    give_back,
    less_owed,
    rest_of,
)
from promenade.workflows.settlement.rules import SaleIdentity, money

MESSAGE = "Transaction cancelled."

Money = Annotated[Raw, Meta(title="Money")]
_JSON = msgspec.json.Encoder(decimal_format="number")


# ---- the response ---------------------------------------------------------------------------------------------------


class _Response(msgspec.Struct, frozen=True, rename="camel"):
    """Part of a response."""


class BudgetGivenBack(_Response, frozen=True):
    """What a budget has got back."""

    budget_id: str  #: ID of the budget.
    amount: Money  #: What no earlier return had given back.


class CouponSpent(_Response, frozen=True, omit_defaults=True):
    """A coupon that the sale had spent."""

    coupon_id: str | None  #: ID of the coupon code; null for the shared code of a type.
    coupon_type_id: str  #: Its type, whose `onReturn` decides.
    reactivated: bool  #: Whether it is valid again.
    reason: str | None = None  #: Why not: `KEEP_REDEEMED`, `EXPIRED`, `INACTIVE`, `CHANGED` or `AFTER_SYNC`.


class CouponEarned(_Response, frozen=True, omit_defaults=True):
    """A coupon that the sale had earned."""

    coupon_id: str  #: ID of the coupon code.
    coupon_type_id: str  #: Its type.
    cancelled: bool  #: Whether it was cancelled now.
    reason: str | None = None  #: Why not: `ALREADY_SPENT`, `EXPIRED` or `ALREADY_CANCELLED`.


class CancelResponse(_Response, frozen=True):
    """What came of cancelling a sale; every repeat gets the same bytes."""

    transaction_id: str  #: The transaction.
    transaction_counter: int  #: The iteration that had been confirmed.
    cancelled: bool  #: True.
    message: str  #: An English sentence.
    points_taken_back: int  #: Points of the sale that no earlier return had taken back.
    budgets_given_back: list[BudgetGivenBack]  #: One for each budget that has got something back.
    coupons_spent: list[CouponSpent]  #: The coupons spent in the sale.
    coupons_earned: list[CouponEarned]  #: The coupons issued for the sale that have codes of their own.


# ---- the workflow ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CancelCommand:
    """A CancelRequest. ``reason`` is the till's text for the log."""

    transaction_id: str
    transaction_counter: int
    reason: str | None = None


class CancelledShares(Protocol):
    """The shares that a store was allotted: what its cancelled sale had used, it may use again."""

    async def before_budgets(self, session: Session, moves: Sequence[BudgetMove]) -> None:
        """Release the store's reserved budget that undone returns charge again."""
        ...

    async def after_cancel(
        self,
        session: Session,
        promotion_ids: Sequence[str],
        coupons: Sequence[SpentCoupon],
        moves: Sequence[BudgetMove],
    ) -> None:
        """Reserve for the store again what the cancellation has freed."""
        ...


async def cancel(context: Context, tenant_id: str, command: CancelCommand) -> bytes:
    """Undo a confirmed sale and return the JSON of a CancelResponse; a repeat gets the same bytes.

    Raises NotFound (ITERATION_NOT_FOUND), Conflict (TRANSACTION_NOT_CONFIRMED; TRANSACTION_ALREADY_CONFIRMED: another
    iteration was confirmed; COUPONS_VALID_AGAIN: see `_require_coupons_spent`; SALE_NOT_KEPT: its log was dropped) and
    Unavailable; then nothing is changed.
    """
    named = await context.database.read(lambda session: look_up(context, session, command), tenant=tenant_id)
    cancellation_id = context.new_id()
    answer = await context.database.write(
        lambda session: commit_cancellation(context, session, command, named, cancellation_id), tenant=tenant_id
    )
    context.jobs_ready.set()
    return answer.body


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The response to a cancel; ``is_new``: the sale had not been cancelled before."""

    body: bytes
    is_new: bool


async def look_up(context: Context, session: Session, command: CancelCommand) -> list[tuple[str, str]]:
    """Return the sales to lock, in their order: the sale and those that its return lines name; as (ID, origin).

    Raises what `cancel` does. What is found cannot change: which sale is confirmed, and what it brought back.
    """
    transaction_id, origin = command.transaction_id, context.origin
    known = await confirmations.find(session, origin, transaction_id)
    carried = await confirmations.carried_by(session, origin, transaction_id)
    if known is None or carried is None:
        if await find_iteration(session, origin, transaction_id, command.transaction_counter) is None:
            message = f"Transaction {transaction_id} has no iteration {command.transaction_counter}."
            raise NotFound("ITERATION_NOT_FOUND", message, "transactionCounter")
        message = "The transaction was not confirmed: there is no sale to cancel."
        raise Conflict("TRANSACTION_NOT_CONFIRMED", message, "transactionId")
    if known.transaction_counter != command.transaction_counter:
        message = f"Iteration {known.transaction_counter} of this transaction was confirmed."
        raise Conflict("TRANSACTION_ALREADY_CONFIRMED", message, "transactionCounter")
    brought = decode_record(carried).brought
    return sorted({(transaction_id, origin), *((one.transaction_id, one.origin) for one in brought)})


@dataclass(frozen=True, slots=True)
class _Undone:
    """A sale of which the cancelled one had brought something back: ``charges`` are charged again."""

    transaction_id: str
    origin: str
    record: SaleRecord
    charges: tuple[BudgetCharge, ...]


@dataclass
class _Undoing:
    """What a cancellation has to put right, collected step by step; amounts in minor units."""

    sale: SaleIdentity
    rest: GiveBack
    undone: list[_Undone] = field(default_factory=list)
    uncovered: dict[tuple[str, str, str], Decimal] = field(default_factory=dict)
    points: dict[str, int] = field(default_factory=dict)  # by customer, to be added

    def add_points(self, customer_id: str | None, points: int) -> None:
        if customer_id is not None and points:
            self.points[customer_id] = self.points.get(customer_id, 0) + points

    def moves_here(self) -> tuple[BudgetMove, ...]:
        """Return the moves without what is charged again for sales of other origins."""
        here = [charge for one in self.undone if one.origin == self.sale.origin for charge in one.charges]
        return moves_of(here, self.rest.charges)

    def moves(self) -> tuple[BudgetMove, ...]:
        nothing = Decimal(0)
        again = [charge for one in self.undone for charge in one.charges]
        return tuple(
            replace(one, uncovered=self.uncovered.get((one.budget_id, one.promotion_id, one.currency), nothing))
            for one in moves_of(again, self.rest.charges)
        )


async def commit_cancellation(
    context: Context,
    session: Session,
    command: CancelCommand,
    named: Sequence[tuple[str, str]],
    cancellation_id: str,
    shares: CancelledShares | None = None,
) -> Cancelled:
    """Run the cancel's transaction; ``named`` are the sales to lock, see `look_up`."""
    origin, transaction_id, at = context.origin, command.transaction_id, context.clock()
    held = await _lock(session, named)
    known = await cancellations.find(session, origin, transaction_id)
    if known is not None:
        return Cancelled(known.response, is_new=False)
    own = held.pop((transaction_id, origin))
    record, counter = decode_record(own.carried), own.transaction_counter
    if shares is None:  # what a store has cancelled is cancelled
        await _require_coupons_spent(session, record, held)
    log_id, confirmed_at = await confirmations.log_of(session, origin, transaction_id)
    sale = SaleIdentity(origin, transaction_id, counter, record.customer_id, at, at, confirmed_at)
    stopped = await jobs.lock(session, origin, transaction_id, counter)
    if stopped is not None:
        await jobs.stop(session, stopped, at)
    undoing = await _take_back(session, sale, own, record)
    await _undo_returns(session, undoing, record, held)
    _reckon_points(undoing, record, stopped)
    spent = await return_spent(context, session, origin, transaction_id, at)
    await finish_claims(context, session, origin, transaction_id, counter)
    earned = await end_earned(context, session, origin, transaction_id, at, is_cancelled=True)
    log = None if log_id is None else await cancel_log(session, log_id, reason=command.reason, at=at)
    if log is None:
        await _require_kept(session, confirmed_at)
    await emit(session, _event(command, undoing, log, spent, earned), event_id=context.new_id(), at=at)
    response = _response(command, undoing, spent, earned)
    await forget_tallies(session, confirmed_at)
    await _keep(context, session, command, cancellation_id, response, log_id)
    await _book(context, session, undoing)
    applied = {} if log is None else log.applied
    promotion_ids = await uncount_applications(session, applied, record.customer_id)
    if shares is not None:
        await shares.before_budgets(session, undoing.moves_here())
    charged = await charge_budgets(context, session, undoing.moves(), sale, is_cancellation=True)
    await _note_owed(session, undoing, charged)
    if shares is not None:
        await shares.after_cancel(session, promotion_ids, spent, undoing.moves_here())
    return Cancelled(response, is_new=True)


async def _require_kept(session: Session, confirmed_at: datetime) -> None:
    """Raise Conflict (SALE_NOT_KEPT) if the log of a sale of this time was dropped: it says what to count back."""
    since = await kept_since(session)
    if since is not None and confirmed_at < since:
        message = f"Logs of sales before {since:%Y-%m-%d} are not kept: goods of then can only be returned."
        raise Conflict("SALE_NOT_KEPT", message, "transactionId")


async def _require_coupons_spent(session: Session, record: SaleRecord, held: Mapping[tuple[str, str], Sale]) -> None:
    """Raise Conflict (COUPONS_VALID_AGAIN) if the sale's return lines have made coupons of another sale valid again.

    They may have been spent elsewhere since; if not, that sale would keep a discount whose coupon can be spent again.
    """
    for one in record.brought:
        original = held.get((one.transaction_id, one.origin))
        if original is None or await cancellations.find(session, one.origin, one.transaction_id) is not None:
            continue
        is_whole = decode_given(original.returned).quantities == all_returned(decode_record(original.carried))
        if is_whole and await was_reactivated(session, one.transaction_id):
            message = f"It has made coupons of sale {one.transaction_id} valid again; sell the goods anew instead."
            raise Conflict("COUPONS_VALID_AGAIN", message, "transactionId")


async def _lock(session: Session, named: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Sale]:
    """Lock the sales (ID, origin) in their order until the unit of work ends; return those that exist."""
    found: dict[tuple[str, str], Sale] = {}
    for transaction_id, origin in named:
        sale = await confirmations.lock_sale(session, origin, transaction_id)
        if sale is not None:
            found[transaction_id, origin] = sale
    return found


async def _keep(
    context: Context,
    session: Session,
    command: CancelCommand,
    cancellation_id: str,
    response: bytes,
    log_id: str | None,
) -> None:
    """Store the cancellation with its response; in a store, also for the cloud."""
    at = context.clock()
    await cancellations.insert_cancellation(
        session,
        cancellation_id=cancellation_id,
        origin=context.origin,
        transaction_id=command.transaction_id,
        transaction_counter=command.transaction_counter,
        reason=command.reason,
        response=response,
        log_id=log_id,
        at=at,
    )
    await queue_cancellation(
        context,
        session,
        cancellation_id=cancellation_id,
        transaction_id=command.transaction_id,
        transaction_counter=command.transaction_counter,
        reason=command.reason,
        at=at,
    )


# ---- what goes back, and what is undone -----------------------------------------------------------------------------


async def _take_back(session: Session, identity: SaleIdentity, own: Sale, record: SaleRecord) -> _Undoing:
    """Return what no return has given back of the sale, which from now on counts as returned as a whole."""
    origin, transaction_id = identity.origin, identity.transaction_id
    rows = await _consumed(session, origin, transaction_id, own)
    charges, given = own_charges(record, rows), decode_given(own.returned)
    if not given.is_repriced:
        rest = rest_of(transaction_id, record, charges, given.quantities)
    else:
        rest = rest_repriced(transaction_id, record, charges, given)
    rest, _ = less_owed(rest, record)
    await confirmations.note_returned(session, origin, transaction_id, encode_given(Given(all_returned(record))))
    uncovered = {(row.budget_id, row.promotion_id, row.currency): row.uncovered for row in rows}
    return _Undoing(identity, rest, uncovered=uncovered)


async def _consumed(session: Session, origin: str, transaction_id: str, sale: Sale) -> list[budgets.Consumed]:
    key = (origin, transaction_id, sale.transaction_counter)
    return (await budgets.consumed_by(session, [key]))[key]


async def _undo_returns(
    session: Session, undoing: _Undoing, record: SaleRecord, held: Mapping[tuple[str, str], Sale]
) -> None:
    """Undo the sale's own return lines: what they brought back is charged and given again.

    A sale that was cancelled in the meantime keeps nothing: its cancellation has taken the return into account.
    """
    for one in record.brought:
        original = held.get((one.transaction_id, one.origin))
        if original is None or await cancellations.find(session, one.origin, one.transaction_id) is not None:
            continue
        given = decode_given(original.returned)
        its_record = decode_record(original.carried)
        earlier = without(its_record, given, one.given)
        charges = own_charges(its_record, await _consumed(session, one.origin, one.transaction_id, original))
        if not given.is_repriced:
            back = give_back(one.transaction_id, its_record, charges, earlier.quantities, given.quantities)
        else:
            back = give_back_repriced(one.transaction_id, its_record, charges, earlier, given)
        undoing.undone.append(_Undone(one.transaction_id, one.origin, its_record, back.charges))
        undoing.add_points(back.customer_id, back.points)
        await confirmations.note_returned(session, one.origin, one.transaction_id, encode_given(earlier))


async def _note_owed(session: Session, undoing: _Undoing, charged: Sequence[Consumption]) -> None:
    """Note with the sales whose returns were undone what budgets could not be charged again, see `less_owed`."""
    missing: dict[tuple[str, str, str], int] = {}
    for row in charged:
        key = row.budget_id, row.promotion_id, row.currency
        missing[key] = int((row.uncovered + undoing.uncovered.get(key, 0)).scaleb(minor_digits(row.currency)))
    for one in undoing.undone:
        owed = []
        for charge in one.charges:
            part = min(charge.amount_minor, missing.get(charge.key, 0))
            if part > 0:
                missing[charge.key] -= part
                owed.append(replace(charge, amount_minor=part))
        if owed:
            record = replace(one.record, owed=(*one.record.owed, *owed))
            await confirmations.note_carried(session, one.origin, one.transaction_id, encode_record(record))


def _reckon_points(undoing: _Undoing, record: SaleRecord, stopped: jobs.Locked | None) -> None:
    """Add the points to be booked for the sale itself.

    Where the job had not been carried out, its points are never booked: neither those of the sale, nor those that its
    return lines would have taken back.
    """
    returned_before = record.points - undoing.rest.points
    unbooked = _unbooked(stopped)
    if unbooked is None:
        undoing.add_points(record.customer_id, -undoing.rest.points)
        return
    undoing.add_points(record.customer_id, returned_before)
    for back in unbooked.points_back:
        undoing.add_points(back.customer_id, -back.points)


def _unbooked(stopped: jobs.Locked | None) -> Effects | None:
    """Return the effects of a job that has not booked its points; None: it has, or had none to book."""
    if stopped is None or stopped.is_complete:
        return None
    effects = decode_effects(stopped.payload)
    return effects if effects.points or effects.points_back else None


async def _book(context: Context, session: Session, undoing: _Undoing) -> None:
    """Book the points, in the order of customers."""
    sale = undoing.sale
    for customer_id, points in sorted(undoing.points.items()):
        if points:
            await book_points(
                session,
                customer_id,
                [PointsRow(context.new_id(), None, points)],
                origin=sale.origin,
                transaction_id=sale.transaction_id,
                transaction_counter=sale.transaction_counter,
                at=sale.at,
            )


# ---- what is told of it ---------------------------------------------------------------------------------------------


def _response(
    command: CancelCommand, undoing: _Undoing, spent: Sequence[SpentCoupon], earned: Sequence[EarnedCoupon]
) -> bytes:
    back: dict[tuple[str, str], int] = {}
    for charge in undoing.rest.charges:
        key = charge.budget_id, charge.currency
        back[key] = back.get(key, 0) + charge.amount_minor
    return msgspec.json.encode(
        CancelResponse(
            command.transaction_id,
            command.transaction_counter,
            True,
            MESSAGE,
            undoing.rest.points,
            [BudgetGivenBack(of, _money(minor, currency)) for (of, currency), minor in sorted(back.items()) if minor],
            [CouponSpent(one.coupon_id, one.coupon_type_id, one.reason is None, one.reason) for one in spent],
            [CouponEarned(one.coupon_id, one.coupon_type_id, one.reason is None, one.reason) for one in earned],
        )
    )


def _money(minor: int, currency: str) -> Raw:
    return Raw(_JSON.encode({"value": money(minor, minor_digits(currency)), "currency": currency}))


def _event(
    command: CancelCommand,
    undoing: _Undoing,
    log: CancelledLog | None,
    spent: Sequence[SpentCoupon],
    earned: Sequence[EarnedCoupon],
) -> TransactionCancelled:
    currency = None if log is None else log.currency
    back = sum(one.amount_minor for one in undoing.rest.charges if one.currency == currency)
    return TransactionCancelled(
        transaction_id=command.transaction_id,
        transaction_counter=command.transaction_counter,
        reason=command.reason,
        grand_total=None if log is None else log.grand_total,
        currency=currency,
        points_returned=undoing.rest.points,
        budget_returned=Decimal(0) if currency is None else money(back, minor_digits(currency)),
        coupons_reactivated=sum(one.reason is None for one in spent),
        coupons_cancelled=sum(one.reason is None for one in earned),
        customer_id=undoing.sale.customer_id,
    )
