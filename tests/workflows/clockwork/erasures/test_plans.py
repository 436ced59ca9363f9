"""On PostgreSQL, too, the rows of a customer are found among those of many, with statistics of the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import Select, insert, select, text
from sqlalchemy.dialects import postgresql

from promenade.store.clockwork import erasing as store
from promenade.store.clockwork.idling import having
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from tests.workflows.shop import NOON, TENANT, identity

MANY = 4000


def _claim(number: int) -> dict[str, Any]:
    return {
        "coupon_code_id": identity(f"code-{number}"), "slot": 0, "coupon_type_id": "gift", "origin": "cloud",
        "transaction_id": f"T{number}", "customer_id": f"C{number % 500}", "claimed_at": NOON,
    }  # fmt: skip


def _log(number: int) -> dict[str, Any]:
    return {
        "id": identity(f"log-{number}"), "action": "REDEEMED", "customer_id": f"C{number % 500}", "occurred_at": NOON,
        "created_at": NOON, "modified_at": NOON,
    }  # fmt: skip


def _sale(number: int) -> dict[str, Any]:
    money = dict.fromkeys(("subtotal", "discount", "grand_total"), 1)
    return {
        "id": identity(f"sale-{number}"), "origin": "cloud", "transaction_id": f"T{number}", "transaction_counter": 1,
        "customer_id": f"C{number % 500}", "status": "CALCULATED", "currency": "EUR", "source": "btp", **money,
        "evaluated_at": NOON, "confirmed_at": NOON, "created_at": NOON, "modified_at": NOON,
    }  # fmt: skip


def _use(number: int) -> dict[str, Any]:
    return {"promotion_id": identity(f"p-{number % 8}"), "customer_id": f"C{number // 8}", "count": 1}


FILLED: dict[str, Callable[[int], dict[str, Any]]] = {
    "CalculationLogs": _sale, "RedemptionLogs": _log, "coupon_claims": _claim, "promotion_usage": _use,
}  # fmt: skip


@pytest.mark.parametrize("name", FILLED)
async def test_an_index_leads_from_the_customer_to_the_rows(database: Database, name: str) -> None:
    if database.dialect != "postgresql":
        pytest.skip("tests/store/driver/test_plans.py looks at SQLite")
    rows = table(name)

    async def fill(session: Session) -> None:
        await session.execute_many(insert(rows), [FILLED[name](number) for number in range(MANY)])

    async def analyze(session: Session) -> None:
        await session.execute(text("ANALYZE"))

    await database.write(fill, tenant=TENANT)
    await database.write(analyze, system=True)
    picked: Select[Any] = select(rows).where(rows.c.tenant_id == TENANT, rows.c.customer_id == "C7")
    if name == "CalculationLogs":
        picked = picked.where(store.settled(NOON), store.delivered(rows, "created_at", "modified_at"))
    if name == "promotion_usage":
        picked = picked.order_by(rows.c.promotion_id).with_for_update()
    plan = await _plan(database, picked.limit(10))
    assert f"ix_{rows.name}__customer_id" in plan, plan
    assert f"Seq Scan on {rows.name}" not in plan, plan
    if name in ("CalculationLogs", "RedemptionLogs"):  # of many customers, who has such a row
        moment = rows.c.confirmed_at if name == "CalculationLogs" else rows.c.occurred_at
        ids = [f"C{number}" for number in range(100, 140)]
        plan = await _plan(database, having(ids, rows, (rows.c.tenant_id == TENANT) & (moment >= NOON)))
        assert f"ix_{rows.name}__customer_id" in plan, plan
        assert f"Seq Scan on {rows.name}" not in plan, plan


async def _plan(database: Database, statement: Select[Any]) -> str:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    asked = str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))

    async def explain(session: Session) -> Sequence[str]:
        return [row[0] for row in await session.execute(text(f"EXPLAIN {asked}"))]

    return "\n".join(await database.read(explain, system=True))
