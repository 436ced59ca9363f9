"""Promotion templates; their children mirror those of promotions."""

from __future__ import annotations

from promenade.model.declare import DRAFT, DRAFT_NODE, RW, Entity, children, code_of, parent, text, to_one
from promenade.model.promotions.actions import (
    BundleComponentFields,
    DiscountActionFields,
    ExclusionFields,
    FixedPriceFields,
    LoyaltyActionFields,
    QuantityTierFields,
    ScaledTierFields,
)
from promenade.model.promotions.conditions import ArticleListItemFields, ConditionFields, ConditionValueListItemFields

__all__ = [
    "PromotionTemplates",
    "TemplateConditionArticleListItems",
    "TemplateConditionValueListItems",
    "TemplateConditions",
    "TemplateDiscountActionArticleListItems",
    "TemplateDiscountActionBundleComponents",
    "TemplateDiscountActionExclusionArticleListItems",
    "TemplateDiscountActionExclusions",
    "TemplateDiscountActionQuantityTiers",
    "TemplateDiscountActionScaledTiers",
    "TemplateDiscountActions",
    "TemplateLoyaltyActions",
]


class PromotionTemplates(Entity, public=RW, admin=DRAFT, natural_key=("code",)):
    """A template from which promotions are created."""

    code = text(50, "Short unique code of the template.", searchable=True)
    name = text(255, "Name of the template.", required=True, searchable=True)
    description = text(1000, "Description of promotions created from it.", searchable=True)
    use_case = code_of("UseCases", "Intended use of the template.")
    type = code_of("PromotionTypes", "Main type of promotions created from it.")
    priority_group = to_one("PriorityGroups", "The priority group of promotions created from it.")
    conditions = children("TemplateConditions", "Conditions of promotions created from it.", by="template")
    discount_actions = children("TemplateDiscountActions", "Their discount actions.", by="template")
    loyalty_actions = children("TemplateLoyaltyActions", "Their loyalty actions.", by="template")


class TemplateConditions(ConditionFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """A condition of promotions created from a template."""

    template = parent("PromotionTemplates", "The template.")
    value_list_items = children(
        "TemplateConditionValueListItems", "Alternative values: any one is sufficient.", by="condition"
    )
    article_list_items = children(
        "TemplateConditionArticleListItems", "Alternative articles: any one is sufficient.", by="condition"
    )


class TemplateConditionValueListItems(
    ConditionValueListItemFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False
):
    """One of several values of a template's condition."""

    condition = parent("TemplateConditions", "The condition.")


class TemplateConditionArticleListItems(ArticleListItemFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """One of several articles of a template's condition."""

    condition = parent("TemplateConditions", "The condition.")


class TemplateDiscountActions(DiscountActionFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """A discount action of promotions created from a template."""

    template = parent("PromotionTemplates", "The template.")
    scaled_tiers = children("TemplateDiscountActionScaledTiers", "Tiers by amount.", by="action")
    quantity_tiers = children("TemplateDiscountActionQuantityTiers", "Tiers by quantity.", by="action")
    bundle_components = children("TemplateDiscountActionBundleComponents", "Components of the bundle.", by="action")
    article_list_items = children("TemplateDiscountActionArticleListItems", "The articles it discounts.", by="action")
    exclusions = children("TemplateDiscountActionExclusions", "Its exclusions.", by="action")


class TemplateDiscountActionScaledTiers(ScaledTierFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """A tier by amount of a template's action."""

    action = parent("TemplateDiscountActions", "The action.")


class TemplateDiscountActionQuantityTiers(QuantityTierFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """A tier by quantity of a template's action."""

    action = parent("TemplateDiscountActions", "The action.")


class TemplateDiscountActionBundleComponents(
    BundleComponentFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False
):
    """A component of a bundle of a template's action."""

    action = parent("TemplateDiscountActions", "The action.")


class TemplateDiscountActionArticleListItems(FixedPriceFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """An article that a template's action discounts."""

    action = parent("TemplateDiscountActions", "The action.")


class TemplateDiscountActionExclusions(ExclusionFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """An exclusion of a template's action."""

    action = parent("TemplateDiscountActions", "The action.")
    article_list_items = children(
        "TemplateDiscountActionExclusionArticleListItems", "The excluded articles.", by="exclusion"
    )


class TemplateDiscountActionExclusionArticleListItems(
    ArticleListItemFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False
):
    """An article of a template's exclusion."""

    exclusion = parent("TemplateDiscountActionExclusions", "The exclusion.")


class TemplateLoyaltyActions(LoyaltyActionFields, Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False):
    """A loyalty action of promotions created from a template."""

    template = parent("PromotionTemplates", "The template.")
