"""Random rows of every archived kind, and what the tables hold of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from promenade.store.archive.reading import KINDS, columns_of
from promenade.store.driver.schema import table
from promenade.store.driver.types import ExactDecimal, Timestamp
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.log_parts import pack, part_types
from tests.kit.logged import rows_from

__all__ = ["SETS", "add_rows", "held"]

SETS = {
    "calculation_log_items": "CalculationLogItems",
    "calculation_log_promotions": "CalculationLogPromotions",
    **{name: kind.set_name for name, kind in KINDS.items()},
}
_WORDS = ("", "x", 'Grüße, "quoted"\n', "0042", "emoji 🛒", "%2F/..", "null")
_EDGES = tuple(
    datetime(2026, month, 1, tzinfo=UTC) + timedelta(microseconds=shift) for month in (2, 3) for shift in (-1, 0, 1)
)


def _moment(chance: random.Random) -> datetime:
    if chance.random() < 0.7:  # many at one time, so that pages end among them
        return chance.choice(_EDGES)
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=chance.randrange(90 * 86_400 * 10**6))


def _id(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"


def _value(kind: sa.types.TypeEngine[Any], chance: random.Random, nullable: bool) -> Any:
    if nullable and chance.random() < 0.3:
        return None
    if isinstance(kind, ExactDecimal):
        digits = chance.choice((1, 4, kind.precision))
        return Decimal(chance.randrange(-(10**digits) + 1, 10**digits)).scaleb(-kind.scale)
    if isinstance(kind, Timestamp):
        return _moment(chance)
    if isinstance(kind, sa.Boolean):
        return chance.random() < 0.5
    if isinstance(kind, sa.BigInteger):
        return chance.choice((0, -7, 3, 2**62, -(2**62)))
    if isinstance(kind, sa.Integer):
        return chance.randrange(1, 2**31 - 1)
    return chance.choice(_WORDS)[: getattr(kind, "length", None)]


def _row(name: str, chance: random.Random) -> dict[str, Any]:
    rows = table(KINDS[name].set_name)
    row = {
        column.name: _value(column.type, chance, bool(column.nullable))
        for column in rows.c
        if column.name != "tenant_id"
    }
    row["id"] = _id(chance)
    if "currency" in row:
        row["currency"] = chance.choice(("EUR", "JPY", "TND"))
    if "transaction_id" in row:
        row["transaction_id"] = row["id"]  # unique keys contain it
    return row


def _parts(name: str, chance: random.Random) -> list[dict[str, Any]]:
    types = part_types(SETS[name])
    made = []
    for place in range(chance.choice((0, 1, 2, 5))):
        part = {column: _value(kind, chance, False) for column, kind in types.items()}
        part["pilot_arm"] = chance.choice((None, "CONTROL", "PILOT"))
        made.append(part | {"line_reference": str(place)})
    return made


async def add_rows(database: Database, tenant_id: str, chance: random.Random, number: int, least: int = 0) -> None:
    """Add from ``least`` to ``number`` rows of each kind, with time stamps of three months, to a tenant."""
    rows = {name: [_row(name, chance) for _ in range(chance.randint(least, number))] for name in KINDS}
    for row in rows["budget_consumptions"]:
        row["budget_id"] = tenant_id

    async def work(session: Session) -> None:
        known = await session.execute(sa.select(table("Budgets").c.id).where(table("Budgets").c.id == tenant_id))
        if not known:
            budget = {"id": tenant_id, "code": "b", "name": "b", "currency": "EUR", "total_amount": Decimal(1)}
            await session.rowcount(sa.insert(table("Budgets")), budget)
        for name, made in rows.items():
            await session.execute_many(sa.insert(table(KINDS[name].set_name)), made)
        for log in rows["calculation_logs"]:
            if chance.random() < 0.1:
                continue  # a refused confirm has no parts
            packed = pack(_parts("calculation_log_items", chance), _parts("calculation_log_promotions", chance))
            parts = {"log_id": log["id"], "block": 1, "created_at": log["created_at"], **packed}
            await session.rowcount(sa.insert(table("calculation_log_parts")), parts)

    await database.write(work, tenant=tenant_id)


async def held(
    database: Database, tenant_id: str, name: str, begins: datetime, ends: datetime
) -> list[tuple[Any, ...]]:
    """Return what SQL finds in a table, by ID, in the order of an archive's columns."""
    logs = table("CalculationLogs")
    if name in KINDS:
        rows: Any = table(KINDS[name].set_name)
        columns, moment, source = rows.c, rows.c[KINDS[name].moment], rows
    else:
        parts: Any = rows_from(SETS[name])
        source = parts.join(logs, sa.and_(logs.c.id == parts.c.log_id, logs.c.tenant_id == parts.c.tenant_id))
        of_log = {column: logs.c[column] for column in ("confirmed_at", "status", "currency")}
        columns, moment = {**dict(parts.c), **of_log}, logs.c.confirmed_at
        rows = parts
    wanted: Sequence[Any] = [columns[one.name] for one in columns_of(name)]

    async def work(session: Session) -> list[tuple[Any, ...]]:
        statement = sa.select(*wanted).select_from(source).where(moment >= begins, moment < ends)
        found = await session.execute(statement)
        return sorted((tuple(row) for row in found), key=repr)

    return await database.read(work, tenant=tenant_id)
