"""What happened to coupons at the tills of a store, beside its sales: each taken once by its log (C1, T4)."""

from __future__ import annotations

from promenade.errors import Conflict, Invalid
from promenade.events import CouponRedeemed
from promenade.store import coupon_claims as claims
from promenade.store import uploaded_coupons
from promenade.store.coupon_claims import Claim
from promenade.store.coupon_reservations import activate_code
from promenade.store.coupon_slots import next_slot
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.coupon_issuing import Order, issued_event
from promenade.workflows.sync.shares import keep_leased, release_shares
from promenade.workflows.sync.store_sale import write_issued
from promenade.workflows.uploads import UploadedCoupon

__all__ = ["take_coupon"]


async def take_coupon(context: Context, tenant_id: str, deployment_id: str, event: UploadedCoupon) -> bool:
    """Carry out what a till of the store did; False: that has been done.

    Raises Conflict (COUPON_ALREADY_CLAIMED, COUPON_LIMIT_REACHED, COUPON_NOT_HELD) and Invalid
    (COUPON_TYPE_NOT_FOUND); then nothing of it is done.
    """

    async def work(session: Session) -> bool:
        at = context.clock()
        is_new = await uploaded_coupons.log_once(
            session,
            event.log_id,
            coupon_id=event.coupon_id,
            coupon_type_id=event.coupon_type_id,
            action=event.action,
            transaction_id=event.transaction_id,
            customer_id=event.customer_id,
            occurred_at=min(event.occurred_at, at),
            at=at,
        )
        if is_new:
            await _ACTIONS[event.action](context, session, deployment_id, event)
        return is_new

    return await context.database.write(work, tenant=tenant_id)


async def _redeem(context: Context, session: Session, deployment_id: str, event: UploadedCoupon) -> None:
    """As `coupons.redeeming` does, without a reservation: the store's lease was one."""
    at = context.clock()
    judged_at = min(event.occurred_at, at)
    type_id, coupon_id = event.coupon_type_id, event.coupon_id
    transaction_id = event.transaction_id or ""
    rule = (await claims.read_rules(session, [type_id])).get(type_id)
    if rule is None:
        raise Invalid("COUPON_TYPE_NOT_FOUND", "The coupon type has been deleted.")
    codes = [] if coupon_id is None else [coupon_id]
    if codes:
        await uploaded_coupons.revive_leased(session, deployment_id, codes, judged_at)
    await release_shares(
        context,
        session,
        deployment_id,
        budgets={},
        coupon_codes=codes,
        coupon_types={type_id: 1},
        promotions=(),
        at=at,
    )
    if await claims.count_use(session, type_id, None, rule.max_redemptions) is None:
        raise _limit_reached()
    if event.customer_id is not None:
        each = rule.max_redemptions_per_customer
        if await claims.count_use(session, type_id, event.customer_id, each) is None:
            raise _limit_reached()
    if coupon_id is not None:
        spend = claims.count_generic if rule.is_generic else claims.claim_individual
        if not await spend(session, coupon_id, transaction_id, judged_at):
            raise Conflict("COUPON_ALREADY_CLAIMED", "The coupon was spent elsewhere, or is not the store's.")
    key = coupon_id or type_id
    slot = await next_slot(session, key) if rule.is_generic else 0
    claim = Claim(key, slot, type_id, promotion_id=None, customer_id=event.customer_id)
    await claims.insert_claim(
        session, claim, origin=deployment_id, transaction_id=transaction_id, transaction_counter=None, at=at
    )
    await claims.finish_redemption(session, claim, transaction_id, at)
    redeemed = CouponRedeemed(
        coupon_id=coupon_id, coupon_type_id=type_id, transaction_id=transaction_id, customer_id=event.customer_id
    )
    await emit(session, redeemed, event_id=context.new_id(), at=at)


def _limit_reached() -> Conflict:
    return Conflict("COUPON_LIMIT_REACHED", "Coupons of this type have been spent as often as they may.")


async def _issue(context: Context, session: Session, deployment_id: str, event: UploadedCoupon) -> None:
    order = Order("MANUAL", (event.customer_id,), reason=event.reason, metadata=event.metadata)
    issued = await write_issued(
        context,
        session,
        deployment_id,
        coupon_id=event.coupon_id,
        coupon_type_id=event.coupon_type_id,
        order=order,
        issued_at=event.occurred_at,
    )
    if issued is None:
        raise Conflict("COUPON_NOT_HELD", "The code is not there to be issued: it is not the store's any more.")
    await emit(session, issued_event(issued.issue, issued.coupon), event_id=context.new_id(), at=issued.issue.issued_at)


async def _activate(context: Context, session: Session, deployment_id: str, event: UploadedCoupon) -> None:
    """A code that the store still holds is active when it comes back; another one is so at once."""
    at, coupon_id = context.clock(), event.coupon_id or ""
    if coupon_id not in await keep_leased(session, deployment_id, {coupon_id: "ACTIVE"}, at):
        await activate_code(session, coupon_id, min(event.occurred_at, at))


_ACTIONS = {"REDEEMED": _redeem, "ISSUED": _issue, "ACTIVATED": _activate}
