"""Rows of sums are added in sets: the same figures as one by one, by few statements, for the own tenant alone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from promenade.store.driver.schema import table
from promenade.store.driver.session import Database
from promenade.store.driver.unit import Session
from promenade.store.reports.sums import add_rows
from tests.workflows.counting import note_statements

DAYS = "promotion_utc_days"
NOW = datetime(2026, 7, 1, 12, 30, 15, 123456, tzinfo=UTC)
ROWS = 2_001  # three statements on PostgreSQL, the last of them for one row


def row(number: int, amount: str, at: datetime) -> dict[str, Any]:
    return {
        "promotion_id": f"p{number:05}",
        "day": date(2026, 7, 1) + timedelta(days=number % 3),
        "currency": 'E"\\',
        "applications": number + 1,
        "total_discount": Decimal(amount),
        "first_applied_at": at,
        "last_applied_at": at,
    }


async def add(database: Database, tenant: str, rows: list[dict[str, Any]]) -> None:
    async def work(session: Session) -> int:
        return await add_rows(session, DAYS, rows)

    assert await database.write(work, tenant=tenant) == len(rows)


async def stored(database: Database, tenant: str) -> list[dict[str, Any]]:
    rows = table(DAYS)
    columns = [column for column in rows.c if column.name != "tenant_id"]
    statement = select(*columns).order_by(rows.c.promotion_id)
    found = await database.read(lambda session: session.execute(statement), tenant=tenant)
    return [dict(one._mapping) for one in found]


async def test_sets_of_rows_are_merged_as_each_row_is(database: Database) -> None:
    earlier, later = NOW - timedelta(days=1), NOW + timedelta(microseconds=1)
    await add(database, "t1", [row(number, "999999999999.999", NOW) for number in range(ROWS)])
    await add(database, "t1", [row(number, "-0.001", later if number % 2 else earlier) for number in range(ROWS)])
    await add(database, "t2", [row(0, "1.5", NOW)])
    found = await stored(database, "t1")
    assert len(found) == ROWS
    for number, one in enumerate(found):
        first, last = (NOW, later) if number % 2 else (earlier, NOW)
        assert one == row(number, "999999999999.998", NOW) | {
            "applications": 2 * (number + 1),
            "first_applied_at": first,
            "last_applied_at": last,
        }
    assert await stored(database, "t2") == [row(0, "1.5", NOW)]


async def test_a_set_is_one_statement_on_postgresql(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await add(database, "t1", [row(0, "1", NOW)])
    noted = note_statements(monkeypatch, database)
    await add(database, "t1", [row(number, "1", NOW) for number in range(500)])
    assert len([one for one in noted if one.startswith("INSERT")]) == (500 if database.dialect == "sqlite" else 1)


@pytest.mark.parametrize("odd", ["", " ", "'", "\\", "\\N", "{,}", "a\x1fb", "\x1f", "\x1e", "NULL", "é\U0001f600"])
async def test_texts_that_stand_for_something_in_a_set_are_stored_as_they_are(database: Database, odd: str) -> None:
    def of(number: int, name: str | None) -> dict[str, Any]:
        sums = dict.fromkeys(_NUMBERS, number) | {column: Decimal(number) for column in _AMOUNTS}
        named = {"promotion_id": f"p{number}", "day": date(2026, 7, 1), "currency": "EUR"}
        return named | sums | {"trial": "PILOT", "promotion_name": name, "is_stale": bool(number % 2)}

    rows = [of(0, odd), of(1, None), of(2, "Off"), of(3, odd)]

    async def work(session: Session) -> None:
        await add_rows(session, "arm_days", rows)

    await database.write(work, tenant="t1")
    arms = table("arm_days")
    statement = select(*(arms.c[name] for name in rows[0])).order_by(arms.c.promotion_id)
    found = await database.read(lambda session: session.execute(statement), tenant="t1")
    assert [dict(one._mapping) for one in found] == rows


_ARMS = [f"{arm}_{name}" for arm in ("treated", "control") for name in ("squares_0", "squares_1", "squares_2")]
_NUMBERS = [*_ARMS, *(f"{arm}_{name}" for arm in ("treated", "control") for name in ("transactions", "conversions"))]
_AMOUNTS = ["treated_revenue", "treated_discount", "control_revenue"]
