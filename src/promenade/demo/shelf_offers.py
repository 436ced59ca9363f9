"""Offers on the shelf: groups, brands, single articles, bundles, tiers, free items and leaflets."""

from __future__ import annotations

from decimal import Decimal
from itertools import cycle, islice

from promenade.demo.leaflet import Leaflet

__all__ = [
    "brand_percentages",
    "flyers",
    "free_items",
    "group_percentages",
    "meal_deals",
    "money_off",
    "price_cuts",
    "quantity_tiers",
    "three_for_two",
]


def group_percentages(leaflet: Leaflet) -> None:
    """A percentage off a sub group, or off a selection of it."""
    book = leaflet.book
    steps = cycle(("10", "15", "20", "25", "30"))
    for number, leaf in enumerate(leaflet.leaves(60, start=3, step=7), start=1):
        value = next(steps)
        campaign = leaflet.campaigns["AUTUMN"] if number % 4 == 0 else None
        promotion = book.promotion(
            f"GRP-{number:03d}",
            f"{value} % off {leaf.name.lower()}",
            campaign_ID=campaign,
            exclusivityLevel="PROMOTION" if number % 10 == 0 else "NONE",
        )
        if number % 3 == 0:
            book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        else:  # most leaflets name a selection of the shelf, not the whole of it
            chosen = leaflet.assortment.by_leaf[leaf.group_id][number % 3 :: 6]
            book.condition(promotion, "ARTICLE_LIST", articles=tuple(article.article_number for article in chosen))
        action = book.action(promotion, "ARTICLE", "PERCENTAGE", value)
        if number % 5 == 0:
            book.calculation(promotion, mode="MULTIPLICATIVE", rounding="ROUND_DOWN")
        if number % 6 == 0:
            book.add("ActionExclusions", action_ID=action, exclusionType="MANUFACTURER", manufacturer=leaf.brands[0])
        if number % 12 == 0:
            number_out = leaflet.assortment.by_leaf[leaf.group_id][0].article_number
            book.add("ActionExclusions", action_ID=action, exclusionType="ARTICLE", articleNumber=number_out)
        if number % 3 == 0:
            book.add(
                "PriorityGroupPromotions",
                priorityGroup_ID=leaflet.priority_groups["LEAFLET"],
                promotion_ID=promotion,
                sequence=number,
            )


def brand_percentages(leaflet: Leaflet) -> None:
    """A percentage for several pieces of one brand."""
    book = leaflet.book
    brands = dict.fromkeys(brand for leaf in leaflet.assortment.leaves for brand in leaf.brands)
    for number, brand in enumerate(islice(brands, 20), start=1):
        promotion = book.promotion(f"BRAND-{number:02d}", f"{brand}: 8 % off from 6 pieces")
        manufacturer = f"M-{brand.upper().replace(' ', '-')}"
        book.condition(promotion, "MANUFACTURER", manufacturer=manufacturer, minQuantity=Decimal(6))
        book.action(
            promotion,
            "ARTICLE",
            "PERCENTAGE",
            "8",
            selectionType="MOST_EXPENSIVE" if number % 4 == 0 else "ALL",
            maxDiscountAmount=Decimal("5.00") if number % 2 else None,
        )
        book.calculation(promotion, mode="ADDITIVE", rounding="ROUND_UP" if number % 5 == 0 else "ROUND_HALF_UP")


def price_cuts(leaflet: Leaflet) -> None:
    """A lower price for one article."""
    book = leaflet.book
    for number, article in enumerate(leaflet.articles(40, start=11), start=1):
        price = (article.base_price * Decimal("0.8")).quantize(Decimal("0.01"))
        promotion = book.promotion(f"PRICE-{number:03d}", f"{article.name} now {price}", currency="EUR")
        book.condition(promotion, "ARTICLE", articleNumber=article.article_number)
        book.action(promotion, "ARTICLE", "UNIT_PRICE", price, targetArticleNumber=article.article_number)
        book.add("BudgetPromotions", budget_ID=leaflet.budgets["LEAFLET-EUR"], promotion_ID=promotion)
        book.add(
            "PriorityGroupPromotions",
            priorityGroup_ID=leaflet.priority_groups["PRICE"],
            promotion_ID=promotion,
            sequence=number,
        )


def money_off(leaflet: Leaflet) -> None:
    """Money off when two are bought."""
    book = leaflet.book
    for number, article in enumerate(leaflet.articles(30, start=23, step=41), start=1):
        promotion = book.promotion(f"OFF-{number:03d}", f"0.50 off two {article.group.name.lower()}", currency="EUR")
        book.condition(promotion, "ARTICLE", articleNumber=article.article_number, minQuantity=Decimal(2))
        book.action(
            promotion,
            "ARTICLE",
            "ABSOLUTE",
            "0.50",
            targetArticleNumber=article.article_number,
            applicationQuantityMode=("ALL", "LIMITED", "CHEAPEST", "MOST_EXPENSIVE")[number % 4],
            applicationQuantity=Decimal(2),
        )


def three_for_two(leaflet: Leaflet) -> None:
    """Three for the price of two."""
    book = leaflet.book
    for number, leaf in enumerate(leaflet.leaves(20, start=8, step=11), start=1):
        promotion = book.promotion(
            f"MULTI-{number:02d}", f"3 for 2: {leaf.name.lower()}", "BUNDLE", maxApplicationsPerTransaction=3
        )
        action = book.action(
            promotion,
            "BUNDLE",
            "PERCENTAGE",
            "100",
            applicationQuantityMode="CHEAPEST",
            applicationQuantity=Decimal(1),
            maxBundles=4,
            distributionMode=("PROPORTIONAL", "EQUAL", "HIGHEST_FIRST", None)[number % 4],
        )
        book.bundle(action, {"articleGroupId": leaf.group_id, "quantity": Decimal(3)})


def meal_deals(leaflet: Leaflet) -> None:
    """One thing makes another cheaper, or two cost a round price."""
    book = leaflet.book
    pairs = (
        ("Pasta", "Canned tomatoes"),
        ("Ground coffee", "Muffins"),
        ("Lager", "Shellfish"),
        ("Toothpaste", "Toothbrushes"),
        ("Shampoo", "Conditioner"),
        ("Porridge", "Purees"),
    )
    for number, (main, side) in enumerate(pairs, start=1):
        promotion = book.promotion(f"DEAL-{number:02d}", f"{main} with {side.lower()} at half price", "BUNDLE")
        action = book.action(promotion, "BUNDLE", "PERCENTAGE", "50", maxBundles=2)
        book.bundle(
            action,
            {"articleGroupId": leaflet.leaf(main).group_id, "quantity": Decimal(1), "discounted": False},
            {"articleGroupId": leaflet.leaf(side).group_id, "quantity": Decimal(1)},
        )
    for number, article in enumerate(leaflet.articles(9, start=5, step=53), start=1):
        price = (article.base_price * Decimal("1.7")).quantize(Decimal("0.01"))
        promotion = book.promotion(
            f"PAIR-{number:02d}", f"Two {article.group.name.lower()} for {price}", "BUNDLE", currency="EUR"
        )
        action = book.action(promotion, "BUNDLE", "UNIT_PRICE", price)
        book.bundle(action, {"articleNumber": article.article_number, "quantity": Decimal(2)})


def quantity_tiers(leaflet: Leaflet) -> None:
    """The more pieces, the higher the percentage."""
    book = leaflet.book
    for number, leaf in enumerate(leaflet.leaves(20, start=14, step=13), start=1):
        promotion = book.promotion(f"TIER-{number:02d}", f"Buy more {leaf.name.lower()}, save more")
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        action = book.action(promotion, "QUANTITY_TIER", targetArticleGroupId=leaf.group_id)
        for sequence, (quantity, value) in enumerate((("3", "5"), ("6", "10"), ("12", "15")), start=1):
            book.add(
                "ActionQuantityTiers",
                action_ID=action,
                sequence=sequence,
                minQuantity=Decimal(quantity),
                discountType="PERCENTAGE",
                discountValue=Decimal(value),
            )


def free_items(leaflet: Leaflet) -> None:
    """Buy two, get one free."""
    book = leaflet.book
    for number, article in enumerate(leaflet.articles(15, start=31, step=61), start=1):
        promotion = book.promotion(f"FREE-{number:02d}", f"Buy 2 {article.group.name.lower()}, get 1 free")
        book.condition(promotion, "ARTICLE", articleNumber=article.article_number, minQuantity=Decimal(2))
        book.action(
            promotion,
            "FREE_ITEM",
            freeItemArticleNumber=article.article_number,
            freeItemQuantity=Decimal(1),
            maxFreeUnits=Decimal(3),
            restrictToOnePerBasket=number % 3 == 0,
            freeItemReferencePrice=article.base_price if number % 2 else None,
        )


def flyers(leaflet: Leaflet) -> None:
    """A page of the leaflet: a list of articles, some at a fixed price."""
    book = leaflet.book
    for number in range(1, 11):
        promotion = book.promotion(
            f"FLYER-{number:02d}",
            f"Leaflet page {number}",
            campaign_ID=leaflet.campaigns["WINTER"],
            currency="EUR",
        )
        page = tuple(leaflet.articles(12, start=number * 90, step=3))
        book.condition(promotion, "ARTICLE_LIST", articles=tuple(article.article_number for article in page))
        action = book.action(promotion, "ARTICLE_LIST", "PERCENTAGE", "12", targetArticleList=True)
        for place, article in enumerate(page):
            fixed = (article.base_price * Decimal("0.75")).quantize(Decimal("0.01")) if place % 3 == 0 else None
            book.add("ActionArticleListItems", action_ID=action, articleNumber=article.article_number, fixedPrice=fixed)
