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
    name = text(255, "What the promotion is called, also on receipts.", required=True, searchable=True)
    description = text(1000, "What the promotion is about.", searchable=True)
    type = code_of("PromotionTypes", "What the promotion is chiefly about.", default="ARTICLE")
    status = code_of("PromotionStatuses", "Where the promotion stands in its life.", default="DRAFT")
    status_criticality = status_criticality()
    valid_from = timestamp("From when on it runs, this moment included; null: from ever.")
    valid_to = timestamp("Until when it runs, this moment not included; null: for ever.")
    priority = integer("Its place among promotions: lower comes first.", default=100)
    exclusivity_level = code_of("ExclusivityLevels", "What it tolerates beside itself.", default="NONE")
    currency = currency_code("It runs only where prices are in this currency; null: anywhere, amounts at face value.")
    max_applications_per_transaction = integer("How often it may be repeated within one basket.", minimum=0)
    max_applications_per_customer = integer("In how many of one customer's sales it may apply.", minimum=0)
    max_applications_total = integer("In how many sales it may apply altogether.", minimum=0)
    applications_count = integer("In how many confirmed sales it has applied.", default=0, read_only=True)
    is_experiment = boolean("Compares a group of POS that gets it with one that does not.")
    control_group_id = text(36, "Of an experiment: the POS group that does not get it.", refers_to="PosGroups")
    experiment_group_id = text(36, "Of an experiment: the only POS group that gets it.", refers_to="PosGroups")
    external_reference = text(100, "The retailer's own reference, such as a number in another system.")
    mutual_exclusion_group = to_one("MutualExclusionGroups", "Of the promotions of this group only one applies.")
    campaign = to_one("Campaigns", "The campaign it belongs to; it runs only within the campaign's window.")
    pos_groups = children("PromotionPosGroups", "Where it runs; empty: everywhere.", by="promotion")
    calculation_config = child("CalculationConfigs", "How it is calculated and rounded.", by="promotion")


class CalculationConfigs(Entity, public=RW, admin=DRAFT_NODE, unique=(("promotion_id",),)):
    """How a promotion's discounts are calculated and rounded; without one the defaults apply."""

    promotion = parent("Promotions", "The promotion.")
    mode = code_of("CalculationModes", "What percentages and thresholds are taken of.", default="ADDITIVE")
    rounding = code_of("RoundingModes", "How a discount becomes whole units.", default="ROUND_HALF_UP")
    precision = integer("Decimals to round to; null: those of the currency.", minimum=0, maximum=3)


class PromotionPosGroups(Entity, public=RW, admin=DRAFT_NODE, unique=(("promotion_id", "pos_group_id"),)):
    """A POS group in which a promotion runs, with the groups below it."""

    promotion = parent("Promotions", "The promotion.")
    pos_group = to_one("PosGroups", "The POS group.", required=True)


class PriorityGroups(Entity, public=RW, admin=DRAFT, importable=True, natural_key=("code",)):
    """Promotions that are processed together, before or after those of other groups."""

    code = text(50, "Short unique code of the group.", required=True, searchable=True)
    name = text(255, "What the group is called.", required=True, searchable=True)
    description = text(1000, "What the group is for.", searchable=True)
    priority = integer("Its place among groups: lower comes first; promotions without a group come last.", default=100)
    promotions = back("PriorityGroupPromotions", "The promotions in it.", by="priority_group")


class PriorityGroupPromotions(Entity, public=RW, admin=PLAIN, unique=(("promotion_id",),)):
    """The position of a promotion in its priority group; a promotion is in one group at most."""

    priority_group = to_one("PriorityGroups", "The group.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)
    sequence = integer("Its place within the group: lower comes first.", default=0)


class MutualExclusionGroups(Entity, public=RW, admin=DRAFT, importable=True, natural_key=("code",)):
    """Promotions of which only one applies to a basket."""

    code = text(50, "Short unique code of the group.", required=True, searchable=True)
    name = text(255, "What the group is called.", required=True, searchable=True)
    description = text(1000, "What the group is for.", searchable=True)
    resolution_strategy = code_of(
        "ResolutionStrategies", "Which of its promotions applies.", default="HIGHEST_DISCOUNT"
    )
    promotions = back("Promotions", "The promotions in it.", by="mutual_exclusion_group")


class PromotionsCalendar(Entity, public=RO, admin=RO, stored=False, managed=False):
    """When promotions run: one entry per promotion, read from promotions and their campaigns."""

    promotion = to_one("Promotions", "The promotion.", read_only=True)
    promotion_name = text(255, "What the promotion is called.", read_only=True, searchable=True)
    status = code_of("PromotionStatuses", "Where the promotion stands.", read_only=True)
    status_criticality = status_criticality()
    type = code_of("PromotionTypes", "What the promotion is chiefly about.", read_only=True)
    starts_at = timestamp("When it begins: its own validity within its campaign's window.", read_only=True)
    ends_at = timestamp("When it ends.", read_only=True)
    campaign = to_one("Campaigns", "The campaign it belongs to.", read_only=True)
    campaign_code = text(50, "Code of the campaign.", read_only=True, searchable=True)
    pos_groups = texts("Codes of the POS groups in which it runs; empty: everywhere.", read_only=True)
