"""Pilots: promotions tried out in some POS groups and compared with others."""

from __future__ import annotations

from promenade.model.declare import (
    DRAFT,
    DRAFT_NODE,
    RW,
    Entity,
    boolean,
    children,
    decimal,
    integer,
    parent,
    timestamp,
    to_one,
)

__all__ = ["ControlPosGroups", "PilotPosGroups", "PromotionPilotConfigs"]


class PromotionPilotConfigs(
    Entity,
    public=RW,
    admin=DRAFT,
    natural_key=("promotion_id",),
    windows=(("pilot_start_at", "pilot_end_at"),),
):
    """The pilot of a promotion: where, for how long, and against which control; one per promotion."""

    promotion = to_one("Promotions", "The promotion that is tried out.", required=True)
    pilot_start_at = timestamp("When the pilot begins.", required=True)
    pilot_end_at = timestamp("When the pilot ends.", required=True)
    auto_promote = boolean("Whether the promotion goes live by itself once its uplift reaches the threshold.")
    auto_promote_threshold = decimal(5, 2, "Uplift in percent from which it goes live by itself.")
    pilot_share = decimal(
        3, 2, "Part of the pilot POS groups that gets the promotion.", default="1.00", minimum="0", maximum="1"
    )
    control_group_size = integer(
        "At most this many control POS groups count; 0: all.", default=0, minimum=0, maximum=999_999
    )
    pilot_pos_groups = children("PilotPosGroups", "The POS groups that may get it.", by="config")
    control_pos_groups = children("ControlPosGroups", "The POS groups they are compared with.", by="config")


class PilotPosGroups(Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False, unique=(("config_id", "pos_group_id"),)):
    """A POS group of the pilot arm."""

    config = parent("PromotionPilotConfigs", "The pilot.")
    pos_group = to_one("PosGroups", "The POS group.", required=True)


class ControlPosGroups(
    Entity, public=RW, admin=DRAFT_NODE, shows_tenant=False, unique=(("config_id", "pos_group_id"),)
):
    """A POS group of the control arm."""

    config = parent("PromotionPilotConfigs", "The pilot.")
    pos_group = to_one("PosGroups", "The POS group.", required=True)
