"""The asynchronous stage of a confirmed sale: redeem coupons, book points, issue coupons (reliability T5).

All effects of an attempt, and the effects still owed after it, are written in one transaction under the worker's lease,
so that each effect happens once however often a job is claimed. An effect that fails does not block the others: the
job keeps what is owed, retries it, and ends FAILED with the reason if it never succeeds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from promenade.errors import NotFound, PromenadeError, Unavailable
from promenade.events import LoyaltyPointsAwarded
from promenade.store.access.erasures import notice
from promenade.store.coupons import pool as coupon_pool
from promenade.store.driver.leases import SALES, LeaseLost
from promenade.store.driver.unit import Session
from promenade.store.sales import jobs
from promenade.store.sales.jobs import Claimed, Done
from promenade.store.sales.loyalty import PointsRow, book_points
from promenade.store.webhooks.outbox import emit
from promenade.workflows.context import Context
from promenade.workflows.coupons.claims import finish_claims
from promenade.workflows.coupons.codes import Draw
from promenade.workflows.coupons.post_purchase import issue_earned_coupons
from promenade.workflows.settlement.effects import Effects, PostPurchaseCoupon, decode_effects, encode_effects

__all__ = [
    "ATTEMPTS_MAX",
    "LEASE_SECONDS",
    "ClaimedJob",
    "Draw",
    "SideEffects",
    "claim_jobs",
    "give_up",
    "keep_status",
    "read_status",
    "run_side_effects",
    "side_effects_status",
]

ATTEMPTS_MAX = SALES.attempts_max
LEASE_SECONDS = SALES.lease_seconds
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
    """The result of a sale's side effects; coupons and budgets are counts."""

    transaction_id: str
    transaction_counter: int
    status: str  # PENDING, RUNNING, COMPLETED, FAILED, CANCELLED
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


async def side_effects_status(
    context: Context, tenant_id: str, transaction_id: str, transaction_counter: int
) -> SideEffects:
    """Return the state of the asynchronous stage of a confirmed iteration; up to a second old.

    Raises NotFound (ITERATION_NOT_FOUND) for an iteration that is unknown or not confirmed.
    """
    cached = await context.cache.get(_cache_key(context, tenant_id, transaction_id, transaction_counter))
    if cached is not None:
        # During an upgrade, processes of two versions share the cache.
        with contextlib.suppress(msgspec.MsgspecError):
            return _DECODER.decode(cached)
    began = context.clock()
    found = await context.database.read(
        lambda session: read_status(session, context.origin, transaction_id, transaction_counter), tenant=tenant_id
    )
    if found is None:
        raise NotFound("ITERATION_NOT_FOUND", "No such iteration was confirmed.", "transactionCounter")
    # The second starts before the read: a slow read must not make the cached answer older than a second.
    took = max(0.0, (context.clock() - began).total_seconds())
    if took < STATUS_CACHE_SECONDS:
        await keep_status(context, tenant_id, found, STATUS_CACHE_SECONDS - took)
    return found


async def keep_status(
    context: Context, tenant_id: str, found: SideEffects, seconds: float = STATUS_CACHE_SECONDS
) -> None:
    """Cache this status for the next second, replacing any cached one."""
    key = _cache_key(context, tenant_id, found.transaction_id, found.transaction_counter)
    await context.cache.put(key, _ENCODER.encode(found), seconds)


def _cache_key(context: Context, tenant_id: str, transaction_id: str, transaction_counter: int) -> str:
    # INVARIANT: keys of different tenants never collide. Tenant IDs may contain colons, so the key includes their
    # length.
    return f"side-effects:{len(tenant_id)}:{tenant_id}:{context.origin}:{transaction_counter}:{transaction_id}"


async def read_status(
    session: Session, origin: str, transaction_id: str, transaction_counter: int
) -> SideEffects | None:
    """Read the current state of an iteration's side effects; None: the iteration is unknown or not confirmed."""
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
    """Return the issued coupons with their codes, which are stored only in the coupons' rows."""
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
    """Claim up to ``limit`` jobs of any tenant that are due or whose lease has expired."""
    token = context.new_id()
    return await context.database.write(
        lambda session: jobs.claim(
            session, lease_owner=token, at=context.clock(), lease_seconds=lease_seconds, limit=limit
        ),
        system=True,
        durable=False,  # a claim lost in a power failure is simply claimed again
    )


async def run_side_effects(context: Context, job: Claimed, draw: Draw, attempts_max: int = ATTEMPTS_MAX) -> bool:
    """Carry out as much as possible of a claimed job; False: the lease was lost and nothing was done.

    ``draw`` picks a character of a new coupon code. Errors of the job as a whole are raised; see `give_up`.
    """
    try:
        await context.database.write(
            lambda session: _carry_out(context, session, job, draw, attempts_max), tenant=job.tenant_id
        )
    except LeaseLost:
        return False
    return True


async def _carry_out(context: Context, session: Session, job: Claimed, draw: Draw, attempts_max: int) -> None:
    issued = await jobs.hold(session, job)
    if issued is None:
        raise LeaseLost
    effects = decode_effects(job.payload)
    await notice(session, _named(effects), new_id=context.new_id, at=context.clock())
    redeemed = await finish_claims(context, session, job.origin, job.transaction_id, job.transaction_counter)
    earned = await award_points(context, session, job, effects)
    owed, reasons = await _issue(context, session, job, effects, draw, issued)
    now = context.clock()
    if owed:
        is_written = await jobs.postpone(
            session,
            job,
            Done(redeemed, earned, issued),
            payload=encode_effects(replace(effects, points=(), points_back=(), coupons=tuple(owed))),
            at=now,
            retry_at=SALES.retry_at(now, job.attempts, attempts_max),
            reason="Not issued yet: " + "; ".join(reasons),
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
        raise LeaseLost


def _named(effects: Effects) -> set[str | None]:
    return {effects.customer_id, *(one.customer_id for one in effects.points_back)}


async def _issue(
    context: Context, session: Session, job: Claimed, effects: Effects, draw: Draw, issued: list[dict[str, Any]]
) -> tuple[list[PostPurchaseCoupon], list[str]]:
    """Issue the job's coupons, adding them to ``issued``; return those that cannot be issued, and the reasons."""
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


async def give_up(context: Context, job: Claimed, reason: str, attempts_max: int = ATTEMPTS_MAX) -> None:
    """Release a job after a failed attempt: due again after a doubling delay, or FAILED after the last attempt."""
    now = context.clock()
    retry_at = SALES.retry_at(now, job.attempts, attempts_max)
    await context.database.write(
        lambda session: jobs.fail(session, job, at=now, retry_at=retry_at, reason=reason), tenant=job.tenant_id
    )


# --- points -----------------------------------------------------------------------------------------------------------

# Points of a confirmed sale, and those that its return lines bring back (pricing semantics, sections 6 and 11).
# A return may take a balance below zero. Otherwise what a sale gave could not be taken back in full, and it does happen
# for a moment: the points of a sale may be booked after those that its return brings back.


async def award_points(context: Context, session: Session, job: Claimed, effects: Effects) -> int:
    """Book all points of a job, in the order of customers, and return the points that the sale itself earned."""
    bookings: dict[str, list[PointsRow]] = {}
    if effects.customer_id is not None:
        for entry in effects.points:
            row = PointsRow(context.new_id(), entry.promotion_id, entry.points)
            bookings.setdefault(effects.customer_id, []).append(row)
    for back in effects.points_back:
        bookings.setdefault(back.customer_id, []).append(PointsRow(context.new_id(), None, -back.points))
    earned = sum(entry.points for entry in effects.points) if effects.customer_id is not None else 0
    now = context.clock()
    for customer_id, rows in sorted(bookings.items()):
        balance = await book_points(
            session,
            customer_id,
            rows,
            origin=job.origin,
            transaction_id=job.transaction_id,
            transaction_counter=job.transaction_counter,
            at=now,
        )
        if customer_id == effects.customer_id and earned > 0:
            awarded = LoyaltyPointsAwarded(
                customer_id=customer_id,
                transaction_id=job.transaction_id,
                transaction_counter=job.transaction_counter,
                points=earned,
                balance_after=balance,
            )
            await emit(session, awarded, event_id=context.new_id(), at=now)
    return earned
