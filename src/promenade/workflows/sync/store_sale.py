"""The effect of a store's sale on the store's shares, inside the confirm: each share is released just before its
use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from promenade.engine.money import minor_digits
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.pool import Issue
from promenade.store.driver.unit import Session
from promenade.store.sync import uploaded_coupons
from promenade.workflows.budgets.charging import BudgetMove
from promenade.workflows.context import Context
from promenade.workflows.coupons.claims import Spending
from promenade.workflows.coupons.coming_back import SpentCoupon
from promenade.workflows.coupons.issuing import IssuedCoupon, Order, issue_of, issued_under, record_issued
from promenade.workflows.replica.uploads import IssuedCode
from promenade.workflows.settlement.effects import PostPurchaseCoupon
from promenade.workflows.settlement.returns import GiveBack
from promenade.workflows.settlement.rules import SaleIdentity, money
from promenade.workflows.sync.shares import keep_leased, release_shares, reserve_again


@dataclass(frozen=True, slots=True)
class Issued:
    """A coupon that was issued, with its issue."""

    issue: Issue
    coupon: IssuedCoupon


class StoreSale:
    """The implementation of `confirm.Shares` for a store's sale, created for each attempt at the unit of work.

    ``is_new``: the sale was not known; none of the methods is called for a repetition. ``shares`` are the IDs, among
    those of the sale, of which the store has a share: it cannot spend a share that it was never granted.
    """

    def __init__(
        self, context: Context, sale: SaleIdentity, issued: Sequence[IssuedCode], shares: Collection[str]
    ) -> None:
        self._context = context
        self._sale = sale
        self._issued = issued
        self._shares = shares
        self.is_new = False

    async def before_coupons(self, session: Session, spendings: Sequence[Spending]) -> None:
        """Release the leased coupons and the shares of their types' redemptions.

        Those that the till redeemed earlier were released when the cloud received that event.
        """
        self.is_new = True
        if not spendings:
            return
        sale = self._sale
        before = await uploaded_coupons.till_claims(session, sale.origin, sale.transaction_id)
        new = [one for one in spendings if one.key not in before]
        codes = [one.coupon_id for one in new if one.coupon_id is not None and one.coupon_id in self._shares]
        if codes:
            await uploaded_coupons.revive_leased(session, sale.origin, codes, sale.judged_at)
        types = Counter(one.coupon_type_id for one in new if one.coupon_type_id in self._shares)
        if codes or types:
            await release_shares(
                self._context,
                session,
                sale.origin,
                budgets={},
                coupon_codes=codes,
                coupon_types=types,
                promotions=(),
                at=sale.at,
            )

    async def issued(self, session: Session) -> frozenset[PostPurchaseCoupon]:
        """Record the coupons that the store has issued; the others are left to the side effects."""
        return frozenset(
            [
                PostPurchaseCoupon(code.promotion_id, code.coupon_type_id)
                for code in self._issued
                if await self._write_issued(session, code)
            ]
        )

    async def _write_issued(self, session: Session, code: IssuedCode) -> bool:
        sale = self._sale
        order = Order(
            "POST_PURCHASE",
            (code.customer_id,),
            code.promotion_id,
            sale.transaction_id,
            issued_under=issued_under(sale.origin, sale.transaction_id),
        )
        issued = await write_issued(
            self._context,
            session,
            sale.origin,
            coupon_id=code.coupon_id,
            coupon_type_id=code.coupon_type_id,
            order=order,
            issued_at=code.issued_at,
        )
        if issued is not None:
            await record_issued(session, issued.issue, [issued.coupon], self._context.new_id)
        return issued is not None

    async def before_counting(self, session: Session, promotion_ids: Sequence[str]) -> None:
        """Release the store's reserved applications of the promotions."""
        limited = [promotion_id for promotion_id in promotion_ids if promotion_id in self._shares]
        if limited:
            await self._release(session, {}, limited)

    async def before_budgets(self, session: Session, moves: Sequence[BudgetMove], brought: Sequence[GiveBack]) -> None:
        """Release the store's reserved budget that this sale spends."""
        wanted = {budget_id: amount for budget_id, amount in self._net(moves, brought).items() if amount > 0}
        if wanted:
            await self._release(session, wanted, ())

    async def after_budgets(self, session: Session, moves: Sequence[BudgetMove], brought: Sequence[GiveBack]) -> None:
        """Return the refunds of the store's own sales to its share: it may spend them again, and perhaps already
        has.
        """
        kept = {budget_id: amount for budget_id, amount in self._net(moves, brought).items() if amount < 0}
        if kept:
            await self._release(session, kept, ())

    def _net(self, moves: Sequence[BudgetMove], brought: Sequence[GiveBack]) -> dict[str, Decimal]:
        """Return the net use of the store's shares by budget; a return of another store's sale adds nothing to them."""
        net: dict[str, Decimal] = {}
        for move in moves:
            net[move.budget_id] = net.get(move.budget_id, Decimal(0)) + move.wanted
        for back in brought:
            if back.origin == self._sale.origin:
                for charge in back.charges:
                    amount = money(charge.amount_minor, minor_digits(charge.currency))
                    net[charge.budget_id] = net.get(charge.budget_id, Decimal(0)) - amount
        return {budget_id: amount for budget_id, amount in net.items() if budget_id in self._shares}

    async def _release(self, session: Session, budgets: dict[str, Decimal], promotion_ids: Sequence[str]) -> None:
        await release_shares(
            self._context,
            session,
            self._sale.origin,
            budgets=budgets,
            coupon_codes=(),
            coupon_types={},
            promotions=promotion_ids,
            at=self._sale.at,
        )


class CancelledInStore:
    """The implementation of `cancel.CancelledShares` for a sale that its store has cancelled."""

    def __init__(self, context: Context, deployment_id: str) -> None:
        self._context = context
        self._deployment_id = deployment_id

    async def before_budgets(self, session: Session, moves: Sequence[BudgetMove]) -> None:
        """Release the store's reserved budget that is charged again for returns which are undone."""
        await self._release(session, {one: amount for one, amount in _net(moves).items() if amount > 0})

    async def after_cancel(
        self,
        session: Session,
        promotion_ids: Sequence[str],
        coupons: Sequence[SpentCoupon],
        moves: Sequence[BudgetMove],
    ) -> None:
        """Reserve for the store again what it may use again, and perhaps already has."""
        await self._release(session, {one: amount for one, amount in _net(moves).items() if amount < 0})
        types = Counter(one.coupon_type_id for one in coupons if one.reason is None)
        await reserve_again(self._context, session, self._deployment_id, coupon_types=types, promotions=promotion_ids)

    async def _release(self, session: Session, budgets: dict[str, Decimal]) -> None:
        if budgets:
            await release_shares(
                self._context,
                session,
                self._deployment_id,
                budgets=budgets,
                coupon_codes=(),
                coupon_types={},
                promotions=(),
                at=self._context.clock(),
            )


def _net(moves: Sequence[BudgetMove]) -> dict[str, Decimal]:
    """Return by budget what moves take from it; negative: what they give back."""
    net: dict[str, Decimal] = {}
    for move in moves:
        net[move.budget_id] = net.get(move.budget_id, Decimal(0)) + move.wanted - move.given_back
    return net


async def write_issued(
    context: Context,
    session: Session,
    deployment_id: str,
    *,
    coupon_id: str | None,
    coupon_type_id: str,
    order: Order,
    issued_at: datetime,
) -> Issued | None:
    """Record a coupon that a store issued at ``issued_at`` by its clock; None: the code was not available.

    The caller has to send the notification.
    """
    at = context.clock()
    kind = await coupon_pool.read_type(session, coupon_type_id)
    if kind is None or kind.is_generic != (coupon_id is None):
        return None
    issue = issue_of(kind, order, min(issued_at, at))
    (customer_id,) = order.customer_ids
    if coupon_id is not None:
        is_leased = coupon_id in await keep_leased(session, deployment_id, {coupon_id: issue.status}, at)
        if not await uploaded_coupons.mark_issued(session, coupon_id, issue, customer_id, is_leased=is_leased):
            return None
    coupon = IssuedCoupon(coupon_id, None, coupon_type_id, customer_id, issue.valid_until)
    # The notification has the current time, because old ones are not sent.
    return Issued(replace(issue, issued_at=at), coupon)
