"""Children of drafts addressed in every way a client may: none is moved, and none is added instead of changed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.drafts.desk import Desk, draft


def parts_of(desk: Desk, entity_id: str) -> dict[str, Any]:
    """Return the POS group of each child of a draft, by the child's ID."""
    return {row["ID"]: row["posGroup_ID"] for row in desk.read(f"{draft(entity_id)}/posGroups")["value"]}


@pytest.mark.parametrize("address", ["@id", "@odata.id"])
def test_a_part_that_is_named_by_its_address_is_changed_and_not_added(desk: Desk, address: str) -> None:
    before, after = desk.pos_group(), desk.pos_group()
    entity_id = desk.promotion(posGroups=[{"posGroup_ID": before}], calculationConfig={"precision": 1})
    desk.edit(entity_id)
    (part,) = parts_of(desk, entity_id)
    named = {address: draft(part, "PromotionPosGroups"), "posGroup_ID": after}
    desk.patch(draft(entity_id), {"posGroups@delta": [named]}, status=200)
    assert parts_of(desk, entity_id) == {part: after}
    desk.patch(draft(entity_id), {"posGroups": [named | {"posGroup_ID": before}]}, status=200)
    assert parts_of(desk, entity_id) == {part: before}
    config = desk.read(f"{draft(entity_id)}/calculationConfig")["ID"]
    body = {address: draft(config, "CalculationConfigs"), "precision": 2}
    desk.patch(draft(entity_id), {"calculationConfig": body}, status=200)
    changed = desk.read(f"{draft(entity_id)}/calculationConfig")
    assert (changed["ID"], changed["precision"]) == (config, 2)
