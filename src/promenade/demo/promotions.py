"""The demo retailer's promotions: over 300, with every condition and action type and the data they refer to.

Each family is one kind of offer, repeated for as many article groups or articles as a real leaflet would have. Amounts
belong to a currency, so offers with amounts are limited to one country.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import cycle, islice

from promenade.demo import surroundings, templates
from promenade.demo.assortment import Assortment, draw_id
from promenade.demo.authoring import Notebook
from promenade.demo.leaflet import Leaflet, Trial, midnight


def write_promotions(book: Notebook, assortment: Assortment, now: datetime) -> Leaflet:
    """Add every family to the notebook; families that later ones refer to come first."""
    leaflet = Leaflet(book, assortment, now)
    for family in (
        surroundings.groups,
        surroundings.budgets,
        surroundings.coupon_types,
        tour,
        group_percentages,
        brand_percentages,
        price_cuts,
        money_off,
        three_for_two,
        meal_deals,
        quantity_tiers,
        free_items,
        flyers,
        receipts,
        loyalty,
        post_purchase,
        customers,
        payments,
        channels_and_times,
        fields_and_discretion,
        coupons,
        rivals,
        pilots_and_experiments,
        launch,
        templates.templates,
    ):
        family(leaflet)
    return leaflet


def write_plans(leaflet: Leaflet, book: Notebook) -> None:
    """Add what planners have written lately to ``book``: nothing of it has priced a sale of ``leaflet``."""
    leaflet.book = book
    not_running(leaflet)
    surroundings.customers(leaflet)


# ---- offers on the shelf: groups, brands, single articles, bundles, tiers, free items and leaflets ------------------


def group_percentages(leaflet: Leaflet) -> None:
    """A percentage off a sub group, or off a selection of it."""
    book = leaflet.book
    steps = cycle(("10", "15", "20", "25"))
    for number, leaf in enumerate(leaflet.leaves(62, start=3, step=7), start=1):
        if leaf.name in _TOURED:
            continue
        value = next(steps)
        campaign = leaflet.campaigns["AUTUMN"] if number % 4 == 0 else None
        promotion = book.promotion(
            f"GRP-{number:03d}",
            f"{value} % off {leaf.name.lower()}",
            campaign_ID=campaign,
            exclusivityLevel="PROMOTION" if number % 10 == 0 else "NONE",
            **(leaflet.week(number) if number % 3 else {}),
        )
        if number % 3 == 0:
            book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        else:  # most leaflets name some articles of the group, not all of it
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
    """A percentage off several pieces of one brand."""
    book = leaflet.book
    brands = dict.fromkeys(brand for leaf in leaflet.assortment.leaves for brand in leaf.brands)
    for number, brand in enumerate(islice(brands, 3, 40, 4), start=1):
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
        promotion = book.promotion(
            f"PRICE-{number:03d}", f"{article.name} now {price}", currency="EUR", **leaflet.week(number)
        )
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
    """Money off two pieces."""
    book = leaflet.book
    for number, article in enumerate(leaflet.articles(30, start=23, step=41), start=1):
        promotion = book.promotion(
            f"OFF-{number:03d}", f"0.50 off two {article.group.name.lower()}", currency="EUR", **leaflet.week(number)
        )
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
    """One article makes another cheaper, or two together cost a round price."""
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
        leaflet.favourites.append(article)
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
            **leaflet.week(5 + number % 2),
        )
        page = tuple(leaflet.articles(12, start=number * 90, step=3))
        book.condition(promotion, "ARTICLE_LIST", articles=tuple(article.article_number for article in page))
        action = book.action(promotion, "ARTICLE_LIST", "PERCENTAGE", "12", targetArticleList=True)
        for place, article in enumerate(page):
            fixed = (article.base_price * Decimal("0.75")).quantize(Decimal("0.01")) if place % 3 == 0 else None
            book.add("ActionArticleListItems", action_ID=action, articleNumber=article.article_number, fixedPrice=fixed)


# ---- offers at the checkout: receipts, points, rewards, coupons and who pays how ------------------------------------


_TOURED = ("Ground coffee", "Shampoo")  # has its offers by the tour, and no others that stack with them


def tour(leaflet: Leaflet) -> None:
    """Add the few offers that the five-minute tour of the README uses."""
    book = leaflet.book
    coffee, shampoo = (leaflet.leaf(title) for title in _TOURED)
    promotion = book.promotion("TOUR-COFFEE", "10 % off ground coffee", campaign_ID=leaflet.campaigns["AUTUMN"])
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=coffee.group_id)
    book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "10", targetArticleGroupId=coffee.group_id)
    book.add("BudgetPromotions", budget_ID=leaflet.budgets["LEAFLET-EUR"], promotion_ID=promotion)
    promotion = book.promotion("TOUR-SHAMPOO", "3 for 2: shampoo", "BUNDLE")
    action = book.action(
        promotion,
        "BUNDLE",
        "PERCENTAGE",
        "100",
        applicationQuantityMode="CHEAPEST",
        applicationQuantity=Decimal(1),
    )
    book.bundle(action, {"articleGroupId": shampoo.group_id, "quantity": Decimal(3)})
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=shampoo.group_id, minQuantity=Decimal(3))
    promotion = book.promotion("TOUR-WELCOME", "Welcome: 10 % off everything", "COUPON", priority=900)
    book.action(promotion, "RECEIPT", "PERCENTAGE", "10", maxDiscountAmount=Decimal("20.00"))
    book.add("CouponTypePromotions", couponType_ID=leaflet.coupon_types["WELCOME10"], promotion_ID=promotion)


def receipts(leaflet: Leaflet) -> None:
    """Money off the whole receipt, flat and in steps."""
    book = leaflet.book
    for code, currency, limit, off, budget in (
        ("DE", "EUR", "60", "4", "LEAFLET-EUR"),
        ("CH", "CHF", "70", "5", "SWISS-CHF"),
        ("JP", "JPY", "9000", "600", "GINZA-JPY"),
        ("DE-WEB", "EUR", "80", "6", "LEAFLET-EUR"),
        ("CH-WEB", "CHF", "90", "8", "SWISS-CHF"),
    ):
        promotion = book.promotion(
            f"TILL-{code}", f"{off} {currency} off from {limit} {currency}", "RECEIPT", currency=currency, priority=500
        )
        book.add("PromotionPosGroups", promotion_ID=promotion, posGroup_ID=leaflet.store(code).id)
        book.condition(promotion, "RECEIPT_AMOUNT", operator="GTE", value=limit)
        book.action(promotion, "RECEIPT", "ABSOLUTE", off, distributionMode="PROPORTIONAL")
        book.add("BudgetPromotions", budget_ID=leaflet.budgets[budget], promotion_ID=promotion)
        book.add(
            "PriorityGroupPromotions",
            priorityGroup_ID=leaflet.priority_groups["CHECKOUT"],
            promotion_ID=promotion,
            sequence=10,
        )
    for code, currency, unit in (("DE", "EUR", 1), ("CH", "CHF", 1), ("JP", "JPY", 150)):
        promotion = book.promotion(f"SCALE-{code}", "The more, the better", "RECEIPT", currency=currency, priority=600)
        book.add("PromotionPosGroups", promotion_ID=promotion, posGroup_ID=leaflet.store(code).id)
        book.condition(promotion, "ITEM_QUANTITY", operator="GTE", value="12")
        action = book.action(promotion, "SCALED_RECEIPT", distributionMode="HIGHEST_FIRST")
        for sequence, (threshold, value) in enumerate(((40, "2"), (60, "4"), (90, "6")), start=1):
            book.add(
                "ActionScaledTiers",
                action_ID=action,
                sequence=sequence,
                thresholdAmount=Decimal(threshold * unit),
                discountType="PERCENTAGE",
                discountValue=Decimal(value),
            )
    promotion = book.promotion("LAST-ROUND", "Last round: 1 EUR off red wine", "RECEIPT", currency="EUR")
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaflet.leaf("Red wine").group_id)
    book.action(promotion, "RECEIPT", "ABSOLUTE", "1", distributionMode="EQUAL")
    book.add("BudgetPromotions", budget_ID=leaflet.budgets["LAST-ROUND-EUR"], promotion_ID=promotion)


def loyalty(leaflet: Leaflet) -> None:
    """Points: earned, doubled, redeemed."""
    book = leaflet.book
    promotion = book.promotion("POINTS-BASE", "One point per 2 spent", "LOYALTY")
    book.condition(promotion, "LOYALTY_ACCOUNT", operator="GTE", value="0")
    book.loyalty(promotion, "CURRENCY_TO_POINTS", points=Decimal(1), currencyAmount=Decimal("2.00"))
    promotion = book.promotion("POINTS-GOLD", "Gold members earn double", "LOYALTY", priority=700)
    book.condition(promotion, "LOYALTY_ACCOUNT", values=("GOLD", "PLATINUM"))
    book.loyalty(promotion, "MULTIPLY_POINTS", multiplier=Decimal("2.000"), maxPoints=Decimal(500))
    promotion = book.promotion("POINTS-BAG", "Plastic bag: five points less", "LOYALTY", priority=800)
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaflet.leaf("Freezer bags").group_id)
    book.loyalty(promotion, "SUBTRACT_POINTS", points=Decimal(5))
    for number, leaf in enumerate(leaflet.leaves(9, start=6, step=17), start=1):
        promotion = book.promotion(f"POINTS-{number:02d}", f"20 extra points on {leaf.name.lower()}", "LOYALTY")
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        book.loyalty(
            promotion,
            "ADD_FIXED",
            points=Decimal(20),
            targetScope="ARTICLE_GROUP",
            targetArticleGroupId=leaf.group_id,
        )


def post_purchase(leaflet: Leaflet) -> None:
    """A coupon for the next visit."""
    book = leaflet.book
    coffee = leaflet.leaf("Coffee beans")
    promotion = book.promotion("NEXT-COFFEE", "A coupon for the next coffee", "COUPON")
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=coffee.group_id)
    book.action(promotion, "POST_PURCHASE_COUPON", targetCouponType_ID=leaflet.rewards["NEXT-COFFEE"])
    for code, currency, limit in (("DE", "EUR", "50"), ("CH", "CHF", "60"), ("JP", "JPY", "8000")):
        promotion = book.promotion(f"COME-BACK-{code}", "Come back soon", "COUPON", currency=currency)
        book.add("PromotionPosGroups", promotion_ID=promotion, posGroup_ID=leaflet.store(code).id)
        book.condition(promotion, "RECEIPT_AMOUNT", value=limit)
        book.condition(promotion, "LOYALTY_ACCOUNT", operator="GTE", value="0")
        book.action(promotion, "POST_PURCHASE_COUPON", targetCouponType_ID=leaflet.rewards["COME-BACK"])


def customers(leaflet: Leaflet) -> None:
    """Offers for groups of customers, single customers and the first hundred."""
    book = leaflet.book
    for group, value, title in (
        ("STAFF", "15", "Staff discount"),
        ("SENIOR", "5", "Senior Wednesday"),
        ("STUDENT", "7", "Student snack"),
        ("FAMILY", "10", "Family nappies"),
    ):
        promotion = book.promotion(f"CUST-{group}", title, exclusivityLevel="GROUP" if group == "STAFF" else "NONE")
        book.condition(promotion, "CUSTOMER_GROUP", value=group)
        if group == "FAMILY":
            book.condition(promotion, "ARTICLE_GROUP", articleGroupId="G0901", includeSubGroups=True)
        book.action(promotion, "ARTICLE", "PERCENTAGE", value)
        book.add(
            "PriorityGroupPromotions",
            priorityGroup_ID=leaflet.priority_groups["SERVICE"],
            promotion_ID=promotion,
            sequence=1,
        )
    promotion = book.promotion("CUST-VIP", "For our ten best customers", maxApplicationsPerCustomer=2)
    book.condition(promotion, "CUSTOMER", values=tuple(f"C-{10_000 + number}" for number in range(10)))
    book.action(promotion, "RECEIPT", "PERCENTAGE", "5")
    promotion = book.promotion("CUST-FIRST-100", "The first hundred cakes", maxApplicationsTotal=100)
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaflet.leaf("Cream cakes").group_id)
    book.action(promotion, "ARTICLE", "PERCENTAGE", "25")


def payments(leaflet: Leaflet) -> None:
    """Offers by means of payment, card and card number."""
    book = leaflet.book
    for code, condition_type, operator, value in (
        ("CASH", "PAYMENT_MEANS", "EQUALS", "CASH"),
        ("CARD", "PAYMENT_CARD", "CONTAINS", "VISA"),
        ("BIN", "CREDIT_CARD_BIN", "STARTS_WITH", "4000"),
    ):
        for leaf in leaflet.leaves(2, start=len(code) * 9, step=31):
            promotion = book.promotion(f"PAY-{code}-{leaf.group_id}", f"{leaf.name}: 3 % off when paid so")
            book.condition(promotion, condition_type, operator=operator, value=value)
            book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
            book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "3", targetArticleGroupId=leaf.group_id)


def coupons(leaflet: Leaflet) -> None:
    """Offers that a coupon opens."""
    book = leaflet.book
    for code, group, value in (
        ("COFFEE5", "G0601", "5"),
        ("BREAKFAST", "G0504", "12"),
        ("BIRTHDAY", "G08", "20"),
        ("SORRY", "G01", "15"),
        ("COME-BACK", "G06", "10"),
        ("NEXT-COFFEE", "G0601", "15"),
    ):
        promotion = book.promotion(f"COUPON-{code}", f"Coupon {code.title()}: {value} % off", "COUPON")
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=group, includeSubGroups=True)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", value, targetArticleGroupId=group, includeSubGroups=True)
        book.add("CouponTypePromotions", couponType_ID=leaflet.coupon_types[code], promotion_ID=promotion)
        if "COFFEE" in code:
            book.add("BudgetPromotions", budget_ID=leaflet.budgets["COFFEE-EUR"], promotion_ID=promotion)
    promotion = book.promotion("COUPON-GINZA", "Ginza: 500 yen off", "COUPON", currency="JPY")
    book.add("PromotionPosGroups", promotion_ID=promotion, posGroup_ID=leaflet.store("JP-TYO").id)
    book.action(promotion, "RECEIPT", "ABSOLUTE", "500", distributionMode="EQUAL")
    book.add("CouponTypePromotions", couponType_ID=leaflet.coupon_types["GINZA500"], promotion_ID=promotion)


# ---- offers with a twist: times, channels, fields, rivals, pilots, experiments, and what is not running -------------


_PILOT_STORES, _CONTROL_STORES = ("DE-HAM", "CH-ZRH"), ("DE-BER", "CH-GVA")
_TRIED, _AS_EVER = 0.45, 0.25  # how often a basket holds an article on trial, where the trial runs and elsewhere


def channels_and_times(leaflet: Leaflet) -> None:
    """Offers for a channel, some hours or some days."""
    book = leaflet.book
    for channel, leaf in zip(("ONLINE", "MOBILE", "IN_STORE", "KIOSK"), leaflet.leaves(4, start=2), strict=True):
        promotion = book.promotion(f"CHANNEL-{channel}", f"{leaf.name}: 6 % off {channel.lower()}")
        book.condition(promotion, "CHANNEL", value=channel)
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "6", targetArticleGroupId=leaf.group_id)
    hours = ((time(7), time(10), "MON,TUE,WED,THU,FRI"), (time(17), time(19), None), (time(22), time(2), "FRI,SAT"))
    for number, leaf in enumerate(leaflet.leaves(9, start=50, step=4), start=1):
        start, end, weekdays = hours[number % 3]
        promotion = book.promotion(f"HOUR-{number:02d}", f"Happy hour: {leaf.name.lower()}")
        book.condition(promotion, "TIME_WINDOW", timeFrom=start, timeTo=end, weekdays=weekdays)
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "20", targetArticleGroupId=leaf.group_id)
    begin = midnight(leaflet.now)
    today: date = begin.date()
    for number, leaf in enumerate(leaflet.leaves(6, start=70, step=9), start=1):
        promotion = book.promotion(
            f"WEEK-{number:02d}",
            f"This week only: {leaf.name.lower()}",
            validFrom=begin - timedelta(days=number),
        )
        book.condition(
            promotion,
            "TIME_PERIOD",
            dateFrom=today - timedelta(days=number),
            dateTo=today + timedelta(days=number),
        )
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "9", targetArticleGroupId=leaf.group_id)


def fields_and_discretion(leaflet: Leaflet) -> None:
    """Offers that read fields of the line or the request, and the cashier's own discounts."""
    book = leaflet.book
    for days, value in (("1", "30"), ("2", "20"), ("3", "10")):
        promotion = book.promotion(f"FRESH-{days}", f"Best before in {days} days: {value} % off", priority=50)
        book.condition(promotion, "ADDITIONAL_FIELD", fieldName="daysLeft", operator="EQUALS", value=days)
        book.action(promotion, "ARTICLE", "PERCENTAGE", value)
    for code, name in (("scanAndGo", "Scan and go thank-you"), ("ownBag", "Brought your own bag")):
        promotion = book.promotion(f"USER-{code.upper()}", name, "RECEIPT")
        book.condition(promotion, "USER_DEFINED", fieldName=code, value="true")
        book.action(promotion, "RECEIPT", "PERCENTAGE", "1")
    for reason, value in (("DAMAGED", "25"), ("GOODWILL", "10")):
        promotion = book.promotion(f"MANUAL-{reason}", f"Cashier's discount: {reason.lower()}", exclusivityLevel="NONE")
        book.condition(promotion, "MANUAL_DISCOUNT", values=(reason,))
        book.action(promotion, "ARTICLE", "PERCENTAGE", value, selectionType="CHEAPEST")
    promotion = book.promotion("NOT-ONLINE", "In the shop, or with the app: tea 4 % off")
    tea = leaflet.leaf("Green tea").group_id
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=tea)
    book.condition(promotion, "CHANNEL", logicalConnector="NOT", value="ONLINE")
    book.condition(promotion, "ARTICLE_GROUP", logicalConnector="OR", articleGroupId=tea)
    book.condition(promotion, "USER_DEFINED", fieldName="app", value="true")
    book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "4", targetArticleGroupId=tea)


def rivals(leaflet: Leaflet) -> None:
    """Offers that exclude one another."""
    book = leaflet.book
    for code, title in (("HAIRCARE", "Conditioner"), ("COFFEE", "Coffee pods")):
        leaf = leaflet.leaf(title)
        for number, value in enumerate(("10", "15", "18", "22"), start=1):
            promotion = book.promotion(
                f"{code}-{number}",
                f"{value} % off {title.lower()}",
                mutualExclusionGroup_ID=leaflet.exclusion_groups[code],
            )
            book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id, minQuantity=Decimal(number))
            book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", value, targetArticleGroupId=leaf.group_id)
            if code == "HAIRCARE":
                book.add("BudgetPromotions", budget_ID=leaflet.budgets["BEAUTY-EUR"], promotion_ID=promotion)
    promotion = book.promotion("CLEARANCE", "Garden clearance: alone, a quarter off", exclusivityLevel="GLOBAL")
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId="G1004", includeSubGroups=True, minAmount=Decimal(30))
    book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "25", targetArticleGroupId="G1004", includeSubGroups=True)


def pilots_and_experiments(leaflet: Leaflet) -> None:
    """Pilots in two stores with two control stores, and experiments."""
    book, now = leaflet.book, leaflet.now
    for number, (title, share) in enumerate((("Muesli", "1.00"), ("Detergent", "0.50"), ("Lager", "1.00")), start=1):
        leaf = leaflet.leaf(title)
        promotion = book.promotion(f"PILOT-{number}", f"Pilot: 17 % off {title.lower()}", status="PILOT")
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "17", targetArticleGroupId=leaf.group_id)
        config = book.add(
            "PromotionPilotConfigs",
            promotion_ID=promotion,
            pilotStartAt=now - timedelta(days=20),
            pilotEndAt=now + timedelta(days=20),
            autoPromote=number == 1,
            autoPromoteThreshold=Decimal("5.00"),
            pilotShare=Decimal(share),
            controlGroupSize=0,
        )
        leaflet.trials.append(
            Trial(
                leaflet.first(title)[0],
                dict.fromkeys(_PILOT_STORES, _TRIED) | dict.fromkeys(_CONTROL_STORES, _AS_EVER),
            )
        )
        for code in _PILOT_STORES:
            book.add("PilotPosGroups", config_ID=config, posGroup_ID=leaflet.store(code).id)
        for code in _CONTROL_STORES:
            book.add("ControlPosGroups", config_ID=config, posGroup_ID=leaflet.store(code).id)
    for number, title in enumerate(("Juice", "Cola"), start=1):
        leaf = leaflet.leaf(title)
        promotion = book.promotion(
            f"TEST-{number}",
            f"Experiment: 11 % off {title.lower()}",
            isExperiment=True,
            controlGroupId=leaflet.store("DE-BER").id,
            experimentGroupId=leaflet.store("DE-HAM").id if number == 1 else None,
        )
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "11", targetArticleGroupId=leaf.group_id)
        leaflet.trials.append(Trial(leaflet.first(title)[0], {"DE-HAM": _TRIED, "DE-BER": _AS_EVER}))


def launch(leaflet: Leaflet) -> None:
    """A promotion that started some days ago, so that the days before and after can be compared."""
    book = leaflet.book
    leaflet.launched_at = midnight(leaflet.now) - timedelta(days=12)
    promotion = book.promotion(
        "LAUNCH-BASKET",
        "2 EUR off from 40 EUR",
        "RECEIPT",
        currency="EUR",
        validFrom=leaflet.launched_at,
        priority=550,
    )
    book.add("PromotionPosGroups", promotion_ID=promotion, posGroup_ID=leaflet.store("DE").id)
    book.condition(promotion, "RECEIPT_AMOUNT", operator="GTE", value="40")
    book.action(promotion, "RECEIPT", "ABSOLUTE", "2", distributionMode="PROPORTIONAL")
    book.add("BudgetPromotions", budget_ID=leaflet.budgets["LEAFLET-EUR"], promotion_ID=promotion)


_WAITING = "PENDING_APPROVAL"
_NOT_RUNNING = (
    ("Spices", "Winter baking: 20 % off spices", _WAITING, 3),  # waits, and would start this week
    ("Candles", "Candlelight dinner: 20 % off candles", _WAITING, 10),
    ("Gingerbread", "Gingerbread season", "DRAFT", 7),
    ("Board games", "Family game night", "DRAFT", 14),
    ("Green tea", "Tea weeks", "DRAFT", 21),
    ("Pens", "Back to school: pens", "EXPIRED", -60),
    ("Notebooks", "Back to school: notebooks", "EXPIRED", -60),
    ("Sun care", "Sun care of the summer", "EXPIRED", -75),
    ("Garden tools", "Garden tools, end of the season", "ARCHIVED", -90),
    ("Flower pots", "Flower pots, end of the season", "ARCHIVED", -90),
    ("Energy drinks", "Energy drinks for students", "INACTIVE", 0),
    ("Iced tea", "Iced tea in heat waves", "INACTIVE", 0),
)


def not_running(leaflet: Leaflet) -> None:
    """Inactive promotions, as every back office has: drafts, expired and disabled ones, and two to be approved."""
    book = leaflet.book
    for number, (title, name, status, start) in enumerate(_NOT_RUNNING, start=1):
        begin = midnight(leaflet.now) + timedelta(days=start)
        promotion = book.promotion(
            f"PLAN-{number:02d}",
            name,
            status=status,
            validFrom=begin,
            validTo=begin + timedelta(days=28),
            externalReference=f"ERP-{draw_id(book.rng)[:8]}",
        )
        group = leaflet.leaf(title).group_id
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=group)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "20", targetArticleGroupId=group)
