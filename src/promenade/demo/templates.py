"""The templates from which the retailer's planners create promotions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from decimal import Decimal
from random import Random
from typing import Any

from promenade.demo.assortment import draw_id
from promenade.demo.leaflet import Leaflet

_SOURCE = 9  # of IDs, separate from the notebook's: a new template does not change later draws


class _Templates:
    """Adds templates: each method adds to the template that was begun last."""

    def __init__(self, leaflet: Leaflet) -> None:
        self._book = leaflet.book
        self._groups = leaflet.priority_groups
        self._rng = Random(_SOURCE)  # noqa: S311 - a repeatable retailer is the point
        self._template = ""

    def begin(self, code: str, name: str, description: str, use_case: str, kind: str, group: str) -> None:
        """Start a new template without conditions and actions."""
        self._template = self._add(
            "PromotionTemplates",
            code=code,
            name=name,
            description=description,
            useCase=use_case,
            type=kind,
            priorityGroup_ID=self._groups[group],
        )

    def condition(self, kind: str, *, values: tuple[str, ...] = (), **fields: Any) -> None:
        """Add a condition."""
        row = self._add("TemplateConditions", template_ID=self._template, sequence=1, conditionType=kind, **fields)
        for value in values:
            self._add("TemplateConditionValueListItems", condition_ID=row, value=value)

    def action(self, kind: str, discount: str | None = None, value: str | None = None, **fields: Any) -> str:
        """Add a discount action."""
        return self._add(
            "TemplateDiscountActions",
            template_ID=self._template,
            sequence=0,
            actionType=kind,
            discountType=discount,
            discountValue=None if value is None else Decimal(value),
            **fields,
        )

    def steps(self, entity: str, action: str, limit: str, steps: Mapping[str, str]) -> None:
        """Add the tiers of an action, in percent: ``limit`` is the field for the start of each tier."""
        for sequence, (start, percentage) in enumerate(steps.items(), start=1):
            self._add(
                entity,
                action_ID=action,
                sequence=sequence,
                discountType="PERCENTAGE",
                discountValue=Decimal(percentage),
                **{limit: Decimal(start)},
            )

    def component(self, action: str, **fields: Any) -> None:
        """Add the bundle of an action."""
        self._add("TemplateDiscountActionBundleComponents", action_ID=action, sequence=1, **fields)

    def loyalty(self, kind: str, **fields: Any) -> None:
        """Add a loyalty action."""
        self._add("TemplateLoyaltyActions", template_ID=self._template, actionType=kind, **fields)

    def _add(self, entity: str, **fields: Any) -> str:
        return self._book.add(entity, ID=draw_id(self._rng), **fields)


def templates(leaflet: Leaflet) -> None:
    """Add one template for each kind of offer that a leaflet has every week."""
    made = _Templates(leaflet)
    coffee, shampoo = leaflet.leaf("Ground coffee").group_id, leaflet.leaf("Shampoo").group_id
    made.begin(
        "PERCENT", "Percentage off a group", "So much off all articles of a group.", "SEASONAL", "ARTICLE", "PRICE"
    )
    made.condition("ARTICLE_GROUP", articleGroupId=coffee)
    made.action("ARTICLE_GROUP", "PERCENTAGE", "10", targetArticleGroupId=coffee)
    made.begin("3-FOR-2", "3 for 2", "Of three of a group the cheapest is free.", "CROSS_SELL", "BUNDLE", "LEAFLET")
    cheapest = {"applicationQuantityMode": "CHEAPEST", "applicationQuantity": Decimal(1)}
    made.component(
        made.action("BUNDLE", "PERCENTAGE", "100", maxBundles=4, **cheapest),
        articleGroupId=shampoo,
        quantity=Decimal(3),
    )
    made.begin("TIERS", "Buy more, save more", "More pieces, higher percentage.", "SEASONAL", "ARTICLE", "LEAFLET")
    made.condition("ARTICLE_GROUP", articleGroupId=coffee)
    made.steps("TemplateDiscountActionQuantityTiers", made.action("QUANTITY_TIER", targetArticleGroupId=coffee),
               "minQuantity", {"3": "5", "6": "10", "12": "15"})  # fmt: skip
    made.begin(
        "RECEIPT", "Money off big baskets", "So much off from a basket of so much.", "SEASONAL", "RECEIPT", "CHECKOUT"
    )
    made.condition("RECEIPT_AMOUNT", operator="GTE", value="50")
    made.action("RECEIPT", "ABSOLUTE", "5", distributionMode="PROPORTIONAL")
    made.begin(
        "SCALE", "The more, the better", "Bigger baskets, bigger percentages.", "SEASONAL", "RECEIPT", "CHECKOUT"
    )
    made.steps("TemplateDiscountActionScaledTiers", made.action("SCALED_RECEIPT", distributionMode="PROPORTIONAL"),
               "thresholdAmount", {"50": "2", "100": "4", "150": "6"})  # fmt: skip
    made.begin(
        "COUPON", "Percentage with a coupon", "For who shows a coupon, up to a limit.", "COUPON", "COUPON", "CHECKOUT"
    )
    made.action("RECEIPT", "PERCENTAGE", "10", maxDiscountAmount=Decimal("20.00"))
    made.begin("HAPPY-HOUR", "Happy hour", "Off-peak hours on weekdays.", "CLEARANCE", "ARTICLE", "PRICE")
    made.condition("TIME_WINDOW", timeFrom=time(14), timeTo=time(16), weekdays="MON,TUE,WED,THU,FRI")
    made.action("ARTICLE_GROUP", "PERCENTAGE", "20", targetArticleGroupId=coffee)
    made.begin("POINTS", "Extra points", "Points for regular customers.", "LOYALTY", "LOYALTY", "SERVICE")
    made.condition("LOYALTY_ACCOUNT", values=("GOLD", "PLATINUM"))
    made.loyalty("ADD_FIXED", points=Decimal(20), targetScope="ALL_ITEMS")
