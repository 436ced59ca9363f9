"""Actions reported to give nothing, either certainly or probably."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
    ComponentRow,
    ExclusionRow,
    LoyaltyRow,
    TierRow,
)
from tests.engine.given import TEN_PERCENT, promotion, row
from tests.engine.inspection.test_findings import codes, of


def action(kind: str = "RECEIPT", **rest: Any) -> ActionRow:
    if kind in {"ARTICLE", "RECEIPT", "BUNDLE"}:
        rest = {"discount_type": "PERCENTAGE", "discount_value_hundredths": 1000, **rest}
    return ActionRow(id="a", sequence=1, action_type=kind, **rest)


def tier(sequence: int, value: int, **rest: Any) -> TierRow:
    return TierRow(sequence, "PERCENTAGE", value, **rest)


def excluding(kind: str, name: str) -> tuple[ExclusionRow, ...]:
    field = {
        "ARTICLE": "article_number",
        "ARTICLE_GROUP": "article_group_id",
        "MANUFACTURER": "manufacturer",
        "ADDITIONAL_FIELD": "field_name",
    }[kind]
    named: dict[str, Any] = {field: name}
    return (ExclusionRow(kind, **named),)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (action(discount_value_hundredths=0), ("ERROR", "ACTION_GIVES_NOTHING")),
        (action(max_discount_hundredths=0), ("ERROR", "ACTION_GIVES_NOTHING")),
        (action("ARTICLE", discount_type="UNIT_PRICE", discount_value_hundredths=0), None),
        (
            action("QUANTITY_TIER", quantity_tiers=(tier(1, 0, min_quantity_thousandths=0),)),
            ("ERROR", "ACTION_GIVES_NOTHING"),
        ),
        (
            action("ARTICLE", target_article_number="A", exclusions=excluding("ARTICLE", "A")),
            ("ERROR", "EXCLUSIONS_COVER_ALL"),
        ),
        (
            action("ARTICLE", target_article_group_id="fruit", exclusions=excluding("ARTICLE_GROUP", "food")),
            ("ERROR", "EXCLUSIONS_COVER_ALL"),
        ),
        (action("ARTICLE", target_article_group_id="food", exclusions=excluding("ARTICLE_GROUP", "fruit")), None),
        (
            action("ARTICLE", target_article_number="A", exclusions=excluding("ARTICLE_GROUP", "food")),
            ("WARNING", "EXCLUSIONS_COVER_ALL"),
        ),
        (
            action("ARTICLE", target_article_number="A", exclusions=excluding("MANUFACTURER", "m1")),
            ("WARNING", "EXCLUSIONS_COVER_ALL"),
        ),
        (
            action(
                "BUNDLE",
                components=(
                    ComponentRow("k1", 1, 1000, article_group_id="tools"),
                    ComponentRow("k2", 2, 1000, article_group_id="fruit"),
                ),
                exclusions=excluding("ARTICLE_GROUP", "fruit"),
            ),
            ("ERROR", "EXCLUSIONS_COVER_ALL"),
        ),
        (action("ARTICLE", target_article_number="BOOK"), ("ERROR", "NEVER_DISCOUNTED")),
        (action("ARTICLE", target_article_number="CIGAR"), ("WARNING", "NEVER_DISCOUNTED")),
        (action("ARTICLE", target_article_group_id="cigars"), ("ERROR", "NEVER_DISCOUNTED")),
        (
            action("ARTICLE", articles=(ArticleRow("BOOK"), ArticleRow("A"))),
            ("WARNING", "NEVER_DISCOUNTED"),
        ),
        (action("FREE_ITEM", free_item_article_number="BOOK"), ("ERROR", "NEVER_DISCOUNTED")),
        (action("FREE_ITEM", free_item_article_number="CIGAR"), ("ERROR", "NEVER_DISCOUNTED")),
        (action("ARTICLE", articles=(ArticleRow(None, "9780"),)), ("WARNING", "NEVER_DISCOUNTED")),
        (
            action(
                "BUNDLE",
                components=(
                    ComponentRow("k1", 1, 1000, article_number="BOOK"),
                    ComponentRow("k2", 2, 1000, article_group_id="tools"),
                ),
            ),
            ("ERROR", "NEVER_DISCOUNTED"),
        ),
        (
            action(
                "BUNDLE",
                components=(
                    ComponentRow("k1", 1, 1000, article_number="BOOK", discounted=False),
                    ComponentRow("k2", 2, 1000, article_group_id="tools"),
                ),
            ),
            None,
        ),
        (action("FREE_ITEM", free_item_article_number="X"), ("WARNING", "ARTICLE_UNKNOWN")),
        (
            action("FREE_ITEM", free_item_article_number="A", free_item_quantity_thousandths=500),
            ("ERROR", "ACTION_GIVES_NOTHING"),
        ),
        (
            action("FREE_ITEM", free_item_article_number="A", max_free_units_thousandths=0),
            ("ERROR", "ACTION_GIVES_NOTHING"),
        ),
    ],
)
def test_an_action_that_gives_nothing_is_reported(given: ActionRow, found: tuple[str, str] | None) -> None:
    assert codes(promotion("p", actions=(given,))) == ([] if found is None else [found])
    # Beside an action that gives something, it is only a warning.
    both = codes(promotion("p", actions=(given, TEN_PERCENT)))
    assert both == ([] if found is None else [("WARNING", found[1])])


def test_an_unreadable_action_prevents_the_promotion_from_running() -> None:
    for actions in ((action("BUNDLE"),), (action("BUNDLE"), TEN_PERCENT)):
        (found,) = of(promotion("p", actions=actions))
        assert (found.severity, found.code, found.target) == (
            "ERROR",
            "NO_COMPONENTS",
            "DiscountActions/bundleComponents",
        )


def test_exclusions_that_cover_all_qualifying_lines_are_reported() -> None:
    given = action("ARTICLE", exclusions=excluding("ARTICLE_GROUP", "fruit"))
    fruit = row("ARTICLE_GROUP", article_group_id="fruit")
    assert codes(promotion("p", fruit, actions=(given,))) == [("ERROR", "EXCLUSIONS_COVER_ALL")]
    tools = replace(row("ARTICLE_GROUP", article_group_id="tools", connector="OR"), id="c2", sequence=2)
    assert codes(promotion("p", fruit, tools, actions=(given,))) == []


@pytest.mark.parametrize(
    ("excluded", "asked", "found"),
    [
        (ExclusionRow("ADDITIONAL_FIELD", field_name="redLabel"), {"value": "yes"}, True),
        (ExclusionRow("ADDITIONAL_FIELD", field_name="redLabel"), {"value": "5", "operator": "GTE"}, True),
        (ExclusionRow("ADDITIONAL_FIELD", field_name="redLabel", value="5"), {"value": "5.0"}, True),
        (ExclusionRow("ADDITIONAL_FIELD", field_name="redLabel", value="5"), {"value": "5", "operator": "GTE"}, False),
        (ExclusionRow("ADDITIONAL_FIELD", field_name="redLabel", value="5"), {"values": ("5", "6")}, False),
        (ExclusionRow("ADDITIONAL_FIELD", field_name="blueLabel"), {"value": "yes"}, False),
        (ExclusionRow("REDUCED"), {"value": "yes"}, False),
    ],
)
def test_so_are_exclusions_of_the_field_that_lines_qualify_by(
    excluded: ExclusionRow, asked: dict[str, Any], found: bool
) -> None:
    given = action("ARTICLE", exclusions=(excluded,))
    value = asked.pop("value", None)
    asking = row("ADDITIONAL_FIELD", value, field_name="redLabel", **asked)
    assert codes(promotion("p", asking, actions=(given,))) == ([("ERROR", "EXCLUSIONS_COVER_ALL")] if found else [])


@pytest.mark.parametrize(
    ("given", "is_refused"),
    [
        (action("ARTICLE"), False),
        (action("QUANTITY_TIER", quantity_tiers=(tier(1, 500, min_quantity_thousandths=0),)), False),
        (
            action("QUANTITY_TIER", quantity_tiers=(TierRow(1, "ABSOLUTE", 500, min_quantity_thousandths=0),)),
            True,
        ),
        (action("RECEIPT"), True),
        (action("BUNDLE", components=(ComponentRow("k1", 1, 1000, article_group_id="tools"),)), True),
    ],
)
def test_only_a_discount_on_each_piece_is_compared_with_a_reduction(given: ActionRow, is_refused: bool) -> None:
    found = of(promotion("p", actions=(replace(given, exclusions=(ExclusionRow("BETTER_REDUCED"),)),)))
    assert [(one.code, one.target) for one in found] == (
        [("NOT_ALLOWED", "DiscountActions/exclusions(1)/exclusionType")] if is_refused else []
    )


def test_unreachable_tiers_are_reported() -> None:
    tiers = (tier(1, 500, threshold_hundredths=1000), tier(2, 1000, threshold_hundredths=10_000))
    given = action("SCALED_RECEIPT", scaled_tiers=tiers)
    below = row("RECEIPT_AMOUNT", "100", operator="LESS_THAN")
    assert codes(promotion("p", below, actions=(given,))) == [("WARNING", "TIER_NOT_REACHED")]
    assert codes(promotion("p", row("RECEIPT_AMOUNT", "100", operator="LTE"), actions=(given,))) == []
    alike = replace(given, scaled_tiers=(tiers[0], replace(tiers[1], threshold_hundredths=1000)))
    assert codes(promotion("p", actions=(alike,))) == [("WARNING", "TIER_SHADOWED")]


@pytest.mark.parametrize(
    ("given", "is_nothing"),
    [
        (LoyaltyRow("l", "MULTIPLY_POINTS", multiplier_thousandths=1000), True),
        (LoyaltyRow("l", "MULTIPLY_POINTS", multiplier_thousandths=2000), False),
        (LoyaltyRow("l", "ADD_FIXED", points_hundredths=99), True),
        (LoyaltyRow("l", "ADD_FIXED", points_hundredths=500, max_points_hundredths=0), True),
        (LoyaltyRow("l", "SUBTRACT_POINTS", points_hundredths=500, max_points_hundredths=0), False),
    ],
)
def test_a_loyalty_action_that_gives_nothing_is_reported(given: LoyaltyRow, is_nothing: bool) -> None:
    found = codes(promotion("p", actions=(), loyalty_actions=(given,)))
    assert found == ([("ERROR", "ACTION_GIVES_NOTHING")] if is_nothing else [])
