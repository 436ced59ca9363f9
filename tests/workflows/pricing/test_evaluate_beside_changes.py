"""A till gets a price even if promotions change faster than a basket is priced: one valid since the request."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlalchemy import update

from promenade.store.driver.cache import LocalCache
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.catalogue import Catalogues, TenantCatalogue
from promenade.store.pricing.changes import Version, record_change
from promenade.workflows.pricing.evaluate import evaluate
from tests.workflows.pricing.test_evaluate import NOW, OFF, SHOP, TENANT, a_context, author, basket, percent_off, uuid

ACTIONS = table("DiscountActions")
ARTICLES = table("Articles")


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


async def test_a_till_always_gets_a_price_however_often_promotions_change(database: Database) -> None:
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
        assert priced.transaction_counter == 1  # each has its own transaction
        given = Decimal(100 * priced.outcome.discount_minor) / priced.outcome.subtotal_minor
        assert given >= before


class _Moving(Catalogues):
    """After each refresh, one commit moves the article into another group, and the promotion to that group."""

    moves = 0
    group = 0

    async def refresh(self, tenant_id: str, stale: Version) -> TenantCatalogue:
        found = await super().refresh(tenant_id, stale)
        if self.moves:
            self.moves -= 1
            await self.move()
        return found

    async def move(self) -> None:
        self.group += 1

        async def work(session: Session) -> None:
            group = f"G{self.group}"
            await session.rowcount(update(ARTICLES).values(article_group_key=group))
            await session.rowcount(update(ACTIONS).values(target_article_group_key=group))
            await record_change(session, "Articles", at=NOW)
            await record_change(session, "Promotions", uuid(3, 1), at=NOW)

        await self._database.write(work, tenant=TENANT)


async def test_a_price_uses_promotions_and_articles_of_one_state(database: Database) -> None:
    group = {"ID": SHOP, "code": "S1", "name": "Shop 1", "currency": "EUR"}
    beer = {"ID": uuid(2, 1), "articleNumber": "beer", "articleGroupId": "G0"}
    rows = percent_off(1, 10)
    rows["DiscountActions"][0] |= {"targetArticleNumber": None, "targetArticleGroupId": "G0"}
    await author(database, "Promotions", {"PosGroups": [group], "Articles": [beer], **rows})
    catalogues = _Moving(database)
    context = replace(a_context(database), catalogues=catalogues)
    assert (await evaluate(context, TENANT, basket())).outcome.discount_minor == 200
    for moves in range(1, 6):
        await catalogues.move()
        catalogues.moves = moves
        assert (await evaluate(context, TENANT, basket())).outcome.discount_minor == 200  # unchanged
