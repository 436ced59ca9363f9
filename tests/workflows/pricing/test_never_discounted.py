"""Goods that are never discounted, from the master data to the price: each change counts with the next basket."""

from __future__ import annotations

import pytest

from promenade.engine.basket import BasketLine
from promenade.store.driver.unit import Database
from promenade.workflows.access.tenants import create_tenant, set_tenant
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricedIteration, PricingRequest, evaluate
from promenade.workflows.pricing.replay import replay
from tests.workflows.authoring.desk import TENANT, Desk
from tests.workflows.pricing.test_evaluate import NOW, a_context

BASKET = (BasketLine("1", "book", 1000, 2000), BasketLine("2", "shoes", 1000, 3500))


async def _priced(context: Context, transaction: str) -> tuple[PricedIteration, int, dict[int, str]]:
    """Return what a basket costs: the price, what it saves, and the lines that are never discounted."""
    request = PricingRequest(lines=BASKET, pos_group_code="S1", transaction_id=transaction, include_missed=True)
    priced = await evaluate(context, TENANT, request)
    return priced, priced.outcome.discount_minor, dict(priced.outcome.never_discounted)


@pytest.fixture
async def desk(database: Database) -> Desk:
    """A store, a book in a group below another, and ten percent off from 50.00."""
    await create_tenant(database, TENANT, settings={}, at=NOW, user="tests")
    desk = Desk(database)
    await desk.create("PosGroups", code="S1", name="Store", currency="EUR", timeZone="UTC")
    media = await desk.create("ArticleGroups", groupId="media", name="Media")
    books = await desk.create("ArticleGroups", groupId="books", name="Books", parent_ID=media)
    await desk.create("Articles", articleNumber="book", name="A book", articleGroup_ID=books)
    promotion = await desk.create("Promotions", code="TEN", name="10 % from 50.00", type="RECEIPT", currency="EUR")
    await desk.create("Conditions", promotion_ID=promotion, conditionType="RECEIPT_AMOUNT", value="50")
    ten = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 10}
    await desk.create("DiscountActions", promotion_ID=promotion, **ten)
    await desk.transition("Promotions", promotion, "activate")
    return desk


async def test_what_the_master_data_say_counts_with_the_next_basket(desk: Desk) -> None:
    context = a_context(desk.database)
    assert (await _priced(context, "t1"))[1:] == (550, {})

    (book,) = await desk.rows("Articles")
    await desk.update("Articles", book["ID"], neverDiscounted="FIXED_PRICE")
    assert (await _priced(context, "t2"))[1:] == (350, {0: "FIXED_PRICE"})

    await desk.update("Articles", book["ID"], neverDiscounted=None)
    (media,) = await desk.rows("ArticleGroups", groupId="media")
    await desk.update("ArticleGroups", media["ID"], neverDiscounted="OTHER")
    last, *told = await _priced(context, "t3")
    assert told == [350, {0: "OTHER"}]

    # Another process, which reads all of it anew, prices and replays the same.
    other = a_context(desk.database)
    assert (await _priced(other, "t4"))[1:] == (350, {0: "OTHER"})
    again = [await replay(other, TENANT, key, 1) for key in ("t1", "t2", "t3")]
    assert [one.is_same for one in again] == [True, True, True]
    assert again[-1].after() == last


async def test_what_counts_is_said_by_the_tenant_and_by_the_promotion(desk: Desk) -> None:
    context = a_context(desk.database)
    (book,), (promotion,) = await desk.rows("Articles"), await desk.rows("Promotions")
    await desk.update("Articles", book["ID"], neverDiscounted="FIXED_PRICE")
    for own, of_tenant, saved in ((None, None, 350), (None, "false", 0), (True, "false", 350), (False, "true", 0)):
        await desk.update("Promotions", promotion["ID"], countsTowardsThreshold=own)
        if of_tenant is not None:
            settings = {"countsTowardsThreshold": of_tenant}
            await set_tenant(desk.database, TENANT, settings, at=NOW, user="tests", new_id=context.new_id)
        assert (await _priced(context, "t1"))[1] == saved, (own, of_tenant)


async def test_what_actions_exclude_counts_as_the_tenant_or_the_promotion_says(desk: Desk) -> None:
    context = a_context(desk.database)
    (action,), (promotion,) = await desk.rows("DiscountActions"), await desk.rows("Promotions")
    exclusion = {"action_ID": action["ID"], "exclusionType": "ARTICLE", "articleNumber": "book"}
    await desk.create("ActionExclusions", **exclusion)
    settings = {"excludedCountsTowardsThreshold": "false"}
    assert (await _priced(context, "t1"))[1] == 350
    await set_tenant(desk.database, TENANT, settings, at=NOW, user="tests", new_id=context.new_id)
    assert (await _priced(context, "t1"))[1] == 0
    await desk.update("Promotions", promotion["ID"], excludedCountsTowardsThreshold=True)
    assert (await _priced(context, "t1"))[1] == 350


async def test_a_promotion_on_such_goods_alone_says_why_it_gives_nothing(desk: Desk) -> None:
    context = a_context(desk.database)
    (book,) = await desk.rows("Articles")
    await desk.update("Articles", book["ID"], neverDiscounted="FIXED_PRICE")
    promotion = await desk.create("Promotions", code="BOOK", name="30 % off the book", type="ARTICLE", currency="EUR")
    thirty = {"discountType": "PERCENTAGE", "discountValue": 30, "targetArticleNumber": "book"}
    await desk.create("DiscountActions", promotion_ID=promotion, actionType="ARTICLE", **thirty)
    await desk.transition("Promotions", promotion, "activate")
    priced, _, _ = await _priced(context, "t1")
    assert [(one.promotion_name, one.code) for one in priced.outcome.missed] == [
        ("30 % off the book", "NEVER_DISCOUNTED")
    ]
