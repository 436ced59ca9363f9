"""BEST_DEAL: the combination that gives the most, found within a fixed number of passes (section 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from promenade.engine import best_deal
from promenade.engine.basket import Basket, BudgetFact, Facts, Settings
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import ActionRow, PromotionDefinition
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from tests.engine.given import NOW, basket, line
from tests.engine.test_stacking import TEN, names, off

BEST = Settings(now=NOW, strategy="BEST_DEAL")


def priced(
    bought: Basket, *definitions: PromotionDefinition, facts: Facts | None = None, told: Settings = BEST
) -> Outcome:
    catalogue = Catalogue()
    assert not catalogue.compile_all(definitions)
    return evaluate(catalogue, bought, facts or Facts(), told)


def exclusive(number: int, percent: int, **fields: Any) -> PromotionDefinition:
    made: PromotionDefinition = off(number, percent, exclusivity="PROMOTION", priority=number, **fields)
    return made


def test_a_small_exclusive_discount_gives_way_to_a_greater_one() -> None:
    outcome = priced(TEN, exclusive(1, 10), off(2, 50, priority=2))
    assert names(outcome) == ["P2"]
    assert outcome.best_deal is not None
    assert (outcome.best_deal.optimal, outcome.best_deal.bound_minor) == (True, 500)


def test_a_promotion_outside_the_best_deal_names_the_winner() -> None:
    outcome = priced(TEN, exclusive(1, 10), off(2, 50, priority=2), told=replace(BEST, include_missed=True))
    (told,) = outcome.missed
    assert (told.promotion_name, told.code, told.blocked_by_name) == ("P1", "BLOCKED_BY_EXCLUSIVITY", "P2")
    assert told.difference_minor == 400


def test_two_small_discounts_beat_a_single_great_discount() -> None:
    outcome = priced(TEN, exclusive(1, 50), off(2, 30, priority=2), off(3, 30, priority=3))
    assert names(outcome) == ["P2", "P3"]
    assert outcome.discount_minor == 600


def test_a_budget_goes_where_it_gives_most() -> None:
    facts = Facts(budgets={"b": BudgetFact("b", "ACTIVE", 500, "EUR")})
    outcome = priced(
        TEN, off(1, 10, priority=1, budget_ids=("b",)), off(2, 50, priority=2, budget_ids=("b",)), facts=facts
    )
    assert names(outcome) == ["P2"]


def test_ties_go_to_the_sequential_result() -> None:
    outcome = priced(TEN, exclusive(1, 20), exclusive(2, 20))
    assert names(outcome) == ["P1"]


def test_promotions_on_different_lines_are_solved_separately() -> None:
    bought = basket(*[line(f"A{n}", "1", "10") for n in range(12)])
    pairs = [
        one
        for n in range(12)
        for one in (
            exclusive(2 * n + 1, 10, article=f"A{n}"),
            off(2 * n + 2, 50, article=f"A{n}", priority=99),
        )
    ]
    outcome = priced(bought, *pairs)
    assert outcome.discount_minor == 12 * 500
    assert outcome.best_deal is not None
    assert outcome.best_deal.optimal
    assert outcome.best_deal.nodes < 12 * 4  # not 2 ** 24


def test_stackable_promotions_need_only_one_search_node() -> None:
    outcome = priced(TEN, *[off(n, 1, calculation_mode="MULTIPLICATIVE") for n in range(1, 60)])
    assert outcome.best_deal is not None
    assert (outcome.best_deal.optimal, outcome.best_deal.nodes) == (True, 1)


def test_rounding_to_whole_units_can_make_the_smaller_discount_a_hindrance() -> None:
    """In dinars: at 4.500, whole ones up to a price of 2.00 give 3.000; at 4.400, 2.000, or 2.100 with the 0.100."""
    bought = basket(line("C", "1", "4.50"), currency="KWD")
    tenth = ActionRow("a", 1, "ARTICLE", "ABSOLUTE", 10)
    price = ActionRow("a", 1, "ARTICLE", "UNIT_PRICE", 200)
    small = replace(off(1, 0, priority=1), actions=(tenth,))
    coarse = replace(off(2, 0, priority=2, precision=0), actions=(price,))
    outcome = priced(bought, small, coarse)
    assert (names(outcome), outcome.discount_minor) == (["P2"], 3000)
    assert outcome.best_deal is not None
    assert (outcome.best_deal.optimal, outcome.best_deal.bound_minor) == (True, 3000)


def test_the_search_stops_at_its_node_limit_and_reports_it() -> None:
    many = [off(n, 1 + n % 7, priority=n, exclusivity="PROMOTION", mode="LIMITED") for n in range(1, 41)]
    bought = basket(line("A", "5", "10"), line("B", "5", "3"))
    outcome = priced(bought, *many)
    sequential = priced(bought, *many, told=Settings(now=NOW))
    assert outcome.best_deal is not None
    assert not outcome.best_deal.optimal
    assert outcome.best_deal.nodes <= best_deal.NODES_MAX
    assert outcome.best_deal.bound_minor >= outcome.discount_minor >= sequential.discount_minor
    assert priced(bought, *many) == outcome


def test_a_basket_of_thousands_of_lines_gets_fewer_passes() -> None:
    many = [off(n, 1 + n % 7, priority=n, exclusivity="PROMOTION", mode="LIMITED") for n in range(1, 41)]
    bought = basket(*[line("A", "1", "10", reference=str(n)) for n in range(5_000)])
    outcome = priced(bought, *many)
    assert outcome.best_deal is not None
    assert 1 < outcome.best_deal.nodes <= best_deal.LINES_MAX // 5_000
