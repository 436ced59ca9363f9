"""Pricing a sale again with one more promotion gives the same result as pricing it with the whole catalogue."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from promenade.engine.basket import Basket, BudgetFact, Facts, Settings, UsageFact
from promenade.engine.catalogue import compile_promotion, definition_hash
from promenade.engine.definition import ActionRow, PromotionDefinition
from promenade.engine.evaluation import evaluate
from promenade.engine.forecasting import BudgetTally, Forecaster, PricedSale, Tally, as_if_it_ran
from promenade.engine.view import ArticleGroups
from tests.engine.given import basket, line
from tests.engine.made_up import (
    FACTS,
    GROUPS,
    NOW,
    baskets,
    catalogue_of,
    circumstanced,
    circumstances,
    contended_baskets,
    contenders,
)
from tests.kit.examples import examples

DAY = date(2026, 3, 14)
tried = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def replayed(
    definitions: list[PromotionDefinition],
    tried: PromotionDefinition,
    bought: Basket,
    facts: Facts,
    told: Settings,
    tally: Tally,
) -> None:
    """Price a sale with ``definitions`` and add its forecast to ``tally``."""
    outcome = evaluate(catalogue_of(definitions), bought, facts, told)
    by_hash = {definition_hash(one): one for one in definitions}
    candidates = [compile_promotion(by_hash[key]) for key in outcome.candidate_hashes]
    forecaster = Forecaster(compile_promotion(as_if_it_ran(tried)), {}, tally, {})
    forecaster.replay(PricedSale(bought, told, facts, ArticleGroups(GROUPS), candidates, outcome, None, DAY))


def sums(tally: Tally, currency: str) -> tuple[int, int, int, int]:
    one = tally.currencies[currency]
    return one.discount_without_minor, one.discount_with_minor, one.net_without_minor, one.net_with_minor


@tried
@given(circumstanced(), baskets(most=4), st.data())
def test_prices_with_and_without_one_promotion_equal_those_of_whole_catalogues(
    definitions: list[PromotionDefinition], drawn: Basket, data: st.DataObject
) -> None:
    check(definitions, drawn, data)


@tried
@given(st.integers(2, 4).flatmap(lambda n: st.tuples(*map(contenders, range(n)))), contended_baskets(), st.data())
def test_conflicting_promotions_also_give_the_prices_of_whole_catalogues(
    definitions: tuple[PromotionDefinition, ...], drawn: Basket, data: st.DataObject
) -> None:
    check(list(definitions), drawn, data)


def check(definitions: list[PromotionDefinition], drawn: Basket, data: st.DataObject) -> None:
    bought, facts, told = data.draw(circumstances(drawn))
    told = replace(told, include_inactive=False)  # evaluate always ignores it
    tried = data.draw(st.sampled_from(definitions))
    others = [one for one in definitions if one.id != tried.id]
    was_there = data.draw(st.booleans())
    left = {key: facts.budgets[key].remaining_minor for key in tried.budget_ids}
    budgets = {key: BudgetTally(key, bought.pos_group.currency, one, one, one) for key, one in left.items()}
    tally = Tally(budgets)
    replayed(definitions if was_there else others, tried, bought, facts, told, tally)
    facts = replace(
        facts,
        usage={**facts.usage, tried.id: UsageFact()},
        budgets={
            **facts.budgets,
            **{
                key: BudgetFact(key, "ACTIVE" if one > 0 else "EXHAUSTED", one, bought.pos_group.currency)
                for key, one in left.items()
            },
        },
    )
    outcome = evaluate(catalogue_of([*others, as_if_it_ran(tried)]), bought, facts, told)
    without = evaluate(catalogue_of(others), bought, facts, told)
    assert sums(tally, outcome.currency) == (
        without.discount_minor, outcome.discount_minor, without.grand_total_minor, outcome.grand_total_minor
    )  # fmt: skip
    own = [one for one in outcome.applied if one.promotion_id == tried.id]
    event(f"applies: {bool(own)}")
    assert (tally.affected, tally.applications) == (len(own), sum(one.applications for one in own))
    assert tally.currencies[outcome.currency].discount_minor == sum(one.discount_minor for one in own)
    before = {one.promotion_id: one.discount_minor for one in without.applied}
    after = {one.promotion_id: one.discount_minor for one in outcome.applied if one.promotion_id != tried.id}
    told_of = {key: (one.lost, one.gained, one.gained_minor - one.lost_minor)
               for key, one in tally.others.get(outcome.currency, {}).items()}  # fmt: skip
    event(f"displaces: {bool(told_of)}")
    assert told_of == {
        key: (key not in after, key not in before, after.get(key, 0) - before.get(key, 0))
        for key in before | after
        if before.get(key) != after.get(key)
    }


def test_a_forecast_ignores_the_promotions_status_validity_and_total_limit() -> None:
    asleep = PromotionDefinition(
        "p", "P", status="ARCHIVED", valid_from=NOW, valid_to=NOW, campaign_window=(NOW, NOW), campaign_cancelled=True,
        pos_groups=frozenset({"pos"}), max_applications_total=3,
    )  # fmt: skip
    assert as_if_it_ran(asleep) == PromotionDefinition(
        "p", "P", pos_groups=frozenset({"pos"}), max_applications_total=3
    )


def test_a_shared_budget_runs_down_in_both_worlds() -> None:
    """Nine are left: each sale spends 3 on the other promotion and, with the tried one, 3 on that."""

    def off(name: str, hundredths: int) -> PromotionDefinition:
        row = ActionRow("a", 1, "RECEIPT", "ABSOLUTE", hundredths)
        return PromotionDefinition(name, name, budget_ids=("b",), actions=(row,))

    other, tried = off("1", 3), off("2", 3)
    bought = basket(line("A", "1", "10"))
    facts = replace(FACTS, budgets={"b": BudgetFact("b", "ACTIVE", 100_000, "EUR")})
    tally = Tally({"b": BudgetTally("b", "EUR", 9, 9, 9)})
    for _ in range(3):
        replayed([other], tried, bought, facts, Settings(now=NOW), tally)
    budget = tally.budgets["b"]
    # With it: 3 + 3, then 3, then nothing. Without it: 3, 3 and 3.
    assert (budget.consumed_minor, budget.others_minor, budget.left_with_minor, budget.left_without_minor) == (
        3,
        6,
        0,
        0,
    )
    assert (budget.exhausted_on, budget.limited) == (DAY, 2)
    assert sums(tally, "EUR")[:2] == (9, 9)
