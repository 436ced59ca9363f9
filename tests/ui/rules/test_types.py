"""Rules of every type are created on the page and stored as entered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.desk import Desk, Shop
from tests.ui.rules.page import RulesPage, Step, rules_of, stored

ARTICLE, OTHER = "100001", "103905"
Made = tuple[str, list[Step], dict[str, Any]]

CONDITIONS: dict[str, Made] = {
    "ARTICLE": ("Article", [("fill", "Article", ARTICLE), ("fill", "From how many pieces", "2")], {
        "articleNumber": ARTICLE, "minQuantity": 2,
    }),
    "ARTICLE_LIST": ("List of articles", [
        ("fill", "Enter or paste numbers", f"{ARTICLE} {OTHER}"), ("fill", "From which amount", "9.99"),
    ], {"articleListItems": [{"articleNumber": ARTICLE}, {"articleNumber": OTHER}], "minAmount": 9.99}),
    "ARTICLE_GROUP": ("Article group", [("fill", "Article group", "G010201")], {
        "articleGroupId": "G010201", "includeSubGroups": True,
    }),
    "MANUFACTURER": ("Manufacturer", [("fill", "Manufacturer", "M-OBSTWERK")], {"manufacturer": "M-OBSTWERK"}),
    "ADDITIONAL_FIELD": ("Field of the line", [
        ("fill", "Name of the field", "origin"), ("choose", "Comparison", "begins with"), ("tokens", "Values", ["ES"]),
    ], {"fieldName": "origin", "operator": "STARTS_WITH", "value": "ES"}),
    "RECEIPT_AMOUNT": ("Receipt amount", [
        ("choose", "Comparison", "is between"), ("fill", "Value", "49.90"), ("fill", "up to", "100"),
    ], {"operator": "BETWEEN", "value": "49.90", "valueTo": "100"}),
    "ITEM_QUANTITY": ("Number of pieces", [("fill", "Value", "3")], {"value": "3", "operator": None}),
    "CUSTOMER_GROUP": ("Customer group", [("tokens", "Values", ["STAFF", "SENIOR"])], {
        "value": None, "valueListItems": [{"value": "STAFF"}, {"value": "SENIOR"}],
    }),
    "CUSTOMER": ("Customer", [("tokens", "Values", ["C-1"])], {"value": "C-1", "valueCategory": "CUSTOMER_ID"}),
    "LOYALTY_ACCOUNT": ("Loyalty account", [
        ("choose", "What counts", "the points"), ("choose", "Comparison", "is at least"), ("fill", "Value", "500"),
    ], {"fieldName": "points", "operator": "GTE", "value": "500"}),
    "PAYMENT_MEANS": ("Means of payment", [("tokens", "Values", ["CARD"])], {"value": "CARD"}),
    "PAYMENT_CARD": ("Kind of card", [("tokens", "Values", ["VISA"])], {"value": "VISA"}),
    "CREDIT_CARD_BIN": ("First digits of the card", [("tokens", "Values", ["400000"])], {"value": "400000"}),
    "MANUAL_DISCOUNT": ("Manual discount", [("tokens", "Values", ["DAMAGED"])], {"value": "DAMAGED"}),
    "TIME_WINDOW": ("Time of day and weekdays", [
        ("fill", "From", "08:00"), ("fill", "Until", "10:30"), ("press", "Tue", None), ("press", "Mon", None),
    ], {"timeFrom": "08:00:00", "timeTo": "10:30:00", "weekdays": "MON,TUE"}),
    "TIME_PERIOD": ("Range of dates", [("fill", "First day", "1 Dec 2026"), ("fill", "Last day", "24 Dec 2026")], {
        "dateFrom": "2026-12-01", "dateTo": "2026-12-24",
    }),
    "CHANNEL": ("Channel", [("tokens", "Values", ["ONLINE"])], {"value": "ONLINE"}),
    "USER_DEFINED": ("Field of the request", [("fill", "Name of the field", "campaign"), ("tokens", "Values", ["X"])], {
        "fieldName": "campaign", "value": "X",
    }),
}  # fmt: skip

PERCENT: Step = ("fill", "Discount or price", "12.5")
ACTIONS: dict[str, Made] = {
    "ARTICLE": ("Discount on an article", [
        ("choose", "Kind of discount", "Amount off"), PERCENT, ("fill", "On which article", ARTICLE),
        ("press", "More options", None), ("choose", "On which pieces", "the cheapest ones"),
        ("fill", "How many pieces", "2"), ("fill", "At most altogether", "20"),
        ("item", "Leave something out", [("fill", "Which", OTHER)]),
        ("item", "Leave something out", [("choose", "What", "what is reduced by as much")]),
        ("item", "Leave something out", [
            ("choose", "What", "a field of the line"), ("fill", "Name of the field", "redLabel"),
            ("fill", "Value, if not any", "yes"),
        ]),
    ], {
        "discountType": "ABSOLUTE", "discountValue": 12.5, "targetArticleNumber": ARTICLE,
        "applicationQuantityMode": "CHEAPEST", "applicationQuantity": 2, "maxDiscountAmount": 20,
        "exclusions": [
            {"exclusionType": "ADDITIONAL_FIELD", "fieldName": "redLabel", "value": "yes"},
            {"exclusionType": "ARTICLE", "articleNumber": OTHER}, {"exclusionType": "BETTER_REDUCED"},
        ],
    }),
    "ARTICLE_GROUP": ("Discount on an article group", [PERCENT, ("fill", "On which article group", "G010201")], {
        "discountType": "PERCENTAGE", "discountValue": 12.5, "targetArticleGroupId": "G010201",
        "includeSubGroups": True,
    }),
    "ARTICLE_LIST": ("Discount on a list of articles", [
        ("choose", "Kind of discount", "Price to end at"), PERCENT, ("fill", "Enter or paste numbers", f"{ARTICLE}"),
        ("fill", "Price of its own", "1.99"),
    ], {
        "discountType": "UNIT_PRICE", "targetArticleList": True,
        "articleListItems": [{"articleNumber": ARTICLE, "fixedPrice": 1.99}],
    }),
    "QUANTITY_TIER": ("Discount that grows with the quantity", [
        ("item", "Add tier", [("fill", "From how many pieces", "3"), ("fill", "Discount or price", "5")]),
        ("item", "Add tier", [("fill", "From how many pieces", "6"), ("fill", "Discount or price", "10")]),
    ], {"quantityTiers": [
        {"minQuantity": 3, "discountType": "PERCENTAGE", "discountValue": 5},
        {"minQuantity": 6, "discountType": "PERCENTAGE", "discountValue": 10},
    ]}),
    "BUNDLE": ("Bundle", [
        ("item", "Add part", [("fill", "Pieces", "2"), ("fill", "Article", ARTICLE)]),
        ("item", "Add part", [("fill", "Article group", "G010201"), ("tick", "Discounted", None)]),
        ("fill", "Discount or price", "9.99"),
    ], {"discountType": "UNIT_PRICE", "discountValue": 9.99, "bundleComponents": [
        {"quantity": 2, "articleNumber": ARTICLE, "discounted": True},
        {"quantity": 1, "articleGroupId": "G010201", "discounted": False},
    ]}),
    "FREE_ITEM": ("Free item", [("fill", "Free article", ARTICLE), ("tick", "once per basket only", None)], {
        "freeItemArticleNumber": ARTICLE, "freeItemQuantity": 1, "restrictToOnePerBasket": True,
    }),
    "RECEIPT": ("Discount on the receipt", [PERCENT], {"discountType": "PERCENTAGE", "discountValue": 12.5}),
    "SCALED_RECEIPT": ("Discount that grows with the amount", [
        ("item", "Add step", [("fill", "From which amount", "50"), ("fill", "Discount or price", "5")]),
    ], {"scaledTiers": [{"thresholdAmount": 50, "discountType": "PERCENTAGE", "discountValue": 5}]}),
    "LOYALTY": ("Loyalty points", [], {}),
}  # fmt: skip

POINTS: dict[str, Made] = {
    "ADD_FIXED": ("Extra points", [
        ("fill", "Points", "50"), ("choose", "For what", "several articles"),
        ("fill", "Enter or paste numbers", ARTICLE),
    ], {"points": 50, "targetScope": "ARTICLE_LIST", "articleListItems": [{"articleNumber": ARTICLE}]}),
    "CURRENCY_TO_POINTS": ("Points for money spent", [
        ("fill", "Points", "1"), ("fill", "For each", "2"), ("choose", "For what", "an article group"),
        ("fill", "On which article group", "G010201"), ("fill", "Points at most", "100"),
    ], {
        "points": 1, "currencyAmount": 2, "targetScope": "ARTICLE_GROUP", "targetArticleGroupId": "G010201",
        "maxPoints": 100,
    }),
    "MULTIPLY_POINTS": ("Multiply points", [("fill", "Times", "1.5")], {"multiplier": 1.5}),
    "SUBTRACT_POINTS": ("Take points", [
        ("fill", "Points", "5"), ("choose", "For what", "an article"), ("fill", "On which article", ARTICLE),
    ], {"points": 5, "targetScope": "ARTICLE", "targetArticleNumber": ARTICLE}),
}  # fmt: skip
ALL = {"Conditions": CONDITIONS, "DiscountActions": ACTIONS, "LoyaltyActions": POINTS}
TYPE = {"Conditions": "conditionType", "DiscountActions": "actionType", "LoyaltyActions": "actionType"}


def part_of(found: Any, wanted: Any) -> Any:
    """Return only those parts of ``found`` that ``wanted`` has."""
    if isinstance(wanted, list):
        return [part_of(one, wanted[at] if at < len(wanted) else {}) for at, one in enumerate(found)]
    return {key: part_of(found[key], value) for key, value in wanted.items()} if isinstance(wanted, dict) else found


def in_sequence(found: Any) -> Any:
    """Return rows in their sequence, exclusions by type; they are read unordered."""
    if not isinstance(found, list):
        return found
    return sorted(found, key=lambda row: (row.get("sequence") or 0, row.get("exclusionType") or ""))


def in_any_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=str)


@pytest.mark.parametrize("kind", ALL)
def test_rules_of_a_type_are_stored_as_they_were_entered(desk: Desk, shop: Shop, kind: str) -> None:
    points = [{"actionType": "ADD_FIXED", "points": 1}]
    more: dict[str, Any] = {"LoyaltyActions": points} if kind == "DiscountActions" else {}
    editing = RulesPage.editing(desk, stored(shop, **more))
    for title, steps, _ in ALL[kind].values():
        card = editing.add(kind, title)
        editing.do(card, *steps)
        card.get_by_role("button", name="Hide details").click()
    assert not [one for one in editing.sentences(kind) if "…" in one]
    editing.save()
    found = {row[TYPE[kind]]: row for row in rules_of(shop, editing.entity_id, kind)}
    assert set(found) == set(ALL[kind])
    for code, (_, _, wanted) in ALL[kind].items():
        for name, value in wanted.items():
            got = part_of(in_sequence(found[code][name]), value)
            is_list = isinstance(value, list) and name in {"articleListItems", "valueListItems"}
            assert (in_any_order(got) if is_list else got) == (in_any_order(value) if is_list else value), (code, name)
