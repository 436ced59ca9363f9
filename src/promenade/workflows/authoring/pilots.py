"""Rules for pilot configurations: one per promotion, two separate arms, and a threshold for going live."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Detail
from promenade.store.authoring.statements import has_pilot_config_anywhere, read_ids, read_rows
from promenade.workflows.authoring.keys import already_exists
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

_ARMS = ("PilotPosGroups", "ControlPosGroups")


@rules("PromotionPilotConfigs")
class _PilotConfigs(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        """Refuse a second pilot config, also across tenants.

        The specification requires this 409 before checking whose promotion it is.
        """
        given = [write for write in writes if "promotion_id" in write.given and write.after["promotion_id"]]
        own = await read_ids(unit.session, "Promotions", {write.after["promotion_id"] for write in given})
        for write in given:
            key = write.after["promotion_id"]
            if key not in own and await has_pilot_config_anywhere(unit.session, key):
                raise already_exists(write, ("promotion_id",))

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is not Act.DELETE and write.differs("auto_promote", "auto_promote_threshold"):
                _check_threshold(unit, write)
        return []

    async def finish(self, unit: Unit) -> None:
        """Refuse a POS group in both arms; at the end, so that a change set may move one from arm to arm."""
        written = [one for one in unit.written if one.set_name in _ARMS and one.act is not Act.DELETE]
        placed = {(one.after["config_id"], one.after["pos_group_id"]): one for one in written}
        if not placed:
            return
        configs = {config_id for config_id, _ in placed}
        pilot, control = [
            {
                (row["config_id"], row["pos_group_id"])
                for row in await read_rows(unit.session, arm, "config_id", configs)
            }
            for arm in _ARMS
        ]
        message = "A POS group can be in one arm only: the pilot POS groups or the control POS groups."
        for place, write in placed.items():
            if place in pilot & control:
                unit.faults.add(Detail("POS_GROUP_IN_BOTH_ARMS", message, write.target("pos_group_id")))


def _check_threshold(unit: Unit, write: Write) -> None:
    if write.after["auto_promote"] and write.after["auto_promote_threshold"] is None:
        target = write.target("auto_promote_threshold")
        message = "A promotion that is activated automatically needs autoPromoteThreshold, its minimum uplift."
        unit.faults.add(Detail("REQUIRED", message, target))
