"""Actions: the benefit of a promotion, such as a discount, a free item, a coupon or points."""

from __future__ import annotations

from promenade.model.declare import (
    PLAIN,
    RW,
    Entity,
    Fields,
    boolean,
    children,
    code_of,
    decimal,
    integer,
    money,
    parent,
    pieces,
    text,
    to_one,
)
from promenade.model.promotions.conditions import ArticleListItemFields

__all__ = [
    "ActionArticleListItems",
    "ActionExclusionArticleListItems",
    "ActionExclusions",
    "ActionQuantityTiers",
    "ActionScaledTiers",
    "BundleComponentFields",
    "BundleComponents",
    "DiscountActionFields",
    "DiscountActions",
    "ExclusionFields",
    "FixedPriceFields",
    "LoyaltyActionArticleListItems",
    "LoyaltyActionFields",
    "LoyaltyActions",
    "QuantityTierFields",
    "ScaledTierFields",
]


class DiscountActionFields(Fields):
    """The fields of a discount action, in promotions and templates."""

    sequence = integer("Position among the promotion's actions: lower numbers come first.", default=0)
    action_type = code_of("ActionTypes", "Type of the action.", required=True)
    discount_type = code_of("DiscountTypes", "Whether the discount value is a percentage, an amount or a price.")
    discount_value = money("A percentage, an amount off or a price, depending on the discount type.")
    max_discount_amount = money("Maximum total discount of the action.")
    target_article_number = text(50, "Number of the article it discounts.", searchable=True)
    target_article_group_key = text(20, "groupId of the article group it discounts.", wire="targetArticleGroupId",
                                    label="Target article group ID")  # fmt: skip
    include_sub_groups = boolean("Whether groups below the target group are discounted too.")
    target_article_list = boolean("Whether it discounts the articles of its list.")
    selection_type = code_of("SelectionTypes", "Which of the target lines are discounted; null: all.")
    application_quantity_mode = code_of("ApplicationQuantityModes", "Which units of those lines; null: all.")
    application_quantity = pieces("Number of units to discount, unless the mode is ALL; null: 1.")
    distribution_mode = code_of("DistributionModes", "How a discount on several lines is allocated to them.")
    max_bundles = integer("Maximum number of bundles per basket.", minimum=0)
    free_item_article_number = text(50, "Number of the article given free.", searchable=True)
    free_item_quantity = pieces("Number of free units each time the conditions are met.")
    restrict_to_one_per_basket = boolean(
        "Whether free items are given only once per basket, however often the conditions are met."
    )
    free_item_reference_price = money("Value of a free item if the basket does not contain its price.")
    max_free_units = pieces("Maximum number of free units per basket.")
    target_article = to_one("Articles", "The article it discounts, from master data.")
    target_article_group = to_one("ArticleGroups", "The article group it discounts, from master data.")
    target_coupon_type = to_one("CouponTypes", "The coupon type it issues after the purchase.")


class _DiscountFields(Fields):
    sequence = integer("Position among the tiers.", default=0)
    discount_type = code_of(
        "DiscountTypes", "Whether the discount value is a percentage, an amount or a price.", required=True
    )
    discount_value = money("A percentage, an amount off or a price.", required=True)


class ScaledTierFields(_DiscountFields):
    """A tier of a discount that grows with the amount."""

    threshold_amount = money("Minimum amount of the tier.", required=True)


class QuantityTierFields(_DiscountFields):
    """A tier of a discount that grows with the quantity."""

    min_quantity = pieces("Minimum quantity of the tier.", required=True)


class BundleComponentFields(Fields):
    """A component of a bundle."""

    sequence = integer("Position in the bundle.", default=0)
    article_number = text(50, "Number of the article.", searchable=True)
    article_group_key = text(20, "groupId of the article group.", wire="articleGroupId", label="Article group ID")
    include_sub_groups = boolean("Whether groups below the article group count, too.")
    quantity = pieces("Number of units in each bundle.", required=True)
    discounted = boolean("Whether these units are discounted; if not, they are required but keep their price.",
                         default=True)  # fmt: skip
    article = to_one("Articles", "The article, from master data.")
    article_group = to_one("ArticleGroups", "The article group, from master data.")


class FixedPriceFields(ArticleListItemFields):
    """An article of an action's list, with its own price if it has one."""

    fixed_price = money("The price of this article after the discount, instead of the action's discount.")


class ExclusionFields(Fields):
    """An exclusion of an action: articles that it does not discount."""

    exclusion_type = code_of("ExclusionTypes", "Type of the exclusion.", required=True)
    article_number = text(50, "Number of the excluded article.", searchable=True)
    article_group_key = text(20, "groupId of the excluded article group.", wire="articleGroupId",
                             label="Article group ID")  # fmt: skip
    manufacturer = text(255, "The excluded manufacturer.", searchable=True)
    field_name = text(100, "Key of the additional field of the excluded lines.")
    value = text(255, "The value of that field, as EQUALS compares it; null: any.")
    article_group = to_one("ArticleGroups", "The excluded article group, from master data.")


class LoyaltyActionFields(Fields):
    """The fields of a loyalty action, in promotions and templates."""

    action_type = code_of("LoyaltyActionTypes", "How points are granted or deducted.", required=True)
    points = decimal(15, 2, "Number of points per application or per currency amount.", minimum="0")
    multiplier = decimal(7, 3, "The factor of MULTIPLY_POINTS.", minimum="0")
    currency_amount = money("The amount that earns `points` each time it is reached in full.")
    target_scope = code_of("LoyaltyTargetScopes", "The articles that earn points.", default="ALL_ITEMS")
    target_article_number = text(50, "Number of the article.", searchable=True)
    target_article_group_key = text(20, "groupId of the article group.", wire="targetArticleGroupId",
                                    label="Target article group ID")  # fmt: skip
    include_sub_groups = boolean("Whether groups below the target group count.")
    max_points = decimal(15, 2, "Maximum number of points of the action.", minimum="0")


class DiscountActions(DiscountActionFields, Entity, public=RW, admin=PLAIN, shows_tenant=False):
    """One benefit of a promotion: a discount, a free item or a coupon after the purchase."""

    promotion = parent("Promotions", "The promotion.")
    scaled_tiers = children("ActionScaledTiers", "Tiers by amount.", by="action")
    quantity_tiers = children("ActionQuantityTiers", "Tiers by quantity.", by="action")
    bundle_components = children("BundleComponents", "Components of the bundle.", by="action")
    article_list_items = children("ActionArticleListItems", "The articles it discounts.", by="action")
    exclusions = children("ActionExclusions", "Its exclusions.", by="action")


class ActionScaledTiers(ScaledTierFields, Entity, public=RW, admin=PLAIN):
    """A tier of a receipt discount that grows with the amount: the highest one reached counts."""

    action = parent("DiscountActions", "The action.")


class ActionQuantityTiers(QuantityTierFields, Entity, public=RW, admin=PLAIN):
    """A tier of a discount that grows with the quantity: the highest one reached counts."""

    action = parent("DiscountActions", "The action.")


class BundleComponents(BundleComponentFields, Entity, public=RW, admin=PLAIN):
    """A component of a bundle: how many units of which article or group."""

    action = parent("DiscountActions", "The action.")


class ActionArticleListItems(FixedPriceFields, Entity, public=RW, admin=PLAIN, shows_tenant=False, managed=False):
    """An article that an action discounts, with its own price if it has one."""

    action = parent("DiscountActions", "The action.")


class ActionExclusions(ExclusionFields, Entity, public=RW, admin=PLAIN, shows_tenant=False):
    """An exclusion of an action: articles that it does not discount."""

    action = parent("DiscountActions", "The action.")
    article_list_items = children("ActionExclusionArticleListItems", "The excluded articles.", by="exclusion")


class ActionExclusionArticleListItems(ArticleListItemFields, Entity, public=RW, admin=PLAIN):
    """An article of an exclusion."""

    exclusion = parent("ActionExclusions", "The exclusion.")


class LoyaltyActions(LoyaltyActionFields, Entity, public=RW, admin=PLAIN):
    """Points that a promotion grants or deducts."""

    promotion = parent("Promotions", "The promotion.")
    article_list_items = children("LoyaltyActionArticleListItems", "The articles that earn points.",
                                  by="loyalty_action")  # fmt: skip


class LoyaltyActionArticleListItems(ArticleListItemFields, Entity, public=RW, admin=PLAIN):
    """An article that earns points."""

    loyalty_action = parent("LoyaltyActions", "The loyalty action.")
