"""Tills of linked stores that price baskets by a real promotion and confirm them."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from promenade.engine.basket import BasketLine
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.pricing.evaluate import PricedIteration, PricingRequest, evaluate
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.reliability.shares.offline import Branch
from tests.reliability.shares.stores import Stores
from tests.workflows.shop import Shop, identity

__all__ = ["Till", "furnish"]


async def furnish(
    stores: Stores, branches: list[Branch], discount: str, kind: str = "ABSOLUTE", **limits: object
) -> None:
    """Let the promotion `off` take ``discount`` off each receipt, in the cloud and in the stores.

    ``limits``: budget="20.00" in major units, or applications=20.
    """
    for shop in (stores.shop, *(one.shop for one in branches)):
        is_cloud = shop is stores.shop
        await shop.put(
            "DiscountActions",
            promotion_id=identity("off"),
            action_type="RECEIPT",
            discount_type=kind,
            discount_value=Decimal(discount),
            sequence=1,
        )
        if "budget" in limits:
            await shop.budget("hot", str(limits["budget"]) if is_cloud else "0")
            await shop.put("BudgetPromotions", budget_id=identity("hot"), promotion_id=identity("off"))
        if "applications" in limits:
            most = limits["applications"] if is_cloud else 0
            await shop.change("Promotions", "off", max_applications_total=most)
        await _recorded(shop)


async def _recorded(shop: Shop) -> None:
    async def work(session: Session) -> None:
        for kind in ("PosGroups", "Promotions"):
            await record_change(session, kind, at=shop.now[0])

    await shop.context.database.write(work, tenant=shop.tenant)


@dataclass
class Till:
    """A till of a store; ``reasons`` are why the promotion was not given, in order."""

    branch: Branch
    reasons: list[str] = field(default_factory=list)

    async def price(self, transaction: str, hundredths: int) -> PricedIteration:
        request = PricingRequest(
            lines=(BasketLine("1", "A-1", 1000, hundredths),), transaction_id=transaction, pos_group_code="SHOP"
        )
        return await evaluate(self.branch.shop.context, self.branch.shop.tenant, request)

    async def sell(self, transaction: str, hundredths: int = 10_000) -> bool:
        """Sell something for 100.00, or another price; return whether the promotion was given."""
        priced = await self.price(transaction, hundredths)
        applied = priced.outcome.applied
        self.reasons += [one.reason for one in priced.outcome.budget_limited]
        entries = tuple(ConfirmedPromotion(one.promotion_id) for one in applied)
        assert priced.transaction_counter is not None
        command = ConfirmCommand(transaction, priced.transaction_counter, entries, transaction.encode())
        await confirm(self.branch.shop.context, self.branch.shop.tenant, command)
        self.branch.unsent += [(transaction, one.discount_minor, "hot") for one in applied]
        return bool(applied)
