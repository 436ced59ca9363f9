"""The tables themselves enforce, for every writer: keys per tenant, compositions, invariants, exact values."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from promenade import model
from promenade.store.driver.schema import metadata, table
from promenade.store.driver.session import Database, Session
from tests.kit.databases import Databases

AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
_numbers = itertools.count(1)


def new_id() -> str:
    return f"00000000-0000-4000-8000-{next(_numbers):012x}"


async def add(database: Database, set_name: str, tenant: str = "t1", **values: Any) -> str:
    """Insert a row and return its ID."""
    row = {"id": new_id(), "created_at": AT, "modified_at": AT, **values}

    async def work(session: Session) -> None:
        await session.rowcount(sa.insert(table(set_name)), row)

    await database.write(work, tenant=tenant)
    return str(row["id"])


async def read(database: Database, set_name: str, tenant: str = "t1") -> list[Mapping[str, Any]]:
    async def work(session: Session) -> list[Mapping[str, Any]]:
        return [dict(row._mapping) for row in await session.execute(sa.select(table(set_name)))]

    return await database.read(work, tenant=tenant)


async def remove(database: Database, set_name: str, row_id: str, tenant: str = "t1") -> None:
    async def work(session: Session) -> None:
        rows = table(set_name)
        await session.rowcount(sa.delete(rows).where(rows.c.id == row_id))

    await database.write(work, tenant=tenant)


async def promotion(database: Database, code: str | None = None, tenant: str = "t1", **values: Any) -> str:
    return await add(database, "Promotions", tenant, code=code, name="Spring", **values)


async def budget(database: Database, **amounts: str) -> str:
    exact: dict[str, Any] = {name: Decimal(amount) for name, amount in amounts.items()}
    return await add(database, "Budgets", code=new_id()[-12:], name="Spring", currency="EUR", **exact)


# --- keys -------------------------------------------------------------------------------------------------------------


async def test_a_natural_key_is_unique_within_its_tenant(database: Database) -> None:
    await promotion(database, "SPRING")
    with pytest.raises(IntegrityError):
        await promotion(database, "SPRING")
    await promotion(database, "SPRING", tenant="t2")
    assert [row["code"] for row in await read(database, "Promotions")] == ["SPRING"]


async def test_rows_without_a_natural_key_do_not_collide(database: Database) -> None:
    await promotion(database, None)
    await promotion(database, None)
    assert len(await read(database, "Promotions")) == 2


async def test_two_tenants_may_use_one_id(database: Database) -> None:
    row_id = await promotion(database)
    await add(database, "Promotions", "t2", id=row_id, name="Theirs")
    assert [row["name"] for row in await read(database, "Promotions", "t2")] == ["Theirs"]
    with pytest.raises(IntegrityError):
        await add(database, "Promotions", id=row_id, name="Again")


async def test_a_promotion_is_in_one_priority_group(database: Database) -> None:
    of = await promotion(database)
    groups = [await add(database, "PriorityGroups", code=code, name=code) for code in ("A", "B")]
    await add(database, "PriorityGroupPromotions", promotion_id=of, priority_group_id=groups[0])
    with pytest.raises(IntegrityError):
        await add(database, "PriorityGroupPromotions", promotion_id=of, priority_group_id=groups[1])


async def test_a_transaction_is_confirmed_once_per_origin(database: Database) -> None:
    async def confirm(counter: int, origin: str) -> None:
        async def work(session: Session) -> None:
            row = {
                "origin": origin,
                "transaction_id": "T-1",
                "transaction_counter": counter,
                "fingerprint": b"f",
                "response": b"r",
                "confirmed_at": AT,
            }
            await session.rowcount(sa.insert(table("confirmations")), row)

        await database.write(work, tenant="t1")

    await confirm(1, "cloud")
    await confirm(1, "store-7")
    with pytest.raises(IntegrityError):
        await confirm(2, "cloud")


# --- references -------------------------------------------------------------------------------------------------------


async def test_deleting_a_promotion_deletes_its_parts(database: Database) -> None:
    of = await promotion(database)
    condition = await add(database, "Conditions", promotion_id=of, condition_type="ARTICLE_LIST")
    await add(database, "ConditionArticleListItems", condition_id=condition, article_number="4711")
    action = await add(database, "DiscountActions", promotion_id=of, action_type="ARTICLE")
    exclusion = await add(database, "ActionExclusions", action_id=action, exclusion_type="ARTICLE_LIST")
    await add(database, "ActionExclusionArticleListItems", exclusion_id=exclusion, article_number="4712")
    kept = await promotion(database)
    await add(database, "Conditions", promotion_id=kept, condition_type="CHANNEL")
    await remove(database, "Promotions", of)
    assert [row["promotion_id"] for row in await read(database, "Conditions")] == [kept]
    for gone in ("ConditionArticleListItems", "DiscountActions", "ActionExclusionArticleListItems"):
        assert await read(database, gone) == []


async def test_a_row_that_others_refer_to_cannot_be_deleted(database: Database) -> None:
    campaign = await add(database, "Campaigns", code="C", name="C")
    of = await promotion(database, campaign_id=campaign)
    with pytest.raises(IntegrityError):
        await remove(database, "Campaigns", campaign)
    await remove(database, "Promotions", of)
    await remove(database, "Campaigns", campaign)
    assert await read(database, "Campaigns") == []


async def test_logs_are_kept_when_their_promotion_is_deleted(database: Database) -> None:
    of = await promotion(database)
    await add(database, "RedemptionLogs", promotion_id=of, action="REDEEMED", occurred_at=AT)
    await remove(database, "Promotions", of)
    assert [row["promotion_id"] for row in await read(database, "RedemptionLogs")] == [of]


async def test_a_reference_cannot_cross_tenants(database: Database) -> None:
    theirs = await add(database, "Campaigns", "t2", code="C", name="C")
    with pytest.raises(IntegrityError):
        await promotion(database, campaign_id=theirs)


# --- invariants -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("consumed", "reserved", "accepted"),
    [("100.000", "0", True), ("60", "40", True), ("100.001", "0", False), ("60", "40.001", False), ("-1", "0", False)],
)
async def test_a_budget_never_goes_over_its_total(
    database: Database, consumed: str, reserved: str, accepted: bool
) -> None:
    if accepted:
        await budget(database, total_amount="100.00", consumed_amount=consumed, reserved_amount=reserved)
    else:
        with pytest.raises(IntegrityError):
            await budget(database, total_amount="100.00", consumed_amount=consumed, reserved_amount=reserved)


async def test_bounds_are_enforced_exactly(database: Database) -> None:
    of = await promotion(database)
    pilot: dict[str, Any] = {"promotion_id": of, "pilot_start_at": AT, "pilot_end_at": AT + timedelta(days=1)}
    with pytest.raises(IntegrityError):
        await add(database, "PromotionPilotConfigs", **pilot, pilot_share=Decimal("1.01"))
    await add(database, "PromotionPilotConfigs", **pilot, pilot_share=Decimal("1.00"))


async def test_required_fields_are_required(database: Database) -> None:
    with pytest.raises(IntegrityError):
        await add(database, "Promotions", name=None)


# --- values -----------------------------------------------------------------------------------------------------------


async def test_values_are_read_as_they_were_written(database: Database) -> None:
    of = await promotion(database, valid_from=AT, is_experiment=True)
    values: dict[str, Any] = {
        "min_quantity": Decimal("1.250"),
        "min_amount": Decimal("9999999999999.99"),
        "time_from": time(22, 30),
        "date_to": date(2026, 12, 31),
        "include_sub_groups": True,
    }
    await add(database, "Conditions", promotion_id=of, condition_type="TIME_WINDOW", **values)
    [condition] = await read(database, "Conditions")
    assert {name: condition[name] for name in values} == values
    assert str(condition["min_quantity"]) == "1.250"
    [row] = await read(database, "Promotions")
    assert (row["valid_from"], row["valid_from"].tzinfo, row["is_experiment"]) == (AT, UTC, True)
    assert (row["priority"], row["status"], row["version"]) == (100, "DRAFT", 1)


async def test_moments_compare_across_time_zones(database: Database) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    await promotion(database, "EARLY", valid_to=AT.astimezone(zone))
    await promotion(database, "LATE", valid_to=AT + timedelta(microseconds=1))

    async def ended(session: Session) -> list[str]:
        rows = table("Promotions")
        return [row.code for row in await session.execute(sa.select(rows.c.code).where(rows.c.valid_to <= AT))]

    assert await database.read(ended, tenant="t1") == ["EARLY"]


async def test_amounts_add_up_exactly(database: Database) -> None:
    row_id = await budget(database, total_amount="10.00")

    async def consume(session: Session) -> None:
        rows = table("Budgets")
        await session.rowcount(
            sa.update(rows).where(rows.c.id == row_id).values(consumed_amount=rows.c.consumed_amount + Decimal("0.1"))
        )

    for _ in range(3):
        await database.write(consume, tenant="t1")
    [row] = await read(database, "Budgets")
    assert str(row["consumed_amount"]) == "0.300"


async def test_text_sorts_alike_on_both_databases(database: Database) -> None:
    for code in ("b", "Ä", "a", "B", "_"):
        await promotion(database, code)

    async def sort(session: Session) -> list[str]:
        rows = table("Promotions")
        return [row.code for row in await session.execute(sa.select(rows.c.code).order_by(rows.c.code))]

    assert await database.read(sort, tenant="t1") == ["B", "_", "a", "b", "Ä"]


async def test_lists_are_read_as_they_were_written(database: Database) -> None:
    kinds = ["BUDGET_EXHAUSTED", "ImportJobs.Failed"]
    await add(database, "WebhookSubscriptions", callback_url="https://example.com/hook", event_types=kinds)
    [row] = await read(database, "WebhookSubscriptions")
    assert row["event_types"] == kinds


# --- the rules that tables are made by --------------------------------------------------------------------------------

TABLES = [one for one in metadata.sorted_tables if one.info["tenant_owned"]]


@pytest.mark.parametrize("one", TABLES, ids=lambda one: str(one.name))
def test_the_tenant_is_the_first_column_of_every_key(one: sa.Table) -> None:
    assert next(iter(one.primary_key.columns)).name == "tenant_id"
    everywhere = model.entity(one.info["entity"]).unique_everywhere if "entity" in one.info else ()
    for constraint in one.constraints:
        if isinstance(constraint, (sa.UniqueConstraint, sa.ForeignKeyConstraint)):
            if tuple(constraint.columns.keys()) in everywhere:
                continue
            assert next(iter(constraint.columns)).name == "tenant_id"


@pytest.mark.parametrize("one", TABLES, ids=lambda one: str(one.name))
def test_every_reference_has_an_index(one: sa.Table) -> None:
    keys = [tuple(one.primary_key.columns.keys())]
    keys += [tuple(c.columns.keys()) for c in one.constraints if isinstance(c, sa.UniqueConstraint)]
    keys += [tuple(index.columns.keys()) for index in one.indexes]
    for reference in one.foreign_key_constraints:
        columns = tuple(reference.columns.keys())
        assert any(key[: len(columns)] == columns for key in keys), columns


@pytest.mark.parametrize(
    "entity", [one for one in model.entities() if one.stored and not one.packed], ids=lambda one: one.set_name
)
def test_a_table_has_the_columns_of_its_entity(entity: model.EntityType) -> None:
    columns = table(entity.set_name).c
    expected = {field.name for field in entity.fields if not field.virtual} | {link.column for link in entity.links}
    assert set(columns.keys()) == expected | {"version"}
    for field in entity.fields:
        if not field.virtual:
            assert columns[field.name].nullable is field.nullable, field.name


@pytest.mark.parametrize("set_name", ["PromotionsCalendar", "CalculationLogItems"])
def test_computed_and_packed_entities_have_no_table(set_name: str) -> None:
    with pytest.raises(KeyError):
        table(set_name)


LOOKED_UP = {
    "a coupon by its code": "SELECT id FROM coupon_codes WHERE tenant_id = ? AND code = ?",
    "an article by its number": "SELECT id FROM articles WHERE tenant_id = ? AND article_number = ?",
    "an article by its EAN": "SELECT id FROM articles WHERE tenant_id = ? AND ean = ?",
    "the conditions of a promotion": "SELECT id FROM conditions WHERE tenant_id = ? AND promotion_id = ?",
    "the budgets of a promotion": "SELECT budget_id FROM budget_promotions WHERE tenant_id = ? AND promotion_id = ?",
    "the types that trigger": "SELECT id FROM coupon_type_promotions WHERE tenant_id = ? AND promotion_id = ?",
    "the logs of a sale": "SELECT id FROM calculation_logs WHERE tenant_id = ? AND origin = ? AND transaction_id = ?",
    "a job that is due": "SELECT id FROM side_effect_jobs WHERE (status = ? AND due_at <= ?) "
    "OR (status = ? AND lease_until <= ?) ORDER BY due_at LIMIT 1",
    "a free code of the pool": "SELECT id FROM coupon_codes WHERE tenant_id = ? AND coupon_type_id = ? AND status = ? "
    "AND issued_at IS NULL LIMIT 1",
    "expired reservations": "SELECT id FROM coupon_codes WHERE tenant_id = ? AND status = ? AND reserved_until <= ?",
    "events to send": "SELECT id FROM outbox_events WHERE dispatched_at IS NULL ORDER BY created_at LIMIT 10",
    "promotions that end": "SELECT id FROM promotions WHERE tenant_id = ? AND status = ? AND valid_to <= ?",
}


@pytest.mark.parametrize("statement", LOOKED_UP.values(), ids=LOOKED_UP)
def test_frequent_queries_of_tills_and_workers_use_an_index(databases: Databases, statement: str) -> None:
    url = databases.create("sqlite")
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    try:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", ["x"] * statement.count("?")).fetchall()
    finally:
        connection.close()
        databases.drop(url)
    steps = [step for *_, step in plan if step.startswith(("SCAN", "SEARCH"))]
    assert steps
    assert all(step.startswith("SEARCH") or "ix_outbox_events__waiting" in step for step in steps), steps


async def test_a_list_sorted_by_name_is_read_in_the_order_of_an_index_on_postgresql(databases: Databases) -> None:
    """Null first, as OData sorts it; SQLite's indexes have that order by themselves."""
    url = databases.create("postgresql")
    connection = await asyncpg.connect(databases.owner_url(url))
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL enable_seqscan = off")
            for order in ("name NULLS FIRST, id", "name DESC NULLS LAST, id"):
                asked = f"EXPLAIN SELECT id FROM articles WHERE tenant_id = 't' ORDER BY {order} LIMIT 50"
                plan = "\n".join(row[0] for row in await connection.fetch(asked))
                assert "ix_articles__name" in plan
                assert "Presorted Key: name" in plan
    finally:
        await connection.close()
        databases.drop(url)
