"""A till with one coupon and shortcuts for its calls."""

from __future__ import annotations

from dataclasses import dataclass

from promenade.workflows.coupons.answers import Activated, Cancelled, Redeemed, Reserved, Validated
from promenade.workflows.coupons.presenting import activate, validate
from promenade.workflows.coupons.redeeming import redeem
from promenade.workflows.coupons.reserving import ReserveOrder, cancel, reserve
from tests.workflows.shop import Shop

__all__ = ["Till"]


@dataclass
class Till:
    """The coupon endpoints of a shop's tenant."""

    shop: Shop

    async def validate(self, code: str, customer: str | None = None, transaction: str = "") -> Validated:
        return await validate(
            self.shop.context, self.shop.tenant, code, transaction_id=transaction, customer_id=customer
        )

    async def reserve(self, code: str, transaction: str, customer: str | None = None) -> Reserved:
        return await reserve(self.shop.context, self.shop.tenant, ReserveOrder(code, transaction, customer))

    async def held(self, code: str, transaction: str, customer: str | None = None) -> str:
        """Reserve a code, which must succeed; return the reservation's ID."""
        made = await self.reserve(code, transaction, customer)
        assert made.reservation_id is not None, made.reason
        return made.reservation_id

    async def redeem(self, reservation: str, transaction: str) -> Redeemed:
        return await redeem(self.shop.context, self.shop.tenant, reservation, transaction)

    async def cancel(self, reservation: str) -> Cancelled:
        return await cancel(self.shop.context, self.shop.tenant, reservation)

    async def activate(self, code: str, customer: str = "C1") -> Activated:
        return await activate(self.shop.context, self.shop.tenant, code, customer)

    async def log(self) -> list[tuple[str, str | None]]:
        """Return the log as sorted (action, transaction): on a clock that stands still there is no other order."""
        return sorted((row.action, row.transaction_id) for row in await self.shop.rows("RedemptionLogs"))

    async def uses(self) -> dict[str, int]:
        """Return the counted redemptions by customer; "" is the total."""
        rows = await self.shop.rows("coupon_usage")
        return {row.customer_id: row._mapping["count"] for row in rows if row._mapping["count"]}
