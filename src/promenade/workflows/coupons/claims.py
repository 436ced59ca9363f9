"""Spend the coupons that triggered a confirm's promotions, inside its transaction (section 11; C1, C3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from promenade.engine.basket import CouponFact
from promenade.errors import Conflict
from promenade.events import CouponRedeemed
from promenade.store.coupons import claims as store
from promenade.store.coupons.claims import Claim, SpendingRules
from promenade.store.coupons.reservations import read_held
from promenade.store.coupons.transitions import FINISH, RELEASE
from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import emit
from promenade.workflows.context import Context
from promenade.workflows.settlement.rules import SaleIdentity, Settlement


@dataclass(frozen=True, slots=True)
class Spending:
    """One coupon that a confirm spends. ``coupon_id`` None: the shared code of a type, which has no row."""

    code: str
    coupon_id: str | None
    coupon_type_id: str
    promotion_id: str

    @property
    def key(self) -> str:
        """The key of its claim."""
        return self.coupon_id or self.coupon_type_id


def coupons_to_claim(settlement: Settlement, facts: Sequence[CouponFact]) -> tuple[Spending, ...]:
    """The coupons behind the confirmed promotions, each once, in the same order for all confirms."""
    known = {fact.code: fact for fact in facts if fact.coupon_type_id is not None}
    found: dict[str, Spending] = {}
    for promotion in settlement.promotions:
        fact = known.get(promotion.applied.coupon_code or "")
        if fact is not None and fact.coupon_type_id is not None:
            spending = Spending(fact.code, fact.coupon_id, fact.coupon_type_id, promotion.applied.promotion_id)
            found.setdefault(spending.key, spending)
    return tuple(sorted(found.values(), key=lambda one: (one.coupon_type_id, one.key)))


async def claim_coupons(
    session: Session, spendings: Sequence[Spending], sale: SaleIdentity, new_id: Callable[[], str]
) -> None:
    """Spend all of them or raise Conflict: COUPON_ALREADY_CLAIMED, COUPON_EXPIRED or COUPON_LIMIT_REACHED.

    Coupons that the till has already redeemed for this sale are taken over, not spent again.
    """
    if not spendings:
        return
    rules = await store.read_rules(session, {one.coupon_type_id for one in spendings})
    for one in spendings:
        rule = rules.get(one.coupon_type_id)
        if rule is None:
            raise _already_claimed(one)
        # From here on the row that counts the type's redemptions is locked: no till can redeem this code in between.
        uses = await store.count_use(session, one.coupon_type_id, None, rule.max_redemptions)
        if await _take_over(session, one, rule, sale):
            if uses is not None:
                await store.uncount_use(session, one.coupon_type_id)
            continue
        if uses is None:
            raise _limit_reached(one)
        await _spend(session, one, rule, sale, uses, new_id)
        slot = await store.next_slot(session, one.key) if _is_shared(one, rule) else 0
        await store.insert_claim(
            session,
            Claim(one.key, slot, one.coupon_type_id, one.promotion_id, sale.customer_id),
            origin=sale.origin,
            transaction_id=sale.transaction_id,
            transaction_counter=sale.transaction_counter,
            at=sale.at,
        )


async def finish_claims(
    context: Context, session: Session, origin: str, transaction_id: str, transaction_counter: int
) -> int:
    """Finish the redemption of every coupon that a confirm claimed; return how many the sale has spent so far.

    The count includes coupons that the till had redeemed earlier, whose events were sent then.
    """
    now = context.clock()
    for claim in await store.claims_of(session, origin, transaction_id):
        coupon_id = claim.coupon_code_id if claim.coupon_code_id != claim.coupon_type_id else None
        await store.finish_redemption(session, claim, transaction_id, now)
        await store.insert_redemption_log(
            session,
            log_id=context.new_id(),
            coupon_code_id=coupon_id,
            coupon_type_id=claim.coupon_type_id,
            promotion_id=claim.promotion_id,
            action=FINISH.log,
            transaction_id=transaction_id,
            customer_id=claim.customer_id,
            at=now,
        )
        event = CouponRedeemed(
            coupon_id=coupon_id,
            coupon_type_id=claim.coupon_type_id,
            promotion_id=claim.promotion_id,
            transaction_id=transaction_id,
            transaction_counter=transaction_counter,
            customer_id=claim.customer_id,
        )
        await emit(session, event, event_id=context.new_id(), at=now)
    return await store.count_of_sale(session, origin, transaction_id)


async def _take_over(session: Session, one: Spending, rule: SpendingRules, sale: SaleIdentity) -> bool:
    """Whether the till has already redeemed it for this sale, which then takes over the claim."""
    claim = await store.take_over(
        session,
        one.key,
        origin=sale.origin,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        promotion=one.promotion_id,
    )
    if claim is None:
        return False
    if claim.customer_id is None and sale.customer_id is not None:
        await _count_customer(session, one, rule, sale.customer_id)
        await store.set_claim_customer(session, one.key, claim.slot, sale.customer_id)
    return True


async def _spend(
    session: Session, one: Spending, rule: SpendingRules, sale: SaleIdentity, uses: int, new_id: Callable[[], str]
) -> None:
    """Spend one coupon; ``uses`` of its type are counted already."""
    if rule.valid_to is not None and rule.valid_to <= sale.judged_at:
        raise _expired(one)
    if sale.customer_id is not None:
        await _count_customer(session, one, rule, sale.customer_id)
    if _is_shared(one, rule):
        await _respect_reservations(session, one, rule, sale, uses)
    if one.coupon_id is None:
        return
    spend = store.count_generic if rule.is_generic else store.claim_individual
    if await spend(session, one.coupon_id, sale.transaction_id, sale.judged_at):
        return
    if not rule.is_generic and await _take_from_expired(session, one, one.coupon_id, sale, new_id):
        return
    raise _expired(one) if await store.has_ended(session, one.coupon_id, sale.judged_at) else _already_claimed(one)


async def _take_from_expired(
    session: Session, one: Spending, coupon_id: str, sale: SaleIdentity, new_id: Callable[[], str]
) -> bool:
    """Spend a coupon held by an expired reservation and log its end, since no sweeper will; False: not so held."""
    ended = await store.claim_expired_hold(session, coupon_id, sale.transaction_id, sale.judged_at)
    if ended is None:
        return False
    await store.insert_redemption_log(
        session,
        log_id=new_id(),
        coupon_code_id=coupon_id,
        coupon_type_id=one.coupon_type_id,
        promotion_id=None,
        action=RELEASE.log,
        transaction_id=ended.transaction_id,
        customer_id=ended.customer_id,
        at=sale.at,
    )
    return True


def _is_shared(one: Spending, rule: SpendingRules) -> bool:
    return one.coupon_id is None or rule.is_generic


async def _respect_reservations(
    session: Session, one: Spending, rule: SpendingRules, sale: SaleIdentity, uses: int
) -> None:
    """Respect the reservations of other transactions, and use up the sale's own."""
    held = await read_held(
        session.hot,
        session.tenant or "",
        coupon_type_id=one.coupon_type_id,
        coupon_id=one.coupon_id,
        transaction_id=sale.transaction_id,
        origin=sale.origin,
        at=sale.at,
    )
    if rule.max_redemptions is not None and uses + held.elsewhere > rule.max_redemptions:
        raise _limit_reached(one)
    if held.reservation_id is not None:
        await store.settle_reservation(session, held.reservation_id, sale.at)


async def _count_customer(session: Session, one: Spending, rule: SpendingRules, customer_id: str) -> None:
    limit = rule.max_redemptions_per_customer
    if await store.count_use(session, one.coupon_type_id, customer_id, limit) is None:
        raise _limit_reached(one)


# A code is secret, and refusals are stored with the sale: so messages name the promotion instead of the coupon.


def _already_claimed(one: Spending) -> Conflict:
    message = (
        f"The coupon that triggers promotion {one.promotion_id} cannot be spent: "
        "another sale has spent or reserved it, or it was cancelled."
    )
    return Conflict("COUPON_ALREADY_CLAIMED", message, "coupons")


def _expired(one: Spending) -> Conflict:
    message = f"The coupon that triggers promotion {one.promotion_id} is no longer valid."
    return Conflict("COUPON_EXPIRED", message, "coupons")


def _limit_reached(one: Spending) -> Conflict:
    message = f"The coupon that triggers promotion {one.promotion_id} has been spent as often as allowed."
    return Conflict("COUPON_LIMIT_REACHED", message, "coupons")
