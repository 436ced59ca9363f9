"""What holds for every basket and every catalogue (pricing semantics, sections 1, 5, 7 and 8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from promenade.engine.basket import ArticleFact, Basket, BasketLine, BudgetFact, Facts, PosGroupFact, Settings
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import (
    ActionRow,
    ComponentRow,
    ConditionRow,
    ExclusionGroupRow,
    ExclusionRow,
    PriorityRow,
    PromotionDefinition,
    TierRow,
)
from promenade.engine.evaluation import Selection, evaluate, price, select
from promenade.engine.outcome import Outcome
from promenade.engine.stacking import Pass, World
from tests.engine.oracle import naive_discounts

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
ARTICLES = ("A", "B", "C", "D")
GROUPS = {"food": None, "fruit": "food", "bread": "food"}
GROUP_OF = {"A": "fruit", "B": "fruit", "C": "bread", "D": None}
FACTS = Facts(articles={"E": ArticleFact("E", base_price_hundredths=250)})

examples = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def identity(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


@st.composite
def lines(draw: st.DrawFn, number: int, *, plain: bool = False, step: int = 1) -> BasketLine:
    article = draw(st.sampled_from(ARTICLES))
    quantity = draw(st.integers(1, 5)) * 1000
    if not plain:
        quantity = draw(st.sampled_from((quantity, quantity, quantity, 1500, 333, -1000)))
    price_hundredths = draw(st.integers(1, 30)) * draw(st.sampled_from((100, 1, 37, 5))) * step
    return BasketLine(f"L{number}", article, quantity, price_hundredths, article_group_id=GROUP_OF[article])


@st.composite
def baskets(draw: st.DrawFn, *, plain: bool = False, most: int = 6) -> Basket:
    currency = draw(st.sampled_from(("EUR", "JPY", "KWD")))
    step = 100 if plain and currency == "JPY" else 1
    count = draw(st.integers(1, most))
    return Basket(
        "t-1",
        tuple([draw(lines(number, plain=plain, step=step)) for number in range(count)]),
        PosGroupFact("pos", "POS", currency),
    )


DISCOUNTS = st.one_of(
    st.tuples(st.just("PERCENTAGE"), st.integers(0, 10_000)),
    st.tuples(st.just("ABSOLUTE"), st.integers(0, 3_000)),
)
ANY_DISCOUNT = st.one_of(DISCOUNTS, st.tuples(st.just("UNIT_PRICE"), st.integers(0, 2_000)))
MODES = st.sampled_from((None, "PROPORTIONAL", "EQUAL", "HIGHEST_FIRST"))


@st.composite
def targets(draw: st.DrawFn) -> dict[str, Any]:
    return draw(
        st.one_of(
            st.just({}),
            st.builds(lambda article: {"target_article_number": article}, st.sampled_from(ARTICLES)),
            st.builds(
                lambda group, sub: {"target_article_group_id": group, "include_sub_groups": sub},
                st.sampled_from(tuple(GROUPS)),
                st.booleans(),
            ),
        )
    )


@st.composite
def actions(draw: st.DrawFn, number: int) -> ActionRow:
    kind = draw(
        st.sampled_from(("ARTICLE", "ARTICLE", "RECEIPT", "QUANTITY_TIER", "SCALED_RECEIPT", "BUNDLE", "FREE_ITEM"))
    )
    common: dict[str, Any] = {
        "id": f"a{number}",
        "sequence": 1,
        "action_type": kind,
        "distribution_mode": draw(MODES),
        "selection_type": draw(st.sampled_from((None, "ALL", "CHEAPEST", "MOST_EXPENSIVE", "RANDOM"))),
        "application_quantity_mode": draw(st.sampled_from((None, "ALL", "LIMITED", "CHEAPEST", "MOST_EXPENSIVE"))),
        "application_quantity_thousandths": draw(st.sampled_from((None, 1000, 2000, 4000))),
        **draw(targets()),
    }
    if draw(st.integers(0, 3)) == 0:
        common["exclusions"] = (ExclusionRow("ARTICLE", article_number=draw(st.sampled_from(ARTICLES))),)
    if kind != "FREE_ITEM" and draw(st.integers(0, 2)) == 0:
        common["max_discount_hundredths"] = draw(st.integers(0, 2_000))
    if kind == "FREE_ITEM":
        return ActionRow(
            **common,
            free_item_article_number=draw(st.sampled_from((*ARTICLES, "E", "unknown"))),
            free_item_quantity_thousandths=draw(st.sampled_from((None, 1000, 2000, 500))),
            restrict_to_one_per_basket=draw(st.booleans()),
            max_free_units_thousandths=draw(st.sampled_from((None, 1000, 3000))),
        )
    if kind == "QUANTITY_TIER":
        tiers = tuple(
            [TierRow(n, *draw(ANY_DISCOUNT), min_quantity_thousandths=draw(st.integers(0, 6)) * 1000) for n in (1, 2)]
        )
        return ActionRow(**common, quantity_tiers=tiers)
    if kind == "SCALED_RECEIPT":
        tiers = tuple(
            [TierRow(n, *draw(DISCOUNTS), threshold_hundredths=draw(st.integers(0, 50)) * 100) for n in (1, 2)]
        )
        return ActionRow(**common, scaled_tiers=tiers)
    discount_type, value = draw(DISCOUNTS if kind == "RECEIPT" else ANY_DISCOUNT)
    if kind == "BUNDLE":
        components = [
            ComponentRow(
                f"k{n}",
                n,
                draw(st.integers(1, 3)) * 1000,
                **draw(
                    st.one_of(
                        st.just({}),
                        st.builds(lambda article: {"article_number": article}, st.sampled_from(ARTICLES)),
                        st.just({"article_group_id": "food", "include_sub_groups": True}),
                    )
                ),
                discounted=n == 1 or draw(st.booleans()),
            )
            for n in range(1, draw(st.integers(1, 3)) + 1)
        ]
        return ActionRow(
            **common,
            components=tuple(components),
            max_bundles=draw(st.sampled_from((None, 1, 2))),
            discount_type=discount_type,
            discount_value_hundredths=value,
        )
    return ActionRow(**common, discount_type=discount_type, discount_value_hundredths=value)


@st.composite
def conditions(draw: st.DrawFn, number: int) -> tuple[ConditionRow, ...]:
    return draw(
        st.one_of(
            st.just(()),
            st.builds(
                lambda article, quantity: (
                    ConditionRow(
                        f"c{number}",
                        1,
                        "AND",
                        "ARTICLE",
                        article_number=article,
                        min_quantity_thousandths=quantity,
                    ),
                ),
                st.sampled_from(ARTICLES),
                st.sampled_from((None, 1000, 2000)),
            ),
            st.builds(
                lambda amount: (ConditionRow(f"c{number}", 1, "AND", "RECEIPT_AMOUNT", value=str(amount)),),
                st.integers(1, 40),
            ),
        )
    )


@st.composite
def promotions(draw: st.DrawFn, number: int) -> PromotionDefinition:
    group = draw(st.sampled_from((None, None, "g1", "g2")))
    exclusion = draw(st.sampled_from((None, None, None, "x1")))
    budgets = draw(st.sampled_from(((), (), ("b1",), ("b1", "b2"))))
    return PromotionDefinition(
        id=identity(number),
        name=f"P{number}",
        priority=draw(st.integers(1, 3)),
        exclusivity=draw(st.sampled_from(("NONE", "NONE", "NONE", "PROMOTION", "GROUP", "GLOBAL"))),
        priority_group=None if group is None else PriorityRow(group, 1 if group == "g1" else 2, number),
        exclusion_group=None if exclusion is None else ExclusionGroupRow(exclusion, "HIGHEST_DISCOUNT"),
        calculation_mode=draw(st.sampled_from(("ADDITIVE", "MULTIPLICATIVE"))),
        rounding=draw(st.sampled_from(("ROUND_HALF_UP", "ROUND_DOWN", "ROUND_UP", "NONE"))),
        precision=draw(st.sampled_from((None, None, 1, 0))),
        max_applications_per_transaction=draw(st.sampled_from((None, None, 1))),
        budget_ids=budgets,
        conditions=draw(conditions(number)),
        actions=tuple([draw(actions(n)) for n in range(draw(st.integers(1, 2)))]),
    )


@st.composite
def many_promotions(draw: st.DrawFn, most: int = 5) -> list[PromotionDefinition]:
    return [draw(promotions(number)) for number in range(1, draw(st.integers(1, most)) + 1)]


@st.composite
def facts(draw: st.DrawFn, currency: str) -> Facts:
    return replace(
        FACTS,
        budgets={
            name: BudgetFact(name, draw(st.sampled_from(("ACTIVE", "ACTIVE", "EXHAUSTED"))), left, currency)
            for name, left in (("b1", draw(st.integers(0, 3_000))), ("b2", draw(st.integers(0, 3_000))))
        },
    )


def catalogue_of(definitions: list[PromotionDefinition]) -> Catalogue:
    catalogue = Catalogue(GROUPS)
    refused = catalogue.compile_all(definitions)
    assert not refused, {key: error.message for key, error in refused.items()}
    return catalogue


def run(
    definitions: list[PromotionDefinition], basket: Basket, given_facts: Facts = FACTS, strategy: str = "SEQUENTIAL"
) -> Outcome:
    return evaluate(catalogue_of(definitions), basket, given_facts, Settings(now=NOW, strategy=strategy))


@examples
@given(many_promotions(), baskets(), st.data())
def test_parts_add_up_and_nothing_goes_below_zero(
    definitions: list[PromotionDefinition], basket: Basket, data: st.DataObject
) -> None:
    outcome = run(definitions, basket, data.draw(facts(basket.pos_group.currency)))
    by_promotion: dict[str, int] = {}
    for line in outcome.lines:
        assert line.discount_minor == sum(entry.amount_minor for entry in line.discounts)
        assert 0 <= line.discount_minor <= max(0, line.total_minor)
        assert line.net_minor == max(0, line.total_minor - line.discount_minor)
        units = 1 if line.quantity_thousandths % 1000 else line.quantity_thousandths // 1000
        for entry in line.discounts:
            assert entry.amount_minor > 0
            assert sum(share.count * share.amount_minor for share in entry.units) == entry.amount_minor
            assert sum(share.count for share in entry.units) <= units
            assert all(share.amount_minor >= 0 and share.count > 0 for share in entry.units)
            by_promotion[entry.promotion_id] = by_promotion.get(entry.promotion_id, 0) + entry.amount_minor
    assert outcome.discount_minor == sum(line.discount_minor for line in outcome.lines)
    assert outcome.grand_total_minor == outcome.subtotal_minor - outcome.discount_minor
    assert outcome.subtotal_minor == outcome.sale_subtotal_minor + outcome.return_subtotal_minor
    assert {one.promotion_id: one.discount_minor for one in outcome.applied if one.discount_minor} == by_promotion


@examples
@given(many_promotions(), baskets(), st.data())
def test_no_unit_carries_more_than_its_price(
    definitions: list[PromotionDefinition], basket: Basket, data: st.DataObject
) -> None:
    assume(basket.pos_group.currency != "JPY")  # a price of 10.50 cannot be carried in whole yen
    outcome = run(definitions, basket, data.draw(facts(basket.pos_group.currency)))
    for line in outcome.lines:
        whole = line.quantity_thousandths % 1000 == 0 and line.quantity_thousandths > 0
        carried = [0] * (line.quantity_thousandths // 1000 if whole else 1)
        for entry in line.discounts:
            unit = 0
            for share in entry.units:
                for _ in range(share.count):
                    carried[unit] += share.amount_minor
                    unit += 1
        most = line.total_minor // len(carried) if whole else max(0, line.total_minor)
        assert max(carried) <= most


@examples
@given(many_promotions(), baskets(), st.data())
def test_budgets_are_never_exceeded(
    definitions: list[PromotionDefinition], basket: Basket, data: st.DataObject
) -> None:
    given_facts = data.draw(facts(basket.pos_group.currency))
    for strategy in ("SEQUENTIAL", "BEST_DEAL"):
        outcome = run(definitions, basket, given_facts, strategy)
        charged: dict[str, int] = {}
        for one in outcome.applied:
            for budget_id in one.budget_ids:
                charged[budget_id] = charged.get(budget_id, 0) + one.discount_minor
        for budget_id, amount in charged.items():
            assert amount <= given_facts.budgets[budget_id].remaining_minor
            assert given_facts.budgets[budget_id].status == "ACTIVE" or amount == 0


@examples
@given(many_promotions(), baskets(), st.data())
def test_the_same_input_gives_the_same_outcome_in_any_order_of_definitions(
    definitions: list[PromotionDefinition], basket: Basket, data: st.DataObject
) -> None:
    first = run(definitions, basket)
    assert run(definitions, basket) == first
    assert run(data.draw(st.permutations(definitions)), basket) == first


@examples
@given(many_promotions(), baskets(), st.data())
def test_the_index_changes_nothing(definitions: list[PromotionDefinition], basket: Basket, data: st.DataObject) -> None:
    given_facts = data.draw(facts(basket.pos_group.currency))
    everything = Settings(now=NOW, include_missed=True)  # reaches every promotion
    catalogue = catalogue_of(definitions)
    indexed = evaluate(catalogue, basket, given_facts, Settings(now=NOW))
    naive = evaluate(catalogue, basket, given_facts, everything)
    assert (indexed.lines, indexed.granted, indexed.applied) == (naive.lines, naive.granted, naive.applied)


@st.composite
def plain_promotions(draw: st.DrawFn) -> list[PromotionDefinition]:
    """What the oracle knows, already in the order of section 4: article level first."""
    mode = st.sampled_from(("ADDITIVE", "MULTIPLICATIVE"))
    found: list[PromotionDefinition] = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        discount_type, value = draw(DISCOUNTS)
        row = ActionRow(
            f"a{number}",
            1,
            "ARTICLE",
            discount_type,
            value,
            target_article_number=draw(st.sampled_from(ARTICLES)),
        )
        found.append(PromotionDefinition(identity(number), f"P{number}", calculation_mode=draw(mode), actions=(row,)))
    for number in range(5, 5 + draw(st.integers(0, 2))):
        discount_type, value = draw(DISCOUNTS)
        row = ActionRow(f"a{number}", 1, "RECEIPT", discount_type, value)
        found.append(PromotionDefinition(identity(number), f"P{number}", calculation_mode=draw(mode), actions=(row,)))
    return found


@examples
@given(plain_promotions(), baskets(plain=True))
def test_plain_promotions_cost_what_the_oracle_says(definitions: list[PromotionDefinition], basket: Basket) -> None:
    assume(basket.pos_group.currency != "JPY" or all(row.unit_price_hundredths % 100 == 0 for row in basket.lines))
    outcome = run(definitions, basket)
    # An ABSOLUTE discount is cut per unit; where it is, units of one line may differ and the oracle does not tell.
    assume(not _cuts_units(definitions, basket))
    assert [line.discount_minor for line in outcome.lines] == naive_discounts(definitions, basket)


def _cuts_units(definitions: list[PromotionDefinition], basket: Basket) -> bool:
    return any(
        action.action_type == "ARTICLE"
        and action.discount_type == "ABSOLUTE"
        and any(
            line.article_number == action.target_article_number and line.quantity_thousandths > 1000
            for line in basket.lines
        )
        for definition in definitions
        for action in definition.actions
    )


@examples
@given(plain_promotions(), baskets(plain=True), st.data())
def test_permuted_lines_cost_the_same(
    definitions: list[PromotionDefinition], basket: Basket, data: st.DataObject
) -> None:
    # Splitting a receipt discount leaves odd cents to basket order, so only article-level promotions are compared
    # line by line; totals hold for all.
    shuffled = replace(basket, lines=tuple(data.draw(st.permutations(basket.lines))))
    article_level = [one for one in definitions if one.actions[0].action_type == "ARTICLE"]
    first, second = run(article_level, basket), run(article_level, shuffled)
    assert {line.reference: line.net_minor for line in first.lines} == {
        line.reference: line.net_minor for line in second.lines
    }
    assert run(definitions, basket).grand_total_minor == run(definitions, shuffled).grand_total_minor


def selection_of(definitions: list[PromotionDefinition], basket: Basket, strategy: str) -> Selection:
    chosen = Settings(now=NOW, strategy=strategy)
    return select(catalogue_of(definitions), basket, FACTS.articles, {}, (), chosen)


@st.composite
def contenders(draw: st.DrawFn, number: int) -> PromotionDefinition:
    """A promotion that gets into the way of others: few articles, much exclusivity, no conditions."""
    discount = st.one_of(
        st.tuples(st.just("PERCENTAGE"), st.integers(1, 9).map(lambda tens: tens * 1000)),
        st.tuples(st.just("ABSOLUTE"), st.integers(50, 900)),
    )
    discount_type, value = draw(discount)
    row = ActionRow(
        "a",
        1,
        draw(st.sampled_from(("ARTICLE", "ARTICLE", "RECEIPT"))),
        discount_type,
        value,
        target_article_number=draw(st.sampled_from((None, "A", "B"))),
        application_quantity_mode=draw(st.sampled_from((None, None, "LIMITED", "CHEAPEST"))),
    )
    exclusivity = draw(st.sampled_from(("NONE", "NONE", "PROMOTION", "PROMOTION", "GROUP", "GLOBAL")))
    return PromotionDefinition(
        id=identity(number),
        name=f"P{number}",
        priority=draw(st.integers(1, 3)),
        exclusivity=exclusivity,
        priority_group=PriorityRow("g", 1, number) if exclusivity == "GROUP" or draw(st.booleans()) else None,
        exclusion_group=ExclusionGroupRow("x", draw(st.sampled_from(("HIGHEST_DISCOUNT", "LOWEST_DISCOUNT"))))
        if draw(st.integers(0, 3)) == 0
        else None,
        calculation_mode=draw(st.sampled_from(("ADDITIVE", "MULTIPLICATIVE"))),
        budget_ids=("b1",) if draw(st.integers(0, 3)) == 0 else (),
        actions=(row,),
    )


@st.composite
def contended_baskets(draw: st.DrawFn) -> Basket:
    count = draw(st.integers(1, 3))
    bought = [
        BasketLine(f"L{n}", draw(st.sampled_from("AB")), draw(st.integers(1, 3)) * 1000, draw(st.integers(100, 2_000)))
        for n in range(count)
    ]
    return Basket("t-1", tuple(bought), PosGroupFact("pos", "POS", "EUR"))


CASES = st.one_of(
    st.tuples(many_promotions(4), baskets(most=3)),
    st.tuples(
        st.integers(2, 6).flatmap(lambda most: st.tuples(*[contenders(n + 1) for n in range(most)])).map(list),
        contended_baskets(),
    ),
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CASES, st.data())
def test_best_deal_equals_brute_force(case: tuple[list[PromotionDefinition], Basket], data: st.DataObject) -> None:
    definitions, basket = case
    given_facts = data.draw(facts(basket.pos_group.currency))
    selection = selection_of(definitions, basket, "BEST_DEAL")
    best = price(selection, given_facts)
    sequential = price(selection_of(definitions, basket, "SEQUENTIAL"), given_facts)
    world = World(selection.view, selection.candidates, selection.articles, given_facts.budgets, given_facts.usage)
    ordinals = [candidate.ordinal for candidate in selection.candidates]
    brute = max(
        Pass(world).run(frozenset(admitted).__contains__).discount_minor
        for size in range(len(ordinals) + 1)
        for admitted in combinations(ordinals, size)
    )
    assert best.discount_minor >= sequential.discount_minor
    assert best.discount_minor == brute
    assert best.best_deal is not None
    assert best.best_deal.optimal
    assert best.best_deal.bound_minor == brute
    if sequential.discount_minor == brute:
        assert best.lines == sequential.lines
