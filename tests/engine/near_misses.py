"""Random sales that nearly get more: baskets below thresholds, beside offers that exclude, limit and discount."""

from __future__ import annotations

from random import Random
from typing import Any

from promenade.engine.basket import Basket, BasketLine, BudgetFact, CouponFact, Facts, Payment, PosGroupFact, Settings
from promenade.engine.basket import UsageFact as Used
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
from tests.engine.given import NOW, article, row

__all__ = ["TREE", "catalogue_rows", "circumstances", "sale"]

TREE = {"food": None, "fruit": "food", "bread": "food"}
GROUPS = {"A": "fruit", "B": "fruit", "C": "bread", "D": None}
MASTER = {
    "A": article("A", name="Apple"),
    "E": article("E", base_price_hundredths=250),
    "W": article("W", unit="KGM"),
}


def sale(draw: Random) -> Basket:
    """Draw a small basket, now and then with returns, fractions and other currencies."""
    lines = []
    for number in range(draw.randint(1, 4)):
        name = draw.choice("AABBCDW")
        quantity = draw.choice((1, 1, 1, 2, 2, 3, 4)) * 1000
        if draw.random() < 0.12:
            quantity = draw.choice((500, 1500, -1000))
        price = draw.choice((99, 100, 250, 333, 500, 1000, 1000, 1990, 2500))
        lines.append(BasketLine(f"L{number}", name, quantity, price, article_group_id=GROUPS.get(name)))
    currency = draw.choice(("EUR", "EUR", "EUR", "EUR", "JPY", "KWD"))
    payment = draw.choice((None, None, Payment("CASH"), Payment("CARD", "VISA")))
    return Basket("t-1", tuple(lines), PosGroupFact("pos", "POS", currency), payment=payment)


def _target(draw: Random) -> dict[str, Any]:
    kind = draw.randrange(5)
    if kind < 2:
        return {}
    if kind < 4:
        return {"target_article_number": draw.choice("ABCD")}
    return {"target_article_group_id": draw.choice(("fruit", "food")), "include_sub_groups": draw.random() < 0.7}


def _amount(draw: Random) -> int:
    return draw.choice((500, 1000, 2000, 2500, 3000, 4000, 5000, 6000, 10_000))


def _conditions(draw: Random) -> tuple[ConditionRow, ...]:
    pieces: dict[str, Any] = {"min_quantity_thousandths": draw.randint(1, 5) * 1000}
    worth: dict[str, Any] = {"min_amount_hundredths": _amount(draw)}
    about: tuple[ConditionRow, ...] = (
        row("ARTICLE", draw.choice("ABC"), **pieces),
        row("ARTICLE_GROUP", "food", include_sub_groups=True, **pieces),
        row("ARTICLE_GROUP", "fruit", **worth),
        row("ARTICLE", draw.choice("ABC"), **pieces, **worth),
        row("ITEM_QUANTITY", str(draw.randint(2, 6))),
        row("RECEIPT_AMOUNT", str(_amount(draw) // 100)),
        row("RECEIPT_AMOUNT", str(_amount(draw) // 100)),
        row("PAYMENT_MEANS", "CARD"),
    )
    shape = draw.randrange(10)
    if shape < 4:
        return ()
    first = draw.choice(about)
    if shape < 8:
        return (first,)
    second = draw.choice(about)
    connector = draw.choice(("AND", "AND", "OR"))
    return first, row(second.condition_type, second.value, sequence=2, connector=connector, **_rest(second))


def _rest(one: ConditionRow) -> dict[str, Any]:
    return {
        "min_quantity_thousandths": one.min_quantity_thousandths,
        "min_amount_hundredths": one.min_amount_hundredths,
        "include_sub_groups": one.include_sub_groups,
    }


def _discount(draw: Random, *kinds: str) -> tuple[str, int]:
    kind = draw.choice(kinds)
    return kind, draw.choice((500, 1000, 2000, 5000, 10_000) if kind == "PERCENTAGE" else (50, 100, 300, 500, 1500))


def _action(draw: Random) -> ActionRow:
    kind = draw.choice(
        ("ARTICLE", "ARTICLE", "RECEIPT", "RECEIPT", "QUANTITY_TIER", "SCALED_RECEIPT", "BUNDLE", "BUNDLE", "FREE_ITEM")
    )
    some: dict[str, Any] = {"id": "a", "sequence": 1, "action_type": kind, **_target(draw)}
    if draw.random() < 0.15:
        some["exclusions"] = (ExclusionRow("ARTICLE", article_number=draw.choice("ABC")),)
    if draw.random() < 0.2:
        some["selection_type"] = draw.choice(("CHEAPEST", "MOST_EXPENSIVE", "RANDOM"))
    if draw.random() < 0.2:
        some["application_quantity_mode"] = draw.choice(("LIMITED", "CHEAPEST", "MOST_EXPENSIVE"))
    if kind == "FREE_ITEM":
        return ActionRow(**some, free_item_article_number=draw.choice("ABE"), restrict_to_one_per_basket=True)
    if draw.random() < 0.15:
        some["max_discount_hundredths"] = draw.choice((100, 400, 1000))
    if kind == "QUANTITY_TIER":
        at = sorted(draw.sample(range(1, 7), 2))
        any_kind = ("PERCENTAGE", "PERCENTAGE", "ABSOLUTE", "UNIT_PRICE")
        tiers = [
            TierRow(n, *_discount(draw, *any_kind), min_quantity_thousandths=one * 1000) for n, one in enumerate(at)
        ]
        return ActionRow(**some, quantity_tiers=tuple(tiers))
    if kind == "SCALED_RECEIPT":
        worths = sorted({_amount(draw), _amount(draw)})
        sums = [
            TierRow(n, *_discount(draw, "PERCENTAGE", "ABSOLUTE"), threshold_hundredths=one)
            for n, one in enumerate(worths)
        ]
        return ActionRow(**some, scaled_tiers=tuple(sums))
    if kind == "BUNDLE":
        some["components"] = tuple([_component(draw, number) for number in range(draw.choice((1, 2, 2, 3)))])
        some["max_bundles"] = draw.choice((None, None, 1, 2))
    kinds = ("PERCENTAGE", "ABSOLUTE") if kind == "RECEIPT" else ("PERCENTAGE", "PERCENTAGE", "ABSOLUTE", "UNIT_PRICE")
    discount_type, value = _discount(draw, *kinds)
    return ActionRow(**some, discount_type=discount_type, discount_value_hundredths=value)


def _component(draw: Random, number: int) -> ComponentRow:
    named: dict[str, Any] = draw.choice(
        (
            {},
            {"article_number": draw.choice("ABCE")},
            {"article_group_id": "food", "include_sub_groups": True},
            {"article_group_id": "fruit"},
        )
    )
    quantity = draw.randint(1, 3) * 1000
    return ComponentRow(f"k{number}", number, quantity, discounted=not number or draw.random() < 0.5, **named)


def _promotion(draw: Random, number: int) -> PromotionDefinition:
    group = draw.choice((None, None, None, "p1", "p2"))
    rest: dict[str, Any] = draw.choice(
        (
            *({} for _ in range(9)),
            {"coupon_type_ids": frozenset("t")},
            {"coupon_type_ids": frozenset("tu")},
            {"budget_ids": ("b1",)},
            {"max_applications_total": 2},
            {"currency": "USD"},
        )
    )
    return PromotionDefinition(
        id=f"{number:08x}-0000-4000-8000-000000000000",
        name=f"P{number}",
        priority=draw.randint(1, 4),
        exclusivity=draw.choice(("NONE",) * 8 + ("PROMOTION", "PROMOTION", "GROUP", "GLOBAL")),
        priority_group=None if group is None else PriorityRow(group, 1 if group == "p1" else 2, draw.randint(1, 3)),
        exclusion_group=ExclusionGroupRow("x", draw.choice(("HIGHEST_DISCOUNT", "LOWEST_DISCOUNT")))
        if draw.random() < 0.15
        else None,
        calculation_mode=draw.choice(("ADDITIVE", "MULTIPLICATIVE")),
        rounding=draw.choice(("ROUND_HALF_UP", "ROUND_HALF_UP", "ROUND_UP", "ROUND_DOWN")),
        conditions=_conditions(draw),
        actions=(_action(draw),),
        **rest,
    )


def catalogue_rows(draw: Random, most: int = 6) -> list[PromotionDefinition]:
    """Draw promotions of every kind."""
    return [_promotion(draw, number) for number in range(1, draw.randint(1, most) + 1)]


def circumstances(draw: Random, basket: Basket) -> tuple[Facts, Settings]:
    """Draw what the store knows, and the settings, so that something is told."""
    coupons = draw.choice(((), (), (CouponFact("code", "u", "Coupon", "id"),)))
    facts = Facts(
        articles=MASTER,
        coupons=coupons,
        budgets={"b1": BudgetFact("b1", "ACTIVE", draw.choice((0, 100, 500, 5000)), basket.pos_group.currency)},
        usage={f"{number:08x}-0000-4000-8000-000000000000": Used(draw.choice((0, 0, 2))) for number in range(1, 10)},
    )
    told = Settings(
        now=NOW,
        strategy=draw.choice(("SEQUENTIAL", "SEQUENTIAL", "BEST_DEAL")),
        include_missed=draw.random() < 0.6,
        nudges=draw.random() < 0.8,
    )
    return facts, told
