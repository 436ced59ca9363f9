"""Coupons issued after a purchase: one code per transaction, promotion and coupon type, ever."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from promenade.events import CouponIssued
from promenade.store import coupon_pool
from promenade.store.coupon_claims import insert_redemption_log
from promenade.store.coupon_pool import Issue, IssuedCode, IssuingType
from promenade.store.jobs import Claimed
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.coupon_codes import Draw, generate_code
from promenade.workflows.effects import Effects, PostPurchaseCoupon

__all__ = ["ENDS_AT_LAST", "issue_coupons"]

ENDS_AT_LAST = datetime(9000, 1, 1, tzinfo=UTC)  # beyond this neither dates nor time zones can be reckoned with
_DAYS_MAX = timedelta.max.days
DRAWS_MAX = 20  # a code of 40 bits or more is hardly ever taken; a type whose codes run out must not loop for ever


async def issue_coupons(
    context: Context, session: Session, job: Claimed, effects: Effects, draw: Draw
) -> list[dict[str, str | None]]:
    """Issue every coupon of a job and return what the job keeps of each: couponId, couponTypeId, customerId, issuedAt.

    The codes themselves stay in their rows, where they are secrets. ``couponId`` is None for the shared code of a
    GENERIC type.
    """
    now = context.clock()
    issued = []
    for wanted in effects.coupons:
        kind = await coupon_pool.read_type(session, wanted.coupon_type_id)
        if kind is None:
            continue
        issue = _issue_of(kind, wanted, job, effects.customer_id, now)
        code_id = None if kind.code_type == "GENERIC" else await _issue_individual(context, session, kind, issue, draw)
        await _tell(context, session, issue, code_id)
        issued.append(
            {
                "couponId": code_id,
                "couponTypeId": kind.id,
                "customerId": issue.customer_id,
                "issuedAt": now.isoformat(),
            }
        )
    return issued


def _issue_of(
    kind: IssuingType, wanted: PostPurchaseCoupon, job: Claimed, customer_id: str | None, now: datetime
) -> Issue:
    """A code is good for the type's validityDays from now, and never longer than its type."""
    ends = [] if kind.valid_to is None else [kind.valid_to]
    if kind.validity_days is not None:
        ends.append(now + min(timedelta(days=min(kind.validity_days, _DAYS_MAX)), ENDS_AT_LAST - now))
    return Issue(
        coupon_type_id=kind.id,
        promotion_id=wanted.promotion_id,
        transaction_id=job.transaction_id,
        customer_id=customer_id,
        status="CREATED" if kind.requires_activation else "ACTIVE",
        issued_at=now,
        valid_until=min(ends, default=None),
    )


async def _issue_individual(context: Context, session: Session, kind: IssuingType, issue: Issue, draw: Draw) -> str:
    """Issue one code, from the pool while it lasts, and return its ID."""
    known = await coupon_pool.issued_for(session, issue.transaction_id, issue.promotion_id, issue.coupon_type_id)
    issued: IssuedCode | None = known or await coupon_pool.take_from_pool(session, issue)
    for _ in range(DRAWS_MAX):
        if issued is not None:
            return issued.id
        issued = await coupon_pool.add_issued(session, context.new_id(), generate_code(kind.shape, draw), issue)
    if issued is None:
        raise RuntimeError(f"coupon type {kind.id} has run out of codes that are not taken")
    return issued.id


async def _tell(context: Context, session: Session, issue: Issue, code_id: str | None) -> None:
    await insert_redemption_log(
        session,
        log_id=context.new_id(),
        coupon_code_id=code_id,
        coupon_type_id=issue.coupon_type_id,
        promotion_id=issue.promotion_id,
        action="ISSUED",
        transaction_id=issue.transaction_id,
        customer_id=issue.customer_id,
        at=issue.issued_at,
    )
    event = CouponIssued(
        coupon_id=code_id,
        coupon_type_id=issue.coupon_type_id,
        issuance_channel="POST_PURCHASE",
        promotion_id=issue.promotion_id,
        transaction_id=issue.transaction_id,
        customer_id=issue.customer_id,
        valid_until=issue.valid_until,
    )
    await emit(session, event, event_id=context.new_id(), at=issue.issued_at)
