"""The engine compared with a reference written from the rules alone, on small but difficult sales."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from promenade.engine.benefits.registry import benefit_codes, loyalty_codes
from promenade.engine.conditions import condition_codes
from promenade.engine.definition import PromotionDefinition
from tests.engine.deals import obeys_lowest, value_of
from tests.engine.reference.actions import ACTIONS, APART
from tests.engine.reference.case import Case
from tests.engine.reference.compare import engine, of_engine, of_reference
from tests.engine.reference.conditions import CONDITIONS
from tests.engine.reference.made_up import ARTICLE_GROUPS, Maker
from tests.engine.reference.points import REWARDS
from tests.engine.reference.pricing import Result, price
from tests.kit.examples import PROFILE, examples

THOROUGH = PROFILE == "thorough"
SEEDS = examples(5_000, thorough=40_000)
LOTS = 10


def reference(case: Case, definitions: tuple[PromotionDefinition, ...] | None = None) -> Result:
    chosen = case.definitions if definitions is None else definitions
    return price(list(chosen), case.basket, case.facts, case.settings, ARTICLE_GROUPS, case.never)


@given(st.randoms(use_true_random=False))
@settings(
    max_examples=examples(300, thorough=2_000),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
def test_random_sales_are_priced_like_the_reference(chance: Random) -> None:
    case = Maker(chance).case()
    note(repr(case))
    assert of_engine(engine(case)) == of_reference(reference(case))


@pytest.mark.parametrize("lot", range(LOTS))
def test_many_fixed_sales_are_priced_like_the_reference(lot: int) -> None:
    """Seeds take a tenth of the time of Hypothesis; a failing one is named."""
    for seed in range(lot, SEEDS, LOTS):
        case = Maker(Random(seed)).case()
        assert of_engine(engine(case)) == of_reference(reference(case)), f"seed {seed}: {case}"


def test_generated_promotions_apply_often_enough_to_be_meaningful() -> None:
    """Of 600 sales, every kind of action, condition and exclusivity must apply in a fair share."""
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
            applied.update({f"not {row.exclusion_type}" for each in promotion.actions for row in each.exclusions})
            applied[f"level {promotion.exclusivity}"] += 1
            applied[promotion.calculation_mode] += 1
            applied["coupon"] += application.coupon is not None
            applied["exclusion group"] += promotion.exclusion_group is not None
            applied["budget"] += bool(promotion.budget_ids)
        applied["budget drops"] += bool(result.limited)
        applied["coupon refused"] += bool(result.refused)
    assert several >= 150
    for kind in (*ACTIONS, "BUNDLE"):
        assert applied[kind] >= 40, (kind, applied)
    for kind in ("FREE_ITEM", "POST_PURCHASE_COUPON", "ADDITIVE", "MULTIPLICATIVE", "level NONE", "level PROMOTION"):
        assert applied[kind] >= 60, (kind, applied)
    for kind in REWARDS:
        assert applied[kind] >= 15, (kind, applied)
    for kind in ("level GROUP", "level GLOBAL", "exclusion group", "budget", "budget drops", "coupon refused"):
        assert applied[kind] >= 12, (kind, applied)
    for kind in ("not ADDITIONAL_FIELD", "not REDUCED", "not BETTER_REDUCED"):
        assert applied[kind] >= 12, (kind, applied)
    assert applied["coupon"] >= 4, applied
    unseen = set(condition_codes()) - {kind.removeprefix("if ") for kind in applied}
    for seed in range(600, 6_000):  # rare ones may need some more sales
        if not unseen:
            break
        for application in reference(Maker(Random(seed)).case()).applied:
            unseen -= {row.condition_type for row in application.promotion.conditions}
    assert not unseen


def test_the_reference_knows_every_rule_type() -> None:
    """A type known only to the engine would never be compared."""
    assert set(CONDITIONS) == set(condition_codes())
    assert {*ACTIONS, *APART} == set(benefit_codes())
    assert set(REWARDS) == set(loyalty_codes())


@pytest.mark.parametrize("lot", range(2))
def test_the_best_deal_is_no_worse_than_any_choice(lot: int) -> None:
    """No choice of promotions, in the order of section 4, saves the customer more than a result that is exact."""
    exact = 0
    for seed in range(lot, 4_000 if THOROUGH else 400, 2):
        case = Maker(Random(seed)).case()
        case = replace(case, definitions=case.definitions[:4], settings=replace(case.settings, strategy="BEST_DEAL"))
        outcome = engine(case)
        best = max(
            sum(application.discount + application.given for application in reference(case, choice).applied)
            for count in range(len(case.definitions) + 1)
            for choice in combinations(case.definitions, count)
            if obeys_lowest(case.definitions, choice)
        )
        if outcome.best_deal is not None and outcome.best_deal.optimal:
            exact += 1
            assert value_of(outcome) >= best, f"seed {seed}: {case}"
    assert exact > 0
