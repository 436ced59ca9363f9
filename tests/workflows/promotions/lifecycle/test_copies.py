"""Copies of promotions, field by field: the compared fields come from the model, so that new ones are included."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade import model
from promenade.errors import Conflict, Invalid, NotFound
from promenade.model.declare import ADMIN, NONE, EntityType
from promenade.workflows.promotions import copying
from promenade.workflows.promotions.copying import LINKS, copy_promotion, parts_beside
from tests.workflows.authoring.desk import NOON
from tests.workflows.counting import count_statements
from tests.workflows.promotions.lifecycle.acting import Office

PROMOTION = model.entity("Promotions")
LEFT_BEHIND = {"PromotionPilotConfigs", "StakeholderPromotions", "PromotionsCalendar", "BasketTests"}
"""What names a promotion and is not copied: its pilot, deprecated shares of its cost, what is computed, its tests."""
Row = dict[str, Any]


async def copy(office: Office, promotion_id: str, **given: str) -> str:
    named: dict[str, str | None] = {"code": None, "name": None, **given}
    made = await office.act(
        lambda authoring, session: copy_promotion(
            authoring, session, promotion_id, code=named["code"], name=named["name"]
        )
    )
    return str(made)


def compositions(entity: EntityType) -> Iterator[tuple[str, bool, EntityType]]:
    return ((part.wire, part.many, model.entity(part.target)) for part in entity.collections if part.composition)


def own_properties(entity: EntityType) -> set[str]:
    """Return a row's own properties: without its key, its owner, and what the service sets."""
    fields = {field.wire for field in entity.fields if not (field.read_only or field.virtual or field.name == "id")}
    return fields | {link.property_wire for link in entity.links if not link.owner}


async def full_row(office: Office, entity: EntityType, rows: int) -> Row:
    """Return a row with every property that a client may write and ``rows`` rows in each composition."""
    row = await office.sample(entity.set_name, full=True)
    if entity.owner is not None:
        del row[entity.owner.property_wire]
    for wire, many, part in compositions(entity):
        below = [await full_row(office, part, rows) for _ in range(rows if many else 1)]
        row[wire] = below if many else below[0]
    return row


async def full_promotion(office: Office, rows: int = 2) -> str:
    """Create a promotion with all possible parts and a link of every kind."""
    promotion = await office.create_row("Promotions", await full_row(office, PROMOTION, rows) | {"status": "INACTIVE"})
    for entity in parts_beside():
        for _ in range(rows):
            await office.create_row(entity.set_name, await full_row(office, entity, rows) | {"promotion_ID": promotion})
    for name in LINKS:
        await office.create_row(name, await office.sample(name, full=True) | {"promotion_ID": promotion})
    return promotion


async def said(office: Office, entity: EntityType, row: Row) -> Row:
    """Return a stored row with everything below it, without identifying properties."""
    found = {wire: row[wire] for wire in own_properties(entity)}
    for wire, _, part in compositions(entity):
        found[wire] = await parts(office, part, row["ID"])
    return found


async def parts(office: Office, entity: EntityType, owner_id: str) -> list[Row]:
    assert entity.owner is not None
    rows = await office.rows(entity.set_name, **{entity.owner.property_wire: owner_id})
    return sorted([await said(office, entity, row) for row in rows], key=repr)


def nothing(row: Row) -> Iterator[str]:
    """Yield the properties that are null or empty, at any depth."""
    for wire, value in row.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for one in value:
                yield from nothing(one)
        elif value is None or value == []:
            yield wire


def test_every_entity_with_a_promotion_is_either_copied_or_deliberately_not() -> None:
    naming = {
        entity.set_name
        for entity in model.entities()
        if any(link.target == "Promotions" and not link.soft for link in entity.links)
    }
    within = {entity.set_name for _, _, entity in compositions(PROMOTION)}
    copied = within | {entity.set_name for entity in parts_beside()} | set(LINKS)
    assert {entity.set_name for entity in parts_beside()} == {"Conditions", "DiscountActions", "LoyaltyActions"}
    assert naming == copied | LEFT_BEHIND
    assert model.entity("StakeholderPromotions").mode(ADMIN) is NONE


async def test_a_copy_has_all_values_of_the_original(office: Office) -> None:
    original_id = await full_promotion(office)
    before = await office.row("Promotions", original_id)
    copy_id = await copy(office, original_id)
    after = await office.row("Promotions", copy_id)

    original, made = await said(office, PROMOTION, before), await said(office, PROMOTION, after)
    assert list(nothing(original)) == []  # otherwise an omission in the copy would go unnoticed
    assert (made.pop("code"), made.pop("status"), made.pop("name")) == (None, "DRAFT", f"Copy of {before['name']}")
    assert {wire: original[wire] for wire in made} == made
    assert (after["applicationsCount"], after["createdBy"]) == (0, "ann")
    for entity in parts_beside():
        expected = await parts(office, entity, original_id)
        assert len(expected) == 2
        assert not [wire for row in expected for wire in nothing(row)]
        assert await parts(office, entity, copy_id) == expected
    for name in LINKS:
        (there,) = await office.rows(name, promotion_ID=original_id)
        (here,) = await office.rows(name, promotion_ID=copy_id)
        same = own_properties(model.entity(name)) - {"promotion_ID"}
        assert same
        assert {wire: here[wire] for wire in same} == {wire: there[wire] for wire in same}
    assert await office.row("Promotions", original_id) == before


async def test_a_copy_keeps_null_and_empty_values(office: Office) -> None:
    """False, zero and an empty text are values; null stays null."""
    original = await office.create("Promotions", name="Free", priority=0, description="")
    part = {"quantity": Decimal(0), "articleNumber": "", "discounted": False}
    await office.create("DiscountActions", promotion_ID=original, actionType="BUNDLE", bundleComponents=[part])
    copy_id = await copy(office, original)
    row = await office.row("Promotions", copy_id)
    assert (row["priority"], row["description"], row["validTo"]) == (0, "", None)
    assert await office.rows("CalculationConfigs") == []
    first, second = await office.rows("BundleComponents")
    assert {wire: first[wire] for wire in part} == {wire: second[wire] for wire in part} == part


async def test_a_copy_runs_as_its_original_does(office: Office) -> None:
    """It needs the same coupon and uses the same budget: the copy has all limits of the original."""
    original = await office.given("Promotions", name="n" * 250)
    await office.create("DiscountActions", promotion_ID=original, actionType="RECEIPT", discountType="ABSOLUTE",
                        discountValue=Decimal(1))  # fmt: skip
    await office.given("CouponTypePromotions", promotion_ID=original)
    copy_id = await copy(office, original, code="AGAIN")
    await office.move("Promotions", copy_id, "activate")
    row = await office.row("Promotions", copy_id)
    assert (row["status"], row["code"], len(row["name"])) == ("ACTIVE", "AGAIN", 255)
    assert len(await office.rows("CouponTypePromotions", promotion_ID=copy_id)) == 1
    assert await office.trail(original) == ["CREATE", "COPY"] or await office.trail(original) == ["COPY", "CREATE"]
    assert sorted(await office.trail(copy_id)) == ["ACTIVATE", "CREATE"]


async def test_a_copy_can_be_copied_and_its_original_deleted(office: Office) -> None:
    first = await office.given("Promotions", name="A")
    second = await copy(office, first)
    third = await copy(office, second, name="C")
    await office.remove("Promotions", first)
    assert [(await office.row("Promotions", key))["name"] for key in (second, third)] == ["Copy of A", "C"]


async def test_a_promotion_of_a_locked_campaign_or_of_others_is_not_copied(office: Office) -> None:
    campaign = await office.given("Campaigns")
    original = await office.given("Promotions", campaign_ID=campaign)
    await office.move("Campaigns", campaign, "lock")
    with pytest.raises(Conflict) as caught:
        await copy(office, original)
    assert caught.value.code == "LOCKED"
    with pytest.raises(NotFound):
        await copy(Office(office.database, "tenant-b"), original)
    assert len(await office.rows("Promotions")) == 1


async def test_a_copy_with_an_invalid_name_or_code_is_refused(office: Office) -> None:
    original = await office.given("Promotions", code="ONE")
    for given, code in (({"code": "ONE"}, "ALREADY_EXISTS"), ({"name": " "}, "REQUIRED"), ({"name": ""}, "REQUIRED")):
        with pytest.raises((Conflict, Invalid)) as caught:
            await copy(office, original, **given)
        assert (caught.value.code, caught.value.target) == (code, next(iter(given)))
    assert len(await office.rows("Promotions")) == 1


async def test_a_promotion_over_already_can_be_copied(office: Office) -> None:
    original = await office.given("Promotions", validTo=NOON - timedelta(days=1))
    assert (await office.row("Promotions", await copy(office, original)))["validTo"] == NOON - timedelta(days=1)


@pytest.mark.parametrize(("rows", "fits"), [(9, True), (10, False)])
async def test_a_promotion_has_a_size_that_can_be_copied(
    office: Office, monkeypatch: pytest.MonkeyPatch, rows: int, fits: bool
) -> None:
    monkeypatch.setattr(copying, "ROWS_MAX", 10)
    original = await office.given("Promotions")
    values = [{"value": f"V{number}"} for number in range(rows)]
    await office.create("Conditions", promotion_ID=original, conditionType="CHANNEL", valueListItems=values)
    if fits:
        await copy(office, original)
        assert len(await office.rows("ConditionValueListItems")) == 2 * rows
    else:
        with pytest.raises(Invalid) as caught:
            await copy(office, original)
        assert caught.value.code == "PROMOTION_TOO_LARGE"
        assert len(await office.rows("Promotions")) == 1


async def test_a_big_promotion_costs_as_many_statements_as_a_small_one(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = await full_promotion(office, 1), await full_promotion(office, 3)
    counted = count_statements(monkeypatch)
    await copy(office, small)
    first = counted()
    await copy(office, large)
    assert counted() - first == first
