"""Made-up rows of every table that reports read, numbered from 1 to `ROWS`.

Rows that a report joins (promotions, budgets, places and so on) have the same number.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from promenade import model
from promenade.store.driver.schema import metadata
from promenade.store.driver.types import ExactDecimal, Json, Timestamp
from promenade.store.driver.unit import Session
from promenade.workflows.reports import folds
from tests.contract.made_up import BEGINNING, identity, in_order, python_value, seeded_row, subject
from tests.kit.logged import seed_rows

__all__ = ["ROWS", "seed"]

ROWS = 3

_DAY = date(2026, 3, 1)
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def seed(session: Session, tenant: str) -> None:
    """Insert rows of a tenant into all entity tables and the aggregate tables beside them."""
    for entity in in_order():
        fields = {one.wire: one for one in entity.fields}
        rows = [
            {
                name: python_value(fields[name], given) if name in fields else given
                for name, given in seeded_row(tenant, entity, number).items()
            }
            for number in range(1, ROWS + 1)
        ]
        await seed_rows(session, entity.set_name, rows, at=BEGINNING, by="seed")
    kept = {name for one in folds().values() for name in one.tables} - {one.table for one in model.entities()}
    for one in (one for one in metadata.sorted_tables if one.name in kept):
        key = [column.name for column in one.primary_key.columns if column.name != "tenant_id"]
        distinct = {tuple(row[name] for name in key): row for row in _rows(one, tenant)}
        await session.execute_many(sa.insert(one), list(distinct.values()))


def _rows(one: sa.Table, tenant: str) -> Iterator[dict[str, Any]]:
    for number in range(1, ROWS + 1):
        yield {column.name: _value(one, column, tenant, number) for column in one.columns if column.name != "tenant_id"}


def _value(one: sa.Table, column: sa.Column[Any], tenant: str, number: int) -> Any:
    kind = column.type
    about = subject(column.name)
    if about is not None:
        return identity(tenant, about, number)
    if isinstance(kind, Timestamp):
        return _NOON + timedelta(hours=number)
    if isinstance(kind, Json):
        return [number]
    if isinstance(kind, ExactDecimal):
        return (Decimal(number) / 4).quantize(Decimal(1).scaleb(-kind.scale))
    if isinstance(kind, sa.Boolean):
        return number % 2 == 0
    if isinstance(kind, sa.Date):
        return _DAY + timedelta(days=number)
    if isinstance(kind, sa.Time):
        return time(number)
    if isinstance(kind, sa.Float):
        return number / 4
    if isinstance(kind, sa.Integer):
        return number
    if isinstance(kind, sa.LargeBinary):
        return bytes(number)
    if getattr(kind, "length", None) == 36:
        return identity(tenant, f"{one.name}.{column.name}", number)
    return _text(column, number)


def _text(column: sa.Column[Any], number: int) -> str:
    length = getattr(column.type, "length", None)
    if column.name == "currency":
        return "EUR"
    text = f"{column.name} {number}"
    return text if length is None else text[-length:].strip()
