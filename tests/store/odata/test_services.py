"""The columns that OData services read, and those they must not read."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
import sqlalchemy as sa

from promenade import model
from promenade.model.declare import PUBLIC, REPORTING, Service
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import Database, Session
from promenade.store.odata.services import sql_model_for

OPENED = datetime(2026, 1, 1, tzinfo=UTC)
BUDGET = "0e000000-0000-4000-8000-000000000001"


def selected(service: Service, set_name: str) -> sa.Select[tuple[object, ...]]:
    """Return every property of an entity set, by its wire name."""
    sql_model = sql_model_for(service)
    place = sql_model.place(sql_model.edm.entity_types[set_name], 0)
    return sa.select(*(place.column(name).label(name) for name in place.mapped.columns))


async def read(database: Database, set_name: str, tenant: str | None = "acme") -> list[dict[str, object]]:
    async def work(session: Session) -> list[dict[str, object]]:
        return [dict(row._mapping) for row in await session.execute(selected(PUBLIC, set_name))]

    return await database.read(work, tenant=tenant)


async def test_code_lists_are_read_as_declared_in_the_model(database: Database) -> None:
    for set_name, code_list in model.code_lists().items():
        rows = await read(database, set_name, tenant=None)
        expected = {(one.code, one.name, one.description, one.sequence) for one in code_list.values}
        assert {(row["code"], row["name"], row["description"], row["sequence"]) for row in rows} == expected


async def test_names_of_codes_are_sorted_by_their_bytes(database: Database) -> None:
    sql_model = sql_model_for(PUBLIC)
    place = sql_model.place(sql_model.edm.entity_types["Currencies"], 0)

    async def work(session: Session) -> list[str]:
        name = place.column("name")
        return [row[0] for row in await session.execute(sa.select(name).order_by(name))]

    names = await database.read(work)
    assert names == sorted(names)


@pytest.mark.parametrize("set_name", sorted(sql_model_for(PUBLIC).maps))
def test_every_set_of_the_public_api_can_be_queried(set_name: str) -> None:
    """Every readable property has a column; write-only and hidden ones have none."""
    shown = sql_model_for(PUBLIC).edm.entity_types[set_name].properties
    columns = sql_model_for(PUBLIC).maps[set_name].columns
    assert set(columns) == {one.name for one in shown if not one.write_only}


def test_secrets_have_no_column() -> None:
    maps = sql_model_for(PUBLIC).maps
    assert "code" not in maps["CouponCodes"].columns
    assert "genericCode" not in maps["CouponTypes"].columns
    assert "secret" not in maps["WebhookSubscriptions"].columns


async def test_every_set_can_be_read_of_a_tenant_without_rows(database: Database) -> None:
    for set_name in sql_model_for(PUBLIC).maps:
        rows = await read(database, set_name)
        assert bool(rows) == (set_name in model.code_lists()), set_name


async def test_a_budget_shows_what_is_left_and_its_total_at_face_value(database: Database) -> None:
    async def work(session: Session) -> None:
        row = {
            "ID": BUDGET, "code": "B", "name": "B", "currency": "EUR", "totalAmount": Decimal("100.50"),
            "consumedAmount": Decimal("0.125"),
        }  # fmt: skip
        await insert_rows(session, "Budgets", [row], at=OPENED, by="tests")

    await database.write(work, tenant="acme")
    (budget,) = await read(database, "Budgets")
    assert (str(budget["totalAmount"]), budget["remainingAmount"]) == ("100.50", Decimal("100.375"))
    assert budget["minorVersion"] == 13
    assert await read(database, "Budgets", tenant="other") == []


def test_the_reporting_service_hides_the_minor_version() -> None:
    assert "minorVersion" not in sql_model_for(REPORTING).maps["CalculationLogs"].columns
