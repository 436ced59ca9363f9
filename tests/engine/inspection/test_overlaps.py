"""Overlapping promotions, which of them wins, and that one reported as always displaced or worthless never applies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promenade.engine.basket import Basket
from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import ActionRow, ExclusionGroupRow, PilotRow, PriorityRow, PromotionDefinition
from promenade.engine.inspection import ArticleSeen, Finding, PlaceSeen, Tenant, inspect
from promenade.engine.inspection.overlap import REPORTED_MAX
from promenade.engine.view import GroupTree
from tests.engine.given import promotion, row
from tests.engine.made_up import GROUPS, NOW, baskets, many_promotions, run
from tests.kit.examples import examples
from tests.kit.processor_time import processor_time

AT = datetime(2026, 3, 14, 12, tzinfo=UTC)
PLACE = PlaceSeen("pos", "POS", "EUR", "Europe/Berlin", True)
OTHER_PLACE = PlaceSeen("pos-2", "POS-2", "EUR", "Europe/Berlin", True)
TENANT = Tenant(
    at=AT, places={"pos": PLACE, "pos-2": OTHER_PLACE}, tree=GroupTree({"food": None, "fruit": "food", "bread": "food"})
)
DAY = timedelta(days=1)


def off(*, target: str | None = None, group: str | None = None, sub: bool = False, **rest: Any) -> ActionRow:
    """Return 10 % off an article, a group or the qualifying lines."""
    values: dict[str, Any] = {"discount_type": "PERCENTAGE", "discount_value_hundredths": 1000, **rest}
    return ActionRow(
        id="a",
        sequence=1,
        action_type="ARTICLE",
        target_article_number=target,
        target_article_group_id=group,
        include_sub_groups=sub,
        **values,
    )


def overlaps(definition: PromotionDefinition, *others: PromotionDefinition, tenant: Tenant = TENANT) -> list[Finding]:
    """Return the findings about other promotions."""
    found = inspect(definition, tenant, [compile_promotion(one) for one in others])
    return [one for one in found if one.promotion_id is not None or one.code == "OVERLAPS_MORE"]


def codes(definition: PromotionDefinition, *others: PromotionDefinition, tenant: Tenant = TENANT) -> list[str]:
    return [one.code for one in overlaps(definition, *others, tenant=tenant)]


@pytest.mark.parametrize(
    ("mine", "theirs", "meet"),
    [
        (off(target="A"), off(target="A"), True),
        (off(target="A"), off(target="B"), False),
        (off(target="A"), off(), True),
        (off(group="fruit"), off(group="food", sub=True), True),
        (off(group="food", sub=True), off(group="fruit"), True),
        (off(group="food"), off(group="fruit"), False),
        (off(group="food", sub=True), off(group="food", sub=True), True),
        (off(group="fruit"), off(group="bread"), False),
        (off(target="A"), off(group="food", sub=True), True),  # A is a fruit according to the master data
        (off(group="food", sub=True), off(target="A"), True),
        (off(target="A"), off(group="bread"), False),
    ],
)
def test_promotions_overlap_if_they_discount_the_same_lines(mine: ActionRow, theirs: ActionRow, meet: bool) -> None:
    tenant = replace(TENANT, articles={"A": ArticleSeen("A", None, "fruit")})
    found = codes(promotion("p", actions=(mine,)), promotion("q", actions=(theirs,)), tenant=tenant)
    assert found == (["STACKS_WITH"] if meet else [])


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "DRAFT"},
        {"valid_to": AT},
        {"valid_from": AT + 5 * DAY},
        {"pos_groups": frozenset({"pos-2"})},
        {"currency": "CHF"},
        {"campaign_cancelled": True, "campaign_window": (None, None)},
        {"status": "PILOT"},
        {
            "status": "PILOT",
            "pilot": PilotRow("c", AT + 6 * DAY, AT + 9 * DAY, 100, 0, frozenset({"pos"}), frozenset()),
        },
    ],
)
def test_promotions_in_other_places_or_at_other_times_do_not_overlap(changes: dict[str, Any]) -> None:
    made = promotion("p", pos_groups=frozenset({"pos"}), valid_to=AT + 5 * DAY)
    assert codes(made, promotion("q", **changes)) == []
    assert codes(made, promotion("q")) == ["STACKS_WITH"]


def test_promotions_with_mutually_exclusive_conditions_do_not_overlap() -> None:
    made = promotion("p", row("CUSTOMER_GROUP", "GOLD"))
    assert codes(made, promotion("q", row("CUSTOMER_GROUP", "SILVER"))) == []
    assert codes(made, promotion("q", row("CUSTOMER_GROUP", "GOLD", connector="NOT"))) == []
    morning = row("TIME_WINDOW", weekdays="MON", sequence=1)
    assert codes(promotion("p", morning), promotion("q", row("TIME_WINDOW", weekdays="TUE"))) == []


def grouped(priority: int, group: str = "g", sequence: int = 1) -> PriorityRow:
    return PriorityRow(group, priority, sequence)


@pytest.mark.parametrize(
    ("mine", "theirs", "code"),
    [
        ({}, {}, "STACKS_WITH"),
        ({"exclusivity": "GLOBAL"}, {}, "DISPLACES"),
        ({"exclusivity": "GLOBAL"}, {"priority_group": grouped(1)}, "ALWAYS_DISPLACED"),
        ({}, {"exclusivity": "GLOBAL"}, "ALWAYS_DISPLACED"),
        ({}, {"exclusivity": "GLOBAL", "budget_ids": ("b",)}, "DISPLACED_BY"),
        ({}, {"exclusivity": "GLOBAL", "valid_to": AT + DAY}, "DISPLACED_BY"),
        ({"exclusivity": "PROMOTION"}, {}, "DISPLACES"),
        ({"priority": 200}, {"exclusivity": "PROMOTION"}, "DISPLACED_BY"),
        ({"exclusivity": "GROUP"}, {}, "STACKS_WITH"),
        (
            {"priority_group": grouped(1, sequence=2)},
            {"exclusivity": "GROUP", "priority_group": grouped(1)},
            "ALWAYS_DISPLACED",
        ),
        (
            {"exclusivity": "GROUP", "priority_group": grouped(1)},
            {"priority_group": grouped(1, sequence=2)},
            "DISPLACES",
        ),
        (
            {"exclusivity": "GROUP", "priority_group": grouped(1)},
            {"priority_group": grouped(1, "other")},
            "STACKS_WITH",
        ),
        (
            {"exclusion_group": ExclusionGroupRow("x", "HIGHEST_DISCOUNT")},
            {"exclusion_group": ExclusionGroupRow("x", "HIGHEST_DISCOUNT")},
            "EXCLUDE_EACH_OTHER",
        ),
        (
            {"exclusivity": "PROMOTION", "coupon_type_ids": frozenset({"t"})},
            {"coupon_type_ids": frozenset({"t"})},
            "EXCLUDE_EACH_OTHER",
        ),
    ],
)
def test_the_overlap_names_the_promotion_that_wins(mine: dict[str, Any], theirs: dict[str, Any], code: str) -> None:
    made = promotion("p", valid_to=AT + 5 * DAY, **mine)
    assert codes(made, promotion("q", **theirs)) == [code]


def test_with_best_deal_exclusive_promotions_exclude_each_other() -> None:
    tenant = replace(TENANT, strategy="BEST_DEAL")
    assert codes(promotion("p"), promotion("q", exclusivity="GLOBAL"), tenant=tenant) == ["EXCLUDE_EACH_OTHER"]


def test_a_promotion_is_always_displaced_only_if_its_conditions_imply_the_winners() -> None:
    hundred = row("RECEIPT_AMOUNT", "100")
    winner = promotion("q", row("RECEIPT_AMOUNT", "50"), exclusivity="GLOBAL")
    assert codes(promotion("p", hundred), winner) == ["ALWAYS_DISPLACED"]
    assert codes(promotion("p", row("RECEIPT_AMOUNT", "20")), winner) == ["DISPLACED_BY"]
    # An earlier promotion may keep the winner from applying.
    early = promotion("r", priority_group=grouped(1), actions=(off(target="A"),))
    assert "ALWAYS_DISPLACED" not in codes(promotion("p", hundred), winner, early)


@pytest.mark.alone
def test_ten_thousand_overlaps_are_found_quickly_and_the_list_is_cut() -> None:
    others = [
        compile_promotion(promotion(f"q{number:05}", actions=(off(target=f"A{number}"),))) for number in range(9_999)
    ]
    others.append(compile_promotion(promotion("z", exclusivity="PROMOTION", priority=1)))
    made = promotion("p", row("TIME_WINDOW", weekdays="SUN"), row("RECEIPT_AMOUNT", "10", sequence=2))
    with processor_time() as spent:
        found = [one for one in inspect(made, TENANT, others) if one.promotion_id or one.code == "OVERLAPS_MORE"]
    assert spent.seconds < 2  # usually a tenth of it
    assert len(found) == REPORTED_MAX + 1
    assert (found[0].code, found[0].promotion_id) == ("DISPLACED_BY", "z")
    assert "9950 more" in found[-1].message


def test_promotions_for_which_other_goods_count_are_not_compared_by_their_thresholds() -> None:
    from_30 = replace(
        promotion("g", row("RECEIPT_AMOUNT", "30"), exclusivity="GLOBAL", actions=(off(),)), counts_barred=False
    )
    small = promotion("s", row("RECEIPT_AMOUNT", "50"), actions=(off(),))
    (alike,) = codes(small, replace(from_30, counts_barred=None))
    assert alike == "ALWAYS_DISPLACED"
    assert codes(small, from_30) == ["DISPLACED_BY"]  # a book for 40.00 and a pen for 20.00 reach 50.00, but not 30.00
    few = promotion("f", row("RECEIPT_AMOUNT", "40", operator="LTE"), actions=(off(),))
    assert codes(few, replace(from_30, counts_barred=None, conditions=(row("RECEIPT_AMOUNT", "50"),))) == []
    assert codes(few, replace(from_30, conditions=(row("RECEIPT_AMOUNT", "50"),))) == ["DISPLACED_BY"]


def test_what_discounts_the_receipt_does_not_always_where_goods_are_never_discounted() -> None:
    one = promotion("g", exclusivity="GLOBAL", actions=(off(),))
    ours = promotion("s", row("RECEIPT_AMOUNT", "50"), actions=(off(),))
    assert codes(ours, one) == ["ALWAYS_DISPLACED"]
    marked = replace(TENANT, tree=GroupTree(TENANT.tree.parents, {"bread": "OTHER"}))
    assert codes(ours, one, tenant=marked) == ["DISPLACED_BY"]


# --- against the engine -----------------------------------------------------------------------------------------------

IN_USE = Tenant(at=NOW, places={"pos": replace(PLACE, currency="EUR")}, tree=GroupTree(GROUPS))
DEAD = {"ALWAYS_DISPLACED", "ACTION_GIVES_NOTHING", "EXCLUSIONS_COVER_ALL", "TIER_NOT_REACHED", "APPLICATIONS_USED_UP"}


@st.composite
def crowds(draw: st.DrawFn) -> list[PromotionDefinition]:
    """Draw promotions with exclusive ones that leave little to the others."""
    made = draw(many_promotions(4))
    winner = replace(
        made[0],
        conditions=draw(st.sampled_from(((), made[0].conditions, made[-1].conditions))),
        actions=(ActionRow("w", 1, "RECEIPT", "ABSOLUTE", draw(st.sampled_from((100, 500)))),),
        exclusivity=draw(st.sampled_from(("GLOBAL", "GROUP"))),
        exclusion_group=None,
        budget_ids=(),
        max_applications_per_transaction=None,
        precision=None,
    )
    return [winner, *made[1:]]


@settings(max_examples=examples(250), suppress_health_check=[HealthCheck.too_slow])
@given(crowds(), st.lists(baskets(most=4), min_size=1, max_size=4))
def test_a_promotion_reported_as_dead_never_applies_to_any_sale(
    made: list[PromotionDefinition], sales: list[Basket]
) -> None:
    compiled = [compile_promotion(one) for one in made]
    for one in made:
        # Sales in other currencies are checked with a place in that currency.
        for sale in sales:
            place = replace(PLACE, currency=sale.pos_group.currency)
            tenant = replace(IN_USE, places={"pos": place})
            dead = {found.code for found in inspect(one, tenant, compiled) if found.severity == "ERROR"} & DEAD
            if dead and _is_worth_something(sale):
                applied = {applied.promotion_id for applied in run(made, sale).applied}
                assert one.id not in applied, (dead, one)


def _is_worth_something(sale: Basket) -> bool:
    """Return whether the sale is large enough that a discount does not round to nothing."""
    return sum(max(0, line.quantity_thousandths) * line.unit_price_hundredths for line in sale.lines) >= 1_000_000
