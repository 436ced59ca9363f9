"""Offers at the checkout: receipts, points, rewards, coupons and who pays how."""

from __future__ import annotations

from decimal import Decimal

from promenade.demo.leaflet import Leaflet

__all__ = ["coupons", "customers", "loyalty", "payments", "post_purchase", "receipts", "tour"]


def tour(leaflet: Leaflet) -> None:
    """The handful of offers the five-minute tour of the README buys."""
    book = leaflet.book
    coffee, shampoo = leaflet.leaf("Ground coffee"), leaflet.leaf("Shampoo")
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
        ("DE", "EUR", "100", "5", "LEAFLET-EUR"),
        ("CH", "CHF", "120", "6", "SWISS-CHF"),
        ("JP", "JPY", "15000", "500", "GINZA-JPY"),
        ("DE-WEB", "EUR", "150", "8", "LEAFLET-EUR"),
        ("CH-WEB", "CHF", "180", "10", "SWISS-CHF"),
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
        book.condition(promotion, "ITEM_QUANTITY", operator="GTE", value="25")
        action = book.action(promotion, "SCALED_RECEIPT", distributionMode="HIGHEST_FIRST")
        for sequence, (threshold, value) in enumerate(((50, "2"), (100, "4"), (150, "6")), start=1):
            book.add(
                "ActionScaledTiers",
                action_ID=action,
                sequence=sequence,
                thresholdAmount=Decimal(threshold * unit),
                discountType="PERCENTAGE",
                discountValue=Decimal(value),
            )
    promotion = book.promotion("LAST-ROUND", "Last round: 3 EUR off wine", "RECEIPT", currency="EUR")
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaflet.leaf("Red wine").group_id)
    book.action(promotion, "RECEIPT", "ABSOLUTE", "3", distributionMode="EQUAL")
    book.add("BudgetPromotions", budget_ID=leaflet.budgets["LAST-ROUND-EUR"], promotion_ID=promotion)


def loyalty(leaflet: Leaflet) -> None:
    """Points: earned, doubled, taken off."""
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
    for code, currency, limit in (("DE", "EUR", "80"), ("CH", "CHF", "100"), ("JP", "JPY", "12000")):
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
    book.action(promotion, "ARTICLE", "PERCENTAGE", "30")


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
