"""Issue coupons after a purchase: exactly one code per transaction, promotion and coupon type."""

from __future__ import annotations

from promenade.errors import Conflict, Invalid
from promenade.store.coupons import pool as coupon_pool
from promenade.store.driver.unit import Session
from promenade.store.sales.jobs import Claimed
from promenade.workflows.context import Context
from promenade.workflows.coupons.codes import Draw
from promenade.workflows.coupons.issuing import Order, issue_one, issued_under
from promenade.workflows.settlement.effects import Effects


async def issue_earned_coupons(
    context: Context, session: Session, job: Claimed, effects: Effects, draw: Draw
) -> list[dict[str, str | None]]:
    """Issue every coupon of a job and return what the job records of each.

    That is couponId, couponTypeId, promotionId, customerId and issuedAt; the codes themselves are secret and stay in
    their rows. ``couponId`` is None for the shared code of a GENERIC type. A store issues the codes that it holds and
    leaves the rest to the cloud, which issues it when it accepts the sale. Elsewhere raises Invalid
    (COUPON_TYPE_NOT_FOUND) and Conflict, see `issue_one`.
    """
    now = context.clock()
    kept = []
    for wanted in effects.coupons:
        kind = await coupon_pool.read_type(session, wanted.coupon_type_id)
        if kind is None:
            if context.is_store:
                continue
            raise Invalid("COUPON_TYPE_NOT_FOUND", "The coupon type has been deleted.")
        order = Order(
            "POST_PURCHASE",
            (effects.customer_id,),
            wanted.promotion_id,
            job.transaction_id,
            issued_under=issued_under(job.origin, job.transaction_id),
        )
        try:
            coupon = await issue_one(
                session, kind, order, at=now, new_id=context.new_id, draw=None if context.is_store else draw
            )
        except Conflict:
            if context.is_store:
                continue
            raise
        kept.append(
            {
                "couponId": coupon.id,
                "couponTypeId": kind.id,
                "promotionId": wanted.promotion_id,
                "customerId": coupon.customer_id,
                "issuedAt": now.isoformat(),
            }
        )
    return kept
