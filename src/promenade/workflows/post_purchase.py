"""Coupons issued after a purchase: one code per transaction, promotion and coupon type, ever."""

from __future__ import annotations

from promenade.errors import Invalid
from promenade.store import coupon_pool
from promenade.store.jobs import Claimed
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.coupon_codes import Draw
from promenade.workflows.coupon_issuing import Order, issue_one
from promenade.workflows.effects import Effects

__all__ = ["issue_earned_coupons"]


async def issue_earned_coupons(
    context: Context, session: Session, job: Claimed, effects: Effects, draw: Draw
) -> list[dict[str, str | None]]:
    """Issue every coupon of a job and return what the job keeps of each: couponId, couponTypeId, customerId, issuedAt.

    The codes themselves stay in their rows, where they are secrets. ``couponId`` is None for the shared code of a
    GENERIC type. Raises Invalid (COUPON_TYPE_NOT_FOUND) and Conflict, see `issue_one`.
    """
    now = context.clock()
    kept = []
    for wanted in effects.coupons:
        kind = await coupon_pool.read_type(session, wanted.coupon_type_id)
        if kind is None:
            raise Invalid("COUPON_TYPE_NOT_FOUND", "The coupon type has been deleted.")
        order = Order("POST_PURCHASE", (effects.customer_id,), wanted.promotion_id, job.transaction_id)
        coupon = await issue_one(session, kind, order, at=now, new_id=context.new_id, draw=draw)
        kept.append(
            {
                "couponId": coupon.id,
                "couponTypeId": kind.id,
                "customerId": coupon.customer_id,
                "issuedAt": now.isoformat(),
            }
        )
    return kept
