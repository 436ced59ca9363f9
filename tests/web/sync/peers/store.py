"""Today's store with the recorded cloud: its tills sell what was sold in the recording."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal

from promenade.engine.basket import BasketLine
from promenade.store.replica.link import Link, read_link
from promenade.workflows.coupons.redeeming import redeem
from promenade.workflows.coupons.reserving import ReserveOrder, reserve
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from promenade.workflows.replica.exchanging import Exchanged, exchange
from promenade.workflows.sales.cancel import CancelCommand, cancel
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.web.sync.peers.cloud import OlderCloud
from tests.web.sync.peers.market import TILL_TRANSACTION, Sale
from tests.workflows.shop import Shop

__all__ = ["Store"]


@dataclass
class Store:
    """The store's shop, and the cloud at the other end of its link."""

    shop: Shop
    cloud: OlderCloud

    async def link(self) -> Link:
        """Return the configured link with its last state."""
        found = await self.shop.context.database.read(read_link, system=True)
        assert found is not None
        return found

    async def exchange(self) -> Exchanged:
        """Let the side effects of sales end, then exchange everything with the cloud."""
        await self.shop.work()
        return await exchange(self.shop.context, self.shop.tenant, await self.link())

    async def sell(self, sale: Sale) -> Decimal:
        """Price and confirm a sale; return what the customer pays."""
        context, tenant = self.shop.context, self.shop.tenant
        request = PricingRequest(
            lines=(BasketLine("1", sale.article, 1000, 1000),),
            transaction_id=sale.transaction_id,
            pos_group_code="BERLIN",
            coupons=() if sale.coupon is None else (sale.coupon,),
        )
        priced = await evaluate(context, tenant, request)
        assert priced.transaction_counter == 1
        given = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied)
        mark = hashlib.sha256(sale.transaction_id.encode()).digest()
        await confirm(context, tenant, ConfirmCommand(sale.transaction_id, 1, given, mark))
        return Decimal(priced.outcome.grand_total_minor) / 100

    async def cancel(self, sale: Sale) -> None:
        await cancel(self.shop.context, self.shop.tenant, CancelCommand(sale.transaction_id, 1, "void"))

    async def spend(self, code: str) -> None:
        """Redeem a coupon outside of a sale."""
        context, tenant = self.shop.context, self.shop.tenant
        reserved = await reserve(context, tenant, ReserveOrder(code, TILL_TRANSACTION))
        assert reserved.reservation_id is not None, reserved
        assert (await redeem(context, tenant, reserved.reservation_id, TILL_TRANSACTION)).reason is None
