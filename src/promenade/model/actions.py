"""Actions: the benefit of a promotion, such as a discount, a free item, a coupon or points."""

from __future__ import annotations

from promenade.model.conditions import ArticleListItemFields
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
    """The fields of a discount action, in a promotion and in a template alike."""

    sequence = integer("Its place among the promotion's actions: lower comes first.", default=0)
    action_type = code_of("ActionTypes", "What it gives.", required=True)
    discount_type = code_of("DiscountTypes", "How the discount value is meant.")
    discount_value = money("A percentage, an amount off or a price, as the discount type says.")
    max_discount_amount = money("The action gives no more than this altogether.")
    target_article_number = text(50, "Number of the article it discounts.", searchable=True)
    target_article_group_key = text(20, "groupId of the article group it discounts.", wire="targetArticleGroupId",
                                    label="Target article group ID")  # fmt: skip
    include_sub_groups = boolean("Whether groups below the target group are discounted too.")
    target_article_list = boolean("Whether it discounts the articles of its list.")
    selection_type = code_of("SelectionTypes", "Which lines among the targets are discounted; null: all.")
    application_quantity_mode = code_of("ApplicationQuantityModes", "Which units of those lines; null: all.")
    application_quantity = pieces("How many units, unless all; null: 1.")
    distribution_mode = code_of("DistributionModes", "How a discount on several lines is spread over them.")
    max_bundles = integer("At most this many bundles per basket.", minimum=0)
    free_item_article_number = text(50, "Number of the article given free.", searchable=True)
    free_item_quantity = pieces("Free units each time the conditions are met.")
    restrict_to_one_per_basket = boolean("Gives free items once per basket, however often conditions are met.")
    free_item_reference_price = money("What a free item is worth when the basket does not say.")
    max_free_units = pieces("At most this many free units per basket.")
    target_article = to_one("Articles", "The article it discounts, from master data.")
    target_article_group = to_one("ArticleGroups", "The article group it discounts, from master data.")
    target_coupon_type = to_one("CouponTypes", "The coupon type it issues after the purchase.")


class _DiscountFields(Fields):
    sequence = integer("Its place among the tiers.", default=0)
    discount_type = code_of("DiscountTypes", "How the discount value is meant.", required=True)
    discount_value = money("A percentage, an amount off or a price.", required=True)


class ScaledTierFields(_DiscountFields):
    """A tier of a discount that grows with the amount."""

    threshold_amount = money("From this amount on.", required=True)


class QuantityTierFields(_DiscountFields):
    """A tier of a discount that grows with the quantity."""

    min_quantity = pieces("From this quantity on.", required=True)


class BundleComponentFields(Fields):
    """A component of a bundle."""

    sequence = integer("Its place in the bundle.", default=0)
    article_number = text(50, "Number of the article.", searchable=True)
    article_group_key = text(20, "groupId of the article group.", wire="articleGroupId", label="Article group ID")
    include_sub_groups = boolean("Whether groups below the article group count.")
    quantity = pieces("How many units each bundle takes.", required=True)
    discounted = boolean("Whether these units are discounted; if not, they must be there but keep their price.",
                         default=True)  # fmt: skip
    article = to_one("Articles", "The article, from master data.")
    article_group = to_one("ArticleGroups", "The article group, from master data.")


class FixedPriceFields(ArticleListItemFields):
    """An article of an action's list, with its own price if it has one."""

    fixed_price = money("The price this article ends at, instead of the action's discount.")


class ExclusionFields(Fields):
    """Something that an action excludes."""

    exclusion_type = code_of("ExclusionTypes", "What is left out.", required=True)
    article_number = text(50, "Number of the article left out.", searchable=True)
    article_group_key = text(20, "groupId of the article group left out.", wire="articleGroupId",
                             label="Article group ID")  # fmt: skip
    manufacturer = text(255, "The manufacturer left out.", searchable=True)
    article_group = to_one("ArticleGroups", "The article group left out, from master data.")


class LoyaltyActionFields(Fields):
    """The fields of a loyalty action, in a promotion and in a template alike."""

    action_type = code_of("LoyaltyActionTypes", "How points are given or taken.", required=True)
    points = decimal(15, 2, "Points, of one application or per currency amount.", minimum="0")
    multiplier = decimal(7, 3, "What MULTIPLY_POINTS multiplies by.", minimum="0")
    currency_amount = money("The amount that earns `points` each time it is reached.")
    target_scope = code_of("LoyaltyTargetScopes", "What points are given for.", default="ALL_ITEMS")
    target_article_number = text(50, "Number of the article.", searchable=True)
    target_article_group_key = text(20, "groupId of the article group.", wire="targetArticleGroupId",
                                    label="Target article group ID")  # fmt: skip
    include_sub_groups = boolean("Whether groups below the target group count.")
    max_points = decimal(15, 2, "The action gives no more points than this.", minimum="0")


class DiscountActions(DiscountActionFields, Entity, public=RW, admin=PLAIN, shows_tenant=False):
    """One benefit of a promotion: a discount, a free item or a coupon after the purchase."""

    promotion = parent("Promotions", "The promotion.")
    scaled_tiers = children("ActionScaledTiers", "Steps by amount.", by="action")
    quantity_tiers = children("ActionQuantityTiers", "Steps by quantity.", by="action")
    bundle_components = children("BundleComponents", "Parts of the bundle.", by="action")
    article_list_items = children("ActionArticleListItems", "The articles it discounts.", by="action")
    exclusions = children("ActionExclusions", "What it leaves out.", by="action")


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
    """Something that an action excludes."""

    action = parent("DiscountActions", "The action.")
    article_list_items = children("ActionExclusionArticleListItems", "The articles left out.", by="exclusion")


class ActionExclusionArticleListItems(ArticleListItemFields, Entity, public=RW, admin=PLAIN):
    """An article that an exclusion names."""

    exclusion = parent("ActionExclusions", "The exclusion.")


class LoyaltyActions(LoyaltyActionFields, Entity, public=RW, admin=PLAIN):
    """Points that a promotion grants or deducts."""

    promotion = parent("Promotions", "The promotion.")
    article_list_items = children("LoyaltyActionArticleListItems", "The articles that earn points.",
                                  by="loyalty_action")  # fmt: skip


class LoyaltyActionArticleListItems(ArticleListItemFields, Entity, public=RW, admin=PLAIN):
    """An article that earns points."""

    loyalty_action = parent("LoyaltyActions", "The loyalty action.")
