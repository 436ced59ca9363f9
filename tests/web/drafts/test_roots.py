"""The whole life of a draft for every draft root, with all its children, derived from the model alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odata_server.edm import DraftRole
from promenade import model
from promenade.model.declare import DRAFT, EntityType, Service
from promenade.model.edm import edm_for
from tests.contract.made_up import value
from tests.web.drafts.desk import ANNA, BEN, Desk, active, draft

EDM = edm_for(Service.ADMIN)
ROOTS = [entity.set_name for entity in model.entities() if entity.admin is DRAFT]
CHANGEABLE = ("description", "manufacturer", "contactPerson", "name", "sequence", "position", "value", "quantity")


def parts_of(set_name: str) -> list[tuple[str, str, bool]]:
    """Return name, entity set and whether it is a collection, for each child of an entity."""
    navigations = EDM.entity_types[set_name].navigations
    return [(one.name, one.target, one.collection) for one in navigations if one.composition]


def body(desk: Desk, set_name: str, number: int) -> dict[str, Any]:
    """Return a complete body for an entity, with two of each of its children."""
    entity = model.entity(set_name)
    made: dict[str, Any] = {}
    for one in entity.fields:
        settable = not (one.read_only or one.virtual or one.name in {"id", "tenant_id"})
        if settable and (one.required or one.name in entity.natural_key):
            made[one.wire] = desk.unique("R") if one.name in entity.natural_key else value(entity, one, number)
    for link in entity.links:
        if link.required and (entity.owner is None or link.wire != entity.owner.wire):
            made[link.property_wire] = reference(desk, link.target)
    for name, target, many in parts_of(set_name):
        parts = [body(desk, target, number + each) for each in range(2 if many else 1)]
        made[name] = parts if many else parts[0]
    return made


def reference(desk: Desk, set_name: str) -> str:
    """Return the ID of an active entity."""
    return str(desk.make(set_name, **body(desk, set_name, 1))["ID"])


def expand(set_name: str) -> str:
    """Return the $expand of all children of an entity, at any depth."""
    inside = [
        name + (f"($expand={deeper})" if (deeper := expand(target)) else "") for name, target, _ in parts_of(set_name)
    ]
    return ",".join(inside)


def whole(desk: Desk, path: str, set_name: str, *, user: str = ANNA) -> dict[str, Any]:
    """Read an entity with all of its children; collections in the order of their IDs."""
    options = expand(set_name)
    found: dict[str, Any] = desk.read(f"{path}?$expand={options}" if options else path, user=user)
    return found


def plain(set_name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return what stays the same between a draft and its active row: values and IDs, at every level."""
    entity = model.entity(set_name)
    stamped = {"createdAt", "createdBy", "modifiedAt", "modifiedBy"}
    names = {one.wire for one in entity.fields if not one.virtual} - stamped
    names |= {link.property_wire for link in entity.links}
    kept: dict[str, Any] = {name: row[name] for name in sorted(names) if name in row}
    for name, target, many in parts_of(set_name):
        below = row[name] if many else [row[name]]
        kept[name] = sorted((plain(target, one) for one in below if one is not None), key=lambda one: str(one["ID"]))
    return kept


def keys(set_name: str, row: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Return the entity set, ID and IsActiveEntity of everything in an entity."""
    yield set_name, row["ID"], row["IsActiveEntity"]
    for name, target, many in parts_of(set_name):
        for one in row[name] if many else [row[name]]:
            yield from keys(target, one)


def changeable(entity: EntityType) -> str | None:
    """Return a property that may be changed freely."""
    known = {one.wire for one in entity.fields if not one.read_only}
    return next((name for name in CHANGEABLE if name in known), None)


def test_the_administration_has_fourteen_draft_roots() -> None:
    declared = {name for name, one in EDM.entity_types.items() if one.draft is DraftRole.ROOT}
    assert declared == set(ROOTS)
    assert len(ROOTS) == 14


@pytest.mark.parametrize("root", ROOTS)
def test_a_draft_with_all_its_parts_becomes_active_is_taken_up_and_replaces(desk: Desk, root: str) -> None:
    made = desk.make(root, active=False, **body(desk, root, 3))
    entity_id = made["ID"]
    begun = whole(desk, draft(entity_id, root), root)
    assert not any(is_active for _, _, is_active in keys(root, begun))
    assert desk.get(draft(entity_id, root), user=BEN).status_code == 404
    activated = desk.activate(entity_id, set_name=root)
    assert activated.status_code == 201, activated.text
    first = whole(desk, active(entity_id, root), root, user=BEN)
    assert plain(root, first) == plain(root, begun)
    assert all(is_active for _, _, is_active in keys(root, first))

    assert desk.edit(entity_id, set_name=root).status_code == 201
    taken = whole(desk, draft(entity_id, root), root)
    assert plain(root, taken) == plain(root, first)
    for set_name, part_id, _ in list(keys(root, taken)):
        name = changeable(model.entity(set_name))
        if name is not None:
            field = next(one for one in model.entity(set_name).fields if one.wire == name)
            change = {name: value(model.entity(set_name), field, 5)}
            desk.patch(draft(part_id, set_name), change, status=200)
    for name, target, many in parts_of(root):
        if many:
            dropped = taken[name][0]["ID"]
            desk.delete(draft(dropped, target), status=204)
            desk.post(f"{draft(entity_id, root)}/{name}", body(desk, target, 7), status=201)
    changed = whole(desk, draft(entity_id, root), root)
    assert plain(root, changed) != plain(root, taken)
    assert plain(root, whole(desk, active(entity_id, root), root)) == plain(root, first)
    replaced = desk.activate(entity_id, set_name=root)
    assert replaced.status_code == 200, replaced.text
    assert plain(root, whole(desk, active(entity_id, root), root, user=BEN)) == plain(root, changed)
    for set_name, part_id, _ in keys(root, changed):
        assert desk.get(draft(part_id, set_name)).status_code == 404


@pytest.mark.parametrize("root", ROOTS)
def test_a_discarded_draft_takes_all_its_parts_along_and_leaves_the_active_ones(desk: Desk, root: str) -> None:
    entity_id = reference(desk, root)
    before = whole(desk, active(entity_id, root), root)
    assert desk.edit(entity_id, set_name=root, user=BEN).status_code == 201
    parts = list(keys(root, whole(desk, draft(entity_id, root), root, user=BEN)))
    assert {part_id for _, part_id, _ in parts} == {part_id for _, part_id, _ in keys(root, before)}
    for set_name, part_id, _ in parts:
        assert desk.get(draft(part_id, set_name)).status_code == 404, "of another user"
    desk.delete(draft(entity_id, root), user=BEN, status=204)
    for set_name, part_id, _ in parts:
        assert desk.get(draft(part_id, set_name), user=BEN).status_code == 404
    assert plain(root, whole(desk, active(entity_id, root), root)) == plain(root, before)
