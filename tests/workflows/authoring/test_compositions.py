"""Compositions are written through their parent, to any depth, and deleted with it; or directly, row by row."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from promenade import model
from promenade.errors import Conflict, Invalid
from promenade.model.declare import Collection
from promenade.workflows.authoring import Delta, planning
from promenade.workflows.authoring.shapes import shape_of
from tests.workflows.authoring.desk import Desk, Row, sample_row, writable_sets
from tests.workflows.authoring.test_every_entity import faults, refused

PARENTS = [name for name in writable_sets() if shape_of(name).compositions]


def compositions(set_name: str) -> Iterator[Collection]:
    return iter(shape_of(set_name).compositions.values())


async def deep(desk: Desk, set_name: str, many: int = 2) -> Row:
    """Return a row with every possible part, `many` rows of each collection."""
    row = await desk.sample(set_name) if shape_of(set_name).owner is None else await part(desk, set_name)
    for one in compositions(set_name):
        rows = [await deep(desk, one.target, many) for _ in range(many if one.many else 1)]
        for child in rows:
            child["ID"] = str(uuid.uuid4())
            child.pop(model.entity(one.target).link(one.by).property_wire, None)
        row[one.wire] = rows if one.many else rows[0]
    return row


async def part(desk: Desk, set_name: str) -> Row:
    """Return a row without the link to its owner."""
    entity = model.entity(set_name)
    row = sample_row(entity)
    for link in entity.links:
        if link.required and not link.owner:
            row[link.property_wire] = await desk.given(link.target)
    return row


async def owned(desk: Desk, set_name: str, row_id: str, row: Row) -> None:
    """Check the stored rows against `row`: equal in number and values, nothing else."""
    stored = await desk.row(set_name, row_id)
    parts = {one.wire: one for one in compositions(set_name)}
    assert {name: stored[name] for name in row if name not in parts} == {
        name: value for name, value in row.items() if name not in parts
    }
    for wire, one in parts.items():
        link = model.entity(one.target).link(one.by).property_wire
        there = await desk.rows(one.target, **{link: row_id})
        wanted: list[Row] = row.get(wire, []) if one.many else [row[wire]] if wire in row else []
        assert len(there) == len(wanted), (set_name, wire)
        for child in wanted:
            plain = {name: value for name, value in child.items() if name not in shape_of(one.target).compositions}
            match = [each for each in there if plain.items() <= each.items()]
            assert match, (set_name, wire)
            await owned(desk, one.target, match[0]["ID"], child)
            there.remove(match[0])


async def test_a_row_is_created_and_deleted_with_all_its_parts(desk: Desk) -> None:
    for set_name in PARENTS:
        row = await deep(desk, set_name)
        if shape_of(set_name).owner is not None:
            owner = shape_of(set_name).owner
            assert owner is not None
            row[owner.property_wire] = await desk.given(owner.target)
        made = await desk.create_row(set_name, row)
        await owned(desk, set_name, made, row)
        await desk.remove(set_name, made)
        for one in compositions(set_name):
            assert await desk.rows(one.target) == []


async def test_a_full_set_replaces_the_existing_rows(desk: Desk) -> None:
    for set_name in PARENTS:
        made = await desk.given(set_name)
        before = await desk.row(set_name, made)
        first = {one.wire: (await deep(desk, set_name))[one.wire] for one in compositions(set_name)}
        await desk.update(set_name, made, **first)
        second: Row = {}
        kept: dict[str, str] = {}
        for one in compositions(set_name):
            link = model.entity(one.target).link(one.by).property_wire
            there = await desk.rows(one.target, **{link: made})
            kept[one.wire] = there[0]["ID"]
            fresh = (await deep(desk, set_name))[one.wire]
            second[one.wire] = [{"ID": kept[one.wire]}, fresh[0]] if one.many else {"ID": kept[one.wire]}
        await desk.update(set_name, made, **second)
        for one in compositions(set_name):
            link = model.entity(one.target).link(one.by).property_wire
            there = await desk.rows(one.target, **{link: made})
            assert len(there) == (2 if one.many else 1)
            assert kept[one.wire] in {row["ID"] for row in there}
        assert (await desk.row(set_name, made))["version"] == before["version"] + 2
        await desk.update(set_name, made, **{one.wire: [] if one.many else None for one in compositions(set_name)})
        for one in compositions(set_name):
            link = model.entity(one.target).link(one.by).property_wire
            assert await desk.rows(one.target, **{link: made}) == []


async def test_a_delta_does_not_change_rows_that_it_does_not_name(desk: Desk) -> None:
    for set_name in PARENTS:
        for one in compositions(set_name):
            if not one.many:
                continue
            made = await desk.given(set_name, **{one.wire: (await deep(desk, set_name, 3))[one.wire]})
            link = model.entity(one.target).link(one.by).property_wire
            first, second, third = [row["ID"] for row in await desk.rows(one.target, **{link: made})]
            fresh = (await deep(desk, set_name, 1))[one.wire][0]
            await desk.update(set_name, made, **{one.wire: Delta((fresh, {"ID": second}), (first,))})
            there = {row["ID"] for row in await desk.rows(one.target, **{link: made})}
            assert len(there) == 3
            assert there >= {second, third}
            assert first not in there


async def test_a_collection_of_any_size_can_be_emptied(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The existing rows may exceed the limit of a request: they were added by deltas."""
    for set_name in PARENTS:
        for one in compositions(set_name):
            if not one.many:
                continue
            made = await desk.given(set_name, **{one.wire: (await deep(desk, set_name, 3))[one.wire]})
            other = await desk.given(set_name, **{one.wire: (await deep(desk, set_name, 1))[one.wire]})
            link = model.entity(one.target).link(one.by).property_wire
            there = [row["ID"] for row in await desk.rows(one.target, **{link: made})]
            with monkeypatch.context() as patched:
                patched.setattr(planning, "ROWS_MAX", 2)
                error = await refused(desk, Invalid, desk.update(set_name, made, **{one.wire: [{"ID": there[0]}]}))
                assert (error.code, error.target) == ("TOO_MANY_ROWS", one.wire)
                await desk.update(set_name, made, **{one.wire: Delta((), (there[0],))})
                assert len(await desk.rows(one.target, **{link: made})) == 2
            before = (await desk.row(set_name, made))["version"]
            for _ in range(2):  # the second time nothing changes
                await desk.update(set_name, made, **{one.wire: []})
                assert await desk.rows(one.target, **{link: made}) == []
                assert (await desk.row(set_name, made))["version"] == before + 1
            assert len(await desk.rows(one.target, **{link: other})) == 1


async def test_subscribers_get_an_event_for_a_promotion_that_lost_its_places(desk: Desk) -> None:
    promotion = await desk.given("Promotions", posGroups=[{"posGroup_ID": await desk.given("PosGroups")}])
    await desk.update("Promotions", promotion, posGroups=[])
    told = [json.loads(row["payload"]) for row in await desk.system_rows("outbox_events")]
    assert told[-1]["data"]["changed"] == ["PromotionPosGroups"]


async def test_faults_of_parts_are_reported_with_their_path(desk: Desk) -> None:
    promotion = await desk.given("Promotions")
    action = await desk.sample("DiscountActions")
    action |= {
        "promotion_ID": promotion,
        "exclusions": [{"exclusionType": "ARTICLE_LIST", "articleListItems": []}, {"articleListItems": [{"ean": "1"}]}],
        "scaledTiers": [{"thresholdAmount": None, "discountType": "HALF", "discountValue": -1}],
    }
    error = await refused(desk, Invalid, desk.create_row("DiscountActions", action))
    assert faults(error) == {
        ("REQUIRED", "exclusions/1/exclusionType"),
        ("REQUIRED", "scaledTiers/0/thresholdAmount"),
        ("UNKNOWN_CODE", "scaledTiers/0/discountType"),
        ("OUT_OF_RANGE", "scaledTiers/0/discountValue"),
    }
    assert await desk.rows("DiscountActions") == []


async def test_a_to_one_part_is_changed_in_place(desk: Desk) -> None:
    promotion = await desk.given("Promotions", calculationConfig={"rounding": "ROUND_UP"})
    (config,) = await desk.rows("CalculationConfigs")
    await desk.update("Promotions", promotion, calculationConfig={"precision": 1})
    (changed,) = await desk.rows("CalculationConfigs")
    assert (changed["ID"], changed["rounding"], changed["precision"]) == (config["ID"], "ROUND_UP", 1)
    assert changed["version"] == 2


async def test_a_part_cannot_name_another_parent(desk: Desk) -> None:
    promotion, other, place = [await desk.given(name) for name in ("Promotions", "Promotions", "PosGroups")]
    part = {"posGroup_ID": place, "promotion_ID": other}
    error = await refused(desk, Invalid, desk.update("Promotions", promotion, posGroups=[part]))
    assert (error.code, error.target) == ("OTHER_PARENT", "posGroups/0/promotion_ID")
    held = await desk.create("PromotionPosGroups", promotion_ID=other, posGroup_ID=place)
    stolen = {"ID": held, "posGroup_ID": place}
    error = await refused(desk, Conflict, desk.update("Promotions", promotion, posGroups=[stolen]))
    assert (error.code, error.target) == ("ALREADY_EXISTS", "posGroups/0/ID")


async def test_a_change_of_a_part_also_raises_the_version_of_its_owners(desk: Desk) -> None:
    """Up to the root, so that the version of a promotion identifies its definition."""
    promotion, other = await desk.given("Promotions"), await desk.given("Promotions")
    condition = await desk.create("Conditions", promotion_ID=promotion, conditionType="CHANNEL")
    desk.now += timedelta(minutes=1)

    async def versions() -> tuple[Any, ...]:
        rows = [await desk.row("Promotions", promotion), await desk.row("Promotions", other)]
        return tuple(row["version"] for row in rows)

    assert await versions() == (2, 1)
    item = await desk.create("ConditionValueListItems", condition_ID=condition, value="app")
    assert await versions() == (3, 1)
    assert (await desk.row("Promotions", promotion))["modifiedAt"] == desk.now
    await desk.update("ConditionValueListItems", item, value="web")
    assert await versions() == (4, 1)
    await desk.update("Conditions", condition, promotion_ID=other)
    assert await versions() == (5, 2)
    await desk.remove("ConditionValueListItems", item)
    assert await versions() == (5, 3)
    assert (await desk.row("Conditions", condition))["version"] == 5


async def test_a_place_of_a_promotion_can_be_replaced_by_the_same_place(desk: Desk) -> None:
    """The deleted row frees its key for the new one."""
    place = await desk.given("PosGroups")
    promotion = await desk.given("Promotions", posGroups=[{"posGroup_ID": place}])
    await desk.update("Promotions", promotion, posGroups=[{"posGroup_ID": place}])
    assert len(await desk.rows("PromotionPosGroups")) == 1
