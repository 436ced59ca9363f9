"""Offers with a twist: times, channels, fields, rivals, pilots, experiments, and what is not running."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal

from promenade.demo.assortment import draw_id
from promenade.demo.leaflet import Leaflet, Trial

__all__ = ["channels_and_times", "fields_and_discretion", "launch", "not_running", "pilots_and_experiments", "rivals"]

_PILOT_STORES, _CONTROL_STORES = ("DE-HAM", "CH-ZRH"), ("DE-BER", "CH-GVA")
_TRIED, _AS_EVER = 0.45, 0.25  # how often a basket holds what is tried out, where it is and where it is not


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
    midnight = leaflet.now.replace(hour=0, minute=0, second=0, microsecond=0)
    today: date = midnight.date()
    for number, leaf in enumerate(leaflet.leaves(6, start=70, step=9), start=1):
        promotion = book.promotion(
            f"WEEK-{number:02d}",
            f"This week only: {leaf.name.lower()}",
            validFrom=midnight - timedelta(days=number),
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
    for days, value in (("1", "50"), ("2", "30"), ("3", "20")):
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
    promotion = book.promotion("CLEARANCE", "Garden clearance: alone, half price", exclusivityLevel="GLOBAL")
    book.condition(promotion, "ARTICLE_GROUP", articleGroupId="G1004", includeSubGroups=True, minAmount=Decimal(30))
    book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "50", targetArticleGroupId="G1004", includeSubGroups=True)


def pilots_and_experiments(leaflet: Leaflet) -> None:
    """Pilots in two stores with two to compare, and experiments."""
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
    """What began in the middle of the week, so that the days before it can be held against those since."""
    book = leaflet.book
    leaflet.launched_at = leaflet.now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=3)
    promotion = book.promotion(
        "LAUNCH-BASKET",
        "3 EUR off from 60 EUR",
        "RECEIPT",
        currency="EUR",
        validFrom=leaflet.launched_at,
        priority=550,
    )
    book.add("PromotionPosGroups", promotion_ID=promotion, posGroup_ID=leaflet.store("DE").id)
    book.condition(promotion, "RECEIPT_AMOUNT", operator="GTE", value="60")
    book.action(promotion, "RECEIPT", "ABSOLUTE", "3", distributionMode="PROPORTIONAL")
    book.add("BudgetPromotions", budget_ID=leaflet.budgets["LEAFLET-EUR"], promotion_ID=promotion)


def not_running(leaflet: Leaflet) -> None:
    """A back office is never tidy: drafts, expired and switched-off offers."""
    book = leaflet.book
    for number, leaf in enumerate(leaflet.leaves(15, start=90, step=3), start=1):
        status = ("DRAFT", "INACTIVE", "EXPIRED", "ARCHIVED", "PENDING_APPROVAL")[number % 5]
        past = status in {"EXPIRED", "ARCHIVED"}
        promotion = book.promotion(
            f"OLD-{number:02d}",
            f"Not running: {leaf.name.lower()}",
            status=status,
            validTo=leaflet.now - timedelta(days=30) if past else book.valid_to,
            externalReference=f"ERP-{draw_id(book.rng)[:8]}",
        )
        book.condition(promotion, "ARTICLE_GROUP", articleGroupId=leaf.group_id)
        book.action(promotion, "ARTICLE_GROUP", "PERCENTAGE", "40", targetArticleGroupId=leaf.group_id)
