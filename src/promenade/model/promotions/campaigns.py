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
    name = text(255, "Name of the campaign.", required=True, searchable=True)
    description = text(1000, "Description of the campaign.", searchable=True)
    start_at = timestamp("Start of its window; null: no start date.")
    end_at = timestamp("End of its window; null: no end date.")
    status = code_of("CampaignStatuses", "Status of the campaign.", default="DRAFT")
    status_criticality = status_criticality()
    notes = text(2000, "Notes for those who work on it.")
    merge_promotion_pos_groups = boolean(
        "False: promotions run in the campaign's POS groups only. True: in their own POS groups as well."
    )
    locked = boolean(
        "Whether the campaign and its promotions are protected against changes; they continue to run.", read_only=True
    )
    owner_stakeholder = to_one("Stakeholders", "The stakeholder responsible for the campaign.")
    primary_contact = to_one("Stakeholders", "The stakeholder to contact about the campaign.")
    pos_groups = children("CampaignPosGroups", "The POS groups in which it runs; empty: all.", by="campaign")
    promotions = back("Promotions", "The promotions that belong to it.", by="campaign")


class CampaignPosGroups(Entity, public=RW, admin=DRAFT_NODE, unique=(("campaign_id", "pos_group_id"),)):
    """A POS group in which a campaign runs, with the groups below it."""

    campaign = parent("Campaigns", "The campaign.")
    pos_group = to_one("PosGroups", "The POS group.", required=True)
