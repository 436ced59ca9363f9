"""Counts of the confirmed sales to which promotions applied: the basis of usage limits for later sales."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import and_, update

from promenade.store.driver.hot import as_json, hot_statement
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_USAGE = table("promotion_usage")
_PROMOTIONS = table("Promotions")
ALL_CUSTOMERS = ""


async def count_applications(session: Session, promotion_ids: Collection[str], customer_id: str | None) -> None:
    """Count one confirmed sale for each promotion, in total and for the customer.

    Rows are updated in key order, so that two confirms never deadlock. The promotion's version does not change: it
    counts authoring writes only.
    """
    if not promotion_ids:
        return
    counted = sorted(set(promotion_ids))
    customers = [ALL_CUSTOMERS] if customer_id is None else [ALL_CUSTOMERS, customer_id]
    await session.hot("count applications", (session.tenant, counted, customers))


async def uncount_applications(session: Session, promotion_ids: Collection[str], customer_id: str | None) -> None:
    """Take one cancelled sale out of the counts of each promotion, in total and for the customer.

    No count falls below zero. Rows are locked in the order of `count_applications`.
    """
    counted = sorted(set(promotion_ids))
    customers = [ALL_CUSTOMERS] if customer_id is None else [ALL_CUSTOMERS, customer_id]
    for promotion_id in counted:
        for customer in customers:
            its = and_(_USAGE.c.promotion_id == promotion_id, _USAGE.c.customer_id == customer, _USAGE.c["count"] > 0)
            await session.rowcount(update(_USAGE).where(its).values(count=_USAGE.c["count"] - 1))
    for promotion_id in counted:
        applied = _PROMOTIONS.c.applications_count
        its = and_(_PROMOTIONS.c.id == promotion_id, applied > 0)
        await session.rowcount(update(_PROMOTIONS).where(its).values(applications_count=applied - 1))


# On PostgreSQL an insert from a sorted select takes the rows in this order, so it locks them in this order too. An
# update takes rows in any order, so each is locked before, in key order; found by its key, whatever the database knows
# about the table. FOR UPDATE would also wait for authors who write rows that refer to the promotion. The number of rows
# in `used` is asked for because it is known only once all of them are written: usage is always locked first. `held` is
# materialized because the planner, if the tables were never analysed, takes a tenant to have one promotion: it would
# look for the locked rows again for each promotion that there is.
@hot_statement(
    "count applications",
    postgresql="""
    WITH used AS (
        INSERT INTO promotion_usage (tenant_id, promotion_id, customer_id, count)
        SELECT $1::varchar, promotion, customer, 1
        FROM unnest($2::varchar[]) AS promotion, unnest($3::varchar[]) AS customer
        ORDER BY promotion COLLATE "C", customer COLLATE "C"
        ON CONFLICT (tenant_id, promotion_id, customer_id) DO UPDATE SET count = promotion_usage.count + excluded.count
        RETURNING 1
    ),
    held AS MATERIALIZED (
        SELECT locked.id
        FROM (
            SELECT id FROM unnest($2::varchar[]) AS listed (id) WHERE (SELECT count(*) FROM used) > 0
            ORDER BY id COLLATE "C"
        ) AS counted, LATERAL (
            SELECT p.id FROM promotions p WHERE p.tenant_id = $1::varchar AND p.id = counted.id FOR NO KEY UPDATE
        ) AS locked
    )
    UPDATE promotions SET applications_count = applications_count + 1
    FROM held
    WHERE promotions.tenant_id = $1::varchar AND promotions.id = held.id
    """,
)
def _count_applications(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, promotions, customers = params
    counted = as_json(promotions)
    connection.execute(
        """
        INSERT INTO promotion_usage (tenant_id, promotion_id, customer_id, count)
        SELECT ?, promotion.value, customer.value, 1
        FROM json_each(?) AS promotion, json_each(?) AS customer WHERE true
        ON CONFLICT (tenant_id, promotion_id, customer_id) DO UPDATE SET count = promotion_usage.count + excluded.count
        """,
        (tenant_id, counted, as_json(customers)),
    )
    connection.execute(
        """
        UPDATE promotions SET applications_count = applications_count + 1
        WHERE tenant_id = ? AND id IN (SELECT value FROM json_each(?))
        """,
        (tenant_id, counted),
    )
    return []
