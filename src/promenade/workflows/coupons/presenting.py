"""Validate a code (whether it could be spent now) and activate it for its customer."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TypeVar

from promenade.store.coupons.reservations import (
    Coupon,
    Held,
    activate_code,
    find_coupon,
    read_held,
    running_promotion,
)
from promenade.store.coupons.rules import code_refusal, limit_refusal, type_refusal
from promenade.store.coupons.transitions import ACTIVATE
from promenade.store.driver.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.coupons.answers import Activated, Validated
from promenade.workflows.coupons.edges import CodeChanged, run_with_retries, write_log
from promenade.workflows.coupons.failed_look_ups import FailedLookups
from promenade.workflows.replica.holding import hold_codes
from promenade.workflows.replica.queueing import QueuedCoupon, queue_coupon

T = TypeVar("T", Activated, Validated)


async def validate(
    context: Context,
    tenant_id: str,
    code: str,
    *,
    transaction_id: str = "",
    customer_id: str | None = None,
    client_id: str = "",
) -> Validated:
    """Check whether the code could be spent now, by the transaction and the customer if they are named. Writes nothing.

    Raises TooMany (TOO_MANY_ATTEMPTS).
    """
    failed = FailedLookups(context.cache, tenant_id, client_id)
    await failed.require_room()
    look, at = context.database.look, context.clock()
    find = partial(find_coupon, look, tenant_id, code, at=at, transaction_id=transaction_id, customer_id=customer_id)
    coupon = await find()
    refusal = None
    if coupon is None and context.uplink is not None:
        refusal = (await hold_codes(context, tenant_id, (code,))).get(code)
        coupon = await find()
    if coupon is None:
        return await _not_found(failed, Validated(code, refusal or "UNKNOWN_CODE"))
    row, kind = coupon.row, coupon.kind
    own = await _own_hold(context, tenant_id, coupon, transaction_id, at) if transaction_id else _NO_HOLD
    reason = (
        ("REDEEMED_BEFORE" if own.is_spent else None)
        or type_refusal(kind, at)
        or code_refusal(row, at, transaction_id or None, customer_id, bearer_counts=True)
        or limit_refusal(kind, row.uses + row.held_elsewhere, row.customer_uses)
    )
    if reason is not None:
        return Validated(code, reason, None, coupon.valid_until)
    promotion_id = await running_promotion(look, tenant_id, kind.id, at)
    return Validated(code, None, promotion_id, coupon.valid_until, own.reservation_id)


_NO_HOLD = Held(0, None, None, is_spent=False)


async def _own_hold(context: Context, tenant_id: str, coupon: Coupon, transaction_id: str, at: datetime) -> Held:
    """Return the transaction's own live reservation of the code, and whether it has spent the code already."""
    row, kind = coupon.row, coupon.kind
    if kind.is_generic:
        return await read_held(
            context.database.look,
            tenant_id,
            coupon_type_id=kind.id,
            coupon_id=row.coupon_id,
            transaction_id=transaction_id,
            origin=context.origin,
            at=at,
        )
    is_own = row.status == "RESERVED" and row.reserved_by_transaction_id == transaction_id
    is_live = is_own and row.reserved_until is not None and at < row.reserved_until
    is_spent = row.redeemed_transaction_id == transaction_id
    return Held(0, row.reservation_ref if is_live else None, row.reserved_until, is_spent)


async def activate(context: Context, tenant_id: str, code: str, customer_id: str, *, client_id: str = "") -> Activated:
    """Move a code from CREATED to ACTIVE, for its own customer, or for any customer if it has none.

    Raises TooMany (TOO_MANY_ATTEMPTS) and Unavailable.
    """
    failed = FailedLookups(context.cache, tenant_id, client_id)
    await failed.require_room()

    async def work(session: Session) -> Activated:
        at = context.clock()
        coupon = await find_coupon(session.hot, tenant_id, code, at=at, customer_id=customer_id)
        if coupon is None:
            return Activated(code, "UNKNOWN_CODE")
        reason = _not_to_be_activated(coupon, at, customer_id)
        if reason is None and coupon.row.coupon_id is not None:
            if not await activate_code(session, coupon.row.coupon_id, at):
                raise CodeChanged
            log_id = context.new_id()
            await write_log(
                session,
                log_id,
                coupon_id=coupon.row.coupon_id,
                coupon_type_id=coupon.kind.id,
                action=ACTIVATE.log,
                at=at,
                customer_id=customer_id,
            )
            event = QueuedCoupon("ACTIVATED", coupon.kind.id, at, coupon.row.coupon_id, customer_id=customer_id)
            await queue_coupon(context, session, log_id=log_id, event=event)
        return Activated(code, reason, coupon.valid_until)

    answer = await run_with_retries(context, tenant_id, work)
    if answer.reason == "UNKNOWN_CODE" and context.uplink is not None:
        refusal = (await hold_codes(context, tenant_id, (code,))).get(code)
        answer = await run_with_retries(context, tenant_id, work) if refusal is None else Activated(code, refusal)
    return await _not_found(failed, answer)


async def _not_found(failed: FailedLookups, answer: T) -> T:
    """Return the answer, counting it if the code is unknown."""
    if answer.reason == "UNKNOWN_CODE":
        await failed.add()
    return answer


def _not_to_be_activated(coupon: Coupon, at: datetime, customer_id: str) -> str | None:
    """Return the reason for refusal. A code may be activated before it becomes valid, but never after it has ended."""
    row, kind = coupon.row, coupon.kind
    if row.customer_id is not None and row.customer_id != customer_id:
        return "WRONG_CUSTOMER"
    if row.status == "REDEEMED" or (row.status == "RESERVED" and row.redeemed_transaction_id is not None):
        return "ALREADY_REDEEMED"
    if row.status == "EXPIRED" or (coupon.valid_until is not None and at >= coupon.valid_until):
        return "EXPIRED"
    if row.status == "CANCELLED" or kind.status != "ACTIVE":
        return "NOT_ACTIVE"
    return None if row.status == "CREATED" else "ALREADY_ACTIVE"
