"""A tenant is deleted with everything that belongs to it, whatever tables there are, and nobody else's rows are."""

from __future__ import annotations

from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from promenade.errors import Conflict, NotFound
from promenade.store.access.erasing import tables_of_tenants
from promenade.store.access.local_store import StoreRow, insert_store
from promenade.store.driver import schema
from promenade.store.driver.schema import table
from promenade.store.driver.types import ExactDecimal, Json, PackedJson, Timestamp
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.erasing import delete_tenant
from promenade.workflows.access.tenants import TenantDirectory, create_tenant
from tests.workflows.shop import NOON

CHECKED = {
    "side_effect_jobs.status": "PENDING",
    "coupon_reservations.state": "HELD",
    "budgets.total_amount": Decimal(2),
    "customer_erasures.status": "PENDING",
}


def _value(column: sa.Column[Any]) -> Any:
    """Return some value of the column's type."""
    if str(column) in CHECKED:
        return CHECKED[str(column)]
    kinds: dict[type, Any] = {
        ExactDecimal: Decimal(1), Timestamp: NOON, Json: ["x"], PackedJson: ["x"], sa.Boolean: True, sa.Integer: 1,
        sa.Date: NOON.date(), sa.Time: time(12), sa.LargeBinary: b"x", sa.String: "x",
    }  # fmt: skip
    found = [value for kind, value in kinds.items() if isinstance(column.type, kind)]
    return found[0]


def _row(rows: sa.Table, tenant: str, known: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Return a row with a value in every column; what refers to others refers to the rows made before."""
    row = {column.name: _value(column) for column in rows.c}
    for column in rows.primary_key.columns:
        if isinstance(row[column.name], str):
            row[column.name] = f"{name}-{tenant}"[: getattr(column.type, "length", None)]
    row["tenant_id"] = tenant
    if "client_id" in row:
        row["client_id"] = f"{name}-{tenant}"  # of all tenants, one has it
    if "invitation_digest" in row:
        row["invitation_digest"] = f"{name}-{tenant}"
    for key in rows.foreign_key_constraints:
        target = known.get(key.referred_table.name)
        for element in key.elements:
            if element.parent.name != "tenant_id":
                row[element.parent.name] = None if target is None else target[element.column.name]
    return row


async def _fill(database: Database, *tenants: str) -> None:
    async def work(session: Session) -> None:
        for tenant in tenants:
            known: dict[str, dict[str, Any]] = {}
            for name in reversed(tables_of_tenants()[1:]):
                rows = schema.metadata.tables[name]
                known[rows.name] = _row(rows, tenant, known, "a")
                await session.rowcount(sa.insert(rows), known[rows.name])
                if any(key.referred_table is rows for key in rows.foreign_key_constraints):  # a child in the tree
                    child = _row(rows, tenant, known, "b")
                    await session.rowcount(sa.insert(rows), {**child, **_other_keys(rows, child)})
            trusted = {"name": f"cn-{tenant}", "speaks_for": tenant, "added_at": NOON, "added_by": "tests"}
            await session.rowcount(sa.insert(table("trusted_names")), trusted)

    for tenant in tenants:
        await create_tenant(database, tenant, settings={}, at=NOON, user="tests")
    await database.write(work, system=True)


def _other_keys(rows: sa.Table, row: dict[str, Any]) -> dict[str, Any]:
    unique = {column.name for index in rows.indexes if index.unique for column in index.columns}
    unique |= {c.name for one in rows.constraints if isinstance(one, sa.UniqueConstraint) for c in one.columns}
    return {name: "y" for name in unique - {"tenant_id"} if isinstance(row[name], str) and name != "parent_id"}


async def _count(database: Database, tenant: str) -> dict[str, int]:
    """Count the rows that name the tenant anywhere, by table."""

    async def work(session: Session) -> dict[str, int]:
        found = {}
        for rows in schema.metadata.sorted_tables:
            texts = [column == tenant for column in rows.c if isinstance(column.type, sa.String)]
            if texts:
                statement = sa.select(sa.func.count()).select_from(rows).where(sa.or_(*texts))
                found[rows.name] = int((await session.execute(statement))[0][0])
        return {name: number for name, number in found.items() if number}

    return await database.read(work, system=True)


async def test_a_tenant_is_deleted_with_every_row_that_names_it(database: Database) -> None:
    await _fill(database, "acme", "other")
    before = await _count(database, "other")
    assert len(before) > 150
    directory = TenantDirectory(database, lambda: datetime.now(UTC))
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        """Servers that still know the tenant write a little more."""
        waited.append(seconds)
        assert not await directory.exists("acme")
        rows = table("Clients")
        row = {**_row(rows, "acme", {}, "late"), "client_id": "late"}
        await database.write(lambda session: session.rowcount(sa.insert(rows), row), system=True)

    assert await delete_tenant(database, "acme", wait=wait) > len(before)
    assert waited == [65]
    assert await _count(database, "acme") == {}
    assert await _count(database, "other") == before
    with pytest.raises(NotFound):
        await delete_tenant(database, "acme", wait=wait)


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_a_store_keeps_its_only_tenant_and_gets_no_other(database: Database) -> None:
    async def wait(seconds: float) -> None:
        raise AssertionError(seconds)

    await create_tenant(database, "local", settings={}, at=NOON, user="tests")
    store = StoreRow("local", "store-1", "0" * 64)
    await database.write(lambda session: insert_store(session, store, NOON), system=True)
    for refused in (
        delete_tenant(database, "local", wait=wait),
        create_tenant(database, "acme", settings={}, at=NOON, user="tests"),
    ):
        with pytest.raises(Conflict) as told:
            await refused
        assert told.value.code == "STORE_HAS_ONE_TENANT"
    assert (await _count(database, "local"))["tenants"] == 1
