"""Promotions, how they are calculated, where they run, and the groups that order and exclude them."""

from __future__ import annotations

from promenade.model.declare import (
    DRAFT,
    DRAFT_NODE,
    PLAIN,
    RO,
    RW,
    Entity,
    back,
    boolean,
    child,
    children,
    code_of,
    currency_code,
    integer,
    parent,
    text,
    texts,
    timestamp,
    to_one,
)
from promenade.model.ui.criticality import status_criticality

__all__ = [
    "CalculationConfigs",
    "MutualExclusionGroups",
    "PriorityGroupPromotions",
    "PriorityGroups",
    "PromotionPosGroups",
    "Promotions",
    "PromotionsCalendar",
]


class Promotions(
    Entity,
    public=RW,
    admin=DRAFT,
    importable=True,
    natural_key=("code",),
    indexes=(("status", "valid_to"), ("modified_at",)),
    windows=(("valid_from", "valid_to"),),
):
    """A promotion: when and where it runs, and which other promotions it can be combined with.

    Its Conditions decide whether it applies, its DiscountActions and LoyaltyActions what it gives; they are
    read with ``$filter=promotion_ID eq <ID>`` and deleted with it.
    """

    code = text(50, "Short unique code of the promotion.", searchable=True)
    name = text(255, "Name of the promotion, also printed on receipts.", required=True, searchable=True)
    description = text(1000, "Description of the promotion.", searchable=True)
    type = code_of("PromotionTypes", "Main type of the promotion.", default="ARTICLE")
    status = code_of("PromotionStatuses", "Status of the promotion.", default="DRAFT")
    status_criticality = status_criticality()
    valid_from = timestamp("Start of its validity, inclusive; null: no start date.")
    valid_to = timestamp("End of its validity, exclusive; null: no end date.")
    priority = integer("Processing order of promotions: lower numbers come first.", default=100)
    exclusivity_level = code_of("ExclusivityLevels", "Which other promotions it can be combined with.", default="NONE")
    currency = currency_code(
        "It runs only where prices are in this currency; null: everywhere, with amounts at face value."
    )
    max_applications_per_transaction = integer("Maximum number of applications within one basket.", minimum=0)
    max_applications_per_customer = integer("Maximum number of one customer's sales in which it may apply.", minimum=0)
    max_applications_total = integer("Maximum number of sales in which it may apply in total.", minimum=0)
    counts_towards_threshold = boolean(
        "Whether goods that are never discounted count for its conditions; null: as the tenant has set.",
        label="Never discounted goods count",
        default=None,
    )
    excluded_counts_towards_threshold = boolean(
        "Whether goods that all its actions exclude count for its conditions; null: as the tenant has set.",
        label="Excluded goods count",
        default=None,
    )
    applications_count = integer("Number of confirmed sales in which it has applied.", default=0, read_only=True)
    return_policy = code_of("ReturnPolicies", "What a return of discounted goods refunds.", default="KEEP_SHARES")
    is_experiment = boolean(
        "Whether it is an experiment: one POS group gets it and is compared with one that does not."
    )
    control_group_id = text(36, "For an experiment: the POS group that does not get it.", refers_to="PosGroups")
    experiment_group_id = text(36, "For an experiment: the only POS group that gets it.", refers_to="PosGroups")
    external_reference = text(100, "The retailer's own reference, such as a number in another system.")
    mutual_exclusion_group = to_one(
        "MutualExclusionGroups", "The mutual exclusion group: only one of its promotions applies."
    )
    campaign = to_one("Campaigns", "The campaign it belongs to; it runs only within the campaign's window.")
    pos_groups = children("PromotionPosGroups", "The POS groups in which it runs; empty: all.", by="promotion")
    calculation_config = child("CalculationConfigs", "The calculation and rounding settings.", by="promotion")


class CalculationConfigs(Entity, public=RW, admin=DRAFT_NODE, unique=(("promotion_id",),)):
    """How a promotion's discounts are calculated and rounded; without one the defaults apply."""

    promotion = parent("Promotions", "The promotion.")
    mode = code_of("CalculationModes", "The base of percentages and thresholds.", default="ADDITIVE")
    rounding = code_of("RoundingModes", "How discounts are rounded to minor units.", default="ROUND_HALF_UP")
    precision = integer("Decimals to round to; null: those of the currency.", minimum=0, maximum=3)


class PromotionPosGroups(Entity, public=RW, admin=DRAFT_NODE, unique=(("promotion_id", "pos_group_id"),)):
    """A POS group in which a promotion runs, with the groups below it."""

    promotion = parent("Promotions", "The promotion.")
    pos_group = to_one("PosGroups", "The POS group.", required=True)


class PriorityGroups(Entity, public=RW, admin=DRAFT, importable=True, natural_key=("code",)):
    """A group of promotions that are processed together, before or after those of other groups."""

    code = text(50, "Short unique code of the group.", required=True, searchable=True)
    name = text(255, "Name of the group.", required=True, searchable=True)
    description = text(1000, "Description of the group.", searchable=True)
    priority = integer(
        "Processing order of groups: lower numbers come first; promotions without a group come last.", default=100
    )
    promotions = back("PriorityGroupPromotions", "The promotions in it.", by="priority_group")


class PriorityGroupPromotions(Entity, public=RW, admin=PLAIN, unique=(("promotion_id",),)):
    """The position of a promotion in its priority group; a promotion belongs to one group at most."""

    priority_group = to_one("PriorityGroups", "The group.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)
    sequence = integer("Processing order within the group: lower numbers come first.", default=0)


class MutualExclusionGroups(Entity, public=RW, admin=DRAFT, importable=True, natural_key=("code",)):
    """A group of promotions, only one of which applies to a basket."""

    code = text(50, "Short unique code of the group.", required=True, searchable=True)
    name = text(255, "Name of the group.", required=True, searchable=True)
    description = text(1000, "Description of the group.", searchable=True)
    resolution_strategy = code_of(
        "ResolutionStrategies", "Which of its promotions applies.", default="HIGHEST_DISCOUNT"
    )
    promotions = back("Promotions", "The promotions in it.", by="mutual_exclusion_group")


class PromotionsCalendar(Entity, public=RO, admin=RO, stored=False, managed=False):
    """The period in which each promotion runs: one entry per promotion, based on the promotion and its campaign."""

    promotion = to_one("Promotions", "The promotion.", read_only=True)
    promotion_name = text(255, "Name of the promotion.", read_only=True, searchable=True)
    status = code_of("PromotionStatuses", "Status of the promotion.", read_only=True)
    status_criticality = status_criticality()
    type = code_of("PromotionTypes", "Main type of the promotion.", read_only=True)
    starts_at = timestamp("Start: the promotion's own validity within its campaign's window.", read_only=True)
    ends_at = timestamp("End: the promotion's own validity within its campaign's window.", read_only=True)
    campaign = to_one("Campaigns", "The campaign it belongs to.", read_only=True)
    campaign_code = text(50, "Code of the campaign.", read_only=True, searchable=True)
    pos_groups = texts("Codes of the POS groups in which it runs; empty: all.", read_only=True)
