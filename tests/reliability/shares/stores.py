"""Stores as the cloud sees them: their shares, and the sales that they report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import func, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.sync.leases import Leased, lease_codes, lease_pool, return_leases
from promenade.workflows.sync.shares import ShareGranted, ShareRequest, grant_share, release_shares
from tests.workflows.shop import Shop, identity

__all__ = ["Stores"]


@dataclass
class Stores:
    """Stores of a shop's tenant; names stand for IDs."""

    shop: Shop

    async def open(self, name: str, status: str = "ONLINE") -> None:
        await self.shop.put("LocalDeployments", id=identity(name), store_code=name, status=status)

    async def grant(
        self,
        store: str,
        budget: str,
        amount: str | None,
        key: str | None = None,
        *,
        forecast: str | None = None,
        piece: str = "0",
    ) -> ShareGranted:
        wanted = None if amount is None else Decimal(amount)
        told = None if forecast is None else Decimal(forecast)
        asked = ShareRequest(wanted, told, Decimal(piece), key)
        return await grant_share(
            self.shop.context, self.shop.tenant, identity(store), "BUDGET", identity(budget), asked
        )

    async def uses(
        self, store: str, kind: str, name: str, quantity: int | None, key: str | None = None
    ) -> ShareGranted:
        asked = ShareRequest(None if quantity is None else Decimal(quantity), key=key)
        return await grant_share(self.shop.context, self.shop.tenant, identity(store), kind, identity(name), asked)

    async def lease(self, store: str, *codes: str, client: str = "stores") -> Leased:
        return await lease_codes(self.shop.context, self.shop.tenant, identity(store), codes, client)

    async def pool(self, store: str, kind: str, quantity: int, key: str | None = None) -> Leased:
        return await lease_pool(self.shop.context, self.shop.tenant, identity(store), identity(kind), quantity, key)

    async def give_back(self, store: str, *codes: str) -> None:
        await return_leases(self.shop.context, self.shop.tenant, identity(store), codes)

    async def release(
        self,
        store: str,
        *,
        budgets: dict[str, str] | None = None,
        codes: Sequence[str] = (),
        types: dict[str, int] | None = None,
        promotions: Sequence[str] = (),
    ) -> None:
        """Release the store's shares, as happens before one of its sales is confirmed."""

        async def work(session: Session) -> None:
            await release_shares(
                self.shop.context,
                session,
                identity(store),
                budgets={identity(one): Decimal(amount) for one, amount in (budgets or {}).items()},
                coupon_codes=[identity(one) for one in codes],
                coupon_types={identity(one): number for one, number in (types or {}).items()},
                promotions=[identity(one) for one in promotions],
                at=self.shop.now[0],
            )

        await self.shop.context.database.write(work, tenant=self.shop.tenant)

    async def outstanding(self, name: str) -> Decimal:
        """Return the total of a resource held by all stores."""
        shares = table("store_shares")

        async def read(session: Session) -> Decimal:
            rows = await session.execute(
                select(func.sum(shares.c.outstanding)).where(shares.c.entity_id == identity(name))
            )
            return Decimal(rows[0][0] or 0)

        return await self.shop.context.database.read(read, tenant=self.shop.tenant)

    async def check(self, name: str) -> None:
        """Check B1 of a budget, including the stores' grants, and the sum of what they may need."""
        budgets, shares, consumptions = table("Budgets"), table("store_shares"), table("BudgetConsumptions")
        demand = table("share_demand")

        async def read(session: Session) -> None:
            (row,) = await session.execute(select(budgets).where(budgets.c.id == identity(name)))
            given = await session.execute(
                select(shares.c.outstanding, shares.c.forecast).where(
                    shares.c.entity_id == identity(name), shares.c.kind == "BUDGET"
                )
            )
            booked = await session.execute(
                select(consumptions.c.amount).where(consumptions.c.budget_id == identity(name))
            )
            assert row.reserved_amount == sum((one.outstanding for one in given), Decimal(0)), row
            needed = await session.execute(
                select(demand.c.forecast).where(demand.c.entity_id == identity(name), demand.c.kind == "BUDGET")
            )
            assert [one.forecast for one in needed] in ([], [sum((one.forecast for one in given), Decimal(0))])
            assert row.consumed_amount == sum((one.amount for one in booked), Decimal(0)), row
            assert 0 <= row.consumed_amount + row.reserved_amount <= row.total_amount, row

        await self.shop.context.database.read(read, tenant=self.shop.tenant)

    async def status(self, code: str) -> str:
        return str((await self.shop.row("CouponCodes", code)).status)

    async def count(self, set_name: str, column: str, name: str) -> int:
        """Return the number of uses, including those already counted for the stores' shares."""
        rows = await self.shop.rows(set_name, **{column: identity(name), "customer_id": ""})
        return int(rows[0]._mapping["count"]) if rows else 0
