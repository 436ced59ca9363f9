"""BEST_DEAL: the combination that gives the most, found within a fixed number of passes (section 5)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from promenade.engine.basket import FIRST_RULES, Basket, BudgetFact, CouponFact, Facts, Settings
from promenade.engine.best_deal import deal
from promenade.engine.best_deal.deal import SCOPE
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import (
    ActionRow,
    ComponentRow,
    ExclusionGroupRow,
    PriorityRow,
    PromotionDefinition,
)
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import BestDeal, Outcome
from tests.engine.given import NOW, basket, line
from tests.engine.test_stacking import TEN, identity, names, off

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
    assert outcome.best_deal.nodes < 12 * 6  # not 2 ** 24


def test_the_order_of_promotions_that_are_alike_is_not_searched() -> None:
    outcome = priced(TEN, *[off(n, 1, calculation_mode="MULTIPLICATIVE") for n in range(1, 60)])
    assert outcome.best_deal is not None
    assert outcome.best_deal.optimal
    assert outcome.best_deal.nodes < 2 * 60  # not 60 factorial


def test_promotions_that_give_all_that_they_can_together_need_no_search() -> None:
    outcome = priced(TEN, *[off(n, n) for n in range(1, 12)])
    assert outcome.best_deal is not None
    assert (outcome.best_deal.optimal, outcome.discount_minor) == (True, 660)
    assert outcome.best_deal.nodes < 4


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


def test_the_search_stops_after_a_fixed_number_of_steps_and_reports_it() -> None:
    many = [off(n, n, priority=1, calculation_mode="MULTIPLICATIVE", precision=1) for n in range(1, 31)]
    bought = basket(line("A", "5", "9.99"), line("B", "5", "3.33"))
    outcome = priced(bought, *many)
    sequential = priced(bought, *many, told=Settings(now=NOW))
    assert outcome.best_deal is not None
    assert not outcome.best_deal.optimal
    assert outcome.best_deal.nodes <= deal.STEPS_MAX
    assert outcome.best_deal.bound_minor >= outcome.discount_minor >= sequential.discount_minor
    assert priced(bought, *many) == outcome


def test_a_basket_of_thousands_of_lines_gets_fewer_passes() -> None:
    many = [off(n, n, calculation_mode="MULTIPLICATIVE") for n in range(1, 13)]
    bought = basket(*[line("A", "1", "10", reference=str(n)) for n in range(5_000)])
    outcome = priced(bought, *many)
    assert outcome.best_deal is not None
    assert 1 < outcome.best_deal.nodes <= 2 * deal.STEPS_MIN


def bundle(number: int, kind: str, value: int, *parts: ComponentRow, **fields: Any) -> PromotionDefinition:
    row = ActionRow("a", 1, "BUNDLE", kind, value, components=parts, max_bundles=fields.pop("most", None))
    return PromotionDefinition(identity(number), f"P{number}", actions=(row,), **fields)


def gift(number: int, price: str, **fields: Any) -> PromotionDefinition:
    row = ActionRow("a", 1, "FREE_ITEM", free_item_article_number="GIFT")
    row = replace(row, free_item_reference_price_hundredths=int(Decimal(price) * 100))
    return PromotionDefinition(identity(number), f"P{number}", actions=(row,), **fields)


PARTS = (ComponentRow("buy", 1, 1000, discounted=False), ComponentRow("get", 2, 1000))


@pytest.mark.parametrize("numbers", [(1, 2), (2, 1)])
def test_ids_do_not_decide_which_of_two_exclusive_offers_has_the_dearest_units(numbers: tuple[int, int]) -> None:
    """The second at half price, and 20 % off each two: together 10.00 and 7.00, or 12.00 for the second one alone."""
    bought = basket(line("A", "1", "20"), line("B", "1", "20"), line("C", "1", "15"), line("D", "1", "5"))
    half = bundle(numbers[0], "PERCENTAGE", 5000, *PARTS, most=1, exclusivity="PROMOTION")
    fifth = bundle(numbers[1], "PERCENTAGE", 2000, ComponentRow("two", 1, 2000), exclusivity="PROMOTION")
    outcome = priced(bought, half, fifth)
    assert outcome.discount_minor == 1700
    assert outcome.best_deal == BestDeal(True, 1700, outcome.best_deal.nodes if outcome.best_deal else 0, SCOPE)


def test_a_promotion_for_the_whole_receipt_leaves_the_others_to_be_solved_apart() -> None:
    bought = basket(*[line(f"A{n}", "1", "10") for n in range(8)])
    pairs = [
        one
        for n in range(8)
        for one in (exclusive(2 * n + 1, 10, article=f"A{n}"), off(2 * n + 2, 40, article=f"A{n}", priority=99))
    ]
    outcome = priced(bought, *pairs, off(90, 1, kind="RECEIPT"))
    assert outcome.discount_minor == 8 * 400 + 80  # one percent of the original prices
    assert outcome.best_deal is not None
    assert outcome.best_deal.optimal
    assert outcome.best_deal.nodes < 8 * 10


def test_a_gift_counts_with_its_value() -> None:
    outcome = priced(
        TEN,
        off(1, 30, exclusivity="GROUP", priority_group=PriorityRow("g", 1, 0)),
        gift(2, "4.00", exclusivity="GROUP", priority_group=PriorityRow("g", 1, 0)),
    )
    assert names(outcome) == ["P2"]
    assert outcome.best_deal is not None
    assert (outcome.best_deal.optimal, outcome.best_deal.bound_minor) == (True, 400)


def test_the_lowest_discount_of_a_group_stays_the_lowest() -> None:
    group = ExclusionGroupRow("x", "LOWEST_DISCOUNT")
    outcome = priced(TEN, off(1, 10, exclusion_group=group), off(2, 50, exclusion_group=group), off(3, 5))
    assert (names(outcome), outcome.discount_minor) == (["P1", "P3"], 150)


def test_a_group_of_the_lowest_discount_is_left_out_as_a_whole_if_that_gives_more() -> None:
    group = ExclusionGroupRow("x", "LOWEST_DISCOUNT")
    low = off(1, 10, exclusion_group=group, exclusivity="PROMOTION", priority=1)
    outcome = priced(TEN, low, off(2, 50, exclusion_group=group, priority=1), off(3, 15, priority=2))
    assert (names(outcome), outcome.discount_minor) == (["P3"], 150)


@pytest.mark.parametrize("codes", [("one", "two"), ("two", "one")])
def test_the_positions_of_coupons_do_not_decide(codes: tuple[str, str]) -> None:
    """Five off and then half of the rest is 7.50; half and then five off is everything."""
    facts = Facts(coupons=tuple([CouponFact(code, code, code, code) for code in codes]))
    half = off(1, 50, calculation_mode="MULTIPLICATIVE", coupon_type_ids=frozenset({"one"}))
    five = replace(
        off(2, 0, coupon_type_ids=frozenset({"two"})), actions=(ActionRow("a", 1, "ARTICLE", "ABSOLUTE", 500),)
    )
    outcome = priced(replace(TEN, coupons=codes), half, five, facts=facts)
    assert (names(outcome), outcome.discount_minor) == (["P1", "P2"], 1000)


def test_an_exclusive_offer_leaves_the_unit_that_another_makes_more_of() -> None:
    """By priority ten percent of all comes first; it leaves one unit to half off one."""
    outcome = priced(
        basket(line("A", "3", "10")),
        exclusive(1, 10),
        exclusive(2, 50, mode="LIMITED"),
        told=replace(BEST, nudges=True),
    )
    assert outcome.discount_minor == 2 * 100 + 500


def test_a_bundle_takes_as_buy_unit_what_it_leaves_to_another() -> None:
    """The tie for half with a shirt, first; then 60 % off one unit of anything, exclusively: the dearer shirt."""
    bought = basket(line("A", "1", "20"), line("B", "1", "15"))
    half = bundle(1, "PERCENTAGE", 5000, *PARTS, priority=1, exclusivity="PROMOTION")
    outcome = priced(bought, half, exclusive(2, 60, mode="LIMITED"))
    assert outcome.discount_minor == 750 + 1200


def test_what_was_priced_by_the_first_rules_is_priced_alike_again() -> None:
    """They did not search the order: of two equal ones the ID decided which took the unit first."""
    definitions = (exclusive(1, 50, mode="LIMITED"), off(2, 30, priority=2), exclusive(3, 60, mode="LIMITED"))
    first = priced(
        basket(line("A", "1", "20"), line("B", "1", "10")), *definitions, told=replace(BEST, rules=FIRST_RULES)
    )
    assert first.best_deal is not None
    assert first.best_deal.scope is None
    now = priced(basket(line("A", "1", "20"), line("B", "1", "10")), *definitions)
    assert now.best_deal is not None
    assert (now.best_deal.scope, now.discount_minor > first.discount_minor) == (SCOPE, True)


def test_an_exclusive_offer_leaves_lines_to_a_percentage_of_the_whole_receipt() -> None:
    """Nine off the dearer line alone leave 1 % of 3.33, which is 0.03."""
    nine = replace(exclusive(1, 0), actions=(ActionRow("a", 1, "RECEIPT", "ABSOLUTE", 900),))
    outcome = priced(basket(line("A", "1", "3.33"), line("B", "1", "20")), nine, off(2, 1, kind="RECEIPT", priority=2))
    assert outcome.discount_minor == 903
