"""The candidate index finds exactly what a linear search over all promotions finds, after any history of changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promenade.engine.basket import BasketLine, Customer, Payment, Settings
from promenade.engine.catalogue import Catalogue, compile_promotion
from promenade.engine.conditions import condition_codes
from promenade.engine.definition import ActionRow, ArticleRow, ConditionRow, PromotionDefinition
from promenade.engine.index import request_keys, sale_keys
from promenade.engine.verdict import Met
from promenade.engine.view import BasketView
from tests.engine.given import NOW, TEN_PERCENT, article, line, promotion, row, view

_TREE = {"g1": "g0", "g2": "g0", "g3": "g1", "g0": None}
_MASTER = tuple(
    article(f"A{n}", ean=f"E{n}", article_group_id=f"g{n % 4}", manufacturer_id=f"M{n % 3}", unit="PCE")
    for n in range(6)
)
_NAMES = st.sampled_from([f"A{n}" for n in range(8)])
_GROUPS = st.sampled_from(["g0", "g1", "g2", "g3", "g9"])
_MAKERS = st.sampled_from(["M0", "M1", "M2", "M9"])
_OPERATORS = st.sampled_from([None, None, None, "EQUALS", "STARTS_WITH", "GTE"])


@st.composite
def _conditions(draw: st.DrawFn) -> ConditionRow:
    kind = draw(st.sampled_from(condition_codes()))
    fields: dict[str, Any] = {"connector": draw(st.sampled_from(["AND", "AND", "OR", "NOT"]))}
    if kind == "ARTICLE":
        fields.update(values=tuple(draw(st.lists(_NAMES, min_size=1, max_size=3))), operator=draw(_OPERATORS))
    elif kind == "ARTICLE_LIST":
        rows = draw(st.lists(st.tuples(_NAMES, st.booleans()), min_size=1, max_size=3))
        fields["articles"] = tuple(ArticleRow(None, "E" + name[1:]) if ean else ArticleRow(name) for name, ean in rows)
    elif kind == "ARTICLE_GROUP":
        fields.update(value=draw(_GROUPS), include_sub_groups=draw(st.booleans()), operator=draw(_OPERATORS))
    elif kind == "MANUFACTURER":
        fields.update(manufacturer=draw(_MAKERS), min_quantity_thousandths=draw(st.sampled_from([None, 2000])))
    elif kind in ("ADDITIONAL_FIELD", "USER_DEFINED"):
        fields.update(field_name=draw(st.sampled_from(["f1", "f2"])), value=draw(st.sampled_from(["x", "y"])))
    elif kind in ("ITEM_QUANTITY", "RECEIPT_AMOUNT"):
        fields["value"] = draw(st.sampled_from(["1", "3", "20"]))
    elif kind in ("TIME_WINDOW", "TIME_PERIOD"):
        fields.update(weekdays=draw(st.sampled_from(["SAT", "SUN"])), date_to=NOW.date())
    elif kind == "CREDIT_CARD_BIN":
        fields["value"] = "4"
    elif kind != "MANUAL_DISCOUNT":
        fields.update(value=draw(st.sampled_from(["x", "y", "Y"])), operator=draw(_OPERATORS))
        if kind == "LOYALTY_ACCOUNT":
            fields["value_category"] = "LOYALTY_TIER"
    return row(kind, **fields)


@st.composite
def _promotions(draw: st.DrawFn) -> PromotionDefinition:
    targets: list[dict[str, Any]] = [
        {},
        {"target_article_number": draw(_NAMES)},
        {"target_article_group_id": draw(_GROUPS)},
    ]
    action: ActionRow = replace(TEN_PERCENT, action_type="ARTICLE", **draw(st.sampled_from(targets)))
    some = draw(st.lists(_conditions(), max_size=4))
    return promotion(
        f"p{draw(st.integers(0, 7))}",
        *[replace(one, sequence=n) for n, one in enumerate(some)],
        actions=draw(st.sampled_from([(action,), (TEN_PERCENT,), (action, TEN_PERCENT), ()])),
        status=draw(st.sampled_from(["ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE"])),
        pos_groups=draw(st.sampled_from([frozenset(), frozenset({"pos-1"}), frozenset({"pos-2", "pos-3"})])),
        coupon_type_ids=draw(st.sampled_from([frozenset(), frozenset(), frozenset({"t1"}), frozenset({"t1", "t2"})])),
        currency=draw(st.sampled_from([None, None, "EUR", "USD"])),
    )


_FIELDS = st.lists(st.tuples(st.sampled_from(["f1", "f2"]), st.sampled_from(["x", "y"])), max_size=2).map(tuple)
_XY = st.sampled_from([None, "x", "y", "Y"])


@st.composite
def _lines(draw: st.DrawFn) -> BasketLine:
    return line(
        draw(_NAMES),
        draw(st.sampled_from(["1", "2", "-1", "0.5"])),
        draw(st.sampled_from(["5", "10"])),
        group=draw(st.sampled_from([None, None, "g1", "g9"])),
        maker=draw(st.sampled_from([None, None, "M9"])),
        ean=draw(st.sampled_from([None, None, "E2", "E7"])),
        fields=draw(_FIELDS),
    )


@st.composite
def _views(draw: st.DrawFn) -> BasketView:
    settings_ = Settings(
        now=NOW, include_inactive=draw(st.booleans()), include_missed=draw(st.sampled_from([False, False, False, True]))
    )
    return view(
        *draw(st.lists(_lines(), min_size=1, max_size=5)),
        articles=_MASTER,
        groups=_TREE,
        settings=settings_,
        pos_group=draw(st.sampled_from(["pos-1", "pos-2"])),
        customer=draw(st.none() | st.builds(Customer, customer_id=_XY, customer_group=_XY, loyalty_tier=_XY)),
        payment=draw(st.none() | st.builds(Payment, payment_means=_XY, card_type=_XY)),
        channel=draw(_XY),
        fields=draw(_FIELDS),
        manual=draw(st.booleans()),
    )


_AT: dict[str, Any] = {"field_name": "f", "value": "x"}
_WAYS_IN: list[tuple[ConditionRow, dict[str, Any], dict[str, Any]]] = [
    (row("ARTICLE", "A"), {}, {}),
    (row("ARTICLE_LIST", articles=(ArticleRow(None, "40"),)), {"ean": "40"}, {}),
    (row("ARTICLE_GROUP", "g1"), {"group": "g1"}, {}),
    (row("ARTICLE_GROUP", "g0", include_sub_groups=True), {"group": "g3"}, {}),
    (row("MANUFACTURER", "M"), {"maker": "M"}, {}),
    (row("ADDITIONAL_FIELD", **_AT), {"fields": (("f", "x"),)}, {}),
    (row("USER_DEFINED", **_AT), {}, {"fields": (("f", "x"),)}),
    (row("CUSTOMER", "x"), {}, {"customer": Customer(customer_id="x")}),
    (row("CUSTOMER_GROUP", "x"), {}, {"customer": Customer(customer_group="x")}),
    (row("LOYALTY_ACCOUNT", "x"), {}, {"customer": Customer(loyalty_tier="x")}),
    (row("PAYMENT_MEANS", "x"), {}, {"payment": Payment(payment_means="x")}),
    (row("PAYMENT_CARD", "x"), {}, {"payment": Payment(card_type="x")}),
    (row("CHANNEL", "Online"), {}, {"channel": "onLINE"}),
]


@pytest.mark.parametrize(("condition", "of_line", "of_request"), _WAYS_IN)
def test_every_kind_of_index_key_finds_only_its_promotion(
    condition: ConditionRow, of_line: dict[str, Any], of_request: dict[str, Any]
) -> None:
    catalogue = Catalogue(_TREE)
    catalogue.put(promotion("p", condition))
    seen = view(line("A", **of_line), groups=_TREE, **of_request)
    other = view(line("Z", "1", group="g9"), line("A", "-1", **of_line), groups=_TREE)
    assert [one.id for one in catalogue.candidates(seen, (), seen.settings)] == ["p"]
    assert catalogue.candidates(other, (), other.settings) == []


def test_a_promotion_is_indexed_by_its_conditions_rather_than_its_targets() -> None:
    catalogue = Catalogue()
    on_b = replace(TEN_PERCENT, action_type="ARTICLE", target_article_number="B")
    catalogue.put(promotion("buy A", row("ARTICLE", "A"), actions=(on_b,)))
    catalogue.put(promotion("on B", row("RECEIPT_AMOUNT", "5"), actions=(on_b,)))
    found = {
        name: [one.id for one in catalogue.candidates(seen, (), seen.settings)]
        for name, seen in (("A", view(line("A"))), ("B", view(line("B"))))
    }
    assert found == {"A": ["buy A"], "B": ["on B"]}


_CHANGES = st.lists(st.one_of(_promotions(), st.integers(0, 7).map("p{}".format)), max_size=20)
_COUPONS = st.sampled_from([(), ("t1",), ("t2", "t1"), ("t9",)])


def _has_targets(definition: PromotionDefinition, seen: BasketView) -> bool:
    held = sale_keys(seen).union(request_keys(seen))
    keys = [benefit.keys() for benefit in compile_promotion(definition).benefits]
    return any(one is None or not held.isdisjoint(one) for one in keys)


@given(_CHANGES, _views(), _COUPONS)
def test_the_index_finds_what_a_naive_search_finds(
    changes: list[PromotionDefinition | str], seen: BasketView, coupons: tuple[str, ...]
) -> None:
    catalogue = Catalogue(_TREE)
    live: dict[str, PromotionDefinition] = {}
    for change in changes:
        if isinstance(change, str):
            catalogue.remove(change)
            live.pop(change, None)
        else:
            catalogue.put(change)
            live[change.id] = change
    assert len(catalogue) == len(live)
    indexed = [one.id for one in catalogue.candidates(seen, coupons, seen.settings)]
    naive = [one.id for one in catalogue.candidates_naive(seen, coupons, seen.settings)]
    assert sorted(indexed) == sorted(naive)
    fresh = Catalogue(_TREE)
    fresh.compile_all(live.values())
    assert sorted(one.id for one in fresh.candidates(seen, coupons, seen.settings)) == sorted(indexed)


@given(st.lists(_promotions(), max_size=8), _views(), _COUPONS)
def test_the_index_overlooks_no_promotion_that_would_apply(
    definitions: list[PromotionDefinition], seen: BasketView, coupons: tuple[str, ...]
) -> None:
    """The index may return too much, but never too little: whatever qualifies and has targets is found."""
    for definition in definitions:
        catalogue = Catalogue(_TREE)
        catalogue.put(definition)
        told = [one.id for one in catalogue.candidates(seen, coupons, replace(seen.settings, include_missed=False))]
        for one in catalogue.candidates(seen, coupons, replace(seen.settings, include_missed=True)):
            if isinstance(one.qualify(seen, seen.sale_total_minor), Met) and _has_targets(definition, seen):
                assert one.id in told
