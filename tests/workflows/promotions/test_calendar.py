"""PromotionsCalendar: time and place of every promotion, from promotions, campaigns and POS groups."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.dialects import sqlite

from promenade import model
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import Database, Session
from promenade.store.driver.tenancy import Scope, acting, guard_dialect
from promenade.store.promotions.calendar import promotions_calendar
from tests.kit.databases import Databases
from tests.store.pricing.written import NORTH, NOW, PLACES, SHOP, SOUTH, Rows, author, uuid
from tests.store.pricing.written import TENANT as RETAILER

PROMOTION, CAMPAIGN = uuid(3), uuid(2)
EARLY, LATE = NOW - timedelta(days=3), NOW + timedelta(days=3)
CALENDAR = promotions_calendar()


async def calendar(database: Database, *where: ColumnElement[bool], **scope: Any) -> Sequence[Mapping[str, Any]]:
    async def work(session: Session) -> Sequence[Mapping[str, Any]]:
        rows = await session.execute(select(CALENDAR).where(*where).order_by(CALENDAR.c.id))
        return [dict(row._mapping) for row in rows]

    return await database.read(work, **(scope or {"tenant": RETAILER}))


async def only(database: Database) -> Mapping[str, Any]:
    (row,) = await calendar(database)
    return row


def campaign(**fields: Any) -> Rows:
    return {"Campaigns": [{"ID": CAMPAIGN, "code": "SPRING", "name": "Spring"} | fields]}


def promotion(**fields: Any) -> Rows:
    return {"Promotions": [{"ID": PROMOTION, "name": "Tea", "type": "RECEIPT", "status": "ACTIVE"} | fields]}


def runs_in(*groups: str) -> Rows:
    links = [{"ID": uuid(7, n), "promotion_ID": PROMOTION, "posGroup_ID": one} for n, one in enumerate(groups)]
    return {"PromotionPosGroups": links}


def campaign_runs_in(*groups: str) -> Rows:
    links = [{"ID": uuid(8, n), "campaign_ID": CAMPAIGN, "posGroup_ID": one} for n, one in enumerate(groups)]
    return {"CampaignPosGroups": links}


def test_it_has_a_column_for_every_property_of_the_entity() -> None:
    entity = model.entity("PromotionsCalendar")
    wanted = {field.name for field in entity.fields if not field.virtual} | {link.column for link in entity.links}
    assert {column.key for column in CALENDAR.c} == wanted


async def test_a_promotion_without_window_and_place_runs_always_and_everywhere(database: Database) -> None:
    await author(database, "Promotions", promotion())
    assert dict(await only(database)) == {
        "id": PROMOTION,
        "promotion_id": PROMOTION,
        "promotion_name": "Tea",
        "status": "ACTIVE",
        "type": "RECEIPT",
        "starts_at": None,
        "ends_at": None,
        "campaign_id": None,
        "campaign_code": None,
        "pos_groups": [],
        "tenant_id": RETAILER,
    }


@pytest.mark.parametrize(
    ("own", "of_campaign", "expected"),
    [
        ((None, None), (None, None), (None, None)),
        ((NOW, LATE), (None, None), (NOW, LATE)),
        ((None, None), (NOW, LATE), (NOW, LATE)),
        ((EARLY, NOW), (NOW - timedelta(1), LATE), (NOW - timedelta(1), NOW)),
        ((NOW, LATE), (EARLY, NOW + timedelta(1)), (NOW, NOW + timedelta(1))),
        ((NOW, None), (None, LATE), (NOW, LATE)),
    ],
)
async def test_it_runs_while_both_its_validity_and_its_campaigns_window_last(
    database: Database,
    own: tuple[datetime | None, datetime | None],
    of_campaign: tuple[datetime | None, datetime | None],
    expected: tuple[datetime | None, datetime | None],
) -> None:
    rows = campaign(startAt=of_campaign[0], endAt=of_campaign[1])
    rows |= promotion(validFrom=own[0], validTo=own[1], campaign_ID=CAMPAIGN)
    await author(database, "Promotions", rows)
    row = await only(database)
    assert (row["starts_at"], row["ends_at"]) == expected
    assert (row["campaign_id"], row["campaign_code"]) == (CAMPAIGN, "SPRING")


@pytest.mark.parametrize(
    ("merged", "own", "of_campaign", "expected"),
    [
        (False, (SOUTH, NORTH), (), ["N", "S"]),
        (False, (SOUTH,), (SHOP, NORTH), ["N", "N1"]),  # the campaign decides
        (False, (), (SOUTH,), ["S"]),
        (True, (SOUTH, NORTH), (SHOP, SOUTH), ["N", "N1", "S"]),  # each once
        (True, (), (SOUTH,), ["S"]),
        (True, (SOUTH,), (), ["S"]),
        (True, (), (), []),
    ],
)
async def test_it_runs_where_the_pricing_rules_say(
    database: Database, merged: bool, own: tuple[str, ...], of_campaign: tuple[str, ...], expected: list[str]
) -> None:
    rows = PLACES | campaign(mergePromotionPosGroups=merged) | promotion(campaign_ID=CAMPAIGN)
    await author(database, "Promotions", rows | runs_in(*own) | campaign_runs_in(*of_campaign))
    assert (await only(database))["pos_groups"] == expected


async def test_codes_of_places_are_any_text(database: Database) -> None:
    codes = ['a"b', "b\\", "c\n", "dü", "e\U0001f6d2"]
    groups = [{"ID": uuid(1, n), "code": one, "name": "x", "currency": "EUR"} for n, one in enumerate(codes)]
    rows = {"PosGroups": groups} | promotion() | runs_in(*(uuid(1, n) for n in range(len(codes))))
    await author(database, "Promotions", rows)
    assert (await only(database))["pos_groups"] == codes


async def test_the_calendar_shows_a_tenant_its_own_promotions_only(database: Database) -> None:
    rows = PLACES | campaign(startAt=NOW) | promotion(campaign_ID=CAMPAIGN) | runs_in(SOUTH)
    await author(database, "Promotions", rows)

    async def foreign(session: Session) -> None:
        twins: Rows = {"PosGroups": [{**PLACES["PosGroups"][2], "code": "FOREIGN"}]}
        twins |= campaign(code="THEIRS") | campaign_runs_in(SOUTH) | promotion(name="Theirs", campaign_ID=CAMPAIGN)
        for set_name, of_set in twins.items():
            await insert_rows(session, set_name, of_set, at=NOW, by="other")

    await database.write(foreign, tenant="other")  # the same IDs
    (mine,) = await calendar(database)
    (theirs,) = await calendar(database, tenant="other")
    assert (mine["promotion_name"], mine["campaign_code"], mine["pos_groups"]) == ("Tea", "SPRING", ["S"])
    assert (theirs["promotion_name"], theirs["campaign_code"], theirs["pos_groups"]) == (
        "Theirs",
        "THEIRS",
        ["FOREIGN"],
    )
    assert theirs["starts_at"] is None
    assert await calendar(database, CALENDAR.c.tenant_id == "other") == []
    assert await calendar(database, tenant=None) == []
    everything = await calendar(database, system=True)
    assert {row["tenant_id"]: row["pos_groups"] for row in everything} == {RETAILER: ["S"], "other": ["FOREIGN"]}


async def test_it_is_filtered_sorted_paged_and_counted_like_a_table(database: Database) -> None:
    rows: Rows = {
        "Promotions": [
            {"ID": uuid(3, n), "name": f"P{n}", "validFrom": NOW + timedelta(hours=(n * 7) % 20)} for n in range(20)
        ]
    }
    await author(database, "Promotions", PLACES | rows | runs_in(SOUTH))

    async def work(session: Session) -> tuple[list[Any], int]:
        page = select(CALENDAR).where(CALENDAR.c.starts_at >= NOW + timedelta(hours=5))
        page = page.order_by(CALENDAR.c.starts_at.desc()).limit(3).offset(2)
        counted = select(func.count()).select_from(CALENDAR).where(CALENDAR.c.promotion_name == "P7")
        return list(await session.execute(page)), (await session.execute(counted))[0][0]

    page, counted = await database.read(work, tenant=RETAILER)
    assert [row.starts_at for row in page] == [NOW + timedelta(hours=hours) for hours in (17, 16, 15)]
    assert counted == 1
    (one,) = await calendar(database, CALENDAR.c.promotion_id == uuid(3, 1))
    assert one["pos_groups"] == ["S"]


def test_calendar_parts_of_a_promotion_are_found_by_its_key(databases: Databases) -> None:
    """SQLite would scan all POS groups for every promotion: a page of 50 then took a hundred times as long."""
    dialect = sqlite.dialect(paramstyle="named")
    guard_dialect(dialect)
    with acting(Scope(RETAILER)):
        page = str(select(CALENDAR).order_by(CALENDAR.c.starts_at).compile(dialect=dialect))
    url = databases.create("sqlite")
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {page}", {"session_tenant": RETAILER})]
    searches = [step for step in plan if "pos_groups" in step or "any_of_campaign" in step or "campaigns" in step]
    assert len(searches) == 5
    assert all(step.startswith("SEARCH") and "tenant_id=? AND" in step for step in searches), plan
    databases.drop(url)
