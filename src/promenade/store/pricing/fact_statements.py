"""Hot statements that read data for pricing: rows by their keys, with the same Python types on both databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from promenade.store.driver.hot import as_json, hot_statement
from promenade.store.driver.types import maybe_moment, to_microseconds

AMOUNT_DECIMALS = 3  # decimal places of the Budgets' amounts, which SQLite stores as integers of the last place


class Budget(NamedTuple):
    """A row of "budgets"; ``left`` in major units."""

    id: str
    status: str
    valid_from: datetime | None
    valid_to: datetime | None
    left: Decimal
    currency: str


class CouponCode(NamedTuple):
    """A row of "coupon codes"."""

    id: str
    code: str
    status: str
    coupon_type_id: str
    customer_id: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    reserved_until: datetime | None
    reserved_by_transaction_id: str | None
    redeemed_transaction_id: str | None


@hot_statement(
    "budgets",
    postgresql="""
    SELECT id, status, valid_from, valid_to, total_amount - consumed_amount - reserved_amount, currency
    FROM budgets WHERE tenant_id = $1::varchar AND id = ANY($2::varchar[])
    """,
)
def _budgets(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, ids = params
    rows = connection.execute(
        """
        SELECT id, status, valid_from, valid_to, total_amount - consumed_amount - reserved_amount, currency
        FROM budgets WHERE tenant_id = ? AND id IN (SELECT value FROM json_each(?))
        """,
        (tenant_id, as_json(ids)),
    )
    return [
        (one, status, maybe_moment(since), maybe_moment(until), Decimal(left).scaleb(-AMOUNT_DECIMALS), currency)
        for one, status, since, until, left, currency in rows
    ]


_COUPON_CODES = """
    SELECT id, code, status, coupon_type_id, customer_id, valid_from, valid_until, reserved_until,
        reserved_by_transaction_id, redeemed_transaction_id
    FROM coupon_codes
"""


@hot_statement("coupon codes", postgresql=_COUPON_CODES + "WHERE tenant_id = $1::varchar AND code = ANY($2::varchar[])")
def _coupon_codes(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, codes = params
    rows = connection.execute(
        f"{_COUPON_CODES} WHERE tenant_id = ? AND code IN (SELECT value FROM json_each(?))",  # noqa: S608 - our own text
        (tenant_id, as_json(codes)),
    )
    return [(*row[:5], *map(maybe_moment, row[5:8]), *row[8:]) for row in rows]


@hot_statement(
    "coupon usage",
    postgresql="""
    SELECT coupon_type_id, customer_id, count FROM coupon_usage
    WHERE tenant_id = $1::varchar AND coupon_type_id = ANY($2::varchar[]) AND customer_id = ANY($3::varchar[])
    """,
)
def _coupon_usage(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, types, customers = params
    return connection.execute(
        """
        SELECT coupon_type_id, customer_id, count FROM coupon_usage WHERE tenant_id = ?
            AND coupon_type_id IN (SELECT value FROM json_each(?))
            AND customer_id IN (SELECT value FROM json_each(?))
        """,
        (tenant_id, as_json(types), as_json(customers)),
    ).fetchall()


@hot_statement(
    "coupons held",
    postgresql="""
    SELECT coupon_type_id, count(*) FROM coupon_reservations
    WHERE tenant_id = $1::varchar AND coupon_type_id = ANY($2::varchar[]) AND state = 'HELD'
        AND reserved_until > $3::timestamptz AND transaction_id <> $4::varchar
    GROUP BY coupon_type_id
    """,
)
def _coupons_held(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, types, at, transaction_id = params
    return connection.execute(
        """
        SELECT coupon_type_id, count(*) FROM coupon_reservations
        WHERE tenant_id = ? AND coupon_type_id IN (SELECT value FROM json_each(?)) AND state = 'HELD'
            AND reserved_until > ? AND transaction_id <> ?
        GROUP BY coupon_type_id
        """,
        (tenant_id, as_json(types), to_microseconds(at), transaction_id),
    ).fetchall()


_TILL_CLAIMS = "SELECT coupon_code_id, customer_id FROM coupon_claims"


@hot_statement(
    "redeemed by the till",
    postgresql=f"""
    {_TILL_CLAIMS} WHERE tenant_id = $1::varchar AND origin = $2::varchar AND transaction_id = $3::varchar
        AND transaction_counter IS NULL
    """,
)
def _till_claims(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute(
        f"{_TILL_CLAIMS} WHERE tenant_id = ? AND origin = ? AND transaction_id = ? AND transaction_counter IS NULL",
        params,
    ).fetchall()


@hot_statement(
    "promotion usage",
    postgresql="""
    SELECT promotion_id, customer_id, count FROM promotion_usage
    WHERE tenant_id = $1::varchar AND promotion_id = ANY($2::varchar[]) AND customer_id = ANY($3::varchar[])
    """,
)
def _promotion_usage(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, promotions, customers = params
    return connection.execute(
        """
        SELECT promotion_id, customer_id, count FROM promotion_usage WHERE tenant_id = ?
            AND promotion_id IN (SELECT value FROM json_each(?))
            AND customer_id IN (SELECT value FROM json_each(?))
        """,
        (tenant_id, as_json(promotions), as_json(customers)),
    ).fetchall()
