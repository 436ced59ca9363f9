"""Prices of single articles: each is what a basket of one unit of it would cost, whatever promotions ask for."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade.engine.basket import ArticleFact, BasketLine, Customer, Facts
from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import PilotRow, PromotionDefinition
from promenade.errors import Invalid, Unavailable
from promenade.store.driver.unit import Database
from promenade.store.pricing import articles
from promenade.store.pricing.surroundings import PosGroup
from promenade.workflows.context import Context
from promenade.workflows.pricing import known, prices
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate, simulate
from promenade.workflows.pricing.prices import AskedPrice, PricedArticle, PriceListRequest, list_prices
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.workflows.counting import count_statements
from tests.workflows.pricing.test_evaluate import NOW, SHOP, TENANT, a_context, author, number_of, uuid

ARTICLES: dict[str, dict[str, Any]] = {
    "beer": {"basePrice": Decimal("2.00"), "currency": "EUR", "ean": "4001", "name": "Beer"},
    "book": {"basePrice": Decimal("20.00"), "currency": "EUR", "neverDiscounted": "FIXED_PRICE"},
    "cheese": {"basePrice": Decimal("17.90"), "currency": "EUR", "unit": "KGM"},
    "crate": {"basePrice": Decimal("60.00"), "currency": "EUR"},
    "mug": {"basePrice": Decimal("4.50")},
    "pound": {"basePrice": Decimal("4.50"), "currency": "GBP"},
    "unpriced": {},
}
PRICED = ("beer", "book", "cheese", "crate", "mug")


def promotion(number: int, action: dict[str, Any], *conditions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the rows of a promotion with one action."""
    key = {"promotion_ID": uuid(3, number)}
    head = {"ID": uuid(3, number), "name": f"P{number}", "status": "ACTIVE", "priority": number}
    return {
        "Promotions": [head | fields],
        "DiscountActions": [{"ID": uuid(5, number), "actionType": "ARTICLE", **key, **action}],
        "Conditions": [{"ID": uuid(4, 10 * number + at), **key, **one} for at, one in enumerate(conditions)],
    }


def percent(value: int, article: str | None = None) -> dict[str, Any]:
    return {"discountType": "PERCENTAGE", "discountValue": Decimal(value), "targetArticleNumber": article}


GOLD = {"conditionType": "LOYALTY_ACCOUNT", "value": "GOLD"}
ONLINE = {"conditionType": "CHANNEL", "value": "WEBSHOP"}
PROMOTIONS = (
    promotion(1, percent(10, "beer"), validTo=NOW + timedelta(days=2)),
    promotion(2, percent(25, "cheese"), GOLD),
    promotion(3, percent(50, "crate"), {"conditionType": "ITEM_QUANTITY", "value": "2"}),
    promotion(4, percent(5), ONLINE),
    promotion(5, {"actionType": "RECEIPT", **percent(10)}, {"conditionType": "RECEIPT_AMOUNT", "value": "50"}),
    promotion(6, percent(10, "mug"), maxApplicationsPerCustomer=1),
    promotion(7, {"actionType": "FREE_ITEM", "freeItemArticleNumber": "mug", "restrictToOnePerBasket": True},
              {"conditionType": "ARTICLE", "articleNumber": "crate"}),
)  # fmt: skip


@pytest.fixture
async def context(database: Database) -> Context:
    groups = [{"ID": SHOP, "code": "S1", "name": "Shop 1", "currency": "EUR"}]
    goods = [{"ID": uuid(2, at), "articleNumber": key, **one} for at, (key, one) in enumerate(ARTICLES.items(), 1)]
    await author(database, "Promotions", {"PosGroups": groups, "Articles": goods})
    for number, rows in enumerate(PROMOTIONS, 1):
        await author(database, "Promotions", rows, uuid(3, number))
    return a_context(database)


def asking(*wanted: str | AskedPrice, **fields: Any) -> PriceListRequest:
    items = tuple(AskedPrice(one) if isinstance(one, str) else one for one in wanted)
    return PriceListRequest(**({"items": items, "pos_group_code": "S1"} | fields))


def shown(found: PricedArticle) -> tuple[int | None, int | None]:
    """Return the price and the price to strike through, in minor units."""
    return (found.outcome.lines[0].net_minor if found.outcome else None), found.strike_minor


@pytest.mark.parametrize("customer", [None, Customer(loyalty_tier="GOLD"), Customer(customer_id="C-1")])
@pytest.mark.parametrize("channel", [None, "WEBSHOP"])
async def test_each_price_is_that_of_a_basket_of_one_unit(
    context: Context, customer: Customer | None, channel: str | None
) -> None:
    listed = await list_prices(context, TENANT, asking(*PRICED, customer=customer, channel=channel))
    assert [one.asked.article_number for one in listed.prices] == list(PRICED)
    for one in listed.prices:
        price = ARTICLES[one.asked.article_number]["basePrice"]
        line = BasketLine("1", one.asked.article_number, 1000, int(price * 100))
        basket = PricingRequest(lines=(line,), pos_group_code="S1", customer=customer, channel=channel)
        alone = (await simulate(context, TENANT, basket)).outcome
        assert one.outcome is not None
        assert (one.outcome.lines, one.outcome.granted) == (alone.lines, alone.granted)
    assert await number_of(context.database, "iterations") == 0


async def test_prices_to_strike_through_and_the_end_of_a_promotion(context: Context) -> None:
    reduced = AskedPrice("crate", unit_price=4000, regular_unit_price=5000)
    dearer = AskedPrice("mug", unit_price=500, regular_unit_price=400)
    listed = await list_prices(context, TENANT, asking("beer", "book", "crate", "mug", "cheese", reduced, dearer))
    assert [shown(one) for one in listed.prices] == [
        (180, 200),
        (2000, None),
        (5400, 6000),
        (405, 450),
        (1790, None),
        (4000, 5000),
        (450, 500),
    ]
    assert listed.prices[0].ends == (NOW + timedelta(days=2),)
    assert listed.prices[2].ends == (None,)
    later = await list_prices(context, TENANT, asking("beer", timestamp=NOW + timedelta(days=2)))
    assert (shown(later.prices[0]), later.at) == ((200, None), NOW + timedelta(days=2))


async def test_what_has_no_price_says_so_and_the_others_are_priced(context: Context) -> None:
    by_ean, foreign = AskedPrice("9999", ean="4001"), AskedPrice("nothing", unit_price=700)
    listed = await list_prices(context, TENANT, asking("nothing", "unpriced", "pound", by_ean, foreign))
    assert [(one.status, *shown(one)) for one in listed.prices] == [
        ("UNKNOWN_ARTICLE", None, None),
        ("NO_PRICE", None, None),
        ("NO_PRICE", None, None),
        ("PRICED", 200, None),
        ("PRICED", 700, None),
    ]
    assert [one.article and one.article.name for one in listed.prices][3] == "Beer"


async def test_a_customer_who_has_had_an_offer_sees_the_price_without_it(context: Context) -> None:
    customer = Customer(customer_id="C-1")
    line = BasketLine("1", "mug", 1000, 450)
    sale = PricingRequest(lines=(line,), pos_group_code="S1", customer=customer, transaction_id="t1")
    priced = await evaluate(context, TENANT, sale)
    granted = (ConfirmedPromotion(uuid(3, 6)),)
    await confirm(
        context, TENANT, ConfirmCommand("t1", priced.transaction_counter or 0, granted, b"", customer_id="C-1")
    )
    found = [await list_prices(context, TENANT, asking("mug", customer=one)) for one in (customer, None)]
    assert [shown(one.prices[0]) for one in found] == [(450, None), (405, 450)]


async def test_the_database_is_asked_as_often_for_many_articles_as_for_one(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    for wanted in (("mug",), PRICED * 20):
        fresh = a_context(context.database)
        counted = count_statements(monkeypatch)
        await list_prices(fresh, TENANT, asking(*wanted, customer=Customer(customer_id="C-1")))
        asked.append(counted())
        monkeypatch.undo()
    assert asked[1] - asked[0] <= 1  # the gift of one of the others is read, too


async def test_what_changes_while_prices_are_made_makes_them_anew(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = known.find_pos_group
    found: list[PosGroup] = []

    async def change_behind(*given: Any) -> PosGroup:
        group = await real(*given)
        if not found:
            await author(context.database, "Promotions", promotion(8, percent(50, "beer")), uuid(3, 8))
            await context.catalogues.current(TENANT)  # as a sale does meanwhile
        found.append(group)
        return group

    monkeypatch.setattr(prices, "find_pos_group", change_behind)
    listed = await list_prices(context, TENANT, asking("beer"))
    assert len(found) == 2
    assert shown(listed.prices[0]) == (80, 200)


async def test_articles_that_change_meanwhile_do_not_make_them_anew(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = prices._Pricing._facts, []

    async def change_behind(self: prices._Pricing, *given: Any) -> Facts:
        asked.append(given)
        changed = {"ID": uuid(2, 90), "articleNumber": "tea", "basePrice": Decimal(3)}
        await author(context.database, "Articles", {"Articles": [changed]}, uuid(2, 90))
        await context.catalogues.current(TENANT)
        return await real(self, *given)

    monkeypatch.setattr(prices._Pricing, "_facts", change_behind)
    listed = await list_prices(context, TENANT, asking("beer", "mug"))
    assert (len(asked), [shown(one) for one in listed.prices]) == (1, [(180, 200), (405, 450)])


async def test_what_was_read_of_articles_is_not_taken_for_news(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An article that appears while it is looked up in vain is known to the next request."""
    real = known._read_articles

    async def change_behind(*given: Any) -> list[ArticleFact]:
        found = await real(*given)
        monkeypatch.setattr(known, "_read_articles", real)
        new = {"ID": uuid(2, 91), "articleNumber": "fresh", "neverDiscounted": "DEPOSIT"}
        await author(context.database, "Articles", {"Articles": [new]}, uuid(2, 91))
        await context.catalogues.current(TENANT)
        return found

    monkeypatch.setattr(known, "_read_articles", change_behind)
    basket = PricingRequest(lines=(BasketLine("1", "fresh", 1000, 100),), pos_group_code="S1")
    for _ in range(2):
        assert (await simulate(context, TENANT, basket)).outcome.never_discounted == ((0, "DEPOSIT"),)


async def test_a_memory_that_overflows_forgets_nothing_that_is_asked(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(articles, "KNOWN_MAX", 6)
    await list_prices(context, TENANT, asking("beer", "mug"))
    listed = await list_prices(context, TENANT, asking("beer", *(f"none-{number}" for number in range(5)), "mug"))
    assert [one.status for one in listed.prices] == ["PRICED", *["UNKNOWN_ARTICLE"] * 5, "PRICED"]


async def test_a_price_to_strike_through_is_above_the_price_in_whole_units_of_money(context: Context) -> None:
    await author(
        context.database,
        "PosGroups",
        {"PosGroups": [{"ID": uuid(1, 7), "code": "JP", "name": "JP", "currency": "JPY"}]},
    )
    pairs = ((1050, 1060), (1040, 1060), (1000, 2000))
    items = [AskedPrice("tea", unit_price=price, regular_unit_price=regular) for price, regular in pairs]
    listed = await list_prices(context, TENANT, asking(*items, pos_group_code="JP"))
    assert [shown(one) for one in listed.prices] == [(11, None), (10, 11), (10, 20)]


def test_a_pilot_ends_with_its_pilot_or_before() -> None:
    pilot = PilotRow("c", NOW, NOW + timedelta(days=3), 100, 0, frozenset(), frozenset())
    for days, end in ((None, 3), (2, 2), (5, 3)):
        until = None if days is None else NOW + timedelta(days=days)
        given = PromotionDefinition("p", "P", status="PILOT", valid_to=until, pilot=pilot)
        assert prices._end_of(compile_promotion(given)) == NOW + timedelta(days=end)


async def test_what_takes_too_long_is_refused(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "_SECONDS_MAX", 0.0)
    with pytest.raises(Unavailable) as refused:
        await list_prices(context, TENANT, asking("beer"))
    assert refused.value.code == "PRICES_TOO_COSTLY"


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ({"pos_group_code": "S9"}, "POS_GROUP_NOT_FOUND"),
        ({"pos_group_id": SHOP, "pos_group_code": "S9"}, "POS_GROUP_NOT_FOUND"),
    ],
)
async def test_an_unknown_pos_group_is_refused(context: Context, named: dict[str, str], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        await list_prices(context, TENANT, asking("beer", **named))
    assert refused.value.code == code
