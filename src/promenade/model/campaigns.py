"""Campaigns."""

from __future__ import annotations

from promenade.model.declare import (
    DRAFT,
    DRAFT_NODE,
    RW,
    Entity,
    back,
    boolean,
    children,
    code_of,
    parent,
    text,
    timestamp,
    to_one,
)
from promenade.model.ui.criticality import status_criticality

__all__ = ["CampaignPosGroups", "Campaigns"]


class Campaigns(
    Entity,
    public=RW,
    admin=DRAFT,
    natural_key=("code",),
    indexes=(("status", "end_at"),),
    windows=(("start_at", "end_at"),),
):
    """A marketing campaign: a time window, the places it runs in, and the promotions that belong to it."""

    code = text(50, "Short unique code of the campaign.", required=True, searchable=True)
    name = text(255, "What the campaign is called.", required=True, searchable=True)
    description = text(1000, "What the campaign is about.", searchable=True)
    start_at = timestamp("When its window opens; null: it is open already.")
    end_at = timestamp("When its window closes; null: never.")
    status = code_of("CampaignStatuses", "Where the campaign stands.", default="DRAFT")
    status_criticality = status_criticality()
    notes = text(2000, "Notes for those who work on it.")
    merge_promotion_pos_groups = boolean(
        "False: the campaign's POS groups decide where its promotions run. True: theirs are added."
    )
    locked = boolean("The campaign and its promotions are frozen against changes; they run on.", read_only=True)
    owner_stakeholder = to_one("Stakeholders", "Who answers for the campaign.")
    primary_contact = to_one("Stakeholders", "Whom to ask about it.")
    pos_groups = children("CampaignPosGroups", "Where it runs; empty: everywhere.", by="campaign")
    promotions = back("Promotions", "The promotions that belong to it.", by="campaign")


class CampaignPosGroups(Entity, public=RW, admin=DRAFT_NODE, unique=(("campaign_id", "pos_group_id"),)):
    """A POS group in which a campaign runs, with the groups below it."""

    campaign = parent("Campaigns", "The campaign.")
    pos_group = to_one("PosGroups", "The POS group.", required=True)
