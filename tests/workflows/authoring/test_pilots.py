"""Pilots and experiments that could not be judged are refused: no threshold, or a POS group compared with itself."""

from __future__ import annotations

from decimal import Decimal

from promenade.errors import Invalid
from tests.workflows.authoring.desk import Desk
from tests.workflows.authoring.test_every_entity import refused

CONFIGS, ARMS = "PromotionPilotConfigs", ("pilotPosGroups", "controlPosGroups")


async def test_going_live_automatically_needs_a_threshold(desk: Desk) -> None:
    sample = await desk.sample(CONFIGS)
    error = await refused(desk, Invalid, desk.create_row(CONFIGS, sample | {"autoPromote": True}))
    assert (error.code, error.target) == ("REQUIRED", "autoPromoteThreshold")
    made = await desk.create_row(CONFIGS, sample)
    error = await refused(desk, Invalid, desk.update(CONFIGS, made, autoPromote=True))
    assert (error.code, error.target) == ("REQUIRED", "autoPromoteThreshold")
    await desk.update(CONFIGS, made, autoPromote=True, autoPromoteThreshold=Decimal(0))
    error = await refused(desk, Invalid, desk.update(CONFIGS, made, autoPromoteThreshold=None))
    assert (error.code, error.target) == ("REQUIRED", "autoPromoteThreshold")
    await desk.update(CONFIGS, made, autoPromote=False, autoPromoteThreshold=None)


async def test_a_pos_group_is_in_one_arm_of_a_pilot_only(desk: Desk) -> None:
    sample = await desk.sample(CONFIGS)
    north, south = [{"posGroup_ID": await desk.given("PosGroups")} for _ in range(2)]
    both = dict(zip(ARMS, ([north], [south, north]), strict=True))
    error = await refused(desk, Invalid, desk.create_row(CONFIGS, sample | both))
    assert (error.code, error.target) == ("POS_GROUP_IN_BOTH_ARMS", "controlPosGroups/1/posGroup_ID")
    made = await desk.create_row(CONFIGS, sample | dict(zip(ARMS, ([north], [south]), strict=True)))
    error = await refused(desk, Invalid, desk.update(CONFIGS, made, pilotPosGroups=[south]))
    assert (error.code, error.target) == ("POS_GROUP_IN_BOTH_ARMS", "pilotPosGroups/0/posGroup_ID")
    error = await refused(desk, Invalid, desk.create("ControlPosGroups", config_ID=made, **north))
    assert (error.code, error.target) == ("POS_GROUP_IN_BOTH_ARMS", "posGroup_ID")
    await desk.update(CONFIGS, made, pilotPosGroups=[south], controlPosGroups=[north])  # the arms change places
    assert [row["posGroup_ID"] for row in await desk.rows("PilotPosGroups")] == [south["posGroup_ID"]]


async def test_an_experiment_does_not_compare_a_pos_group_with_itself(desk: Desk) -> None:
    one, other = [await desk.given("PosGroups") for _ in range(2)]
    sample = await desk.sample("Promotions") | {"status": "DRAFT"}
    arms = {"experimentGroupId": one, "controlGroupId": one}
    error = await refused(desk, Invalid, desk.create_row("Promotions", sample | arms))
    assert (error.code, error.target) == ("POS_GROUP_IN_BOTH_ARMS", "controlGroupId")
    made = await desk.create_row("Promotions", sample | arms | {"controlGroupId": other})
    error = await refused(desk, Invalid, desk.update("Promotions", made, experimentGroupId=other))
    assert error.code == "POS_GROUP_IN_BOTH_ARMS"
    await desk.update("Promotions", made, controlGroupId=None)
