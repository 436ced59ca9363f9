"""Small but difficult sales: promotions that conflict, and baskets that match most of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from promenade.engine.basket import (
    ArticleFact,
    Basket,
    BasketLine,
    BudgetFact,
    CouponFact,
    Customer,
    Facts,
    Payment,
    PosGroupFact,
    Settings,
    UsageFact,
)
from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
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
from tests.engine.reference.actions import ACTIONS
from tests.engine.reference.case import Case
from tests.engine.reference.conditions import CONDITIONS
from tests.engine.reference.points import REWARDS

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)  # a Saturday
DAY = timedelta(days=1)
ARTICLES = ("A", "B", "C", "D", "W")
ARTICLE_GROUPS: dict[str, str | None] = {"food": None, "fruit": "food", "bread": "food"}
GROUP_OF = {"A": "fruit", "B": "fruit", "C": "bread", "D": None, "W": "bread"}
FACTS = {
    "W": ArticleFact("W", unit="KGM", article_group_id="bread"),
    "D": ArticleFact("D", unit="PCE", manufacturer_id="M2"),
    "E": ArticleFact("E", base_price_hundredths=250, currency="EUR"),
}
PRICES = (1000, 1000, 999, 333, 250, 100, 5, 1, 0, 1999, 450)
KINDS = (
    *("ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "RECEIPT", "SCALED_RECEIPT", "QUANTITY_TIER"),
    *("BUNDLE", "BUNDLE", "FREE_ITEM", "FREE_ITEM", "POST_PURCHASE_COUPON"),
    *(code for code, known in ACTIONS.items() if known.made_up),
)


def identity(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


class Maker:
    """Makes cases from one random generator."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.crowded = self.chance.randrange(5) > 0  # few restrictions keep promotions from applying together

    def one(self, *choices: Any) -> Any:
        return choices[self.chance.randrange(len(choices))]

    def odds(self, of: int) -> bool:
        """Return true once in ``of`` times."""
        return self.chance.randrange(of) == 0

    def case(self) -> Case:
        currency = self.one("EUR", "EUR", "JPY", "KWD")
        lines = tuple(self.line(number, currency) for number in range(self.chance.randint(1, 6)))
        count = self.one(1, 2, 3, 4, 5, 6)
        numbers = list(range(1, count + 1))
        self.chance.shuffle(numbers)
        definitions = tuple(self.promotion(number, currency) for number in numbers)
        if self.odds(3):
            definitions += (self.giver(count + 1),)
            numbers.append(count + 1)
        coupons = tuple(self.coupon(number) for number in range(self.one(0, 1, 2, 3)))
        basket = Basket(
            "t-1",
            lines,
            PosGroupFact("pos", "POS", currency, self.one("UTC", "Europe/Berlin", "Asia/Tokyo")),
            tuple(coupon.code for coupon in coupons),
            None if self.odds(4) else Customer("c-1", "VIP", None, self.one("GOLD", None), self.one(0, 100, None)),
            None if self.odds(4) else Payment("CARD", "VISA", "41111111"),
            self.one(None, "In_Store"),
            (("key", "yes"), ("count", "12")),
            self.odds(2),
            self.one(None, "DAMAGED"),
        )
        facts = Facts(
            FACTS,
            {},
            coupons,
            {
                name: BudgetFact(
                    name,
                    self.one("ACTIVE", "ACTIVE", "ACTIVE", "EXHAUSTED", "EXPIRED", "SHARE"),
                    self.one(0, 100, 900, 5000),
                    currency,
                )
                for name in ("b1", "b2")
            },
            {identity(number): UsageFact(self.one(0, 1, 3), self.one(0, 1), self.odds(4)) for number in numbers},
        )
        settings = Settings(
            NOW,
            points_per_currency_unit_thousandths=self.one(0, 1000, 1500),
            include_inactive=self.odds(3),
        )
        return (
            self.barred(Case(definitions, basket, facts, settings))
            if self.odds(3)
            else Case(definitions, basket, facts, settings)
        )

    def barred(self, case: Case) -> Case:
        """The same sale where some goods are never discounted, or do not count."""
        article = self.one("A", "B", "C", "E", None)
        known = FACTS.get(article or "", ArticleFact(article or ""))
        articles = FACTS | ({} if article is None else {article: replace(known, never_discounted="FIXED_PRICE")})
        return replace(
            case,
            definitions=tuple(
                replace(each, counts_barred=self.one(None, True, False), counts_excluded=self.one(None, True, False))
                for each in case.definitions
            ),
            facts=replace(case.facts, articles=articles),
            settings=replace(case.settings, barred_counts=self.odds(2), excluded_counts=self.odds(2)),
            never=self.one({}, {}, {"fruit": "TOBACCO"}, {"food": "TOBACCO"}, {"bread": "DEPOSIT"}),
        )

    def line(self, number: int, currency: str) -> BasketLine:
        article = self.one(*ARTICLES)
        quantity = self.one(1, 1, 2, 2, 3, 4, 6) * 1000
        if article == "W":
            quantity = self.one(500, 1500, 333, 2000, 1250)
        if self.odds(8):
            quantity = -quantity
        price = self.one(*PRICES)
        if currency == "JPY":
            price = self.one(100, 300, 1000, 9900, 0, 1500, 123_400)
        return BasketLine(
            f"L{number}",
            article,
            quantity,
            price,
            "ean-" + article,
            GROUP_OF[article],
            self.one(None, "M1", "M2"),
            self.one((), (("shelf", "3"),), (("shelf", "low"),)),
            self.one(None, None, None, price, price + 150, 2 * price),
        )

    def coupon(self, number: int) -> CouponFact:
        return CouponFact(
            f"code-{number}",
            self.one("t", "t", "u", "v"),
            "Coupon",
            f"id-{number}",
            self.one(None, None, None, "EXPIRED"),
        )

    def promotion(self, number: int, currency: str) -> PromotionDefinition:
        group = self.one(None, None, "g1", "g2", "g3")
        exclusion = self.one(None, None, None, "x1", "x2") if not self.crowded else self.one(*(None,) * 7, "x1")
        limited = not self.crowded or self.odds(4)
        rest = self.circumstances() if limited and self.odds(3) else {}
        levels = ("NONE", "NONE", "NONE", "PROMOTION", "PROMOTION", "GROUP", "GLOBAL")
        conditions = self.conditions()
        actions = tuple(self.action(n) for n in range(self.one(0, 1, 1, 1, 1, 2)))
        return PromotionDefinition(
            id=identity(number),
            name=f"P{number}",
            priority=self.one(1, 2, 2, 3),
            exclusivity=self.one(*levels) if limited else self.one("NONE", "NONE", "NONE", "PROMOTION"),
            currency=self.one(None, None, currency),
            priority_group=PriorityRow(group, {"g1": 1, "g2": 2, "g3": 2}[group], self.one(1, 2)) if group else None,
            exclusion_group=ExclusionGroupRow(exclusion, "HIGHEST_DISCOUNT" if exclusion == "x1" else "LOWEST_DISCOUNT")
            if exclusion
            else None,
            calculation_mode=self.one("ADDITIVE", "MULTIPLICATIVE"),
            rounding=self.one("ROUND_HALF_UP", "ROUND_HALF_UP", "ROUND_DOWN", "ROUND_UP", "NONE"),
            precision=self.one(None, None, None, 1, 0),
            max_applications_per_transaction=self.one(None, None, None, 1, 2),
            max_applications_total=self.one(None, None, None, 3) if limited else None,
            max_applications_per_customer=self.one(None, None, None, None, 1) if limited else None,
            budget_ids=self.one((), (), (), ("b1",), ("b1", "b2")) if limited else (),
            conditions=conditions,
            actions=actions,
            loyalty_actions=tuple(self.loyalty(n) for n in range(self.one(0, 0, 0, 1, 2))),
            **rest,
        )

    def giver(self, number: int) -> PromotionDefinition:
        """Make a promotion, usually an early one, that leaves nothing of some units' price."""
        kind, value = self.one(("PERCENTAGE", 10_000), ("UNIT_PRICE", 0), ("ABSOLUTE", 100_000))
        some: tuple[dict[str, Any], ...] = (
            {"application_quantity_mode": "LIMITED", "application_quantity_thousandths": self.one(None, 2000)},
            {"application_quantity_mode": "CHEAPEST", "application_quantity_thousandths": 2000},
            {"target_article_number": self.one(*ARTICLES)},
            self.targets("ARTICLE"),
        )
        return PromotionDefinition(
            id=identity(number),
            name="Something for nothing",
            priority=self.one(0, 0, 2),
            exclusivity=self.one("NONE", "NONE", "NONE", "PROMOTION"),
            calculation_mode=self.one("ADDITIVE", "MULTIPLICATIVE"),
            actions=(ActionRow("a", 1, "ARTICLE", kind, value, **self.one(*some)),),
        )

    def circumstances(self) -> dict[str, Any]:
        pilot = PilotRow("config", NOW - DAY, NOW + DAY, 100, 0, frozenset({"pos"}), frozenset())
        choices: tuple[dict[str, Any], ...] = (
            {"status": "DRAFT"},
            {"status": "INACTIVE"},
            {"status": "ARCHIVED"},
            {"status": "PILOT", "pilot": pilot},
            {"valid_to": NOW},
            {"valid_from": NOW},
            {"campaign_id": "c", "campaign_window": (NOW, NOW + DAY)},
            {"campaign_id": "c", "campaign_window": (None, NOW)},
            {"campaign_id": "c", "campaign_cancelled": True},
            {"pos_groups": frozenset({"other"})},
            {"pos_groups": frozenset({"pos"})},
            {"coupon_type_ids": frozenset("t")},
            {"coupon_type_ids": frozenset("t")},
            {"coupon_type_ids": frozenset("t")},
            {"coupon_type_ids": frozenset("tu")},
            {"coupon_type_ids": frozenset("u")},
            {"is_experiment": True, "control_group_id": "pos"},
            {"is_experiment": True, "control_group_id": "other", "experiment_group_id": "pos"},
            {"is_experiment": True, "experiment_group_id": "other"},
        )
        chosen: dict[str, Any] = self.one(*choices)
        return chosen

    def conditions(self) -> tuple[ConditionRow, ...]:
        count = self.one(0, 0, 0, 0, 1, 1, 2) if self.crowded else self.one(0, 0, 1, 1, 1, 2, 2, 3)
        return tuple(
            ConditionRow(
                id=f"c{n}", sequence=n, connector=self.one("AND", "AND", "AND", "OR", "OR", "NOT"), **self.condition()
            )
            for n in range(1, count + 1)
        )

    def condition(self) -> dict[str, Any]:
        least = self.one(
            {},
            {},
            {"min_quantity_thousandths": 2000},
            {"min_quantity_thousandths": 3000},
            {"min_amount_hundredths": 1000},
        )
        builders: tuple[dict[str, Any], ...] = (
            {"condition_type": "ARTICLE", "article_number": self.one(*ARTICLES), **least},
            {"condition_type": "ARTICLE", "value": self.one("A", "B"), "values": ("C",), **least},
            {
                "condition_type": "ARTICLE_GROUP",
                "article_group_id": self.one("food", "fruit"),
                "include_sub_groups": self.odds(2),
                **least,
            },
            {
                "condition_type": "ARTICLE_GROUP",
                "value": self.one("food", "fruit"),
                "include_sub_groups": self.odds(2),
                **least,
            },
            {"condition_type": "ARTICLE_LIST", "articles": (ArticleRow("A"), ArticleRow(None, "ean-C")), **least},
            {"condition_type": "MANUFACTURER", "manufacturer": self.one("M1", "M2"), **least},
            {"condition_type": "MANUFACTURER", "value": self.one("M1", "M2"), **least},
            {
                "condition_type": "ITEM_QUANTITY",
                "value": self.one("1", "2", "3", "1.5"),
                "operator": self.one(None, "GTE", "LTE", "GREATER_THAN"),
            },
            {"condition_type": "ITEM_QUANTITY", "value": "2", "value_to": "8", "operator": "BETWEEN"},
            {
                "condition_type": "RECEIPT_AMOUNT",
                "value": self.one("5", "10", "19.99", "30"),
                "operator": self.one(None, None, "GTE", "LESS_THAN"),
            },
            {"condition_type": "RECEIPT_AMOUNT", "value": "5", "value_to": "50", "operator": "BETWEEN"},
            self.request_condition(),
            self.request_condition(),
        )
        chosen: dict[str, Any] = self.one(*builders)
        return chosen

    def request_condition(self) -> dict[str, Any]:
        code = self.one(*(code for code, known in CONDITIONS.items() if known.made_up))
        chosen: dict[str, Any] = {"condition_type": code, **self.one(*CONDITIONS[code].made_up)}
        return chosen

    def discount(self, *kinds: str) -> tuple[str, int]:
        kind = self.one(*kinds)
        if kind == "PERCENTAGE":
            return kind, self.one(1000, 2000, 1500, 3333, 1) if self.crowded else self.one(1000, 5000, 3333, 10_000, 1)
        return kind, self.one(10, 20, 50, 100, 33, 200) if self.crowded else self.one(100, 200, 500, 1, 333, 1000)

    def action(self, number: int) -> ActionRow:
        kind = self.one(*KINDS)
        every = {"id": f"a{number}", "sequence": self.one(1, 2), "action_type": kind}
        if kind == "POST_PURCHASE_COUPON":
            return ActionRow(**every, target_coupon_type_id="gift")
        every |= self.targets(kind)
        every["distribution_mode"] = self.one(None, None, "PROPORTIONAL", "EQUAL", "HIGHEST_FIRST")
        if self.odds(4):
            every["exclusions"] = (self.exclusion(kind),)
        if kind == "FREE_ITEM":
            return ActionRow(
                **every,
                free_item_article_number=self.one("A", "A", "B", "C", "E", "unknown"),
                free_item_quantity_thousandths=self.one(1000, 1000, 2000),
                restrict_to_one_per_basket=self.odds(4),
                max_free_units_thousandths=self.one(None, None, 1000, 3000),
                free_item_reference_price_hundredths=self.one(None, 700),
            )
        if self.odds(4):
            every["max_discount_hundredths"] = self.one(100, 300, 1000)
        if kind in ACTIONS and ACTIONS[kind].made_up:
            return ActionRow(**every, **self.one(*ACTIONS[kind].made_up))
        if kind in ("ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "QUANTITY_TIER", "BUNDLE") and self.odds(2):
            every["application_quantity_mode"] = self.one("ALL", "LIMITED", "CHEAPEST", "MOST_EXPENSIVE")
            every["application_quantity_thousandths"] = self.one(None, 1000, 2000, 3000)
        if kind in ("ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "QUANTITY_TIER", "BUNDLE") and self.odds(3):
            every["selection_type"] = self.one("ALL", "CHEAPEST", "MOST_EXPENSIVE")
        any_kind = ("PERCENTAGE", "ABSOLUTE", "UNIT_PRICE")
        if kind == "QUANTITY_TIER":
            return ActionRow(
                **every,
                quantity_tiers=tuple(
                    TierRow(n, *self.discount(*any_kind), min_quantity_thousandths=self.one(0, n, 2 * n) * 1000)
                    for n in (1, 2)
                ),
            )
        if kind == "SCALED_RECEIPT":
            return ActionRow(
                **every,
                scaled_tiers=tuple(
                    TierRow(
                        n, *self.discount("PERCENTAGE", "ABSOLUTE"), threshold_hundredths=self.one(0, 5, 10) * n * 100
                    )
                    for n in (1, 2)
                ),
            )
        if kind == "BUNDLE":
            every |= {"components": self.components(), "max_bundles": self.one(None, None, 1, 2)}
        discount_type, value = self.discount(*(any_kind if kind != "RECEIPT" else any_kind[:2]))
        return ActionRow(**every, discount_type=discount_type, discount_value_hundredths=value)

    def targets(self, kind: str) -> dict[str, Any]:
        listed = (ArticleRow("A"), ArticleRow(None, "ean-B"), ArticleRow("W", None, 300), ArticleRow("C", None, 200))
        if kind == "ARTICLE_LIST":
            return {"target_article_list": True, "articles": listed[: self.one(2, 4)]}
        if kind in ("BUNDLE", "FREE_ITEM"):
            return {}
        choices: tuple[dict[str, Any], ...] = (
            {},
            {},
            {"target_article_number": self.one(*ARTICLES)},
            {"target_article_group_id": self.one("food", "fruit"), "include_sub_groups": self.odds(2)},
        )
        chosen: dict[str, Any] = self.one(*choices)
        return chosen

    def exclusion(self, kind: str) -> ExclusionRow:
        if kind in ("ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST") and self.odds(3):
            return ExclusionRow("BETTER_REDUCED")
        found: ExclusionRow = self.one(
            ExclusionRow("ARTICLE", article_number=self.one(*ARTICLES)),
            ExclusionRow("ARTICLE_GROUP", article_group_id=self.one("fruit", "bread")),
            ExclusionRow("ARTICLE_LIST", articles=(ArticleRow("A"), ArticleRow(None, "ean-C"))),
            ExclusionRow("MANUFACTURER", manufacturer=self.one("M1", "M2")),
            ExclusionRow("REDUCED"),
            ExclusionRow("ADDITIONAL_FIELD", field_name="shelf", value=self.one(None, "low", "3.0")),
        )
        return found

    def components(self) -> tuple[ComponentRow, ...]:
        count = self.one(1, 1, 2, 2, 3)
        rows = []
        for n in range(1, count + 1):
            where = self.one(
                {"article_number": "A"},
                {"article_number": "B"},
                {"article_number": self.one("C", "D", "W")},
                {"article_group_id": "food", "include_sub_groups": True},
                {"article_group_id": "fruit"},
            )
            rows.append(ComponentRow(f"k{n}", n, self.one(1, 1, 2) * 1000, discounted=n == 1 or self.odds(2), **where))
        return tuple(rows)

    def loyalty(self, number: int) -> LoyaltyRow:
        kind = self.one(*REWARDS)
        return LoyaltyRow(
            f"l{number}",
            kind,
            **self.one(*REWARDS[kind].made_up),
            target_scope=(scope := self.one("ALL_ITEMS", "ALL_ITEMS", "ARTICLE")),
            target_article_number="A" if scope == "ARTICLE" else None,
            max_points_hundredths=self.one(None, None, 500),
        )
