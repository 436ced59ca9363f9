"""Validate a code (whether it could be spent now) and activate it for its customer."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from promenade.store.coupons.reservations import Coupon, activate_code, find_coupon, running_promotion
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
    context: Context, tenant_id: str, code: str, *, customer_id: str | None = None, client_id: str = ""
) -> Validated:
    """Check whether the code could be spent now, by the customer if one is named. Writes nothing.

    Raises TooMany (TOO_MANY_ATTEMPTS).
    """
    failed = FailedLookups(context.cache, tenant_id, client_id)
    await failed.require_room()
    look, at = context.database.look, context.clock()
    coupon = await find_coupon(look, tenant_id, code, at=at, customer_id=customer_id)
    refusal = None
    if coupon is None and context.uplink is not None:
        refusal = (await hold_codes(context, tenant_id, (code,))).get(code)
        coupon = await find_coupon(look, tenant_id, code, at=at, customer_id=customer_id)
    if coupon is None:
        return await _not_found(failed, Validated(code, refusal or "UNKNOWN_CODE"))
    row, kind = coupon.row, coupon.kind
    reason = (
        type_refusal(kind, at)
        or code_refusal(row, at, None, customer_id, bearer_counts=True)
        or limit_refusal(kind, row.uses + row.held_elsewhere, row.customer_uses)
    )
    promotion_id = None if reason else await running_promotion(look, tenant_id, kind.id, at)
    return Validated(code, reason, promotion_id, coupon.valid_until)


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
