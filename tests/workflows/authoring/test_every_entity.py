"""Rules for all entity sets, by their declaration: create, read back, change, refuse, delete."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from promenade import model
from promenade.errors import Conflict, Invalid, NotAllowed, NotFound, PromenadeError
from promenade.model.declare import Kind, Service
from promenade.workflows.authoring.shapes import shape_of
from tests.workflows.authoring.desk import Desk, sample_row, writable_sets

SETS = writable_sets()
NOBODY = "00000000-0000-4000-8000-000000000000"


def faults(error: PromenadeError) -> set[tuple[str, str | None]]:
    """Return code and target of each detail of an error."""
    return {(error.code, error.target), *((one.code, one.target) for one in error.details)}


@pytest.mark.parametrize("service", [Service.PUBLIC, Service.ADMIN])
async def test_a_created_row_can_be_read_back(desk: Desk, service: Service) -> None:
    desk.service = service
    for set_name in SETS:
        if model.entity(set_name).mode(service).value == "NONE":
            continue
        sample = await desk.sample(set_name, full=True)
        made = await desk.create_row(set_name, sample)
        row = await desk.row(set_name, made)
        assert {name: row[name] for name in sample} == sample, set_name
        assert row["version"] == 1
        if model.entity(set_name).managed:
            assert (row["createdAt"], row["createdBy"], row["modifiedBy"]) == (desk.now, "ann", "ann")


async def refused(desk: Desk, kind: type[PromenadeError], call: Any) -> PromenadeError:
    """Return the error of a call that must be refused."""
    with pytest.raises(kind) as caught:
        await call
    return caught.value


async def test_a_missing_required_property_is_named(desk: Desk) -> None:
    for set_name in SETS:
        entity = model.entity(set_name)
        wanted = {one.wire for one in entity.fields if one.required and not one.read_only and one.name != "id"}
        links = {link.property_wire for link in entity.links if link.required}
        wanted -= {"createdAt", "modifiedAt", "tenantId"}
        if not wanted | links:
            continue
        error = await refused(desk, Invalid, desk.create_row(set_name, {}))
        assert faults(error) == {("REQUIRED", name) for name in wanted | links}, set_name
        texts = [one.wire for one in entity.fields if one.wire in wanted and one.kind is Kind.TEXT and not one.choices]
        for name in texts:
            sample = await desk.sample(set_name) | {name: " "}
            error = await refused(desk, Invalid, desk.create_row(set_name, sample))
            assert ("REQUIRED", name) in faults(error), set_name


async def test_numbers_and_codes_stay_within_their_bounds(desk: Desk) -> None:
    for set_name in SETS:
        shape = shape_of(set_name)
        bad: dict[str, Any] = {}
        for wire, field in shape.fields.items():
            if field.read_only or field.name == "id":
                continue
            if field.minimum is not None:
                bad[wire] = type(field.minimum)(field.minimum - 1)
            elif field.kind is Kind.INTEGER:
                bad[wire] = 2**31
            if field.maximum is not None:
                bad[wire] = type(field.maximum)(field.maximum + 1)
            if field.code_list or field.choices:
                bad[wire] = "NO_SUCH_CODE"[: field.length]
        if not bad:
            continue
        error = await refused(desk, Invalid, desk.create_row(set_name, await desk.sample(set_name) | bad))
        named = {target for code, target in faults(error) if code in ("OUT_OF_RANGE", "UNKNOWN_CODE")}
        assert named == bad.keys(), set_name


async def test_a_reference_must_name_a_row_of_the_same_tenant(desk: Desk) -> None:
    other = Desk(desk.database, "tenant-b")
    for set_name in SETS:
        shape = shape_of(set_name)
        names = {link.property_wire: link.target for link in shape.entity.links if not link.read_only}
        names |= {wire: field.refers_to for wire, field in shape.fields.items() if field.refers_to}
        if set_name == "PromotionPilotConfigs":
            continue  # the specification requires another answer for these
        for name, target in names.items():
            foreign = await other.given(target)
            sample = await desk.sample(set_name)
            answers = []
            for key in (NOBODY, foreign):
                error = await refused(desk, Invalid, desk.create_row(set_name, sample | {name: key}))
                answers.append((error.code, error.message, error.target))
            assert answers[0] == answers[1]
            assert answers[0][::2] == ("UNKNOWN_REFERENCE", name), set_name


async def test_a_unique_key_is_held_by_one_row(desk: Desk) -> None:
    for set_name in SETS:
        shape = shape_of(set_name)
        sample = await desk.sample(set_name, full=True)
        first = await desk.create_row(set_name, sample)
        for columns in shape.keys:
            names = [shape.wires[column] for column in columns]
            assert None not in [sample.get(name) for name in names], set_name
            again = await desk.sample(set_name, full=True) | {name: sample[name] for name in names}
            error = await refused(desk, Conflict, desk.create_row(set_name, again))
            assert error.code == "ALREADY_EXISTS"
            assert error.target in names
        error = await refused(desk, Conflict, desk.create_row(set_name, await desk.sample(set_name) | {"ID": first}))
        assert ("ALREADY_EXISTS", "ID") in faults(error)


async def test_a_change_raises_the_version_once_and_no_change_does_not(desk: Desk) -> None:
    for set_name in SETS:
        shape = shape_of(set_name)
        made = await desk.given(set_name)
        before = await desk.row(set_name, made)
        texts = [
            wire
            for wire, field in shape.fields.items()
            if field.kind is Kind.TEXT and field.searchable and not field.code_list and field.name != "callback_url"
        ]
        if not texts:
            continue
        desk.now += timedelta(hours=1)
        await desk.update(set_name, made, **{texts[0]: "changed"})
        after = await desk.row(set_name, made)
        stamps = {"version": before["version"] + 1}
        if shape.entity.managed:
            stamps["modifiedAt"] = desk.now
        assert after == before | {texts[0]: "changed"} | stamps, set_name
        await desk.update(set_name, made, **{texts[0]: "changed"})
        assert (await desk.row(set_name, made))["version"] == after["version"]


async def test_a_deleted_row_is_gone_and_deleting_it_again_is_not_found(desk: Desk) -> None:
    other = Desk(desk.database, "tenant-b")
    for set_name in SETS:
        made = await desk.given(set_name)
        for someone, key in ((other, made), (desk, NOBODY)):
            await refused(desk, NotFound, someone.remove(set_name, key))
            await refused(desk, NotFound, someone.update(set_name, key))
        await desk.remove(set_name, made)
        assert await desk.rows(set_name, ID=made) == []
        await refused(desk, NotFound, desk.remove(set_name, made))


async def test_a_row_that_others_refer_to_cannot_be_deleted(desk: Desk) -> None:
    for set_name in SETS:
        for link in model.entity(set_name).links:
            if link.owner or link.target == set_name:
                continue
            key = await desk.given(link.target)
            await desk.given(set_name, **{link.property_wire: key})
            error = await refused(desk, Conflict, desk.remove(link.target, key))
            assert error.code == "IN_USE"
            assert set_name in error.message


async def test_read_only_sets_are_not_written(desk: Desk) -> None:
    for entity in model.entities():
        if entity.public.value in ("RO", "NONE"):
            for call in (
                desk.create_row(entity.set_name, sample_row(entity)),
                desk.update(entity.set_name, NOBODY),
                desk.remove(entity.set_name, NOBODY),
            ):
                error = await refused(desk, NotAllowed, call)
                assert error.code == "READ_ONLY"
                assert isinstance(error, NotAllowed)
                assert error.allow == ("GET",)


async def test_a_client_may_choose_the_id_of_a_new_row(desk: Desk) -> None:
    for set_name in SETS:
        key = str(uuid.uuid4())
        assert await desk.create_row(set_name, await desk.sample(set_name) | {"ID": key}) == key
