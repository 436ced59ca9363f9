"""What holds for drafts of every root and every child."""

from __future__ import annotations

from typing import Any

import pytest

from odata_server.edm import DraftRole, DraftWay, EntityType
from promenade.model.declare import ADMIN
from promenade.model.edm import edm_for
from tests.web.services.admin.conftest import Admin, active, draft, fault

EDM = edm_for(ADMIN)
ROOTS = [one.name for one in EDM.entity_types.values() if one.draft is DraftRole.ROOT]
NODES = [one.name for one in EDM.entity_types.values() if one.draft is DraftRole.NODE]


def test_the_roots_are_those_of_the_specification() -> None:
    assert set(ROOTS) == {
        "Promotions", "Articles", "ArticleGroups", "PosGroups", "PriorityGroups", "MutualExclusionGroups",
        "CouponTypes", "Budgets", "Stakeholders", "Campaigns", "PromotionTemplates", "PromotionPilotConfigs",
        "CustomerGroups", "LoyaltyTiers",
    }  # fmt: skip


@pytest.mark.parametrize("root", ROOTS)
def test_an_empty_draft_is_created_prepared_and_discarded(admin: Admin, root: str) -> None:
    made = admin.make(root)
    address = draft(root, made)
    assert made["IsActiveEntity"] is False
    prepared = admin.post(f"{address}/AdminService.draftPrepare")
    assert prepared.status_code == 200, prepared.text
    refused = admin.activate(root, made["ID"])
    status, _, target = fault(refused)
    targets = [target, *(one.get("target") for one in refused.json()["error"].get("details", ()))]
    assert status == 400, refused.text
    assert any(one is not None and one.startswith("in/") for one in targets), refused.text
    page = admin.read(f"{root}?$filter=IsActiveEntity eq false&$expand=DraftAdministrativeData,SiblingEntity")
    row = next(one for one in page["value"] if one["ID"] == made["ID"])
    assert row["DraftAdministrativeData"]["DraftIsCreatedByMe"] is True
    assert row["SiblingEntity"] is None
    assert admin.delete(address).status_code == 204
    assert admin.get(address).status_code == 404


@pytest.mark.parametrize("root", ROOTS)
def test_a_client_may_send_back_all_properties_of_a_draft(admin: Admin, root: str) -> None:
    """A user interface may send back everything it was shown: the row, its key, and computed values."""
    made = admin.make(root)
    shown = admin.read(draft(root, made))
    answer = admin.patch(draft(root, made), shown)
    assert answer.status_code == 200, answer.text
    assert admin.call("PUT", draft(root, made), shown).status_code == 200
    assert admin.delete(draft(root, made)).status_code == 204


def parts_of(entity_type: EntityType, depth: int = 4) -> dict[str, Any]:
    """Return a body with one empty child for each composition, at every level."""
    found: dict[str, Any] = {}
    for one in entity_type.navigations:
        if one.composition and one.draft_way is DraftWay.SAME and depth:
            inside = parts_of(EDM.entity_types[one.target], depth - 1)
            found[one.name] = [inside, inside] if one.collection else inside
    return found


@pytest.mark.parametrize("root", [one for one in ROOTS if parts_of(EDM.entity_types[one])])
def test_a_draft_holds_parts_of_every_kind(admin: Admin, root: str) -> None:
    made = admin.make(root, **parts_of(EDM.entity_types[root]))
    seen = [(root, made)]
    for set_name, row in seen:
        assert row["IsActiveEntity"] is False
        for one in EDM.entity_types[set_name].navigations:
            if one.composition:
                found = admin.read(f"{draft(set_name, row)}/{one.name}")
                inside = found["value"] if one.collection else [found]
                assert len(inside) == (2 if one.collection else 1), (set_name, one.name)
                seen.append((one.target, inside[0]))
                owner = next(nav for nav in EDM.entity_types[one.target].navigations if nav.name == one.partner)
                above = admin.read(f"{draft(one.target, inside[0])}/{owner.name}")
                assert (above["ID"], above["IsActiveEntity"]) == (row["ID"], False)
    for set_name, row in reversed(seen):
        assert admin.delete(draft(set_name, row)).status_code == 204, set_name
        assert admin.get(draft(set_name, row)).status_code == 404, set_name


def test_every_kind_of_part_is_in_some_draft() -> None:
    met: set[str] = set()
    waiting = list(ROOTS)
    while waiting:
        entity_type = EDM.entity_types[waiting.pop()]
        inside = [one.target for one in entity_type.navigations if one.composition]
        met.update(inside)
        waiting += inside
    assert met == set(NODES)


@pytest.mark.parametrize("node", NODES)
def test_a_part_cannot_be_created_without_its_root(admin: Admin, node: str) -> None:
    assert fault(admin.post(node, {}))[0] == 400
    assert fault(admin.post(node, {"IsActiveEntity": True}))[:2] == (403, "ONLY_THROUGH_DRAFT")


def test_a_template_survives_being_edited_part_by_part(admin: Admin) -> None:
    condition = {"sequence": 1, "conditionType": "ARTICLE", "articleNumber": "A-1"}
    made = admin.make("PromotionTemplates", code=admin.unique("T"), name="T", conditions=[condition])
    done = admin.activate("PromotionTemplates", made["ID"])
    assert done.status_code == 201, done.text
    assert admin.edit("PromotionTemplates", made["ID"]).status_code == 201
    (row,) = admin.read(f"{draft('PromotionTemplates', made)}/conditions")["value"]
    assert row["ID"] == made["conditions"][0]["ID"]
    assert admin.patch(draft("TemplateConditions", row), {"articleNumber": "A-2"}).status_code == 200
    assert admin.read(active("TemplateConditions", row))["articleNumber"] == "A-1"
    assert admin.activate("PromotionTemplates", made["ID"]).status_code == 200
    assert admin.read(active("TemplateConditions", row))["articleNumber"] == "A-2"


def test_a_draft_can_be_created_without_a_body(admin: Admin) -> None:
    begun = admin.http.post("/admin/Promotions", headers={"authorization": f"Bearer {admin.token('admin')}"})
    assert begun.status_code == 201, begun.text
    assert (begun.json()["IsActiveEntity"], begun.json()["name"]) == (False, None)
    assert admin.delete(draft("Promotions", begun.json())).status_code == 204
