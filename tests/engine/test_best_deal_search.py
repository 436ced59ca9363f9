"""The best deal compared with a search of everything on small cases, and with an independent solver on large ones."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from promenade.engine.basket import Basket, BasketLine, BudgetFact, Facts, PosGroupFact, Settings
from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
    ComponentRow,
    ConditionRow,
    ExclusionGroupRow,
    PriorityRow,
    PromotionDefinition,
    TierRow,
)
from promenade.engine.evaluation import price, select
from promenade.engine.outcome import Outcome
from promenade.engine.stacking import World
from tests.engine.deals import best_of_all, value_of
from tests.engine.made_up import NOW, catalogue_of, identity
from tests.kit.examples import examples

BEST = Settings(now=NOW, strategy="BEST_DEAL")
SHOP = PosGroupFact("pos", "POS", "EUR")
LOTS = 20
Case = tuple[list[PromotionDefinition], Basket, Facts]


def priced(definitions: list[PromotionDefinition], basket: Basket, facts: Facts, told: Settings = BEST) -> Outcome:
    return price(select(catalogue_of(definitions), basket, {}, {}, (), told), facts)


def small_case(chance: Random) -> Case:
    """Return up to three promotions of all kinds, and up to four units."""
    lines = []
    room = 4
    for number in range(chance.randint(1, 3)):
        count = chance.randint(1, min(2, room))
        room -= count
        cents = chance.choice((500, 1000, 1500, 2000, 333, 1999))
        lines.append(BasketLine(f"L{number}", chance.choice("AB"), count * 1000, cents))
        if room == 0:
            break
    resolution = chance.choice(("HIGHEST_DISCOUNT", "LOWEST_DISCOUNT"))
    definitions = [small_promotion(chance, number, resolution) for number in range(1, chance.randint(2, 3) + 1)]
    if chance.random() < 0.3:  # a percentage of the whole receipt, after all others
        row = ActionRow("a", 1, "RECEIPT", "PERCENTAGE", chance.choice((100, 1000, 5000, 9000)))
        mode = chance.choice(("ADDITIVE", "MULTIPLICATIVE"))
        definitions[-1] = PromotionDefinition(identity(9), "P9", priority=9, calculation_mode=mode, actions=(row,))
    budgets = {"b1": BudgetFact("b1", "ACTIVE", chance.choice((300, 900)), "EUR")}
    return definitions, Basket("t", tuple(lines), SHOP), Facts(budgets=budgets)


def small_promotion(chance: Random, number: int, resolution: str) -> PromotionDefinition:
    exclusivity = chance.choice(("NONE", "NONE", "PROMOTION", "PROMOTION", "GROUP", "GLOBAL"))
    conditions: tuple[ConditionRow, ...] = ()
    if chance.random() < 0.15:
        conditions = (ConditionRow("c", 1, "AND", "RECEIPT_AMOUNT", value=str(chance.choice((10, 20, 30)))),)
    elif chance.random() < 0.15:
        least = chance.choice((1000, 2000))
        conditions = (ConditionRow("c", 1, "AND", "ARTICLE", article_number="A", min_quantity_thousandths=least),)
    grouped = exclusivity == "GROUP" or chance.random() < 0.25
    return PromotionDefinition(
        id=identity(number),
        name=f"P{number}",
        priority=chance.choice((1, 1, 2)),
        exclusivity=exclusivity,
        priority_group=PriorityRow("g", 1, 0) if grouped else None,
        exclusion_group=ExclusionGroupRow("x", resolution) if chance.random() < 0.3 else None,
        calculation_mode=chance.choice(("ADDITIVE", "MULTIPLICATIVE")),
        rounding=chance.choice(("ROUND_HALF_UP", "ROUND_HALF_UP", "ROUND_DOWN", "ROUND_UP", "NONE")),
        precision=chance.choice((None, None, None, 1, 0)),
        budget_ids=("b1",) if chance.random() < 0.15 else (),
        conditions=conditions,
        actions=(small_action(chance),),
    )


def small_action(chance: Random) -> ActionRow:
    kind = chance.choice(("ARTICLE", "ARTICLE", "BUNDLE", "RECEIPT", "FREE_ITEM", "SCALED_RECEIPT"))
    amounts = {"PERCENTAGE": (1000, 2000, 5000), "ABSOLUTE": (100, 400, 900), "UNIT_PRICE": (300, 1200)}
    discount = chance.choice(("PERCENTAGE", "ABSOLUTE") if kind == "RECEIPT" else tuple(amounts))
    common: dict[str, Any] = {
        "id": "a",
        "sequence": 1,
        "action_type": kind,
        "target_article_number": chance.choice((None, "A", "B")),
        "application_quantity_mode": chance.choice((None, None, "LIMITED", "CHEAPEST", "MOST_EXPENSIVE")),
        "selection_type": chance.choice((None, None, None, "CHEAPEST", "MOST_EXPENSIVE")),
    }
    if kind == "FREE_ITEM":
        return ActionRow(
            **common,
            free_item_article_number=chance.choice(("A", "B", "E")),
            free_item_reference_price_hundredths=chance.choice((None, 250)),
        )
    if kind == "SCALED_RECEIPT":
        tiers = (
            TierRow(1, "PERCENTAGE", 1000, threshold_hundredths=1000),
            TierRow(2, "ABSOLUTE", 700, threshold_hundredths=3000),
        )
        return ActionRow(**common, scaled_tiers=tiers)
    common |= {"discount_type": discount, "discount_value_hundredths": chance.choice(amounts[discount])}
    if kind == "BUNDLE":
        parts = [
            ComponentRow(
                f"k{number}",
                number,
                chance.choice((1000, 1000, 2000)),
                article_number=chance.choice((None, None, "A", "B")),
                discounted=number == 1 or chance.random() < 0.4,
            )
            for number in range(1, chance.randint(1, 2) + 1)
        ]
        common |= {"components": tuple(parts), "max_bundles": chance.choice((None, 1))}
        common |= {"distribution_mode": chance.choice((None, None, "PROPORTIONAL"))}
    return ActionRow(**common)


@pytest.mark.parametrize("lot", range(4))
def test_small_cases_get_the_best_of_all_promotions_orders_and_units(lot: int) -> None:
    for seed in range(lot, examples(600, thorough=20_000), 4):
        definitions, basket, facts = small_case(Random(seed))
        selection = select(catalogue_of(definitions), basket, {}, {}, (), BEST)
        outcome = price(selection, facts)
        world = World(selection.view, selection.candidates, selection.articles, facts.budgets, facts.usage)
        best = best_of_all(world)
        deal = outcome.best_deal
        assert deal is not None
        assert (value_of(outcome), deal.bound_minor, deal.optimal) == (best, best, True), f"seed {seed}"


def test_names_and_ids_do_not_change_what_an_optimal_deal_gives() -> None:
    changed = 0
    for seed in range(examples(300)):
        definitions, basket, facts = small_case(Random(seed))
        turned = [replace(one, id=other.id) for one, other in zip(definitions, reversed(definitions), strict=True)]
        one, other = priced(definitions, basket, facts), priced(turned, basket, facts)
        assert one.best_deal is not None
        assert other.best_deal is not None
        if one.best_deal.optimal and other.best_deal.optimal:
            assert value_of(one) == value_of(other), f"seed {seed}"
        in_order = replace(BEST, strategy="SEQUENTIAL")
        plain = [priced(each, basket, facts, in_order).grand_total_minor for each in (definitions, turned)]
        changed += plain[0] != plain[1]
    assert changed > 0  # the plain order does depend on them


def large_case(chance: Random) -> Case:
    """Return thirty exclusive offers of equal priority that compete for the units of ten articles."""
    articles = "ABCDEFGHIJ"
    lines = [BasketLine(one, one, chance.randint(1, 4) * 1000, chance.randint(200, 3000)) for one in articles]
    kinds = ("LIMITED", "LIMITED", "ALL", "BUNDLE") if chance.random() < 0.7 else ("LIMITED", "ALL")
    definitions = []
    for number in range(1, 31):
        kind = chance.choice(kinds)
        several = kind != "ALL" and chance.random() < 0.7
        targets = sorted(chance.sample(articles, chance.randint(2, 4) if several else 1))
        row = ActionRow(
            "a",
            1,
            "BUNDLE" if kind == "BUNDLE" else "ARTICLE_LIST",
            target_article_list=True,
            articles=tuple([ArticleRow(article_number=one) for one in targets]),
        )
        tops = {"PERCENTAGE": 6000, "ABSOLUTE": 900, "UNIT_PRICE": 2000}
        if kind == "BUNDLE":
            tops = {"PERCENTAGE": 6000, "ABSOLUTE": 1500, "UNIT_PRICE": 5000}
            units = chance.randint(2, 3)
            row = replace(row, components=(ComponentRow("k", 1, units * 1000),), max_bundles=chance.choice((1, 2)))
        elif kind == "LIMITED":
            units = chance.randint(1, 3)
            row = replace(row, application_quantity_mode=kind, application_quantity_thousandths=units * 1000)
        discount = chance.choice(tuple(tops))
        row = replace(row, discount_type=discount, discount_value_hundredths=chance.randint(100, tops[discount]))
        definitions.append(PromotionDefinition(identity(number), f"P{number}", exclusivity="PROMOTION", actions=(row,)))
    return definitions, Basket("t", tuple(lines), SHOP), Facts()


class Program:
    """The same sale as an integer program: how many units of each line every offer has, and which bundles exist."""

    def __init__(self, definitions: list[PromotionDefinition], basket: Basket) -> None:
        self.costs: list[float] = []
        self.most: list[float] = []
        self.rows: list[tuple[dict[int, float], float, float]] = []
        self.on_line: list[list[int]] = [[] for _ in basket.lines]
        self.basket = basket
        for definition in definitions:
            (row,) = definition.actions
            for _ in range(row.max_bundles or 1):
                self.add(row)
        for line, variables in zip(basket.lines, self.on_line, strict=True):
            self.rows.append((dict.fromkeys(variables, 1.0), 0, line.quantity_thousandths // 1000))

    def variable(self, gain: float, most: float) -> int:
        self.costs.append(-gain)
        self.most.append(most)
        return len(self.costs) - 1

    def add(self, row: ActionRow) -> None:
        """Add one offer, or one bundle of it."""
        bundle = row.action_type == "BUNDLE"
        value = row.discount_value_hundredths or 0
        targets = {one.article_number for one in row.articles}
        worths: dict[int, float] = {}
        for line, variables in zip(self.basket.lines, self.on_line, strict=True):
            if line.article_number in targets:
                worth = line.unit_price_hundredths
                gain = {
                    "PERCENTAGE": worth * value / 10_000,
                    "ABSOLUTE": 0 if bundle else min(worth, value),
                    "UNIT_PRICE": worth if bundle else max(0, worth - value),
                }[row.discount_type or ""]
                unit = self.variable(gain, line.quantity_thousandths // 1000)
                variables.append(unit)
                worths[unit] = worth
        counted = dict.fromkeys(worths, 1.0)
        if not bundle:
            if row.application_quantity_thousandths is not None:
                self.rows.append((counted, 0, row.application_quantity_thousandths // 1000))
            return
        exists = self.variable(-value if row.discount_type == "UNIT_PRICE" else 0, 1)
        (part,) = row.components
        self.rows.append((counted | {exists: -part.quantity_thousandths / 1000}, 0, 0))
        if row.discount_type == "ABSOLUTE":  # no more than the bundle is worth
            given = self.variable(1, value)
            self.rows.append(({given: 1.0, exists: -float(value)}, -np.inf, 0))
            self.rows.append(({given: 1.0} | {unit: -worth for unit, worth in worths.items()}, -np.inf, 0))

    def optimum(self) -> float:
        """Return the most that can be given, before rounding."""
        matrix = np.zeros((len(self.rows), len(self.costs)))
        for number, (row, _, _) in enumerate(self.rows):
            for variable, factor in row.items():
                matrix[number, variable] = factor
        limits = LinearConstraint(matrix, [row[1] for row in self.rows], [row[2] for row in self.rows])
        solved = milp(
            np.array(self.costs),
            constraints=limits,
            bounds=Bounds(0, np.array(self.most)),
            integrality=np.ones(len(self.costs)),
        )
        assert solved.success
        return -float(solved.fun)


def mixed_case(chance: Random) -> Case:
    """Return thirty percentages for ten articles: those that stack, exclusive ones, and groups with a single winner."""
    articles = "ABCDEFGHIJ"
    lines = [BasketLine(one, one, chance.randint(1, 4) * 1000, chance.randint(200, 3000)) for one in articles]
    definitions = []
    for number in range(1, 31):
        exclusivity = chance.choice(("NONE", "NONE", "PROMOTION", "PROMOTION", "GROUP"))
        targets = sorted(chance.sample(articles, chance.randint(1, 4)))
        # What stacks adds up to less than the price.
        percentage = chance.randint(500, 6000) if exclusivity == "PROMOTION" else chance.randint(100, 900)
        row = ActionRow(
            "a",
            1,
            "ARTICLE_LIST",
            "PERCENTAGE",
            percentage,
            target_article_list=True,
            articles=tuple([ArticleRow(article_number=one) for one in targets]),
        )
        group = PriorityRow(chance.choice("gh"), 9, 0) if exclusivity == "GROUP" else PriorityRow("all", 9, 0)
        definitions.append(
            PromotionDefinition(
                identity(number), f"P{number}", exclusivity=exclusivity, priority_group=group, actions=(row,)
            )
        )
    return definitions, Basket("t", tuple(lines), SHOP), Facts()


def most_of_mixed(definitions: list[PromotionDefinition], basket: Basket) -> float:
    """Return what no deal can exceed: a unit has one exclusive offer or any number of others, a group one winner."""
    program = Program([], basket)
    groups: dict[str, dict[int, float]] = {}
    exclusive: dict[str, list[int]] = {}
    stacking: dict[str, list[int]] = {}
    for definition in definitions:
        (row,) = definition.actions
        wins = None
        if definition.exclusivity == "GROUP" and definition.priority_group is not None:
            wins = program.variable(0, 1)
            groups.setdefault(definition.priority_group.group_id, {})[wins] = 1.0
        targets = {one.article_number for one in row.articles}
        for line in basket.lines:
            if line.article_number in targets:
                pieces = line.quantity_thousandths // 1000
                gain = line.unit_price_hundredths * (row.discount_value_hundredths or 0) / 10_000
                units = program.variable(gain, pieces)
                kind = exclusive if definition.exclusivity == "PROMOTION" else stacking
                kind.setdefault(line.article_number, []).append(units)
                if wins is not None:
                    program.rows.append(({units: 1.0, wins: -float(pieces)}, -np.inf, 0))
    for line in basket.lines:
        owned = dict.fromkeys(exclusive.get(line.article_number, ()), 1.0)
        pieces = line.quantity_thousandths // 1000
        program.rows += [({**owned, one: 1.0}, 0, pieces) for one in stacking.get(line.article_number, ())]
        program.rows.append((owned, 0, pieces))
    program.rows += [(winners, 0, 1) for winners in groups.values()]
    return program.optimum()


@pytest.mark.sampled(test=10)
@pytest.mark.parametrize("lot", range(LOTS))
def test_thirty_dependent_promotions_get_99_percent_of_the_optimum(lot: int) -> None:
    """Rounding to whole cents per line adds less than a cent for each offer and line to what the solver finds."""
    for seed in range(lot, 200, LOTS):
        definitions, basket, facts = large_case(Random(seed))
        outcome = priced(definitions, basket, facts)
        optimum = Program(definitions, basket).optimum()
        deal = outcome.best_deal
        assert deal is not None
        assert outcome.discount_minor >= 0.99 * optimum, f"seed {seed}"
        assert deal.bound_minor >= optimum - 30, f"seed {seed}"
        assert deal.bound_minor >= outcome.discount_minor
        plain = priced(definitions, basket, facts, replace(BEST, strategy="SEQUENTIAL"))
        assert outcome.discount_minor >= plain.discount_minor
        if deal.optimal:
            assert abs(outcome.discount_minor - optimum) < 30


@pytest.mark.sampled(test=10)
@pytest.mark.parametrize("lot", range(LOTS))
def test_thirty_that_stack_exclude_and_compete_in_groups_get_99_percent_of_the_optimum(lot: int) -> None:
    for seed in range(lot, 200, LOTS):
        definitions, basket, facts = mixed_case(Random(seed))
        outcome = priced(definitions, basket, facts)
        optimum = most_of_mixed(definitions, basket)
        deal = outcome.best_deal
        assert deal is not None
        assert outcome.discount_minor >= 0.99 * optimum, f"seed {seed}"
        rounding = len(definitions) * len(basket.lines)  # less than a cent for each
        assert outcome.discount_minor <= optimum + rounding, f"seed {seed}"
        assert deal.bound_minor >= outcome.discount_minor
        assert deal.bound_minor >= optimum - rounding, f"seed {seed}"
