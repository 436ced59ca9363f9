"""A small shop in a real database: its rows, its handwritten priced iterations, its clock."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, Select, func, insert, select, update

from promenade.engine.basket import Basket, BasketLine, CouponFact, Customer, Facts, PosGroupFact, Settings
from promenade.engine.outcome import Outcome
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.pricing.changes import Version
from promenade.store.pricing.iterations import store_iteration
from promenade.worker import Worker
from promenade.workflows.context import Context
from promenade.workflows.sales.confirm import ConfirmAnswer, ConfirmCommand, ConfirmedPromotion, confirm
from tests.kit.logged import rows_from

__all__ = ["NOON", "TENANT", "Shop", "identity", "open_shop"]

TENANT = "tenant-a"
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def identity(name: str) -> str:
    """Return a UUID that is the same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


@dataclass
class Shop:
    """One tenant with one POS group; names stand for IDs (see `identity`)."""

    context: Context
    now: list[datetime] = field(default_factory=lambda: [NOON])
    tenant: str = TENANT

    def later(self, **by: float) -> None:
        self.now[0] += timedelta(**by)

    async def put(self, set_name: str, **columns: Any) -> None:
        """Insert one row; columns by their Python names."""
        row = {"id": str(uuid.uuid4()), "created_at": NOON, "modified_at": NOON, **columns}
        known = table(set_name).c
        await self.context.database.write(
            lambda session: session.rowcount(
                insert(table(set_name)), {key: value for key, value in row.items() if key in known}
            ),
            tenant=self.tenant,
        )

    async def change(self, set_name: str, name: str, **columns: Any) -> None:
        changed = table(set_name)
        statement = update(changed).where(changed.c.id == identity(name)).values(**columns)
        await self.context.database.write(lambda session: session.rowcount(statement), tenant=self.tenant)

    async def promotion(self, name: str) -> None:
        await self.put("Promotions", id=identity(name), code=name, name=name, status="ACTIVE")

    async def budget(self, name: str, total: str, **columns: Any) -> None:
        await self.put(
            "Budgets",
            **{
                "id": identity(name),
                "code": name,
                "name": name,
                "status": "ACTIVE",
                "currency": "EUR",
                "total_amount": Decimal(total),
                **columns,
            },
        )

    async def coupon_type(self, name: str, **columns: Any) -> None:
        await self.put(
            "CouponTypes", **{"id": identity(name), "code": name, "name": name, "status": "ACTIVE", **columns}
        )

    async def coupon(self, code: str, kind: str, **columns: Any) -> CouponFact:
        await self.put(
            "CouponCodes",
            **{"id": identity(code), "code": code, "coupon_type_id": identity(kind), "status": "ACTIVE", **columns},
        )
        return CouponFact(code, identity(kind), kind, identity(code))

    async def price(
        self,
        transaction_id: str,
        outcome: Outcome,
        *,
        coupons: Sequence[CouponFact] = (),
        customer_id: str | None = None,
        sales: dict[str, tuple[str, str]] | None = None,
    ) -> int:
        """Store an iteration as evaluate does and return its counter.

        Promotions, budgets and coupon types of the outcome are given by name; ``sales`` gives, for return lines, the
        (transaction, line) that they return.
        """
        priced = _with_ids(outcome)
        lines = tuple(
            BasketLine(
                line.reference,
                line.article_number,
                line.quantity_thousandths,
                line.unit_price_hundredths,
                fields=_names((sales or {}).get(line.reference)),
            )
            for line in outcome.lines
        )
        group = PosGroupFact(identity("shop"), "SHOP", outcome.currency)
        customer = Customer(customer_id) if customer_id is not None else None
        basket = Basket(transaction_id, lines, group, tuple(one.code for one in coupons), customer)
        counter = await store_iteration(
            self.context.database,
            tenant_id=self.tenant,
            origin=self.context.origin,
            version=Version(),
            must_be_current=False,  # handwritten: no catalogue has priced it
            input_=(basket, Settings(self.now[0]), Facts(coupons=tuple(coupons)), "tree"),
            outcome=priced,
            receipt_id=None,
            header_reference=None,
            created_at=self.now[0],
        )
        assert counter is not None
        return counter

    def command(
        self, transaction_id: str, counter: int, *promotions: str | tuple[str, str], **rest: Any
    ) -> ConfirmCommand:
        """Return a confirm of these promotions, as evaluated or (name, amount)."""
        entries = tuple(
            ConfirmedPromotion(identity(one))
            if isinstance(one, str)
            else ConfirmedPromotion(identity(one[0]), amount=Decimal(one[1]))
            for one in promotions
        )
        fingerprint = hashlib.sha256(repr((entries, rest.get("customer_id"))).encode()).digest()
        return ConfirmCommand(transaction_id, counter, entries, fingerprint, **rest)

    async def confirm(
        self, transaction_id: str, counter: int, *promotions: str | tuple[str, str], **rest: Any
    ) -> ConfirmAnswer:
        return await confirm(self.context, self.tenant, self.command(transaction_id, counter, *promotions, **rest))

    async def work(self) -> None:
        """Let a worker do everything that is due."""
        worker = Worker(self.context)
        while await worker.run_once():
            pass

    async def rows(self, set_name: str, **where: Any) -> Sequence[Row[Any]]:
        wanted = rows_from(set_name)
        statement: Select[Any] = select(wanted)
        for column, value in where.items():
            statement = statement.where(wanted.c[column] == value)

        async def work(session: Session) -> Sequence[Row[Any]]:
            return await session.execute(statement)

        return await self.context.database.read(work, tenant=self.tenant)

    async def row(self, set_name: str, name: str) -> Row[Any]:
        return (await self.rows(set_name, id=identity(name)))[0]

    async def count(self, set_name: str) -> int:
        statement = select(func.count()).select_from(rows_from(set_name))

        async def work(session: Session) -> int:
            return int((await session.execute(statement))[0][0])

        return await self.context.database.read(work, tenant=self.tenant)


def _names(sale: tuple[str, str] | None) -> tuple[tuple[str, str], ...]:
    return () if sale is None else (("originalTransactionId", sale[0]), ("originalLineReference", sale[1]))


def _with_ids(outcome: Outcome) -> Outcome:
    return replace(
        outcome,
        lines=tuple(
            replace(
                line,
                discounts=tuple(replace(one, promotion_id=identity(one.promotion_id)) for one in line.discounts),
            )
            for line in outcome.lines
        ),
        applied=tuple(
            replace(
                one,
                promotion_id=identity(one.promotion_id),
                budget_ids=tuple(map(identity, one.budget_ids)),
                post_purchase_coupon_type_ids=tuple(map(identity, one.post_purchase_coupon_type_ids)),
            )
            for one in outcome.applied
        ),
        control_arms=tuple(map(identity, outcome.control_arms)),
    )


async def open_shop(database: Database, tenant: str = TENANT, *, is_new: bool = True) -> Shop:
    """Open a shop on a migrated database; its clock stands still until `Shop.later`."""
    now = [NOON]

    def clock() -> datetime:
        return now[0]

    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(monotonic=lambda: clock().timestamp()),
        clock=clock,
        new_id=lambda: str(uuid.uuid4()),
        source="btp",
        instance_id="test",
    )
    shop = Shop(context, now, tenant)
    if is_new:
        await shop.put("PosGroups", id=identity("shop"), code="SHOP", name="Shop", currency="EUR")
    return shop
