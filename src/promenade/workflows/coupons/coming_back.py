"""Coupons of a sale that is cancelled or returned as a whole (pricing semantics, section 11).

Those that the sale has spent are valid again if their type says so (`onReturn`) and they have not ended meanwhile.
Those that it had earned are cancelled unless they are spent: always with a cancellation, and with a full return if
their type says so (`earnedOnReturn`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from promenade.store.coupons import claims as claims_store
from promenade.store.coupons import coming_back as store
from promenade.store.coupons.claims import Claim
from promenade.store.coupons.coming_back import EarnedCode, ReturnPolicy
from promenade.store.coupons.transitions import END_EARNED, REACTIVATE
from promenade.store.driver.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.coupons.edges import write_log
from promenade.workflows.coupons.issuing import issued_under

KEEPS_REDEEMED = "KEEP_REDEEMED"
EXPIRED = "EXPIRED"
INACTIVE = "INACTIVE"
CHANGED = "CHANGED"
AFTER_SYNC = "AFTER_SYNC"
ALREADY_SPENT = "ALREADY_SPENT"
ALREADY_CANCELLED = "ALREADY_CANCELLED"


@dataclass(frozen=True, slots=True)
class SpentCoupon:
    """What became of a coupon that a sale had spent; ``reason`` says why it is not valid again.

    KEEP_REDEEMED: its type says so; EXPIRED; INACTIVE: its type is not active; CHANGED: it was changed or deleted
    since; AFTER_SYNC: it will be when the cloud has received the cancellation of the store.
    """

    coupon_id: str | None  # None: the shared code of a type
    coupon_type_id: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class EarnedCoupon:
    """What became of a coupon that a sale had earned; ``reason`` says why it is not cancelled now.

    ALREADY_SPENT, EXPIRED or ALREADY_CANCELLED.
    """

    coupon_id: str
    coupon_type_id: str
    reason: str | None


async def return_spent(
    context: Context, session: Session, origin: str, transaction_id: str, at: datetime
) -> list[SpentCoupon]:
    """Make the coupons that a sale has spent valid again, as far as their types say so; return what became of each."""
    claims = await store.claims_of_sale(session, origin, transaction_id)
    policies = await store.policies_of(session, {one.coupon_type_id for one in claims})
    return [await _return_one(context, session, one, policies, transaction_id, at) for one in claims]


async def _return_one(
    context: Context,
    session: Session,
    claim: Claim,
    policies: dict[str, ReturnPolicy],
    transaction_id: str,
    at: datetime,
) -> SpentCoupon:
    policy = policies.get(claim.coupon_type_id)
    coupon_id = claim.coupon_code_id if claim.coupon_code_id != claim.coupon_type_id else None
    if policy is None:
        return SpentCoupon(coupon_id, claim.coupon_type_id, CHANGED)
    if policy.on_return == KEEPS_REDEEMED:
        return SpentCoupon(coupon_id, claim.coupon_type_id, KEEPS_REDEEMED)
    # First, as in a confirm: the row that counts the type's redemptions.
    await claims_store.count_use(session, claim.coupon_type_id, None, None, by=0)
    reason = await _reactivate(context, session, claim, coupon_id, policy, transaction_id, at)
    if reason in (None, AFTER_SYNC):
        await store.delete_claim(session, claim)
        await claims_store.uncount_use(session, claim.coupon_type_id)
        if claim.customer_id is not None:
            await claims_store.uncount_use(session, claim.coupon_type_id, claim.customer_id)
        await write_log(
            session,
            context.new_id(),
            coupon_id=coupon_id,
            coupon_type_id=claim.coupon_type_id,
            action=REACTIVATE.log,
            at=at,
            transaction_id=transaction_id,
            customer_id=claim.customer_id,
        )
    return SpentCoupon(coupon_id, claim.coupon_type_id, reason)


async def _reactivate(
    context: Context,
    session: Session,
    claim: Claim,
    coupon_id: str | None,
    policy: ReturnPolicy,
    transaction_id: str,
    at: datetime,
) -> str | None:
    """Make a coupon valid again; return why it is not."""
    if policy.is_generic:
        if (reason := _ended(policy, None, at)) is not None:
            return reason
        if coupon_id is not None:
            await store.uncount_code(session, coupon_id, at)
        return None
    if context.is_store:
        # No store may spend a code that it does not hold. The cloud reactivates it, and gives it to whoever asks.
        await store.forget_code(session, claim.coupon_code_id)
        return AFTER_SYNC
    if await store.reactivate(session, claim, transaction_id, at):
        return None
    found = await store.status_of(session, claim.coupon_code_id)
    return CHANGED if found is None else _ended(policy, found[1], at) or CHANGED


def _ended(policy: ReturnPolicy, valid_until: datetime | None, at: datetime) -> str | None:
    """Return why a code with this end cannot be valid at ``at``; None: it can."""
    if any(end is not None and end <= at for end in (valid_until, policy.valid_to)):
        return EXPIRED
    return None if policy.status == "ACTIVE" else INACTIVE


async def end_earned(
    context: Context, session: Session, origin: str, transaction_id: str, at: datetime, *, is_cancelled: bool
) -> list[EarnedCoupon]:
    """Cancel the unspent coupons that a sale had earned; return what became of each.

    ``is_cancelled``: the sale was cancelled; otherwise it was returned, and the policies of the types decide.
    """
    codes = await store.earned_codes(session, issued_under(origin, transaction_id))
    if not is_cancelled:
        ending = await types_that_end(session, {one.coupon_type_id for one in codes})
        codes = [one for one in codes if one.coupon_type_id in ending]
    return [await _end_one(context, session, one, transaction_id, at) for one in codes]


async def types_that_end(session: Session, coupon_type_ids: set[str]) -> set[str]:
    """Return those types whose unspent codes are cancelled when the sale that earned them is returned."""
    policies = await store.policies_of(session, coupon_type_ids)
    return {one for one, policy in policies.items() if policy.earned_on_return == "CANCEL"}


async def _end_one(
    context: Context, session: Session, code: EarnedCode, transaction_id: str, at: datetime
) -> EarnedCoupon:
    if await store.end_earned(session, code.coupon_id, at):
        await write_log(
            session,
            context.new_id(),
            coupon_id=code.coupon_id,
            coupon_type_id=code.coupon_type_id,
            action=END_EARNED.log,
            at=at,
            transaction_id=transaction_id,
            customer_id=code.customer_id,
        )
        return EarnedCoupon(code.coupon_id, code.coupon_type_id, None)
    if code.is_spent or code.status == "REDEEMED":
        return EarnedCoupon(code.coupon_id, code.coupon_type_id, ALREADY_SPENT)
    ended = EXPIRED if code.status == EXPIRED else ALREADY_CANCELLED
    return EarnedCoupon(code.coupon_id, code.coupon_type_id, ended)
