"""Many rows are inserted by few statements, with the same result as one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import DBAPIError

from promenade.store.driver.plain_insert import ROWS_MAX
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database
from promenade.store.driver.unit import Session
from tests.workflows.counting import note_statements

CONSUMPTIONS = table("BudgetConsumptions")
EVENTS = table("outbox_events")
JOBS = table("side_effect_jobs")
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


def consumption(number: int, **more: Any) -> dict[str, Any]:
    """A row of most types; without the columns ``origin`` and ``uncovered_amount``, which have a default."""
    return {
        "id": f"c{number:05}",
        "budget_id": "b",
        "promotion_id": "p",
        "created_by": None if number % 3 else "the \"{first}\", \\ or\n'none'",
        "transaction_id": f"T{number}",
        "transaction_counter": number,
        "amount": Decimal(number - 2).scaleb(-3),
        "currency": "EUR",
        "consumed_at": NOW + timedelta(microseconds=number),
        "created_at": NOW,
        "modified_at": NOW,
        **more,
    }


@pytest.fixture
async def database(database: Database) -> Database:
    """With the budget "b"."""
    budget = {"ID": "b", "code": "b", "name": "b", "status": "ACTIVE", "currency": "EUR", "totalAmount": Decimal(1)}
    await database.write(lambda session: insert_rows(session, "Budgets", [budget], at=NOW, by="test"), tenant="t1")
    return database


async def insert_all(database: Database, rows: list[dict[str, Any]]) -> None:
    await database.write(lambda session: session.execute_many(insert(CONSUMPTIONS), rows), tenant="t1")


async def stored(database: Database, tenant: str = "t1") -> list[dict[str, Any]]:
    columns = ("origin", "uncovered_amount", *consumption(0))
    statement = select(*(CONSUMPTIONS.c[name] for name in columns)).order_by(CONSUMPTIONS.c.id)
    rows = await database.read(lambda session: session.execute(statement), tenant=tenant)
    return [dict(row._mapping) for row in rows]


@pytest.mark.parametrize("beyond", [-1, 0, 1])
@pytest.mark.parametrize("times", [0, 1, 2])
async def test_any_number_of_rows_is_stored_as_given(
    database: Database, monkeypatch: pytest.MonkeyPatch, times: int, beyond: int
) -> None:
    most = ROWS_MAX[database.dialect]
    rows = [consumption(number) for number in range(max(times * most + beyond, 0))]
    statements = note_statements(monkeypatch, database)
    await insert_all(database, rows)
    assert len(statements) == -(-len(rows) // most)
    defaults = {"origin": "cloud", "uncovered_amount": 0}
    assert await stored(database) == [{**row, **defaults} for row in rows]
    assert await stored(database, "t2") == []


async def test_bytes_booleans_and_json_are_stored_as_given(database: Database) -> None:
    events = [
        {"id": f"e{number}", "kind": "K", "payload": bytes(range(256)) * number, "created_at": NOW}
        for number in range(5)
    ]
    jobs = [
        {
            "id": f"j{number}",
            "origin": "cloud",
            "transaction_id": "T1",
            "transaction_counter": number,
            "status": "PENDING",
            "payload": b"",
            "enqueued_at": NOW,
            "due_at": NOW,
            "attempts": 0,
            "post_purchase_coupons": given,
            "reported": number % 2 == 0,
        }
        for number, given in enumerate((None, [], [{"code": 'A,"B"'}, None], {"a": [1, True]}))
    ]

    async def work(session: Session) -> None:
        await session.execute_many(insert(EVENTS), events)
        await session.execute_many(insert(JOBS), jobs)
        found = await session.execute(select(*(EVENTS.c[name] for name in events[0])).order_by(EVENTS.c.id))
        assert [dict(row._mapping) for row in found] == events
        found = await session.execute(select(*(JOBS.c[name] for name in jobs[0])).order_by(JOBS.c.id))
        assert [dict(row._mapping) for row in found] == jobs

    await database.write(work, tenant="t1")


@pytest.mark.parametrize("broken", [{"id": "c00000"}, {"currency": "EUROS"}, {"amount": None}])
async def test_a_row_that_the_database_refuses_refuses_them_all(database: Database, broken: dict[str, Any]) -> None:
    if database.dialect == "sqlite" and "currency" in broken:
        pytest.skip("SQLite does not limit the length of text")
    with pytest.raises(DBAPIError):
        await insert_all(database, [consumption(0), consumption(1), consumption(2, **broken)])
    assert await stored(database) == []


async def test_rows_of_several_tables_are_inserted_together(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [{"id": f"e{number}", "kind": "K", "payload": bytes(range(256)), "created_at": NOW} for number in range(2)]
    statements = note_statements(monkeypatch, database)
    parts = [(insert(CONSUMPTIONS), [consumption(0), consumption(1)]), (insert(JOBS), []), (insert(EVENTS), events)]
    await database.write(lambda session: session.insert_together(parts), tenant="t1")
    assert len(statements) == (1 if database.dialect == "postgresql" else 2)
    assert [row["id"] for row in await stored(database)] == ["c00000", "c00001"]
    assert await stored(database, "t2") == []
    found = await database.read(
        lambda session: session.execute(select(EVENTS.c.id, EVENTS.c.payload).order_by(EVENTS.c.id)), tenant="t1"
    )
    assert [tuple(row) for row in found] == [(event["id"], event["payload"]) for event in events]


async def test_a_row_refused_in_one_table_refuses_those_of_the_others(database: Database) -> None:
    event = {"id": "e", "kind": "K", "payload": b"", "created_at": NOW}
    parts = [(insert(CONSUMPTIONS), [consumption(0)]), (insert(EVENTS), [event, event])]
    with pytest.raises(DBAPIError):
        await database.write(lambda session: session.insert_together(parts), tenant="t1")
    assert await stored(database) == []


async def test_more_rows_than_one_statement_takes_are_inserted_too(database: Database) -> None:
    rows = [consumption(number) for number in range(ROWS_MAX[database.dialect] + 1)]
    await database.write(lambda session: session.insert_together([(insert(CONSUMPTIONS), rows)]), tenant="t1")
    assert len(await stored(database)) == len(rows)
