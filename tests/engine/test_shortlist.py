"""Promotions that miss a threshold and that advice does not show may be left out: the outcome stays the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promenade.engine.basket import (
    Basket,
    BasketLine,
    BudgetFact,
    CouponFact,
    Facts,
    PosGroupFact,
    Settings,
    UsageFact,
)
from promenade.engine.catalogue import (
    FEW,
    Catalogue,
    RecordedCatalogue,
    Relevant,
    compile_promotion,
    definition_hash,
)
from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
    ConditionRow,
    ExclusionGroupRow,
    ExclusionRow,
    PriorityRow,
    PromotionDefinition,
    TierRow,
)
from promenade.engine.evaluation import evaluate, select
from promenade.engine.view import BasketView
from tests.engine.given import NOW, TEN_PERCENT, article, line, promotion, row, view
from tests.kit.examples import examples

TREE = {"g1": "g0", "g2": "g0", "g3": "g1", "g0": None}
MASTER = {
    f"A{n}": article(f"A{n}", ean=f"E{n}", article_group_id=f"g{n % 4}", manufacturer_id=f"M{n % 2}") for n in range(6)
}
NAMES = tuple(MASTER)


class NaiveCatalogue(Catalogue):
    """Every promotion is checked, and every candidate priced."""

    __slots__ = ()

    def sorted_out(self, view: BasketView, coupon_type_ids: Iterable[str], settings: Settings) -> Relevant:
        return Relevant(self.candidates_naive(view, coupon_type_ids, settings), [], [])


def made(kind: type[Catalogue], definitions: list[PromotionDefinition]) -> Catalogue:
    catalogue = kind(TREE)
    assert not catalogue.compile_all(definitions)
    return catalogue


def bought(draw: Random) -> Basket:
    """Draw a basket with weighed pieces, returns, foreign currencies, and lines that name other groups and EANs."""
    lines = [
        BasketLine(
            f"L{number}",
            draw.choice(NAMES),
            draw.choice((1000, 1000, 2000, 3000, 5000, 500, 333, -1000)),
            draw.choice((0, 1, 99, 250, 1000, 1050, 3333)),
            draw.choice((None, None, "E1")),
            draw.choice((None, None, None, "g1", "g9")),
            fields=draw.choice(((), (), (("f", "x"),))),
        )
        for number in range(draw.randint(1, 6))
    ]
    currency = draw.choice(("EUR", "EUR", "JPY", "KWD"))
    return Basket("t-1", tuple(lines), PosGroupFact("pos", "POS", currency), channel=draw.choice((None, "shop")))


def amount(draw: Random, basket: Basket) -> int:
    """Draw an amount in hundredths below, at, near or above those of the basket."""
    totals = [one.unit_price_hundredths * one.quantity_thousandths // 1000 for one in basket.lines]
    base = draw.choice((sum(totals), max(totals), draw.choice(totals)))
    return max(1, base * draw.choice((3, 9, 10, 11, 12, 14, 18, 20, 21, 40, 99)) // 10 + draw.choice((-1, 0, 0, 1)))


def quantity(draw: Random) -> int:
    return draw.choice((500, 1000, 2000, 3000, 4000, 5000, 7000, 9000, 15000, 30000))


def minima(draw: Random, basket: Basket) -> dict[str, Any]:
    which = draw.randrange(5)
    return {
        "min_quantity_thousandths": quantity(draw) if which in (1, 3, 4) else None,
        "min_amount_hundredths": amount(draw, basket) if which in (2, 3) else None,
    }


def about_lines(draw: Random, least: dict[str, Any]) -> dict[str, Any]:
    kind = draw.choice(("ARTICLE", "ARTICLE", "ARTICLE_LIST", "ARTICLE_GROUP", "MANUFACTURER", "ADDITIONAL_FIELD"))
    fields: dict[str, Any] = {"kind": kind, **least}
    if kind == "ARTICLE":
        fields |= {
            "values": tuple(draw.choices(NAMES, k=draw.choice((1, 1, 2, 4)))),
            "operator": draw.choice((None, None, None, "STARTS_WITH")),
        }
    elif kind == "ARTICLE_LIST":
        chosen = draw.choices(NAMES, k=3)
        mixed = (ArticleRow(chosen[0]), ArticleRow(None, "E1"), ArticleRow(chosen[2]))
        fields["articles"] = draw.choice((mixed, tuple([ArticleRow(None, f"E{n}") for n in range(3)])))
    elif kind == "ARTICLE_GROUP":
        fields |= {
            "values": tuple(draw.choices(("g0", "g1", "g2", "g9"), k=draw.choice((1, 1, 2)))),
            "include_sub_groups": draw.random() < 0.5,
        }
    elif kind == "MANUFACTURER":
        fields["values"] = tuple(draw.choices(("M0", "M1"), k=draw.choice((1, 1, 2))))
    else:
        fields |= {"field_name": "f", "value": "x"}
    return fields


def about_sale(draw: Random, basket: Basket) -> dict[str, Any]:
    operator = draw.choice((None, None, "GTE", "GREATER_THAN", "LTE", "EQUALS", "BETWEEN"))
    if draw.random() < 0.5:
        some = [f"{amount(draw, basket) // 100}.{draw.randrange(10)}" for _ in range(3)]
        kind = "RECEIPT_AMOUNT"
    else:
        some = [f"{quantity(draw) / 1000:g}" for _ in range(3)]
        kind = "ITEM_QUANTITY"
    several = operator is None and draw.random() < 0.2
    return {
        "kind": kind,
        "operator": operator,
        "value": some[0],
        "value_to": some[1] if operator == "BETWEEN" else None,
        "values": (some[2],) if several else (),
    }


def conditions(draw: Random, basket: Basket, is_crowded: bool) -> tuple[ConditionRow, ...]:
    """Draw mostly a single threshold; else thresholds beside other conditions, in every connection."""
    if is_crowded:
        least = {"min_amount_hundredths": amount(draw, basket)}
        near: dict[str, Any] = {"kind": "RECEIPT_AMOUNT", "value": f"{amount(draw, basket)}"[:-2] or "1"}
        return (row(**draw.choice((about_lines(draw, least), about_sale(draw, basket), near, near))),)
    shape = draw.randrange(10)
    if shape < 4:
        rows = [about_lines(draw, minima(draw, basket))]
    elif shape < 7:
        rows = [about_sale(draw, basket)]
    elif shape == 7:
        rows = [about_lines(draw, {}), about_sale(draw, basket)]
        draw.shuffle(rows)
    elif shape == 8:
        other: dict[str, Any] = {"kind": "CHANNEL", "value": "shop"}
        rows = [draw.choice((about_sale(draw, basket), about_lines(draw, minima(draw, basket)))), other]
    else:
        rows = [about_lines(draw, minima(draw, basket)), about_sale(draw, basket), about_lines(draw, {})]
        connectors = [draw.choice(("AND", "OR", "NOT")) for _ in rows]
        return tuple(
            [row(connector=how, sequence=n, **one) for n, (how, one) in enumerate(zip(connectors, rows, strict=True))]
        )
    return tuple([row(sequence=n, **one) for n, one in enumerate(rows)])


def actions(draw: Random, basket: Basket) -> tuple[ActionRow, ...]:
    target: dict[str, Any] = draw.choice(({}, {}, {"target_article_number": draw.choice(NAMES)}))
    percent: dict[str, Any] = {"discount_type": "PERCENTAGE", "discount_value_hundredths": draw.choice((500, 3000))}
    kind = draw.choice(("ARTICLE", "ARTICLE", "RECEIPT", "SCALED_RECEIPT", "QUANTITY_TIER", "FREE_ITEM"))
    if kind == "SCALED_RECEIPT":
        tiers = tuple([TierRow(n, "PERCENTAGE", 500, threshold_hundredths=amount(draw, basket)) for n in (1, 2)])
        return (ActionRow("a", 1, kind, scaled_tiers=tiers, **target),)
    if kind == "QUANTITY_TIER":
        tiers = tuple([TierRow(n, "PERCENTAGE", 500, min_quantity_thousandths=quantity(draw)) for n in (1, 2)])
        return (ActionRow("a", 1, kind, quantity_tiers=tiers, **target),)
    if kind == "FREE_ITEM":
        return (ActionRow("a", 1, kind, free_item_article_number=draw.choice(NAMES), **target),)
    return (ActionRow("a", 1, kind, **percent, **target),)


def definition(draw: Random, number: int, basket: Basket, is_crowded: bool) -> PromotionDefinition:
    group = draw.choice((None, None, None, "p1", "p2"))
    exclusion = draw.choice((None, None, None, None, "x1"))
    rest: dict[str, Any] = draw.choice(
        (
            *({} for _ in range(12)),
            {"status": "DRAFT"},
            {"valid_to": NOW},
            {"pos_groups": frozenset({"pos", "other"})},
            {"pos_groups": frozenset({"pos"})},
            {"pos_groups": frozenset({"other"})},
            {"currency": "USD"},
            {"coupon_type_ids": frozenset("t")},
            {"coupon_type_ids": frozenset("u")},
            {"is_experiment": True, "control_group_id": "pos"},
            {"max_applications_total": 2},
            {"budget_ids": ("b1",)},
        )
    )
    return PromotionDefinition(
        id=f"{number:08x}-0000-4000-8000-000000000000",
        name=f"P{number}",
        priority=draw.randint(1, 4),
        exclusivity=draw.choice(("NONE", "NONE", "NONE", "NONE", "PROMOTION", "GROUP", "GLOBAL")),
        priority_group=None if group is None else PriorityRow(group, 1 if group == "p1" else 2, draw.randint(1, 3)),
        exclusion_group=None if exclusion is None else ExclusionGroupRow(exclusion, "HIGHEST_DISCOUNT"),
        calculation_mode=draw.choice(("ADDITIVE", "ADDITIVE", "MULTIPLICATIVE")),
        conditions=conditions(draw, basket, is_crowded),
        actions=actions(draw, basket),
        **rest,
    )


def circumstances(draw: Random, basket: Basket) -> tuple[Facts, Settings]:
    presented = draw.choice(((), (), (CouponFact("code", "t", "Coupon", "id"),)))
    facts = Facts(
        articles=MASTER,
        coupons=presented,
        budgets={"b1": BudgetFact("b1", "ACTIVE", draw.choice((0, 100, 5000)), basket.pos_group.currency)},
        usage={f"{number:08x}-0000-4000-8000-000000000000": UsageFact(draw.randint(0, 3)) for number in range(40)},
    )
    told = Settings(
        now=NOW,
        strategy=draw.choice(("SEQUENTIAL", "SEQUENTIAL", "SEQUENTIAL", "BEST_DEAL")),
        include_inactive=draw.random() < 0.2,
        include_missed=draw.random() < 0.2,
        nudges=draw.random() < 0.4,
    )
    return facts, told


def counting(
    draw: Random, definitions: list[PromotionDefinition], facts: Facts, told: Settings
) -> tuple[list[PromotionDefinition], Facts, Settings]:
    """The same, where some goods are never discounted, or excluded, and may not count."""
    barred = draw.choice(NAMES)
    articles = {**facts.articles, barred: replace(facts.articles[barred], never_discounted="TOBACCO")}
    told = replace(told, barred_counts=draw.random() < 0.4, excluded_counts=draw.random() < 0.7)
    excluded = (ExclusionRow("ARTICLE", article_number=draw.choice(NAMES)),)
    own = (None, None, True, False)
    changed = [
        replace(
            one,
            counts_barred=draw.choice(own),
            counts_excluded=draw.choice(own),
            actions=tuple([replace(row, exclusions=excluded) for row in one.actions])
            if draw.random() < 0.3
            else one.actions,
        )
        for one in definitions
    ]
    return changed, replace(facts, articles=articles), told


@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from((3, 15, 40, 80)))
def test_an_outcome_is_the_same_without_the_promotions_left_out(seed: int, most: int) -> None:
    draw = Random(seed)
    basket = bought(draw)
    facts, told = circumstances(draw, basket)
    if told.strategy == "BEST_DEAL":
        most = min(most, 15)
    basket = replace(basket, coupons=tuple([one.code for one in facts.coupons]))
    is_crowded = draw.random() < 0.4  # many thresholds near what is bought: more than advice can show
    definitions = [definition(draw, number, basket, is_crowded) for number in range(draw.randint(1, most))]
    if draw.random() < 0.4:
        definitions, facts, told = counting(draw, definitions, facts, told)
    outcome = evaluate(made(Catalogue, definitions), basket, facts, told)
    naive = evaluate(made(NaiveCatalogue, definitions), basket, facts, told)
    assert replace(outcome, candidate_hashes=()) == replace(naive, candidate_hashes=())
    # Those that only supposed baskets led to come last.
    listed = select(made(Catalogue, definitions), basket, facts.articles, {}, facts.coupons, told).hashes
    assert [key for key in naive.candidate_hashes if key in listed] == [*listed]
    assert set(outcome.candidate_hashes) <= set(naive.candidate_hashes)
    for earlier in (outcome, naive):
        by_hash = {definition_hash(one): one for one in definitions}
        named = [by_hash[key] for key in earlier.candidate_hashes]
        assert evaluate(made(RecordedCatalogue, named), basket, facts, told) == earlier
        again = evaluate(made(Catalogue, named), basket, facts, told)
        assert replace(again, candidate_hashes=()) == replace(earlier, candidate_hashes=())


def relevant(*definitions: PromotionDefinition, seen: BasketView) -> list[str]:
    found = made(Catalogue, list(definitions)).relevant(seen, (), seen.settings)
    return sorted([one.id for one in found])


def test_a_promotion_for_a_much_larger_purchase_is_left_out() -> None:
    seen = view(line("A", price="10"))
    at = [promotion(value, row("RECEIPT_AMOUNT", value)) for value in ("10", "10.01", "20", "20.01", "99")]
    assert relevant(*at, seen=seen) == ["10", "10.01", "20"]
    assert relevant(*at, seen=replace_settings(seen, nudges=True)) == sorted(one.id for one in at)
    assert relevant(*at, seen=replace_settings(seen, include_missed=True)) == sorted(one.id for one in at)
    assert relevant(*at, seen=replace_settings(seen, strategy="BEST_DEAL")) == sorted(one.id for one in at)


def replace_settings(seen: BasketView, **changes: Any) -> BasketView:
    return BasketView(seen.basket, {}, {}, Catalogue().article_groups, replace(seen.settings, **changes))


def test_of_many_near_misses_only_those_that_advice_shows_are_kept() -> None:
    seen = view(line("A", price="10"))
    near = [promotion(f"{n}", row("RECEIPT_AMOUNT", f"{n}")) for n in range(11, 20)]
    alike = [promotion(f"again {n}", row("RECEIPT_AMOUNT", "11"), priority=n) for n in range(5)]
    elsewhere = promotion("elsewhere", row("RECEIPT_AMOUNT", "10.5"), pos_groups=frozenset({"other"}))
    here = promotion("here", row("RECEIPT_AMOUNT", "10.5"), pos_groups=frozenset({"pos-1"}))
    kept = relevant(*near, *alike, elsewhere, here, seen=seen)
    assert kept == sorted(["here", "11", "12", "13", "14", *[one.id for one in alike]])


def test_of_many_that_ask_for_more_of_an_article_only_those_that_advice_shows_are_kept() -> None:
    seen = view(line("A", "2"), line("A", "1"), line("B", "9"))
    pieces: dict[str, Any] = {"min_quantity_thousandths": 5000}
    near = [promotion(f"near {n}", row("ARTICLE", "A", **pieces), priority=n) for n in range(8)]
    far = [promotion(f"far {n}", row("ARTICLE", "A", min_amount_hundredths=9000), priority=n) for n in range(7)]
    counted = promotion("counted", row("ARTICLE", "A"), row("ITEM_QUANTITY", "100", sequence=2), priority=-1)
    met = promotion("met", row("ARTICLE", values=("A", "B"), **pieces))
    kept = relevant(*near, *far, counted, met, seen=seen)
    assert kept == sorted(["counted", "far 0", "met", *[one.id for one in near]])
    few = [*near, *far[1:], counted, met]
    assert len(few) == FEW
    assert relevant(*few, seen=seen) == sorted([one.id for one in few])


def test_a_replay_supposes_no_more_baskets_than_the_evaluation_did() -> None:
    """Both may try as many promotions; a replay also has the near misses among its candidates."""
    names = "ABCDEFGHIJ"
    bought = view(*[line(name, price="10") for name in names]).basket
    percent = replace(TEN_PERCENT, discount_value_hundredths=100)
    definitions = [
        promotion(f"{name}{n}", row("ARTICLE", name, min_quantity_thousandths=max(1, n - 3) * 1000), actions=(percent,))
        for name in names
        for n in range(7)
    ]
    told = Settings(now=NOW, nudges=True)
    outcome = evaluate(made(Catalogue, definitions), bought, Facts(), told)
    by_hash = {definition_hash(one): one for one in definitions}
    recorded = made(RecordedCatalogue, [by_hash[key] for key in outcome.candidate_hashes])
    assert outcome.gaps
    assert evaluate(recorded, bought, Facts(), told) == outcome


def test_a_multiplicative_promotion_is_near_by_what_is_left_of_the_sale() -> None:
    basket = view(line("A", price="100")).basket
    definitions = [
        promotion(
            f"{n}", row("RECEIPT_AMOUNT", f"{n}"), priority=n, calculation_mode="MULTIPLICATIVE", actions=(TEN_PERCENT,)
        )
        for n in (95, 99, *range(101, 130), *range(170, 190), 300)
    ]
    outcome = evaluate(made(Catalogue, definitions), basket, Facts(), Settings(now=NOW))
    naive = evaluate(made(NaiveCatalogue, definitions), basket, Facts(), Settings(now=NOW))
    assert replace(outcome, candidate_hashes=()) == replace(naive, candidate_hashes=())
    assert [one.promotion_id for one in outcome.applied] == ["95"]
    # 90.00 is left: that of 99 was near enough by the whole sale, and is a candidate all the same.
    assert [(one.promotion_id, one.match_percent) for one in outcome.recommendations][:3] == [
        ("99", 90),
        ("101", 89),
        ("102", 88),
    ]
    assert len(outcome.candidate_hashes) == 2 + 10


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ((row("RECEIPT_AMOUNT", "9"),), (0, 90_000)),
        ((row("RECEIPT_AMOUNT", "9", operator="GREATER_THAN"),), (0, 90_001)),
        ((row("RECEIPT_AMOUNT", "9", values=("8",)),), (0, 80_000)),
        ((row("RECEIPT_AMOUNT", "9", operator="LTE"),), None),
        ((row("RECEIPT_AMOUNT", "9", operator="BETWEEN", value_to="10"),), None),
        ((row("RECEIPT_AMOUNT", "0"),), None),
        ((row("RECEIPT_AMOUNT", "9", connector="NOT"),), None),
        ((row("RECEIPT_AMOUNT", "9"), row("CHANNEL", "shop", sequence=2)), None),
        ((row("RECEIPT_AMOUNT", "9"), row("RECEIPT_AMOUNT", "8", sequence=2, connector="OR")), None),
        ((row("ITEM_QUANTITY", "3"),), (3000, 0)),
        ((row("ITEM_QUANTITY", "3"), row("ARTICLE", "A", sequence=2)), (3000, 0)),
        ((row("ITEM_QUANTITY", "3"), row("ARTICLE", "A", sequence=2, min_quantity_thousandths=1)), None),
        ((row("ITEM_QUANTITY", "3"), row("ARTICLE", "A", sequence=2, connector="NOT")), None),
        ((row("ITEM_QUANTITY", "3"), row("CHANNEL", "shop", sequence=2)), None),
        ((row("ARTICLE", "A", min_quantity_thousandths=2000, min_amount_hundredths=900),), (2000, 90_000)),
        ((row("ARTICLE", "A"),), None),
        ((row("ARTICLE", "A", operator="STARTS_WITH", min_quantity_thousandths=2000),), None),
    ],
)
def test_what_a_promotion_needs_is_known_where_nothing_else_decides(
    conditions: tuple[ConditionRow, ...], expected: tuple[int, int] | None
) -> None:
    least = compile_promotion(promotion("p", *conditions)).least
    assert (None if least is None else (least.quantity_thousandths, least.amounts[-1])) == expected


def test_lines_that_could_count_twice_are_not_added_up() -> None:
    pieces: dict[str, Any] = {"min_quantity_thousandths": 2000}
    groups: dict[str, Any] = {"values": ("g0", "g1"), **pieces}
    assert compile_promotion(promotion("p", row("ARTICLE_GROUP", **groups))).least is not None
    assert compile_promotion(promotion("p", row("ARTICLE_GROUP", include_sub_groups=True, **groups))).least is None
    by_both = row("ARTICLE_LIST", articles=(ArticleRow("A"), ArticleRow(None, "E")), **pieces)
    assert compile_promotion(promotion("p", by_both)).least is None


def test_a_changed_threshold_is_found_at_its_new_place() -> None:
    catalogue = Catalogue()
    seen = view(line("A", price="10"))
    for value in ("99", "5", "98"):
        catalogue.put(promotion("p", row("RECEIPT_AMOUNT", value)))
        assert [one.id for one in catalogue.relevant(seen, (), seen.settings)] == (["p"] if value == "5" else [])
    assert [one.id for one in catalogue.candidates(seen, (), seen.settings)] == ["p"]
    catalogue.remove("p")
    assert catalogue.candidates(seen, (), seen.settings) == []
