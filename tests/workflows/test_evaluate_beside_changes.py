"""A till gets its price although promotions change faster than a basket is priced: never one from before it asked."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlalchemy import update

from promenade.store.cache import LocalCache
from promenade.store.catalogue import record_change
from promenade.store.schema import table
from promenade.store.unit import Database, Session
from promenade.workflows.evaluate import evaluate
from tests.workflows.test_evaluate import NOW, OFF, SHOP, TENANT, a_context, author, basket, percent_off, uuid

ACTIONS = table("DiscountActions")


class _Author(LocalCache):
    """Commits a change of the promotion whenever a basket with a coupon is half priced."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.percent = 10
        self._database = database

    async def change(self) -> None:
        self.percent += 1

        async def work(session: Session) -> None:
            more = {"discount_value": Decimal(self.percent)}
            await session.rowcount(update(ACTIONS).where(ACTIONS.c.id == OFF).values(**more))
            await record_change(session, "Promotions", uuid(3, 1), at=NOW)

        await self._database.write(work, tenant=TENANT)

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        await self.change()
        return await super().count(key, seconds, by)


async def test_a_till_is_never_sent_away_because_authors_are_quicker(database: Database) -> None:
    group = {"ID": SHOP, "code": "S1", "name": "Shop 1", "currency": "EUR"}
    await author(database, "Promotions", {"PosGroups": [group]})
    await author(database, "Promotions", percent_off(1, 10), uuid(3, 1))
    writer = _Author(database)
    context = replace(a_context(database), cache=writer)
    await evaluate(context, TENANT, basket())
    for _ in range(3):
        await writer.change()
        before = writer.percent
        priced = await evaluate(context, TENANT, basket(coupons=("NONE",)))
        assert priced.transaction_counter == 1  # of a transaction of its own
        given = Decimal(100 * priced.outcome.discount_minor) / priced.outcome.subtotal_minor
        assert given >= before
