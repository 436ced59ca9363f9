"""What an approval is about: every column that decides what customers get, and no other."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select, update

from promenade import model
from promenade.model.declare import Field, Kind
from promenade.model.sync_sets import ROOTS
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.definitions import read_contents
from tests.workflows.authoring.desk import NOON, TENANT
from tests.workflows.promotions.approvals.house import House

PARTS = next(root for root in ROOTS if root.set_name == "Promotions").parts
OWNERS = {part.set_name: part for part in PARTS}

NOT_CONTENT = {
    "Promotions": {"code", "description", "external_reference", "status", "applications_count"},
    # Pricing does not read them.
    "ConditionValueListItems": {"value_category"},
    "PromotionPilotConfigs": {"auto_promote", "auto_promote_threshold"},
}
"""Columns that may change without a new approval."""


def other(field: Field, present: Any) -> Any:
    """Return a different value of a field."""
    different: dict[Kind, Any] = {
        Kind.BOOLEAN: present is not True,
        Kind.INTEGER: 7 if field.maximum is None else int(field.maximum),
        Kind.DECIMAL: min(Decimal(7), (field.maximum or 14) / 2),
        Kind.TIME: time(7),
        Kind.DATE: date(2027, 7, 7),
        Kind.TIMESTAMP: NOON + timedelta(days=7),
    }
    return different.get(field.kind, "7")


async def whole(house: House) -> tuple[str, dict[str, str]]:
    """Create a promotion with a row of everything that belongs to it, each with all its properties."""
    desk = house.desk
    key = await desk.given("Promotions", campaign_ID=await desk.given("Campaigns"), currency="EUR")
    made = {"Promotions": key}
    for part in PARTS:
        entity = model.entity(part.set_name)
        link = next(one for one in entity.links if one.column == part.column)
        row = await desk.sample(part.set_name, full=True) | {link.property_wire: made[part.owner]}
        made[part.set_name] = await desk.put(
            part.set_name,
            **{
                column: row[wire]
                for column, wire in desk_columns(part.set_name).items()
                if wire in row and not isinstance(row[wire], list)
            },
        )
    return key, made


def desk_columns(set_name: str) -> dict[str, str]:
    entity = model.entity(set_name)
    return {one.name: one.wire for one in entity.fields} | {one.column: one.property_wire for one in entity.links}


MANAGED = {"id", "tenant_id", "created_at", "created_by", "modified_at", "modified_by", "version", "minor_version"}


async def test_every_column_that_decides_what_customers_get_is_content(database: Database) -> None:
    house = await House(database).open({})
    key, made = await whole(house)
    ignored: dict[str, set[str]] = {}
    for set_name, row_id in made.items():
        entity = model.entity(set_name)
        owner = OWNERS[set_name].column if set_name in OWNERS else ""
        columns: dict[str, str | None] = {
            one.name: None for one in entity.fields if not (one.virtual or one.name in MANAGED)
        }
        links = [one for one in entity.links if one.column != owner]
        columns |= {one.column: await house.desk.given(one.target) for one in links}
        for column, value in columns.items():
            if not await decides(house, key, (set_name, row_id, column), value):
                ignored.setdefault(set_name, set()).add(column)
    assert ignored == NOT_CONTENT


class Undone(Exception):
    """Rolls a change back."""


async def decides(house: House, key: str, place: tuple[str, str, str], value: Any) -> bool:
    """Return whether another value in one column, ``value`` if it is a link, changes the fingerprint."""
    set_name, row_id, column = place
    entity, rows = model.entity(set_name), table(set_name)
    own = rows.c.id == row_id
    found: list[str] = []

    async def work(session: Session) -> None:
        ((present,),) = await session.execute(select(rows.c[column]).where(own))
        # A business key wins over the link beside it, which counts only without it.
        beside = {f"{column.removesuffix('_id')}_{end}" for end in ("number", "key")} & set(rows.c.keys())
        await session.rowcount(update(rows).where(own).values(dict.fromkeys(beside - {column}) | {column: present}))
        found.append((await read_contents(session, [key]))[key])
        await session.rowcount(update(rows).where(own).values({column: value or other(entity.field(column), present)}))
        found.append((await read_contents(session, [key]))[key])
        raise Undone

    with pytest.raises(Undone):
        await house.database.write(work, tenant=TENANT)
    return found[0] != found[1]


async def test_master_data_is_not_content(house: House) -> None:
    region = await house.desk.given("PosGroups")
    group = await house.desk.given("PriorityGroups")
    exclusion = await house.desk.given("MutualExclusionGroups")
    article = await house.desk.given("Articles")
    key = await house.promotion(posGroups=[{"posGroup_ID": region}], mutualExclusionGroup_ID=exclusion)
    await house.create("ann", "PriorityGroupPromotions", promotion_ID=key, priorityGroup_ID=group)
    await house.create("ann", "Conditions", promotion_ID=key, conditionType="ARTICLE", article_ID=article)
    await house.approved(key)
    await house.move("ann", key, "activate")
    content = (await house.contents())[key]
    await house.desk.given("PosGroups", parent_ID=region)
    await house.update("ann", "PriorityGroups", group, priority=7)
    await house.update("ann", "MutualExclusionGroups", exclusion, resolutionStrategy="LOWEST_DISCOUNT")
    await house.update("ann", "Articles", article, articleNumber="another")
    assert (await house.contents())[key] == content
    await house.move("ann", key, "deactivate")
    await house.move("ann", key, "activate")
    assert await house.status(key) == "ACTIVE"


async def test_a_campaign_decides_with_its_promotions(house: House) -> None:
    campaign = await house.create("ann", "Campaigns", code="C", name="C", startAt=NOON)
    key = await house.promotion(campaign_ID=campaign)
    first = (await house.contents())[key]
    await house.update("ann", "Campaigns", campaign, name="Another", status="CANCELLED")
    assert (await house.contents())[key] == first
    await house.update("ann", "Campaigns", campaign, startAt=NOON + timedelta(days=1))
    assert (await house.contents())[key] != first
