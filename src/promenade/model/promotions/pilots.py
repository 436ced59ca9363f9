"""Pilots: promotions tested in some POS groups and compared with others."""

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
    """The pilot of a promotion: its POS groups, its period and its control group; one per promotion."""

    promotion = to_one("Promotions", "The promotion under test.", required=True)
    pilot_start_at = timestamp("Start of the pilot.", required=True)
    pilot_end_at = timestamp("End of the pilot.", required=True)
    auto_promote = boolean("Whether the promotion is activated automatically once its uplift reaches the threshold.")
    auto_promote_threshold = decimal(
        5, 2, "Minimum uplift, in percent, for automatic activation; required with `autoPromote`."
    )
    pilot_share = decimal(
        3,
        2,
        "Fraction of the pilot POS groups that receives the promotion, from 0 to 1.",
        default="1.00",
        minimum="0",
        maximum="1",
    )
    control_group_size = integer(
        "Maximum number of control POS groups to compare with; 0: all.", default=0, minimum=0, maximum=999_999
    )
    pilot_pos_groups = children("PilotPosGroups", "The POS groups that may receive the promotion.", by="config")
    control_pos_groups = children("ControlPosGroups", "The POS groups to compare with.", by="config")


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
