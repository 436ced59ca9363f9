"""Which promotions apply together, and why others do not (pricing semantics, sections 4, 5, 8 and 10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from promenade.engine.basket import Basket, BudgetFact, CouponFact, Customer, Facts, Settings, UsageFact
from promenade.engine.catalogue import Catalogue, definition_hash
from promenade.engine.definition import (
    ActionRow,
    ConditionRow,
    ExclusionGroupRow,
    LoyaltyRow,
    PriorityRow,
    PromotionDefinition,
)
from promenade.engine.evaluation import evaluate, select
from promenade.engine.outcome import MissedPromotion, Outcome
from tests.engine.given import NOW, basket, line

TEN = basket(line("A", "1", "10"))
TELL = Settings(now=NOW, include_missed=True)


def identity(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def off(number: int, percent: int, *, article: str | None = None, kind: str = "ARTICLE", **fields: Any) -> Any:
    row = ActionRow(
        "a",
        1,
        kind,
        "PERCENTAGE",
        percent * 100,
        target_article_number=article,
        application_quantity_mode=fields.pop("mode", None),
    )
    return PromotionDefinition(identity(number), f"P{number}", actions=(row,), **fields)


def points(number: int, **fields: Any) -> PromotionDefinition:
    row = LoyaltyRow("l", "ADD_FIXED", points_hundredths=500)
    return PromotionDefinition(identity(number), f"P{number}", loyalty_actions=(row,), **fields)


def priced(
    bought: Basket, *definitions: PromotionDefinition, facts: Facts | None = None, told: Settings = TELL
) -> Outcome:
    catalogue = Catalogue()
    assert not catalogue.compile_all(definitions)
    return evaluate(catalogue, bought, facts or Facts(), told)


def names(outcome: Outcome) -> list[str]:
    return [one.promotion_name for one in outcome.applied]


def missed(outcome: Outcome) -> dict[str, MissedPromotion]:
    return {one.promotion_name: one for one in outcome.missed}


def test_the_order_is_priority_group_then_global_then_stage_then_coupon_then_priority() -> None:
    group = PriorityRow("g", 1, 1)
    catalogue = Catalogue()
    catalogue.compile_all(
        [
            off(1, 1, priority=2),
            off(2, 1, priority=1),
            off(3, 1, kind="RECEIPT", priority=0),
            off(4, 1, priority=0, coupon_type_ids=frozenset({"t"})),
            off(5, 1, kind="RECEIPT", priority_group=group),
            off(6, 1, priority_group=replace(group, sequence=2)),
            off(7, 1, priority_group=replace(group, sequence=1), priority=900),
            off(8, 1, exclusivity="GLOBAL", priority=900),
            points(9, priority=0),
        ]
    )
    coupons = (CouponFact("C", "t"),)
    selection = select(catalogue, replace(TEN, coupons=("C",)), {}, {}, coupons, TELL)
    assert [one.promotion.name for one in selection.candidates] == [
        "P7",
        "P6",
        "P5",
        "P8",
        "P2",
        "P1",
        "P4",
        "P3",
        "P9",
    ]


def test_exclusive_units_are_closed_to_later_promotions_which_name_the_winner() -> None:
    outcome = priced(TEN, off(1, 10, priority=1, exclusivity="PROMOTION"), off(2, 30, priority=2))
    assert names(outcome) == ["P1"]
    told = missed(outcome)["P2"]
    assert (told.code, told.blocked_by_name, told.difference_minor) == ("BLOCKED_BY_EXCLUSIVITY", "P1", 100 - 300)
    assert told.difference_minor == 100 - 300


def test_an_exclusive_promotion_takes_only_untouched_units() -> None:
    three = basket(line("A", "3", "10"))
    outcome = priced(
        three,
        off(1, 10, priority=1, mode="LIMITED"),
        off(2, 50, priority=2, exclusivity="PROMOTION"),
        off(3, 10, priority=3),
    )
    assert [one.discount_minor for one in outcome.applied] == [100, 1000, 100]


def test_an_exclusion_without_effect_blocks_nothing() -> None:
    outcome = priced(TEN, off(1, 10, article="B", exclusivity="GLOBAL"), off(2, 10))
    assert names(outcome) == ["P2"]
    assert missed(outcome)["P1"].code == "NO_TARGET_LINES"


def test_a_global_promotion_applies_alone_and_blocks_rewards_too() -> None:
    outcome = priced(TEN, off(1, 10, exclusivity="GLOBAL", priority=9), off(2, 90), points(3))
    assert names(outcome) == ["P1"]
    assert {one.blocked_by_name for one in missed(outcome).values()} == {"P1"}


def test_a_promotion_of_an_earlier_priority_group_blocks_a_global_one() -> None:
    outcome = priced(TEN, off(1, 10, exclusivity="GLOBAL"), off(2, 5, priority_group=PriorityRow("g", 1, 1)))
    assert names(outcome) == ["P2"]
    assert missed(outcome)["P1"].blocked_by_name == "P2"


@pytest.mark.parametrize(("first", "second"), [("GROUP", "NONE"), ("NONE", "GROUP")])
def test_group_exclusivity_leaves_one_promotion_of_its_priority_group(first: str, second: str) -> None:
    group = PriorityRow("g", 1, 1)
    outcome = priced(
        TEN,
        off(1, 10, exclusivity=first, priority_group=group),
        off(2, 20, exclusivity=second, priority_group=replace(group, sequence=2)),
        off(3, 5),
    )
    assert names(outcome) == ["P1", "P3"]
    assert missed(outcome)["P2"].code == "BLOCKED_BY_EXCLUSIVITY"


@pytest.mark.parametrize(("strategy", "winner"), [("HIGHEST_DISCOUNT", "P2"), ("LOWEST_DISCOUNT", "P1")])
def test_only_one_promotion_of_an_exclusion_group_applies(strategy: str, winner: str) -> None:
    group = ExclusionGroupRow("x", strategy)
    outcome = priced(TEN, off(1, 10, exclusion_group=group), off(2, 20, exclusion_group=group))
    assert names(outcome) == [winner]
    (told,) = outcome.missed
    assert told.code == "BLOCKED_BY_EXCLUSION_GROUP"
    assert told.blocked_by_name == winner
    assert told.difference_minor == (100 if winner == "P2" else -100)


def test_a_member_without_budget_makes_room_in_its_exclusion_group() -> None:
    group = ExclusionGroupRow("x", "HIGHEST_DISCOUNT")
    facts = Facts(budgets={"b": BudgetFact("b", "ACTIVE", 150, "EUR")})
    outcome = priced(
        TEN, off(1, 10, exclusion_group=group), off(2, 20, exclusion_group=group, budget_ids=("b",)), facts=facts
    )
    assert names(outcome) == ["P1"]
    assert [(one.promotion_name, one.reason) for one in outcome.budget_limited] == [("P2", "BUDGET_INSUFFICIENT")]


@pytest.mark.parametrize(
    ("status", "left", "reason"),
    [
        ("ACTIVE", 100, None),
        ("ACTIVE", 99, "BUDGET_INSUFFICIENT"),
        ("ACTIVE", 0, "BUDGET_EXHAUSTED"),
        ("EXHAUSTED", 900, "BUDGET_EXHAUSTED"),
        ("SCHEDULED", 900, "BUDGET_NOT_ACTIVE"),
        ("EXPIRED", 900, "BUDGET_NOT_ACTIVE"),
    ],
)
def test_a_budget_is_a_limit(status: str, left: int, reason: str | None) -> None:
    facts = Facts(budgets={"b": BudgetFact("b", status, left, "EUR")})
    outcome = priced(TEN, off(1, 10, budget_ids=("b",)), facts=facts)
    assert [one.reason for one in outcome.budget_limited] == ([] if reason is None else [reason])
    assert outcome.discount_minor == (100 if reason is None else 0)


def test_this_basket_counts_against_every_linked_budget() -> None:
    facts = Facts(budgets={name: BudgetFact(name, "ACTIVE", left, "EUR") for name, left in (("b", 150), ("c", 900))})
    outcome = priced(TEN, off(1, 10, budget_ids=("b", "c")), off(2, 10, budget_ids=("c", "b")), facts=facts)
    assert names(outcome) == ["P1"]
    assert [one.reason for one in outcome.budget_limited] == ["BUDGET_INSUFFICIENT"]


@pytest.mark.parametrize(
    ("limits", "used"),
    [
        ({"max_applications_total": 5}, UsageFact(total=5)),
        ({"max_applications_per_customer": 1}, UsageFact(total=1, by_customer=1)),
        ({"max_applications_per_transaction": 0}, UsageFact()),
    ],
)
def test_a_usage_limit_that_is_reached_blocks(limits: dict[str, Any], used: UsageFact) -> None:
    bought = replace(TEN, customer=Customer("c"))
    outcome = priced(bought, off(1, 10, **limits), facts=Facts(usage={identity(1): used}))
    assert names(outcome) == []
    assert missed(outcome)["P1"].code == "USAGE_LIMIT_REACHED"


def test_two_codes_of_one_type_trigger_once_and_the_second_is_not_burned() -> None:
    bought = replace(TEN, coupons=("C1", "C2", "C3", "C4", "C5"))
    coupons = (
        CouponFact("C1", "t", "Ten off"),
        CouponFact("C2", "t", "Ten off"),
        CouponFact("C3", "unlinked"),
        CouponFact("C4", "u"),
        CouponFact("C5", refusal="EXPIRED"),
    )
    outcome = priced(
        bought,
        off(1, 10, coupon_type_ids=frozenset({"t"})),
        off(
            2,
            10,
            coupon_type_ids=frozenset({"u"}),
            conditions=(ConditionRow("c", 1, "AND", "RECEIPT_AMOUNT", value="50"),),
        ),
        facts=Facts(coupons=coupons),
    )
    assert [(one.code, one.coupon_type_name, one.promotion_ids) for one in outcome.coupons_used] == [
        ("C1", "Ten off", (identity(1),))
    ]
    assert [(one.code, one.reason) for one in outcome.coupons_refused] == [
        ("C2", "USAGE_LIMIT_REACHED"),
        ("C3", "NO_PROMOTION"),
        ("C4", "CONDITION_NOT_MET"),
        ("C5", "EXPIRED"),
    ]
    assert outcome.lines[0].discounts[0].coupon_code == "C1"


def test_a_code_without_candidate_promotions_is_refused() -> None:
    outcome = priced(replace(TEN, coupons=("C",)), facts=Facts(coupons=(CouponFact("C", "t"),)))
    assert [(one.code, one.reason) for one in outcome.coupons_refused] == [("C", "NO_PROMOTION")]


def test_a_later_promotion_finds_no_remaining_amount() -> None:
    outcome = priced(TEN, off(1, 100, priority=1), off(2, 10, priority=2))
    assert missed(outcome)["P2"].code == "NOTHING_LEFT_TO_DISCOUNT"


def test_points_follow_the_order_and_are_computed_from_base_points() -> None:
    double = PromotionDefinition(
        identity(1),
        "P1",
        priority=1,
        loyalty_actions=(LoyaltyRow("l", "MULTIPLY_POINTS", multiplier_thousandths=2000),),
    )
    told = replace(TELL, points_per_currency_unit_thousandths=1000)
    outcome = priced(TEN, double, points(2, priority=2), off(3, 50), told=told)
    assert (outcome.base_points, outcome.points) == (5, 15)
    assert {one.promotion_name: one.points for one in outcome.applied} == {"P3": 0, "P1": 5, "P2": 5}


def test_an_outcome_names_every_definition_it_depends_on() -> None:
    trial = off(2, 10, is_experiment=True, control_group_id="pos-1")
    definitions = [off(1, 10), trial, off(3, 10, article="B")]
    catalogue = Catalogue()
    catalogue.compile_all(definitions)
    outcome = evaluate(catalogue, TEN, Facts(), Settings(now=NOW))
    assert outcome.control_arms == (trial.id,)
    needed = [one for one in definitions if definition_hash(one) in outcome.candidate_hashes]
    assert trial in needed
    again = Catalogue()
    again.compile_all(needed)
    assert evaluate(again, TEN, Facts(), Settings(now=NOW)) == outcome
