"""Random baskets, promotions and facts, for tests of properties that hold for every sale."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from promenade.engine.basket import (
    ArticleFact,
    Basket,
    BasketLine,
    BudgetFact,
    CouponFact,
    Facts,
    PosGroupFact,
    Settings,
    UsageFact,
)
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import (
    ActionRow,
    ComponentRow,
    ConditionRow,
    ExclusionGroupRow,
    ExclusionRow,
    LoyaltyRow,
    PilotRow,
    PriorityRow,
    PromotionDefinition,
    TierRow,
)
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
ARTICLES = ("A", "B", "C", "D")
GROUPS = {"food": None, "fruit": "food", "bread": "food"}
GROUP_OF = {"A": "fruit", "B": "fruit", "C": "bread", "D": None}
FACTS = Facts(articles={"E": ArticleFact("E", base_price_hundredths=250)})


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


@st.composite
def plain_promotions(draw: st.DrawFn) -> list[PromotionDefinition]:
    """Draw promotions that the oracle supports, already in the order of section 4: article level first."""
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


@st.composite
def contenders(draw: st.DrawFn, number: int) -> PromotionDefinition:
    """Draw a promotion that conflicts with others: few articles, much exclusivity or coarse steps, no conditions."""
    kind = draw(st.sampled_from(("ARTICLE", "ARTICLE", "RECEIPT")))
    discount = st.one_of(
        st.tuples(st.just("PERCENTAGE"), st.integers(1, 9).map(lambda tens: tens * 1000)),
        st.tuples(st.just("ABSOLUTE"), st.integers(50, 900)),
    )
    if kind == "ARTICLE":
        discount = st.one_of(discount, st.tuples(st.just("UNIT_PRICE"), st.integers(0, 1_500)))
    discount_type, value = draw(discount)
    row = ActionRow(
        "a",
        1,
        kind,
        discount_type,
        value,
        target_article_number=draw(st.sampled_from((None, "A", "B"))),
        application_quantity_mode=draw(st.sampled_from((None, None, "LIMITED", "CHEAPEST"))),
    )
    exclusivity = draw(st.sampled_from(("NONE", "NONE", "PROMOTION", "PROMOTION", "GROUP", "GLOBAL")))
    resolution = draw(st.sampled_from(("HIGHEST_DISCOUNT", "LOWEST_DISCOUNT")))
    return PromotionDefinition(
        id=identity(number),
        name=f"P{number}",
        priority=draw(st.integers(1, 3)),
        exclusivity=exclusivity,
        priority_group=PriorityRow("g", 1, number) if exclusivity == "GROUP" or draw(st.booleans()) else None,
        exclusion_group=ExclusionGroupRow(resolution, resolution) if draw(st.integers(0, 3)) == 0 else None,
        calculation_mode=draw(st.sampled_from(("ADDITIVE", "MULTIPLICATIVE"))),
        rounding=draw(st.sampled_from(("ROUND_HALF_UP", "ROUND_HALF_UP", "ROUND_DOWN", "ROUND_UP", "NONE"))),
        precision=draw(st.sampled_from((None, None, 1, 0))),
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


COUPONS = tuple([CouponFact(f"code-{n}", coupon_type, f"Coupon {n}", f"id-{n}") for n, coupon_type in enumerate("tut")])
DAY = timedelta(days=1)
PILOT = PilotRow("config", NOW - DAY, NOW + DAY, 100, 0, frozenset({"other"}), frozenset({"pos"}))
CIRCUMSTANCES: tuple[dict[str, Any], ...] = (
    {"status": "DRAFT"},
    {"status": "ARCHIVED"},
    {"status": "PILOT", "pilot": PILOT},
    {"status": "PILOT", "pilot": replace(PILOT, pilot_pos_groups=frozenset({"pos"}))},
    {"valid_to": NOW},
    {"pos_groups": frozenset({"other"})},
    {"currency": "USD"},
    {"coupon_type_ids": frozenset("t")},
    {"coupon_type_ids": frozenset("tu")},
    {"is_experiment": True, "control_group_id": "pos"},
    {"is_experiment": True, "experiment_group_id": "pos"},
    {"max_applications_total": 2},
    {"loyalty_actions": (LoyaltyRow("l", "ADD_FIXED", points_hundredths=500),)},
)


@st.composite
def circumstanced(draw: st.DrawFn) -> list[PromotionDefinition]:
    """Draw promotions of every status, place and time, with coupons, limits and rewards."""
    circumstance = st.sampled_from((*CIRCUMSTANCES, {}, {}, {}))
    return [replace(one, **draw(circumstance)) for one in draw(many_promotions())]


@st.composite
def circumstances(draw: st.DrawFn, bought: Basket) -> tuple[Basket, Facts, Settings]:
    """Draw presented coupons for the basket, the facts of coupons, budgets and usage, and any settings."""
    presented = tuple(draw(st.lists(st.sampled_from(COUPONS), unique=True)))
    known = replace(
        draw(facts(bought.pos_group.currency)),
        coupons=presented,
        usage={identity(number): UsageFact(draw(st.integers(0, 3))) for number in range(1, 6)},
    )
    told = Settings(
        now=NOW,
        strategy=draw(st.sampled_from(("SEQUENTIAL", "BEST_DEAL"))),
        include_inactive=draw(st.booleans()),
        include_missed=draw(st.booleans()),
        nudges=draw(st.booleans()),
    )
    return replace(bought, coupons=tuple([one.code for one in presented])), known, told
