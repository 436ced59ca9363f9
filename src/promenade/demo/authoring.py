"""Collects the rows of the demo's promotions: rows by entity set, in wire names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

from promenade.demo.assortment import draw_id

Row = dict[str, Any]

# Parents before children, so that foreign keys hold during insertion.
_ORDER = (
    "PriorityGroups",
    "MutualExclusionGroups",
    "Stakeholders",
    "Campaigns",
    "CampaignPosGroups",
    "Budgets",
    "BudgetStakeholders",
    "BudgetNotifications",
    "RechargeContributions",
    "CouponTypes",
    "CouponCodeConfigurations",
    "CouponCodes",
    "Promotions",
    "PromotionPosGroups",
    "CalculationConfigs",
    "Conditions",
    "ConditionValueListItems",
    "ConditionArticleListItems",
    "DiscountActions",
    "ActionScaledTiers",
    "ActionQuantityTiers",
    "BundleComponents",
    "ActionArticleListItems",
    "ActionExclusions",
    "ActionExclusionArticleListItems",
    "LoyaltyActions",
    "PromotionTemplates",
    "TemplateConditions",
    "TemplateConditionValueListItems",
    "TemplateDiscountActions",
    "TemplateDiscountActionScaledTiers",
    "TemplateDiscountActionQuantityTiers",
    "TemplateDiscountActionBundleComponents",
    "TemplateLoyaltyActions",
    "PriorityGroupPromotions",
    "CouponTypePromotions",
    "BudgetPromotions",
    "PromotionPilotConfigs",
    "PilotPosGroups",
    "ControlPosGroups",
    "CustomerGroups",
    "LoyaltyTiers",
)


class Notebook:
    """Collects rows; every ID comes from the seeded source."""

    def __init__(self, rng: Random, valid_from: datetime, valid_to: datetime) -> None:
        self.rng = rng
        self.valid_from = valid_from
        self.valid_to = valid_to
        self._rows: dict[str, list[Row]] = {entity: [] for entity in _ORDER}

    def add(self, entity: str, **fields: Any) -> str:
        """Add one row and return its ID, a new one unless ``fields`` contain one."""
        given = {key: value for key, value in fields.items() if value is not None}
        row = given if "ID" in given else {"ID": draw_id(self.rng), **given}
        self._rows[entity].append(row)
        return str(row["ID"])

    def rows(self) -> Iterator[tuple[str, list[Row]]]:
        """Return all rows by entity set, parents first."""
        for entity in _ORDER:
            if self._rows[entity]:
                yield entity, self._rows[entity]

    def count(self, entity: str) -> int:
        """Return the number of rows of an entity."""
        return len(self._rows[entity])

    def promotion(self, code: str, name: str, promotion_type: str = "ARTICLE", **fields: Any) -> str:
        """Add a running promotion; fields override its defaults."""
        defaults: Row = {
            "code": code,
            "name": name,
            "type": promotion_type,
            "status": "ACTIVE",
            "validFrom": self.valid_from,
            "validTo": self.valid_to,
        }
        return self.add("Promotions", **{**defaults, **fields})

    def condition(
        self,
        promotion: str,
        condition_type: str,
        *,
        values: tuple[str, ...] = (),
        articles: tuple[str, ...] = (),
        **fields: Any,
    ) -> str:
        """Add the next condition of a promotion, with its value and article lists."""
        place = sum(row["promotion_ID"] == promotion for row in self._rows["Conditions"][-8:]) + 1
        sequence = fields.pop("sequence", place)
        row = self.add("Conditions", promotion_ID=promotion, sequence=sequence, conditionType=condition_type, **fields)
        for value in values:
            self.add("ConditionValueListItems", condition_ID=row, value=value)
        for article in articles:
            self.add("ConditionArticleListItems", condition_ID=row, articleNumber=article)
        return row

    def action(
        self,
        promotion: str,
        action_type: str,
        discount_type: str | None = None,
        value: str | Decimal | None = None,
        **fields: Any,
    ) -> str:
        """Add a discount action to a promotion."""
        return self.add(
            "DiscountActions",
            promotion_ID=promotion,
            sequence=fields.pop("sequence", 0),
            actionType=action_type,
            discountType=discount_type,
            discountValue=Decimal(value) if value is not None else None,
            **fields,
        )

    def calculation(self, promotion: str, **fields: Any) -> str:
        """Add how a promotion calculates: mode, rounding, precision."""
        return self.add("CalculationConfigs", promotion_ID=promotion, **fields)

    def loyalty(self, promotion: str, action_type: str, **fields: Any) -> str:
        """Add a loyalty action to a promotion."""
        return self.add("LoyaltyActions", promotion_ID=promotion, actionType=action_type, **fields)

    def bundle(self, action: str, *components: Mapping[str, Any]) -> None:
        """Add the components of a bundle, in order."""
        for sequence, component in enumerate(components, start=1):
            self.add("BundleComponents", action_ID=action, sequence=sequence, **component)
