"""Promotions created from templates: everything is copied, as derived from the model, into new rows."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from promenade import model
from promenade.errors import Invalid, NotFound
from promenade.model.declare import EntityType
from promenade.store.driver.session import Database, Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.promotions import templates
from promenade.workflows.promotions.templates import copied_properties, create_promotion_from_template, live_parts
from tests.store.pricing.written import uuid
from tests.workflows.authoring.desk import NOON, TENANT, Desk
from tests.workflows.counting import count_statements

TEMPLATE = model.entity("PromotionTemplates")
Row = dict[str, Any]


async def create(database: Database, template_id: str | None, *, finished: bool = True, tenant: str = TENANT) -> str:
    """Run one unit of work that creates a promotion."""

    async def unit(session: Session) -> str:
        authoring = Authoring(session, user="ann", at=NOON, new_id=lambda: str(uuid4()))
        promotion_id = await create_promotion_from_template(authoring, session, template_id)
        if finished:
            await authoring.finish()
        return promotion_id

    return await database.write(unit, tenant=tenant)


def compositions(entity: EntityType) -> Iterator[tuple[str, EntityType]]:
    """Return property and entity of each composition."""
    return ((part.wire, model.entity(part.target)) for part in entity.collections if part.composition)


def pairs() -> list[tuple[str, str]]:
    """Return every entity of a template's tree below its root, with the live entity that it becomes."""
    found: list[tuple[str, str]] = []
    level = [(model.entity(f"Template{live.set_name}"), live) for live in live_parts().values()]
    while level:
        found += [(template.set_name, live.set_name) for template, live in level]
        level = [
            (part, dict(compositions(live))[wire]) for template, live in level for wire, part in compositions(template)
        ]
    return found


def own_properties(entity: EntityType) -> set[str]:
    """Return a row's own properties: without its key, its owner, and what the service sets."""
    fields = {field.wire for field in entity.fields if not (field.read_only or field.virtual or field.name == "id")}
    return fields | {link.property_wire for link in entity.links if not link.owner}


async def full_row(desk: Desk, entity: EntityType, rows: int) -> Row:
    """Return a row with every property that a client may write and ``rows`` rows in each composition."""
    row = await desk.sample(entity.set_name, full=True)
    if entity.owner is not None:
        del row[entity.owner.property_wire]
    for wire, part in compositions(entity):
        row[wire] = [await full_row(desk, part, rows) for _ in range(rows)]
    return row


async def said(desk: Desk, entity: EntityType, row: Row) -> Row:
    """Return a stored row with everything below it, without identifying properties."""
    found = {wire: row[wire] for wire in own_properties(entity)}
    for wire, part in compositions(entity):
        below = await parts(desk, part, row["ID"])
        if below:
            found[wire] = below
    return found


async def parts(desk: Desk, entity: EntityType, owner_id: str) -> list[Row]:
    assert entity.owner is not None
    rows = await desk.rows(entity.set_name, **{entity.owner.property_wire: owner_id})
    return sorted([await said(desk, entity, row) for row in rows], key=repr)


def nothing(rows: list[Row]) -> Iterator[str]:
    """Yield the properties that are null, at any depth."""
    for row in rows:
        for wire, value in row.items():
            if isinstance(value, list):
                yield from nothing(value)
            elif value is None:
                yield wire


def test_template_parts_have_the_fields_of_live_parts() -> None:
    assert len(pairs()) == 11
    for template, live in pairs():
        assert own_properties(model.entity(template)) == own_properties(model.entity(live)), template
        assert set(copied_properties(template, live).values()) == own_properties(model.entity(live)), template


def test_only_three_properties_of_a_template_are_not_copied() -> None:
    copied = set(copied_properties("PromotionTemplates", "Promotions").values())
    assert own_properties(TEMPLATE) - copied == {"code", "useCase", "priorityGroup_ID"}


async def test_a_promotion_has_all_values_of_its_template(database: Database) -> None:
    desk = Desk(database)
    template_id = await desk.create_row("PromotionTemplates", await full_row(desk, TEMPLATE, 2))
    template = await desk.row("PromotionTemplates", template_id)
    promotion_id = await create(database, template_id)

    promotion = await desk.row("Promotions", promotion_id)
    assert [promotion[wire] for wire in ("name", "description", "type")] == [
        template[wire] for wire in ("name", "description", "type")
    ]
    assert (promotion["status"], promotion["code"], promotion["createdBy"]) == ("DRAFT", None, "ann")
    (place,) = await desk.rows("PriorityGroupPromotions", promotion_ID=promotion_id)
    assert place["priorityGroup_ID"] == template["priorityGroup_ID"]

    for wire, part in compositions(TEMPLATE):
        live = live_parts()[next(one.name for one in TEMPLATE.collections if one.wire == wire)]
        expected = await parts(desk, part, template_id)
        assert len(expected) == 2
        assert not list(nothing(expected))  # otherwise an omission in the copy would go unnoticed
        assert await parts(desk, live, promotion_id) == expected
    for template_set, live_set in pairs():
        originals, copies = await desk.rows(template_set), await desk.rows(live_set)
        assert not {row["ID"] for row in originals} & {row["ID"] for row in copies}


async def test_false_zero_and_empty_values_are_copied_too(database: Database) -> None:
    """False, zero and an empty text are values; only missing values get their default."""
    desk = Desk(database)
    part = {"quantity": Decimal(0), "articleNumber": "", "discounted": False}
    actions = [{"actionType": "BUNDLE", "sequence": 0, "discountValue": Decimal(0), "bundleComponents": [part]}]
    template_id = await desk.create("PromotionTemplates", name="Free", description="", discountActions=actions)
    promotion_id = await create(database, template_id)
    assert (await desk.row("Promotions", promotion_id))["description"] == ""
    (action,) = await desk.rows("DiscountActions")
    assert (action["discountValue"], action["maxDiscountAmount"]) == (Decimal(0), None)
    (component,) = await desk.rows("BundleComponents")
    assert {wire: component[wire] for wire in part} == part


async def test_each_call_creates_another_promotion(database: Database) -> None:
    desk = Desk(database)
    conditions = [{"conditionType": "CHANNEL", "value": "ONLINE"}]
    template_id = await desk.create("PromotionTemplates", code="T", name="Online", conditions=conditions)
    first, second = await create(database, template_id.upper()), await create(database, template_id)
    assert first != second
    rows = await desk.rows("Promotions")
    assert {row["ID"] for row in rows} == {first, second}
    assert [(row["name"], row["type"], row["code"]) for row in rows] == [("Online", "ARTICLE", None)] * 2
    assert len(await desk.rows("Conditions")) == 2
    assert await desk.rows("PriorityGroupPromotions") == []
    await desk.remove("PromotionTemplates", template_id)
    assert len(await desk.rows("Conditions")) == 2


async def test_a_promotion_from_a_template_can_be_activated_at_once(database: Database) -> None:
    desk = Desk(database)
    action = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 10}
    template_id = await desk.create("PromotionTemplates", name="Ten", type="RECEIPT", discountActions=[action])
    promotion_id = await create(database, template_id)
    await desk.update("Promotions", promotion_id, status="ACTIVE")
    assert (await desk.row("Promotions", promotion_id))["status"] == "ACTIVE"
    trail = await desk.rows("AuditLogs", entityId=promotion_id)
    assert sorted(row["action"] for row in trail) == ["ACTIVATE", "CREATE"]


@pytest.mark.parametrize("template_id", [None, ""])
async def test_the_template_must_be_named(database: Database, template_id: str | None) -> None:
    with pytest.raises(Invalid) as caught:
        await create(database, template_id)
    assert (caught.value.code, caught.value.target) == ("REQUIRED", "templateId")


async def test_a_foreign_template_is_answered_like_an_unknown_one(database: Database) -> None:
    desk = Desk(database)
    foreign = await Desk(database, "other").create("PromotionTemplates", name="Theirs")
    refusals = []
    for template_id in (foreign, uuid(9), "ten percent", "\0"):
        with pytest.raises(NotFound) as caught:
            await create(database, template_id)
        refusals.append((caught.value.code, caught.value.message, caught.value.target, caught.value.details))
    assert len(set(refusals)) == 1
    assert await desk.rows("Promotions") == []


@pytest.mark.parametrize(("rows", "fits"), [(8, True), (9, False)])
async def test_a_template_has_a_size_that_can_be_copied(
    database: Database, monkeypatch: pytest.MonkeyPatch, rows: int, fits: bool
) -> None:
    monkeypatch.setattr(templates, "ROWS_MAX", 10)
    values = [{"value": f"V{number}"} for number in range(rows)]
    conditions = [{"conditionType": "CHANNEL", "valueListItems": values}, {"conditionType": "CHANNEL", "value": "V"}]
    template_id = await Desk(database).create("PromotionTemplates", name="Large", conditions=conditions)
    if fits:
        await create(database, template_id)
        assert len(await Desk(database).rows("ConditionValueListItems")) == rows
    else:
        with pytest.raises(Invalid) as caught:
            await create(database, template_id)
        assert (caught.value.code, caught.value.target) == ("TEMPLATE_TOO_LARGE", "templateId")
        assert await Desk(database).rows("Promotions") == []


async def test_a_big_template_costs_as_many_statements_as_a_small_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(database)
    small = await desk.create_row("PromotionTemplates", await full_row(desk, TEMPLATE, 1))
    large = await desk.create_row("PromotionTemplates", await full_row(desk, TEMPLATE, 3))
    counted = count_statements(monkeypatch)
    await create(database, small)
    first = counted()
    await create(database, large)
    assert counted() - first == first
