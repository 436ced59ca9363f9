"""A till redeems the code that it has reserved (specification, POS Service; reliability C1 to C3).

Rows are taken hold of as confirm does (`workflows.coupons.claims`): what counts the type, then the code.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from promenade.events import CouponRedeemed
from promenade.store.coupons import claims
from promenade.store.coupons.claims import Claim
from promenade.store.coupons.reservations import Reservation, Run, find_reservation, redeem_code, redeem_reservation
from promenade.store.coupons.rules import type_refusal
from promenade.store.coupons.transitions import REDEEM_SHARED
from promenade.store.driver.hot import RolledBack
from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import emit, outbox_row
from promenade.workflows.context import Context
from promenade.workflows.coupons.answers import Redeemed
from promenade.workflows.coupons.edges import CodeChanged, Refused, run_with_retries, write_log
from promenade.workflows.coupons.reserving import loss_reason
from promenade.workflows.replica.queueing import QueuedCoupon, queue_coupon

REDEEM_TIME_MAX = timedelta(minutes=1)  # a statement that waits for a connection or a lock times out earlier


async def redeem(context: Context, tenant_id: str, reservation_id: str, transaction_id: str) -> Redeemed:
    """Spend the reserved code, once. A confirm of the same transaction takes over the redemption.

    Raises Unavailable.
    """
    answer = await _redeem_directly(context, tenant_id, reservation_id, transaction_id)
    if answer is not None:
        return answer

    async def work(session: Session) -> Redeemed:
        reservation = await find_reservation(session.hot, tenant_id, reservation_id)
        if reservation is None:
            return Redeemed("RESERVATION_NOT_FOUND")
        reason = _refusal(reservation, transaction_id, context.clock())
        if reason is None:
            await _redeem(context, session, reservation, reservation_id, transaction_id)
        return Redeemed(reason)

    try:
        return await run_with_retries(context, tenant_id, work)
    except Refused as refused:
        return Redeemed(refused.reason)


async def _redeem_directly(
    context: Context, tenant_id: str, reservation_id: str, transaction_id: str
) -> Redeemed | None:
    """Redeem an individual code in one statement; None: nothing was done, a unit of work must do it or find out why."""
    reservation = await find_reservation(context.database.look, tenant_id, reservation_id)
    if reservation is None:
        return Redeemed("RESERVATION_NOT_FOUND")
    at, until = context.clock(), reservation.row.reserved_until
    reason = _refusal(reservation, transaction_id, at)
    if reason is not None:
        return Redeemed(reason)
    if reservation.row.state is not None or until is None or until - at < REDEEM_TIME_MAX or context.is_store:
        return None
    run = partial(context.database.hot, durable=True)
    try:
        log_id = context.new_id()
        is_done, _ = await _redeem_individual(
            context, run, tenant_id, reservation, reservation_id, transaction_id, at, log_id
        )
    except RolledBack:
        return None
    return Redeemed(None) if is_done else None


def _refusal(reservation: Reservation, transaction_id: str, at: datetime) -> str | None:
    row = reservation.row
    if row.transaction_id != transaction_id:
        return "WRONG_TRANSACTION"
    reason = loss_reason(reservation, at) or type_refusal(reservation.kind, at)
    if reason is not None:
        return reason
    if row.valid_until is not None and at >= row.valid_until:
        return "EXPIRED"
    is_there = row.status == ("RESERVED" if row.state is None else "ACTIVE")
    return None if is_there and (row.valid_from is None or at >= row.valid_from) else "NOT_ACTIVE"


async def _redeem(
    context: Context, session: Session, reservation: Reservation, reservation_id: str, transaction_id: str
) -> None:
    at, tenant_id, log_id = context.clock(), session.tenant or "", context.new_id()
    if reservation.row.state is None:
        try:
            is_done, is_there = await _redeem_individual(
                context, session.hot, tenant_id, reservation, reservation_id, transaction_id, at, log_id
            )
        except RolledBack as undone:
            raise CodeChanged from undone
    else:
        # Before locking rows that others wait for.
        await emit(session, _event(reservation, transaction_id), event_id=context.new_id(), at=at)
        is_done, is_there = await _redeem_shared(
            context, session, reservation, reservation_id, transaction_id, at, log_id
        )
    if not is_done:
        # While this unit waited for the counts, a concurrent redemption of the same reservation may have reached the
        # limit.
        if not is_there or await find_reservation(session.hot, tenant_id, reservation_id) != reservation:
            raise CodeChanged
        raise Refused("USAGE_LIMIT_REACHED")
    until = reservation.row.reserved_until
    if until is not None and context.clock() >= until:  # locking the counts may have taken a while
        raise Refused("RESERVATION_EXPIRED")
    row, kind = reservation.row, reservation.kind
    queued = QueuedCoupon("REDEEMED", kind.id, at, row.coupon_id, transaction_id, row.customer_id)
    await queue_coupon(context, session, log_id=log_id, event=queued)


def _event(reservation: Reservation, transaction_id: str) -> CouponRedeemed:
    return CouponRedeemed(
        coupon_id=reservation.row.coupon_id,
        coupon_type_id=reservation.kind.id,
        transaction_id=transaction_id,
        customer_id=reservation.row.customer_id,
    )


async def _redeem_individual(
    context: Context,
    run: Run,
    tenant_id: str,
    reservation: Reservation,
    reservation_id: str,
    transaction_id: str,
    at: datetime,
    log_id: str,
) -> tuple[bool, bool]:
    """Call `redeem_code` with the event to send. Raises `RolledBack`."""
    event = outbox_row(tenant_id, _event(reservation, transaction_id), event_id=context.new_id(), at=at)
    return await redeem_code(
        run,
        tenant_id,
        reservation,
        reservation_id,
        transaction_id,
        origin=context.origin,
        log_id=log_id,
        event=event,
        at=at,
    )


async def _redeem_shared(
    context: Context,
    session: Session,
    reservation: Reservation,
    reservation_id: str,
    transaction_id: str,
    at: datetime,
    log_id: str,
) -> tuple[bool, bool]:
    """As `redeem_code`, for a shared code."""
    row, kind = reservation.row, reservation.kind
    if not await _count(session, reservation):
        return False, True
    if not await redeem_reservation(session, reservation_id, at):
        return False, False
    if row.coupon_id is not None and not await claims.count_generic(session, row.coupon_id, transaction_id, at):
        return False, False
    key = row.coupon_id or kind.id
    slot = await claims.next_slot(session, key)
    await claims.insert_claim(
        session,
        Claim(key, slot, kind.id, promotion_id=None, customer_id=row.customer_id),
        origin=context.origin,
        transaction_id=transaction_id,
        transaction_counter=None,
        at=at,
        redeemed_at=at,
    )
    await write_log(
        session,
        log_id,
        coupon_id=row.coupon_id,
        coupon_type_id=kind.id,
        action=REDEEM_SHARED.log,
        at=at,
        transaction_id=transaction_id,
        customer_id=row.customer_id,
    )
    return True, True


async def _count(session: Session, reservation: Reservation) -> bool:
    """Count the redemption, in total and for the customer; False: a limit is reached."""
    kind, customer_id = reservation.kind, reservation.row.customer_id
    if await claims.count_use(session, kind.id, None, kind.max_redemptions) is None:
        return False
    each = kind.max_redemptions_per_customer
    return customer_id is None or await claims.count_use(session, kind.id, customer_id, each) is not None
