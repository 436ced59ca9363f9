"""The asynchronous stage of a confirmed sale: coupons redeemed, points booked, coupons issued (reliability T5).

All that an attempt does, and what it leaves owed, are one transaction under the worker's lease, so that each effect
happens once however often a job is taken. An effect that cannot be done holds up no other: the job keeps what is owed,
tries that again, and ends FAILED with the reason if it never can be done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec

from promenade.errors import NotFound, PromenadeError, Unavailable
from promenade.events import CouponRedeemed
from promenade.store import coupon_claims, coupon_pool, jobs
from promenade.store.jobs import RETRY_SECONDS_MAX, Claimed, Done
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.coupon_codes import Draw
from promenade.workflows.effects import Effects, PostPurchaseCoupon, decode_effects, encode_effects
from promenade.workflows.loyalty import award_points
from promenade.workflows.post_purchase import issue_earned_coupons

__all__ = [
    "ATTEMPTS_MAX",
    "LEASE_SECONDS",
    "ClaimedJob",
    "Draw",
    "PostPurchaseResult",
    "SideEffects",
    "claim_jobs",
    "give_up",
    "keep_status",
    "read_status",
    "run_side_effects",
    "side_effects_status",
]

ATTEMPTS_MAX = 8
LEASE_SECONDS = 60
STATUS_CACHE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class PostPurchaseResult:
    """One issued coupon, as the till that earned it may show it."""

    code: str
    coupon_type_id: str
    customer_id: str | None
    issued_at: datetime


@dataclass(frozen=True, slots=True)
class SideEffects:
    """The side-effects result; coupons and budgets are counts."""

    transaction_id: str
    transaction_counter: int
    status: str  # PENDING, RUNNING, COMPLETED, FAILED
    enqueued_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    attempts: int
    coupons_redeemed: int
    budgets_consumed: int
    loyalty_points_earned: int
    post_purchase_coupons: tuple[PostPurchaseResult, ...]
    reason: str | None


ClaimedJob = Claimed

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(SideEffects)


class _LeaseLostError(Exception):
    """Another worker has the job: nothing of this attempt may stay."""


async def side_effects_status(
    context: Context, tenant_id: str, transaction_id: str, transaction_counter: int
) -> SideEffects:
    """Where the asynchronous stage of a confirmed iteration stands; up to a second old.

    Raises NotFound (ITERATION_NOT_FOUND) for an iteration that is unknown or not confirmed.
    """
    cached = await context.cache.get(_cache_key(context, tenant_id, transaction_id, transaction_counter))
    if cached is not None:
        # Processes of two versions share a cache while the service is upgraded.
        with contextlib.suppress(msgspec.MsgspecError):
            return _DECODER.decode(cached)
    began = context.clock()
    found = await context.database.read(
        lambda session: read_status(session, context.origin, transaction_id, transaction_counter), tenant=tenant_id
    )
    if found is None:
        raise NotFound("ITERATION_NOT_FOUND", "No such iteration was confirmed.", "transactionCounter")
    # The second counts from before it was read: an answer that took long must not be shown for that much longer.
    took = max(0.0, (context.clock() - began).total_seconds())
    if took < STATUS_CACHE_SECONDS:
        await keep_status(context, tenant_id, found, STATUS_CACHE_SECONDS - took)
    return found


async def keep_status(
    context: Context, tenant_id: str, found: SideEffects, seconds: float = STATUS_CACHE_SECONDS
) -> None:
    """Show this status for the next second, in the place of any that is kept."""
    key = _cache_key(context, tenant_id, found.transaction_id, found.transaction_counter)
    await context.cache.put(key, _ENCODER.encode(found), seconds)


def _cache_key(context: Context, tenant_id: str, transaction_id: str, transaction_counter: int) -> str:
    # INVARIANT: no two tenants have a key in common. Their IDs may hold colons, so the key says where each ends.
    return f"side-effects:{len(tenant_id)}:{tenant_id}:{context.origin}:{transaction_counter}:{transaction_id}"


async def read_status(
    session: Session, origin: str, transaction_id: str, transaction_counter: int
) -> SideEffects | None:
    """Where the side effects of an iteration stand now; None: it is unknown or not confirmed."""
    job = await jobs.find(session, origin, transaction_id, transaction_counter)
    if job is None:
        return None
    return SideEffects(
        transaction_id=job.transaction_id,
        transaction_counter=job.transaction_counter,
        status=job.status,
        enqueued_at=job.enqueued_at,
        started_at=job.started_at,
        completed_at=job.completed_at,
        attempts=job.attempts,
        coupons_redeemed=job.coupons_redeemed,
        budgets_consumed=job.budgets_consumed,
        loyalty_points_earned=job.loyalty_points_earned,
        post_purchase_coupons=await _issued(session, job.post_purchase_coupons or ()),
        reason=job.reason,
    )


async def _issued(session: Session, kept: Sequence[dict[str, Any]]) -> tuple[PostPurchaseResult, ...]:
    """The issued coupons with their codes, which only their own rows hold."""
    if not kept:
        return ()
    codes = await coupon_pool.codes_by_id(session, [one["couponId"] for one in kept if one["couponId"]])
    codes |= await coupon_pool.generic_codes(session, [one["couponTypeId"] for one in kept if not one["couponId"]])
    return tuple(
        PostPurchaseResult(
            codes[one["couponId"] or one["couponTypeId"]],
            one["couponTypeId"],
            one["customerId"],
            datetime.fromisoformat(one["issuedAt"]),
        )
        for one in kept
        if (one["couponId"] or one["couponTypeId"]) in codes
    )


async def claim_jobs(context: Context, limit: int, lease_seconds: int = LEASE_SECONDS) -> list[Claimed]:
    """Take up to ``limit`` jobs of any tenant that are due, or whose worker let its lease run out."""
    token = context.new_id()
    return await context.database.write(
        lambda session: jobs.claim(
            session, lease_owner=token, at=context.clock(), lease_seconds=lease_seconds, limit=limit
        ),
        system=True,
        durable=False,  # a claim that is lost with the power leaves the job to be claimed again
    )


async def run_side_effects(context: Context, job: Claimed, draw: Draw, attempts_max: int = ATTEMPTS_MAX) -> bool:
    """Carry out one claimed job, or all of it that can be done; False: the lease was lost and nothing was done.

    ``draw`` picks a character of a new coupon code. What goes wrong with the job as a whole is raised; see `give_up`.
    """
    try:
        await context.database.write(
            lambda session: _carry_out(context, session, job, draw, attempts_max), tenant=job.tenant_id
        )
    except _LeaseLostError:
        return False
    return True


async def _carry_out(context: Context, session: Session, job: Claimed, draw: Draw, attempts_max: int) -> None:
    issued = await jobs.hold(session, job)
    if issued is None:
        raise _LeaseLostError
    effects = decode_effects(job.payload)
    redeemed = await _redeem(context, session, job)
    earned = await award_points(context, session, job, effects)
    owed, reasons = await _issue(context, session, job, effects, draw, issued)
    now = context.clock()
    if owed:
        is_written = await jobs.put_off(
            session,
            job,
            Done(redeemed, earned, issued),
            payload=encode_effects(replace(effects, points=(), points_back=(), coupons=tuple(owed))),
            at=now,
            retry_at=_retry_at(job, now, attempts_max),
            reason="Still owed: " + "; ".join(reasons),
        )
    else:
        is_written = await jobs.complete(
            session,
            job,
            at=now,
            coupons_redeemed=redeemed,
            loyalty_points_earned=earned,
            post_purchase_coupons=issued,
        )
    if not is_written:
        raise _LeaseLostError


async def _issue(
    context: Context, session: Session, job: Claimed, effects: Effects, draw: Draw, issued: list[dict[str, Any]]
) -> tuple[list[PostPurchaseCoupon], list[str]]:
    """Issue the job's coupons, adding them to ``issued``; the answer is those that cannot be issued, and why."""
    owed: list[PostPurchaseCoupon] = []
    reasons: list[str] = []
    for coupon in effects.coupons:
        one = replace(effects, coupons=(coupon,))
        try:
            async with session.savepoint():
                issued += await issue_earned_coupons(context, session, job, one, draw)
        except Unavailable:
            raise
        except PromenadeError as error:
            owed.append(coupon)
            reasons.append(f"a coupon of type {coupon.coupon_type_id} ({error.code}: {error.message})")
    return owed, reasons


async def _redeem(context: Context, session: Session, job: Claimed) -> int:
    """Finish the redemption of every coupon that the confirm claimed; how many the sale has spent by now.

    A coupon that its till had redeemed before is one of them, and has been told of by then.
    """
    claims = await coupon_claims.claims_of(session, job.origin, job.transaction_id)
    now = context.clock()
    for claim in claims:
        coupon_id = claim.coupon_code_id if claim.coupon_code_id != claim.coupon_type_id else None
        await coupon_claims.finish_redemption(session, claim, job.transaction_id, now)
        await coupon_claims.insert_redemption_log(
            session,
            log_id=context.new_id(),
            coupon_code_id=coupon_id,
            coupon_type_id=claim.coupon_type_id,
            promotion_id=claim.promotion_id,
            action="REDEEMED",
            transaction_id=job.transaction_id,
            customer_id=claim.customer_id,
            at=now,
        )
        event = CouponRedeemed(
            coupon_id=coupon_id,
            coupon_type_id=claim.coupon_type_id,
            promotion_id=claim.promotion_id,
            transaction_id=job.transaction_id,
            transaction_counter=job.transaction_counter,
            customer_id=claim.customer_id,
        )
        await emit(session, event, event_id=context.new_id(), at=now)
    return await coupon_claims.count_of_sale(session, job.origin, job.transaction_id)


async def give_up(context: Context, job: Claimed, reason: str, attempts_max: int = ATTEMPTS_MAX) -> None:
    """Give a job back after a failed attempt: due again after a doubling wait, or FAILED after the last attempt."""
    now = context.clock()
    retry_at = _retry_at(job, now, attempts_max)
    await context.database.write(
        lambda session: jobs.fail(session, job, at=now, retry_at=retry_at, reason=reason), tenant=job.tenant_id
    )


def _retry_at(job: Claimed, now: datetime, attempts_max: int) -> datetime | None:
    """When to try again after a failed attempt; None: it was the last."""
    wait = min(2**job.attempts, RETRY_SECONDS_MAX)
    return now + timedelta(seconds=wait) if job.attempts < attempts_max else None
