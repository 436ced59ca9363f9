"""Counts of the confirmed sales to which promotions applied: the basis of usage limits for later sales."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, select, update

from promenade.store.driver.hot import as_json, hot_statement
from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_USAGE = table("promotion_usage")
_PROMOTIONS = table("Promotions")
ALL_CUSTOMERS = ""
COUNT_MAX = 2**31 - 1
"""What a count may come to without a limit."""


TOTAL = "TOTAL"
CUSTOMER = "CUSTOMER"
BOTH = "BOTH"


async def count_applications(
    session: Session, promotion_ids: Collection[str], customer_id: str | None
) -> dict[str, str]:
    """Count one confirmed sale for each promotion, in total and for the customer, but never beyond its limits.

    Returns the promotions whose limits were used up before this sale: TOTAL, CUSTOMER or BOTH. What a limit does not
    allow is not counted. Rows are updated in key order, so that two confirms never
    deadlock. The promotion's version does not change: it counts authoring writes only.
    """
    if not promotion_ids:
        return {}
    given = sorted(set(promotion_ids))
    customers = [ALL_CUSTOMERS] if customer_id is None else [ALL_CUSTOMERS, customer_id]
    rows = await session.hot("count applications", (session.tenant, given, customers))
    counted = {(promotion, customer) for promotion, customer in rows}
    exceeded: dict[str, str] = {}
    for promotion in given:
        limits = zip((TOTAL, CUSTOMER), customers, strict=False)
        over = [limit for limit, customer in limits if (promotion, customer) not in counted]
        if over:
            exceeded[promotion] = BOTH if len(over) == 2 else over[0]
    return exceeded


def _limit(promotion: str, customer: str) -> str:
    """SQL for the promotion's limit in total (for the empty customer) or for each customer; null: none."""
    return f"""
    (SELECT CASE WHEN {customer} = '' THEN p.max_applications_total ELSE p.max_applications_per_customer END
        FROM promotions p WHERE p.tenant_id = $1::varchar AND p.id = {promotion})
    """  # noqa: S608 - our own text


_USED = _limit("promotion_usage.promotion_id", "promotion_usage.customer_id")


async def uncount_applications(
    session: Session, applied: Mapping[str, str | None], customer_id: str | None
) -> list[str]:
    """Take one cancelled sale out of the counts of each promotion, in total and for the customer.

    ``applied`` has the limit that was exceeded then, if one was: the sale was not counted towards it. Returns the
    promotions that counted it in total. No count falls below zero. Rows are locked in the order of
    `count_applications`.
    """
    if not applied:
        return []
    in_total = sorted(promotion_id for promotion_id, over in applied.items() if over in (None, CUSTOMER))
    keys = [(promotion_id, ALL_CUSTOMERS) for promotion_id in in_total]
    if customer_id is not None:
        keys += [(promotion_id, customer_id) for promotion_id, over in applied.items() if over in (None, TOTAL)]
    if keys:
        key = (_USAGE.c.promotion_id, _USAGE.c.customer_id)
        its = one_of(key, sorted(keys))
        await session.execute(select(*key).where(its).order_by(*key).with_for_update())
        its = and_(its, _USAGE.c["count"] > 0)
        await session.rowcount(update(_USAGE).where(its).values(count=_USAGE.c["count"] - 1))
    if in_total:
        its = _PROMOTIONS.c.id.in_(in_total)
        # FOR UPDATE would also wait for authors who write rows that refer to the promotion.
        locking = select(_PROMOTIONS.c.id).where(its).order_by(_PROMOTIONS.c.id).with_for_update(key_share=True)
        await session.execute(locking)
        count = _PROMOTIONS.c.applications_count
        await session.rowcount(update(_PROMOTIONS).where(its, count > 0).values(applications_count=count - 1))
    return in_total


# On PostgreSQL an insert from a sorted select takes the rows in this order, so it locks them in this order too. An
# update takes rows in any order, so each is locked before, in key order; found by its key, whatever the database knows
# about the table. FOR UPDATE would also wait for authors who write rows that refer to the promotion. The rows of `used`
# are sorted, which is possible only once all of them are written: usage is always locked first. The update takes the
# locked rows as an array because the planner, if the tables were never analysed, takes a tenant to have one promotion:
# it would look through the locked rows again for each promotion that there is.
@hot_statement(
    "count applications",
    postgresql=f"""
    WITH used AS (
        INSERT INTO promotion_usage (tenant_id, promotion_id, customer_id, count)
        SELECT $1::varchar, promotion, customer, 1
        FROM unnest($2::varchar[]) AS promotion, unnest($3::varchar[]) AS customer
        WHERE COALESCE({_limit("promotion", "customer")}, 1) > 0
        ORDER BY promotion COLLATE "C", customer COLLATE "C"
        ON CONFLICT (tenant_id, promotion_id, customer_id) DO UPDATE SET count = promotion_usage.count + excluded.count
        WHERE promotion_usage.count < COALESCE({_USED}, {COUNT_MAX})
        RETURNING promotion_id, customer_id
    ),
    held AS (
        SELECT locked.id
        FROM (
            SELECT promotion_id AS id FROM used WHERE customer_id = '' ORDER BY promotion_id COLLATE "C"
        ) AS counted, LATERAL (
            SELECT p.id FROM promotions p WHERE p.tenant_id = $1::varchar AND p.id = counted.id FOR NO KEY UPDATE
        ) AS locked
    ),
    counted AS (
        UPDATE promotions SET applications_count = applications_count + 1
        WHERE tenant_id = $1::varchar AND id = ANY (ARRAY(SELECT id FROM held))
    )
    SELECT promotion_id, customer_id FROM used
    """,  # noqa: S608 - our own text
)
def _count_applications(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, promotions, customers = params
    used = connection.execute(_COUNT_ON_SQLITE, (tenant_id, as_json(promotions), as_json(customers))).fetchall()
    counted = [promotion for promotion, customer in used if customer == ALL_CUSTOMERS]
    connection.execute(
        """
        UPDATE promotions SET applications_count = applications_count + 1
        WHERE tenant_id = ? AND id IN (SELECT value FROM json_each(?))
        """,
        (tenant_id, as_json(counted)),
    )
    return used


_COUNT_ON_SQLITE = f"""
    INSERT INTO promotion_usage (tenant_id, promotion_id, customer_id, count)
    SELECT ?1, promotion.value, customer.value, 1
    FROM json_each(?2) AS promotion, json_each(?3) AS customer
    WHERE COALESCE({_limit("promotion.value", "customer.value").replace("$1::varchar", "?1")}, 1) > 0
    ON CONFLICT (tenant_id, promotion_id, customer_id) DO UPDATE SET count = promotion_usage.count + excluded.count
    WHERE promotion_usage.count < COALESCE({_USED.replace("$1::varchar", "?1")}, {COUNT_MAX})
    RETURNING promotion_id, customer_id
"""  # noqa: S608 - our own text
