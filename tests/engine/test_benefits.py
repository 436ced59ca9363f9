"""Invalid definitions are refused when compiled, with the field at fault; and the details of section 6."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from promenade.engine.basket import CouponFact, Facts, Settings
from promenade.engine.benefits.registry import benefit_codes, compile_benefits, loyalty_codes
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
    ComponentRow,
    ConditionRow,
    DefinitionError,
    ExclusionRow,
    LoyaltyRow,
    PromotionDefinition,
    TierRow,
)
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from tests.engine.given import NOW, basket, line

PERCENT = {"discount_type": "PERCENTAGE", "discount_value_hundredths": 1000}
PIECE = ComponentRow("k1", 1, 1000)


def promotion(*actions: ActionRow, **fields: Any) -> PromotionDefinition:
    identity = fields.pop("id", "00000001-0000-4000-8000-000000000000")
    return PromotionDefinition(id=identity, name=fields.pop("name", "P"), actions=actions, **fields)


def action(action_type: str, **fields: Any) -> ActionRow:
    return ActionRow(id=fields.pop("id", "a"), sequence=fields.pop("sequence", 1), action_type=action_type, **fields)


def priced(bought: Any, *definitions: PromotionDefinition, facts: Facts | None = None) -> Outcome:
    catalogue = Catalogue()
    refused = catalogue.compile_all(definitions)
    assert not refused, [str(error) for error in refused.values()]
    return evaluate(catalogue, bought, facts or Facts(), Settings(now=NOW))


def test_every_benefit_of_the_specification_is_registered() -> None:
    assert set(benefit_codes()) >= {
        "ARTICLE",
        "ARTICLE_GROUP",
        "ARTICLE_LIST",
        "RECEIPT",
        "SCALED_RECEIPT",
        "BUNDLE",
        "POST_PURCHASE_COUPON",
        "LOYALTY",
        "QUANTITY_TIER",
        "FREE_ITEM",
    }
    assert set(loyalty_codes()) >= {"ADD_FIXED", "MULTIPLY_POINTS", "CURRENCY_TO_POINTS", "SUBTRACT_POINTS"}


@pytest.mark.parametrize(
    ("row", "target"),
    [
        (action("TELEPORT"), "actionType"),
        (action("ARTICLE"), "discountType"),
        (action("ARTICLE", discount_type="PERCENTAGE"), "discountValue"),
        (action("ARTICLE", discount_type="PERCENTAGE", discount_value_hundredths=10_001), "discountValue"),
        (action("ARTICLE", discount_type="ABSOLUTE", discount_value_hundredths=-1), "discountValue"),
        (action("ARTICLE", discount_type="GIFT", discount_value_hundredths=1), "discountType"),
        (action("ARTICLE", selection_type="OLDEST", **PERCENT), "selectionType"),
        (action("ARTICLE", application_quantity_mode="SOME", **PERCENT), "applicationQuantityMode"),
        (
            action("ARTICLE", application_quantity_mode="LIMITED", application_quantity_thousandths=500, **PERCENT),
            "applicationQuantity",
        ),
        (action("ARTICLE", max_discount_hundredths=-1, **PERCENT), "maxDiscountAmount"),
        (action("ARTICLE", target_article_list=True, **PERCENT), "articleListItems"),
        (action("ARTICLE_LIST", **PERCENT), "articleListItems"),
        (action("ARTICLE_LIST", articles=(ArticleRow(None),), **PERCENT), "articleListItems(1)/articleNumber"),
        (
            action("ARTICLE", exclusions=(ExclusionRow("ARTICLE_GROUP"),), **PERCENT),
            "exclusions(1)/exclusionType",
        ),
        (action("RECEIPT", discount_type="UNIT_PRICE", discount_value_hundredths=1), "discountType"),
        (action("RECEIPT", distribution_mode="ODD", **PERCENT), "distributionMode"),
        (action("SCALED_RECEIPT"), "scaledTiers"),
        (action("SCALED_RECEIPT", scaled_tiers=(TierRow(1, "PERCENTAGE", 1),)), "scaledTiers(1)/thresholdAmount"),
        (action("QUANTITY_TIER"), "quantityTiers"),
        (
            action("QUANTITY_TIER", quantity_tiers=(TierRow(1, "PERCENTAGE", 20_000, None, 1000),)),
            "quantityTiers(1)/discountValue",
        ),
        (action("BUNDLE", **PERCENT), "bundleComponents"),
        (action("BUNDLE", components=(ComponentRow("k", 1, 0),), **PERCENT), "bundleComponents(1)/quantity"),
        (action("BUNDLE", components=(ComponentRow("k", 1, 1000, discounted=False),), **PERCENT), "bundleComponents"),
        (action("BUNDLE", components=(PIECE,), max_bundles=0, **PERCENT), "maxBundles"),
        (action("FREE_ITEM"), "freeItemArticleNumber"),
        (action("FREE_ITEM", free_item_article_number="A", free_item_quantity_thousandths=0), "freeItemQuantity"),
        (action("FREE_ITEM", free_item_article_number="A", max_discount_hundredths=1), "maxDiscountAmount"),
        (action("POST_PURCHASE_COUPON"), "targetCouponType_ID"),
        (action("LOYALTY"), "actionType"),
    ],
)
def test_an_invalid_action_is_refused_with_the_field_at_fault(row: ActionRow, target: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_benefits(promotion(row))
    assert caught.value.target == f"DiscountActions(1)/{target}"


@pytest.mark.parametrize(
    ("row", "target"),
    [
        (LoyaltyRow("l", "GIVE"), "actionType"),
        (LoyaltyRow("l", "ADD_FIXED"), "points"),
        (LoyaltyRow("l", "MULTIPLY_POINTS"), "multiplier"),
        (LoyaltyRow("l", "CURRENCY_TO_POINTS", points_hundredths=100), "currencyAmount"),
        (LoyaltyRow("l", "ADD_FIXED", points_hundredths=100, target_scope="ARTICLE"), "targetArticleNumber"),
        (LoyaltyRow("l", "ADD_FIXED", points_hundredths=100, max_points_hundredths=-1), "maxPoints"),
    ],
)
def test_an_invalid_loyalty_action_is_refused_with_the_field_at_fault(row: LoyaltyRow, target: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_benefits(promotion(loyalty_actions=(row,)))
    assert caught.value.target == f"LoyaltyActions(1)/{target}"


def test_a_bundle_takes_its_buy_units_from_those_that_cannot_be_the_gift() -> None:
    # Buy two of the group, get one A at half price: B serves as buy unit, so that one A is left to get.
    row = action(
        "BUNDLE",
        discount_type="PERCENTAGE",
        discount_value_hundredths=5000,
        components=(
            ComponentRow("k1", 1, 2000, article_group_id="G", discounted=False),
            ComponentRow("k2", 2, 1000, article_number="A"),
        ),
    )
    bought = basket(line("A", "2", "10", group="G"), line("B", "1", "4", group="G"))
    outcome = priced(bought, promotion(row))
    assert [one.discount_minor for one in outcome.lines] == [500, 0]


def test_overlapping_components_still_make_as_many_bundles_as_the_units_allow() -> None:
    row = action(
        "BUNDLE",
        discount_type="UNIT_PRICE",
        discount_value_hundredths=1000,
        components=(ComponentRow("k1", 1, 1000, article_group_id="G"), ComponentRow("k2", 2, 1000, article_number="A")),
    )
    bought = basket(line("A", "3", "10", group="G"), line("B", "1", "4", group="G"))
    outcome = priced(bought, promotion(row))
    # Bundles {A, A} and {A, B}: 20 + 14 for 2 x 10.
    assert outcome.discount_minor == 1400
    assert outcome.applied[0].applications == 2


def test_ten_thousand_pieces_make_their_bundles_at_once() -> None:
    row = action(
        "BUNDLE",
        discount_type="PERCENTAGE",
        discount_value_hundredths=10_000,
        application_quantity_mode="CHEAPEST",
        components=(ComponentRow("k1", 1, 3000, article_number="A"),),
    )
    outcome = priced(basket(line("A", "10000", "1.99")), promotion(row))
    assert outcome.discount_minor == 3333 * 199


def test_a_unit_serves_one_bundle_of_a_promotion() -> None:
    rows = [
        action(
            "BUNDLE",
            id=f"a{number}",
            sequence=number,
            discount_type="ABSOLUTE",
            discount_value_hundredths=100,
            components=(ComponentRow("k1", 1, 2000, article_number="A"),),
            max_bundles=1,
        )
        for number in (1, 2)
    ]
    assert priced(basket(line("A", "3", "5")), promotion(*rows)).discount_minor == 100
    assert priced(basket(line("A", "4", "5")), promotion(*rows)).discount_minor == 200


def test_the_piece_that_triggers_is_not_the_piece_that_is_free() -> None:
    row = action("FREE_ITEM", free_item_article_number="A")
    condition = ConditionRow("c", 1, "AND", "ARTICLE", article_number="A")
    one = priced(basket(line("A", "1", "5")), promotion(row, conditions=(condition,)))
    assert one.discount_minor == 0
    assert [(item.quantity, item.price_source, item.give_away_value_minor) for item in one.granted] == [
        (1, "BASKET_PRICE", 500)
    ]
    assert one.granted[0].grant_reference == "GRANT-00000001-A-1"
    two = priced(basket(line("A", "2", "5")), promotion(row, conditions=(condition,)))
    assert two.discount_minor == 500
    assert two.granted == ()


def test_a_free_line_names_its_promotion() -> None:
    row = action("FREE_ITEM", free_item_article_number="B")
    outcome = priced(basket(line("A", "1", "5"), line("B", "1", "2")), promotion(row))
    assert [one.free_promotion_id for one in outcome.lines] == [None, "00000001-0000-4000-8000-000000000000"]


def test_random_picks_the_same_line_whatever_the_order_of_lines() -> None:
    row = action("ARTICLE", selection_type="RANDOM", **PERCENT)
    lines = [line("A", "1", "10"), line("B", "1", "10"), line("C", "1", "10")]
    picked = set()
    for order in (lines, lines[::-1], lines[1:] + lines[:1]):
        outcome = priced(basket(*order), promotion(row))
        picked.add(tuple(one.article_number for one in outcome.lines if one.discount_minor))
    assert len(picked) == 1
    assert len(picked.pop()) == 1


def buy_two_get_one(**fields: Any) -> PromotionDefinition:
    two = ConditionRow("c", 1, "AND", "ARTICLE", article_number="A", min_quantity_thousandths=2000)
    return promotion(action("FREE_ITEM", free_item_article_number="A", **fields), conditions=(two,))


@pytest.mark.parametrize("currency", ["EUR", "JPY"])
def test_as_many_pieces_as_a_till_can_send_are_given_away_at_once(currency: str) -> None:
    most = "999999999999"
    outcome = priced(basket(line("A", most, "0.50"), currency=currency), buy_two_get_one())
    (bought,) = outcome.lines
    third = int(most) // 3
    assert bought.discount_minor == (third * 50 if currency == "EUR" else (third + 1) // 2)  # half yen, rounded once
    assert sum(share.count for share in bought.discounts[0].units) == third
    assert outcome.granted == ()


def test_the_more_expensive_piece_is_free_in_any_order_of_lines() -> None:
    cheap, dear = line("A", "1", "5"), line("A", "1", "10")
    gift = promotion(action("FREE_ITEM", free_item_article_number="A"))
    for bought in (basket(cheap, dear), basket(dear, cheap)):
        outcome = priced(bought, gift)
        assert {one.unit_price_hundredths: one.discount_minor for one in outcome.lines} == {500: 0, 1000: 1000}


def test_the_free_piece_is_the_one_that_the_threshold_needs_least() -> None:
    ten_worth = ConditionRow("c", 1, "AND", "ARTICLE", article_number="A", min_amount_hundredths=1000)
    gift = promotion(action("FREE_ITEM", free_item_article_number="A"), conditions=(ten_worth,))
    for lines in ((line("A", "1", "10"), line("A", "1", "5")), (line("A", "1", "5"), line("A", "1", "10"))):
        outcome = priced(basket(*lines), gift)
        assert {one.unit_price_hundredths: one.discount_minor for one in outcome.lines} == {500: 500, 1000: 0}
        assert outcome.granted == ()


def test_a_free_article_from_the_shelf_is_valued_at_the_lowest_basket_price() -> None:
    cheap, dear = line("A", "1", "5"), line("A", "1", "10")
    for bought in (basket(cheap, dear), basket(dear, cheap)):
        (granted,) = priced(bought, buy_two_get_one()).granted
        assert (granted.price_source, granted.reference_price_minor, granted.quantity) == ("BASKET_PRICE", 500, 1)


def test_a_piece_that_costs_nothing_is_not_discounted() -> None:
    gift = promotion(action("FREE_ITEM", free_item_article_number="A"))
    outcome = priced(basket(line("A", "1", "0"), line("B", "1", "5")), gift)
    assert outcome.lines[0].discounts == ()
    assert outcome.lines[0].free_promotion_id is None


@pytest.mark.parametrize(
    "reward",
    [
        promotion(loyalty_actions=(LoyaltyRow("l", "ADD_FIXED", points_hundredths=2500),)),
        promotion(action("POST_PURCHASE_COUPON", target_coupon_type_id="t")),
    ],
)
def test_a_return_earns_neither_a_discount_nor_points(reward: PromotionDefinition) -> None:
    assert [one.promotion_name for one in priced(basket(line("A")), reward).applied] == ["P"]
    assert priced(basket(line("A", "-1")), reward).applied == ()


@pytest.mark.parametrize(
    "row",
    [
        LoyaltyRow("l", "ADD_FIXED", points_hundredths=99),
        LoyaltyRow("l", "ADD_FIXED", points_hundredths=500, max_points_hundredths=99),
        LoyaltyRow("l", "MULTIPLY_POINTS", multiplier_thousandths=1000),
        LoyaltyRow("l", "SUBTRACT_POINTS", points_hundredths=50),
    ],
)
def test_a_coupon_is_not_used_for_points_without_effect(row: LoyaltyRow) -> None:
    code = CouponFact("code", "t", "Coupon", "id")
    bought = replace(basket(line("A")), coupons=("code",))
    outcome = priced(
        bought, promotion(loyalty_actions=(row,), coupon_type_ids=frozenset("t")), facts=Facts(coupons=(code,))
    )
    assert (outcome.applied, outcome.coupons_used) == ((), ())
    assert [one.code for one in outcome.coupons_refused] == ["code"]


@pytest.mark.parametrize("kind", ["ARTICLE", "RECEIPT"])
def test_a_maximum_is_never_exceeded_by_rounding(kind: str) -> None:
    half = {"discount_type": "PERCENTAGE", "discount_value_hundredths": 5000, "max_discount_hundredths": 4950}
    outcome = priced(basket(line("A", "1", "200"), currency="JPY"), promotion(action(kind, **half)))
    assert outcome.discount_minor == 49


def test_a_gift_that_is_part_of_a_bundle_bears_nothing_and_stays_a_gift() -> None:
    """Of three free sweets at 10.50 yen, two cost the shop 11 and one 10: the half yen is nobody's to discount."""
    gift = action("FREE_ITEM", free_item_article_number="SWEET", free_item_quantity_thousandths=3000)
    given = promotion(gift, id="00000001-0000-4000-8000-000000000000", priority=1)
    parts = (
        ComponentRow("k1", 1, 3000, article_number="SWEET", discounted=False),
        ComponentRow("k2", 2, 1000, article_number="TEA"),
    )
    spread = action("BUNDLE", components=parts, distribution_mode="EQUAL", **PERCENT)
    tea_time = promotion(spread, id="00000002-0000-4000-8000-000000000000", priority=2)
    bought = basket(line("SWEET", "4", "10.50"), line("TEA", "1", "100"), currency="JPY")
    outcome = priced(bought, given, tea_time)
    by = {
        (one.article_number, each.promotion_id[7]): each.amount_minor for one in outcome.lines for each in one.discounts
    }
    assert by == {("SWEET", "1"): 32, ("TEA", "2"): 10}
