"""The engine held to a reference that was written from the rules alone, on small but nasty sales."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from promenade.engine.definition import PromotionDefinition
from tests.engine.reference.case import Case
from tests.engine.reference.compare import engine, of_engine, of_reference
from tests.engine.reference.made_up import ARTICLE_GROUPS, Maker
from tests.engine.reference.pricing import Result, price

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SEEDS = 40_000 if THOROUGH else 5_000
LOTS = 10


def reference(case: Case, definitions: tuple[PromotionDefinition, ...] | None = None) -> Result:
    chosen = case.definitions if definitions is None else definitions
    return price(list(chosen), case.basket, case.facts, case.settings, ARTICLE_GROUPS)


@given(st.randoms(use_true_random=False))
@settings(
    max_examples=2_000 if THOROUGH else 300,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
def test_any_sale_is_priced_as_the_rules_say(chance: Random) -> None:
    case = Maker(chance).case()
    note(repr(case))
    assert of_engine(engine(case)) == of_reference(reference(case))


@pytest.mark.parametrize("lot", range(LOTS))
def test_many_fixed_sales_are_priced_as_the_rules_say(lot: int) -> None:
    """Seeds cost a tenth of what Hypothesis takes; a failing one is named."""
    for seed in range(lot, SEEDS, LOTS):
        case = Maker(Random(seed)).case()
        assert of_engine(engine(case)) == of_reference(reference(case)), f"seed {seed}: {case}"


def test_what_is_made_up_applies_often_enough_to_tell_anything() -> None:
    """Of 600 sales, every kind of action, condition and exclusivity applied in a fair share."""
    applied: Counter[str] = Counter()
    several = 0
    for seed in range(600):
        result = reference(Maker(Random(seed)).case())
        several += len(result.applied) > 1
        for application in result.applied:
            promotion = application.promotion
            applied.update({action.action_type for action in promotion.actions})
            applied.update({row.action_type for row in promotion.loyalty_actions})
            applied.update({f"if {row.condition_type}" for row in promotion.conditions})
            applied[f"level {promotion.exclusivity}"] += 1
            applied[promotion.calculation_mode] += 1
            applied["coupon"] += application.coupon is not None
            applied["exclusion group"] += promotion.exclusion_group is not None
            applied["budget"] += bool(promotion.budget_ids)
        applied["budget drops"] += bool(result.limited)
        applied["coupon refused"] += bool(result.refused)
    assert several >= 150
    for kind in ("ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "RECEIPT", "SCALED_RECEIPT", "QUANTITY_TIER", "BUNDLE"):
        assert applied[kind] >= 40, (kind, applied)
    for kind in ("FREE_ITEM", "POST_PURCHASE_COUPON", "ADDITIVE", "MULTIPLICATIVE", "level NONE", "level PROMOTION"):
        assert applied[kind] >= 60, (kind, applied)
    for kind in ("ADD_FIXED", "MULTIPLY_POINTS", "CURRENCY_TO_POINTS", "SUBTRACT_POINTS"):
        assert applied[kind] >= 15, (kind, applied)
    for kind in ("level GROUP", "level GLOBAL", "exclusion group", "budget", "budget drops", "coupon refused"):
        assert applied[kind] >= 12, (kind, applied)
    assert applied["coupon"] >= 4, applied
    assert sum(kind.startswith("if ") for kind in applied) == 18, applied


@pytest.mark.parametrize("lot", range(2))
def test_the_best_deal_is_the_best_of_all_choices(lot: int) -> None:
    """Where the search says that it was exact, no choice of the promotions saves the customer more."""
    exact = 0
    for seed in range(lot, 4_000 if THOROUGH else 400, 2):
        case = Maker(Random(seed)).case()
        case = replace(case, definitions=case.definitions[:4], settings=replace(case.settings, strategy="BEST_DEAL"))
        outcome = engine(case)
        best = max(
            sum(application.discount for application in reference(case, choice).applied)
            for count in range(len(case.definitions) + 1)
            for choice in combinations(case.definitions, count)
        )
        assert outcome.discount_minor <= best, f"seed {seed}: {case}"
        if outcome.best_deal is not None and outcome.best_deal.optimal:
            exact += 1
            assert outcome.discount_minor == best, f"seed {seed}: {case}"
    assert exact > 0
