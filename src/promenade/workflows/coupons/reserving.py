"""Reserve a code before it is redeemed, and cancel reservations (specification, POS Service; reliability C2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from promenade.store.coupons import claims
from promenade.store.coupons.edges import MINUTES_DEFAULT, MINUTES_MAX
from promenade.store.coupons.reservations import (
    Coupon,
    Reservation,
    cancel_code,
    cancel_reservation,
    find_coupon,
    find_reservation,
    insert_reservation,
    read_held,
    reserve_code,
    take_code,
)
from promenade.store.coupons.rules import code_refusal, limit_refusal, type_refusal
from promenade.store.coupons.transitions import CANCEL, HOLD, RELEASE
from promenade.store.driver.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.coupons.answers import Cancelled, Reserved
from promenade.workflows.coupons.edges import CodeChanged, run_with_retries, write_log
from promenade.workflows.coupons.failed_look_ups import FailedLookups
from promenade.workflows.replica.holding import hold_codes


@dataclass(frozen=True, slots=True)
class ReserveOrder:
    """Which code to reserve for which transaction; ``customer_id`` None: the code's customer, if any."""

    code: str
    transaction_id: str
    customer_id: str | None = None
    client_id: str = ""


async def reserve(context: Context, tenant_id: str, order: ReserveOrder) -> Reserved:
    """Reserve the code for the transaction for a limited time; a repeat returns the same reservation.

    Raises TooMany (TOO_MANY_ATTEMPTS) and Unavailable.
    """
    failed = FailedLookups(context.cache, tenant_id, order.client_id)
    await failed.require_room()
    reservation_id = context.new_id()
    until = await take_code(
        partial(context.database.hot, durable=True),
        tenant_id,
        order.code,
        order.transaction_id,
        order.customer_id,
        reservation_id,
        context.clock(),
    )
    if until is not None:
        return Reserved(None, reservation_id, until)
    # It is refused, or needs more than one statement: a shared code, an expired reservation.
    answer = await run_with_retries(context, tenant_id, lambda session: _reserve(context, session, tenant_id, order))
    if answer.reason == "UNKNOWN_CODE" and context.uplink is not None:
        refusal = (await hold_codes(context, tenant_id, (order.code,))).get(order.code)
        if refusal is not None:
            answer = Reserved(refusal)
        else:
            answer = await run_with_retries(
                context, tenant_id, lambda session: _reserve(context, session, tenant_id, order)
            )
    if answer.reason == "UNKNOWN_CODE":
        await failed.add()
    return answer


async def _reserve(context: Context, session: Session, tenant_id: str, order: ReserveOrder) -> Reserved:
    at = context.clock()
    coupon = await find_coupon(
        session.hot,
        tenant_id,
        order.code,
        at=at,
        transaction_id=order.transaction_id,
        customer_id=order.customer_id,
    )
    if coupon is None:
        return Reserved("UNKNOWN_CODE")
    row, kind = coupon.row, coupon.kind
    if not kind.is_generic and row.redeemed_transaction_id == order.transaction_id:
        return Reserved("REDEEMED_BEFORE")
    reason = type_refusal(kind, at) or code_refusal(
        row, at, order.transaction_id, order.customer_id, bearer_counts=True
    )
    if reason is not None:
        return Reserved(reason)
    if kind.is_generic:
        return await _reserve_shared(context, session, tenant_id, order, coupon)
    reason = limit_refusal(kind, row.uses, row.customer_uses)
    if reason is not None:
        return Reserved(reason)
    return await _reserve_individual(context, session, order, coupon, at)


async def _reserve_individual(
    context: Context, session: Session, order: ReserveOrder, coupon: Coupon, at: datetime
) -> Reserved:
    row = coupon.row
    is_reserved = row.status == "RESERVED" and row.reserved_until is not None
    if is_reserved and row.reserved_until is not None and at < row.reserved_until:  # by this same transaction
        return Reserved(None, row.reservation_ref, row.reserved_until)
    # End an expired reservation that was not swept yet, unless a sweeper has just done and logged it.
    ended = await claims.lock_expired_hold(session, row.coupon_id or "", at) if is_reserved else None
    if is_reserved and ended is None:
        raise CodeChanged
    reservation_id, until = context.new_id(), _expiry_of(coupon, at)
    customer_id = order.customer_id or row.customer_id
    # INVARIANT: the log of a reservation has the reservation's ID. Only the log records for whom a code was reserved.
    if not await reserve_code(session, coupon, reservation_id, order.transaction_id, customer_id, until, at):
        raise CodeChanged
    if ended is not None:
        await write_log(
            session,
            context.new_id(),
            coupon_id=row.coupon_id,
            coupon_type_id=coupon.kind.id,
            action=RELEASE.log,
            at=at,
            transaction_id=ended.transaction_id,
            customer_id=ended.customer_id,
        )
    return Reserved(None, reservation_id, until)


async def _reserve_shared(
    context: Context, session: Session, tenant_id: str, order: ReserveOrder, coupon: Coupon
) -> Reserved:
    """Reserve with the type's count locked, so that whoever counts what is left sees every earlier reservation."""
    row, kind = coupon.row, coupon.kind
    uses = await claims.count_use(session, kind.id, None, None, by=0)
    at = context.clock()
    held = await read_held(
        session.hot,
        tenant_id,
        coupon_type_id=kind.id,
        coupon_id=row.coupon_id,
        transaction_id=order.transaction_id,
        origin=context.origin,
        at=at,
    )
    if held.is_spent:
        return Reserved("REDEEMED_BEFORE")
    if held.reservation_id is not None:
        return Reserved(None, held.reservation_id, held.reserved_until)
    reason = limit_refusal(kind, (uses or 0) + held.elsewhere, row.customer_uses)
    if reason is not None:
        return Reserved(reason)
    reservation_id, until = context.new_id(), _expiry_of(coupon, at)
    await insert_reservation(
        session,
        reservation_id=reservation_id,
        coupon_type_id=kind.id,
        coupon_id=row.coupon_id,
        transaction_id=order.transaction_id,
        customer_id=order.customer_id,
        until=until,
        at=at,
    )
    await write_log(
        session,
        reservation_id,
        coupon_id=row.coupon_id,
        coupon_type_id=kind.id,
        action=HOLD.log,
        at=at,
        transaction_id=order.transaction_id,
        customer_id=order.customer_id or row.customer_id,
    )
    return Reserved(None, reservation_id, until)


def _expiry_of(coupon: Coupon, at: datetime) -> datetime:
    """When a reservation made now expires; never later than the coupon, which could not be redeemed then.

    In whole milliseconds, so that the time sent to the till is exactly the time that counts.
    """
    minutes = min(coupon.kind.reservation_minutes or MINUTES_DEFAULT, MINUTES_MAX)
    end = at + timedelta(minutes=minutes)
    if coupon.valid_until is not None:
        end = min(end, coupon.valid_until)
    return end.replace(microsecond=end.microsecond // 1000 * 1000)


def loss_reason(reservation: Reservation, at: datetime) -> str | None:
    """Return why a reservation no longer holds its code; None: it does."""
    row = reservation.row
    until = row.reserved_until
    if row.state == "REDEEMED" or (row.state is None and row.redeemed_transaction_id is not None):
        return "REDEEMED_BEFORE"
    # A sweeper cancels an expired reservation sooner or later: the answer is the same before and after.
    if row.state == "CANCELLED" and until is not None and row.ended_at is not None and row.ended_at < until:
        return "RESERVATION_NOT_FOUND"
    is_held = row.state == "HELD" if row.state is not None else row.status == "RESERVED"
    return None if is_held and until is not None and at < until else "RESERVATION_EXPIRED"


async def cancel(context: Context, tenant_id: str, reservation_id: str) -> Cancelled:
    """Cancel a reservation, so that the code can be reserved again. Raises Unavailable."""

    async def work(session: Session) -> Cancelled:
        at = context.clock()
        reservation = await find_reservation(session.hot, tenant_id, reservation_id)
        if reservation is None:
            return Cancelled("RESERVATION_NOT_FOUND")
        reason = loss_reason(reservation, at)
        if reason is not None:
            return Cancelled(reason)
        row = reservation.row
        if row.state is None:
            done = await cancel_code(session, row.coupon_id or "", reservation_id, at)
        else:
            done = await cancel_reservation(session, reservation_id, at)
        if not done:
            raise CodeChanged
        await write_log(
            session,
            context.new_id(),
            coupon_id=row.coupon_id,
            coupon_type_id=reservation.kind.id,
            action=CANCEL.log,
            at=at,
            transaction_id=row.transaction_id,
            customer_id=row.customer_id,
        )
        return Cancelled(None)

    return await run_with_retries(context, tenant_id, work)
