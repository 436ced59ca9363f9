"""The tenant gate: whatever its form, a statement only sees the session's tenant (reliability S1 to S3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Executable, Row, delete, exists, func, insert, literal, select, text, union_all, update
from sqlalchemy.dialects import postgresql, sqlite

from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session
from promenade.store.driver.tenancy import TenantBreach

USAGE = table("promotion_usage")
COUPONS = table("coupon_usage")
OTHER = USAGE.alias("other")
COUNTED = select(USAGE.c.promotion_id).where(USAGE.c["count"] > 0).cte("counted")


@pytest.fixture
async def two_tenants(database: Database) -> Database:
    """Tenants a and b with two rows each, under the same keys."""
    for tenant in ("a", "b"):

        async def fill(session: Session, tenant: str = tenant) -> None:
            rows = [{"promotion_id": f"p{n}", "customer_id": tenant, "count": n} for n in (1, 2)]
            await session.execute_many(insert(USAGE), rows)
            await session.rowcount(insert(COUPONS), {"coupon_type_id": "c", "customer_id": tenant, "count": 1})

        await database.write(fill, tenant=tenant)
    return database


READS: dict[str, Executable] = {
    "plain": select(USAGE.c.tenant_id),
    "alias": select(OTHER.c.tenant_id),
    "join": select(USAGE.c.tenant_id, OTHER.c.tenant_id).join_from(
        USAGE, OTHER, OTHER.c.promotion_id == USAGE.c.promotion_id
    ),
    "outer join": select(USAGE.c.tenant_id, OTHER.c.tenant_id).outerjoin_from(
        USAGE, OTHER, OTHER.c.promotion_id == USAGE.c.promotion_id
    ),
    "from list": select(USAGE.c.tenant_id, COUPONS.c.tenant_id).where(USAGE.c.customer_id == COUPONS.c.customer_id),
    "sub-query": select(select(USAGE.c.tenant_id, USAGE.c["count"]).subquery().c.tenant_id),
    "scalar": select(select(USAGE.c.tenant_id).order_by(USAGE.c.tenant_id).limit(1).scalar_subquery()),
    "in": select(USAGE.c.tenant_id).where(USAGE.c.customer_id.in_(select(OTHER.c.customer_id))),
    "cte": select(USAGE.c.tenant_id).join_from(USAGE, COUNTED, COUNTED.c.promotion_id == USAGE.c.promotion_id),
    "union": union_all(select(USAGE.c.tenant_id), select(COUPONS.c.tenant_id)),
    "locked": select(USAGE.c.tenant_id).with_for_update(skip_locked=True),
}


@pytest.mark.parametrize("shape", READS)
async def test_a_read_returns_rows_of_its_tenant_only(two_tenants: Database, shape: str) -> None:
    async def work(session: Session) -> Sequence[Row[Any]]:
        return await session.execute(READS[shape])

    rows = await two_tenants.write(work, tenant="a")  # FOR UPDATE needs a write session
    assert {value for row in rows for value in row} == {"a"}
    system = await two_tenants.write(work, system=True)
    if shape != "scalar":
        assert {value for row in system for value in row} == {"a", "b"}
    nobody = await two_tenants.write(work)
    assert {value for row in nobody for value in row} <= {None}


async def test_exists_and_aggregates_are_gated(two_tenants: Database) -> None:
    foreign = select(
        exists().where(USAGE.c.customer_id == "b"), select(func.count()).select_from(USAGE).scalar_subquery()
    )

    async def work(session: Session) -> Sequence[Row[Any]]:
        return await session.execute(foreign)

    assert list((await two_tenants.read(work, tenant="a"))[0]) == [False, 2]
    assert list((await two_tenants.read(work))[0]) == [False, 0]
    assert list((await two_tenants.read(work, system=True))[0]) == [True, 4]


CHANGES: dict[str, Any] = {
    "update all": update(USAGE).values(count=7),
    "update b's": update(USAGE).where(USAGE.c.tenant_id == "b").values(count=7),
    "update by sub-query": update(USAGE).where(USAGE.c.customer_id.in_(select(OTHER.c.customer_id))).values(count=7),
    "delete all": delete(USAGE),
    "delete b's": delete(USAGE).where(USAGE.c.customer_id == "b"),
}


@pytest.mark.parametrize("shape", CHANGES)
async def test_a_change_touches_no_row_of_another_tenant(two_tenants: Database, shape: str) -> None:
    before = await _rows_of(two_tenants, "b")
    touched = await two_tenants.write(lambda session: session.rowcount(CHANGES[shape]), tenant="a")
    assert touched == (0 if "b's" in shape else 2)
    assert await two_tenants.write(lambda session: session.rowcount(CHANGES[shape])) == 0
    assert await _rows_of(two_tenants, "b") == before


async def _rows_of(database: Database, tenant: str) -> list[tuple[Any, ...]]:
    async def work(session: Session) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in await session.execute(select(USAGE)))

    return await database.read(work, tenant=tenant)


async def test_inserts_are_stamped_in_every_form(database: Database) -> None:
    async def work(session: Session) -> None:
        row = {"promotion_id": "one", "customer_id": "", "count": 1}
        await session.rowcount(insert(USAGE), row)
        await session.rowcount(insert(USAGE).values(row | {"promotion_id": "two"}))
        await session.execute_many(insert(USAGE), [row | {"promotion_id": "three"}, row | {"promotion_id": "four"}])
        await session.execute(insert(USAGE).returning(USAGE.c.tenant_id), row | {"promotion_id": "five"})
        upsert = postgresql.insert if session.dialect == "postgresql" else sqlite.insert
        await session.rowcount(upsert(USAGE).on_conflict_do_nothing(), row)
        copied = select(USAGE.c.tenant_id, USAGE.c.promotion_id, literal("copy"), USAGE.c["count"])
        names = ["tenant_id", "promotion_id", "customer_id", "count"]
        await session.rowcount(insert(USAGE).from_select(names, copied))

    await database.write(work, tenant="a")
    await database.write(work, tenant="b")
    assert {row[0] for row in await _rows_of(database, "a")} == {"a"}
    assert len(await _rows_of(database, "a")) == 10


ROW = {"promotion_id": "p", "customer_id": "", "count": 1}
REFUSED: dict[str, tuple[Executable, Any]] = {
    "another tenant's row": (insert(USAGE), ROW | {"tenant_id": "b"}),
    "unstamped copy": (insert(USAGE).from_select(["promotion_id"], select(USAGE.c.promotion_id)), None),
    "many values": (insert(USAGE).values([ROW, ROW]), None),
    "moving a row": (update(USAGE).values(tenant_id="b"), None),
    "moving a row by parameter": (update(USAGE), {"tenant_id": "b"}),
    "text": (text("SELECT * FROM promotion_usage"), None),
    "made-up tenant of a copy": (
        insert(USAGE).from_select(
            ["tenant_id", "promotion_id", "customer_id", "count"],
            select(literal("b").label("tenant_id"), literal("p"), literal(""), literal(1)),
        ),
        None,
    ),
    "insert inside a with": (
        select(insert(USAGE).values(tenant_id="b", promotion_id="p").returning(USAGE.c.promotion_id).cte("made")),
        None,
    ),
    "update inside a with": (
        select(update(USAGE).values(count=7).returning(USAGE.c.promotion_id).cte("changed")),
        None,
    ),
    "delete inside a with": (select(delete(USAGE).returning(USAGE.c.promotion_id).cte("gone")), None),
}


@pytest.mark.parametrize("shape", REFUSED)
async def test_statements_that_would_leave_the_tenant_are_refused(database: Database, shape: str) -> None:
    statement, params = REFUSED[shape]
    with pytest.raises(TenantBreach):
        await database.write(lambda session: session.execute(statement, params), tenant="a")


async def test_an_insert_without_a_tenant_is_refused(database: Database) -> None:
    with pytest.raises(TenantBreach):
        await database.write(lambda session: session.rowcount(insert(USAGE), ROW))


async def test_a_session_cannot_be_for_both_a_tenant_and_the_system(database: Database) -> None:
    with pytest.raises(ValueError, match="not both"):
        await database.read(lambda session: session.execute(select(USAGE)), tenant="a", system=True)
