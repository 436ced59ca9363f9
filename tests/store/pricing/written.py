"""Helpers of the catalogue tests: rows by wire name, and recording their change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import delete, update

from promenade.engine.definition import PromotionDefinition
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session
from promenade.store.pricing.catalogue import Catalogues, TenantCatalogue
from promenade.store.pricing.changes import record_change

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
TENANT = "retailer"

Rows = dict[str, Sequence[dict[str, Any]]]


def uuid(kind: int, number: int = 1) -> str:
    return f"{kind:08d}-0000-4000-8000-{number:012d}"


PROMOTION = uuid(3)
NORTH, SHOP, SOUTH = uuid(1, 1), uuid(1, 2), uuid(1, 3)
PLACES: Rows = {
    "PosGroups": [
        {"ID": NORTH, "code": "N", "name": "North", "currency": "EUR"},
        {"ID": SHOP, "code": "N1", "name": "Shop", "currency": "EUR", "parent_ID": NORTH},
        {"ID": SOUTH, "code": "S", "name": "South", "currency": "EUR"},
    ]
}


def promotions(*numbers: int, **fields: Any) -> Rows:
    rows = [{"ID": uuid(3, n), "name": f"P{n}", "status": "ACTIVE"} | fields for n in numbers]
    actions = [
        {"ID": uuid(5, n), "promotion_ID": uuid(3, n), "actionType": "RECEIPT", "discountType": "ABSOLUTE"}
        | {"discountValue": Decimal(1)}
        for n in numbers
    ]
    return {"Promotions": rows, "DiscountActions": actions}


async def author(database: Database, kind: str, rows: Rows, *ids: str) -> None:
    async def work(session: Session) -> None:
        for set_name, of_set in rows.items():
            await insert_rows(session, set_name, of_set, at=NOW, by="author")
        await record_change(session, kind, *ids, at=NOW)

    await database.write(work, tenant=TENANT)


async def change(database: Database, set_name: str, key: str, kind: str, **values: Any) -> None:
    async def work(session: Session) -> None:
        rows = table(set_name)
        statement = update(rows).values(**values) if values else delete(rows)
        await session.rowcount(statement.where(rows.c.id == key))
        await record_change(session, kind, key, at=NOW)

    await database.write(work, tenant=TENANT)


async def loaded(database: Database) -> TenantCatalogue:
    return await Catalogues(database).get(TENANT)


async def definition(database: Database) -> PromotionDefinition:
    return (await loaded(database)).definitions[PROMOTION]
