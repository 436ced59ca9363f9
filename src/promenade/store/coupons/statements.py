"""Hot statements that read coupons at the till: each reads all that one operation needs.

They are written once, for PostgreSQL; SQLite numbers its parameters differently and needs no casts.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from promenade.store.driver.hot import hot_statement
from promenade.store.driver.types import maybe_moment, to_microseconds

_PARAMETER = re.compile(r"\$(\d+)::\w+")


class CouponRow(NamedTuple):
    """A row of "coupon at the till": a code, its type, and how often the type was spent.

    ``coupon_id`` None: the shared code of a type, which has no row. ``uses`` and ``customer_uses`` count redemptions,
    ``held_elsewhere`` live reservations of shared codes by other transactions.
    """

    coupon_id: str | None
    status: str
    customer_id: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    reserved_until: datetime | None
    reservation_ref: str | None
    reserved_by_transaction_id: str | None
    redeemed_transaction_id: str | None
    coupon_type_id: str
    type_status: str
    code_type: str
    type_valid_from: datetime | None
    type_valid_to: datetime | None
    max_redemptions: int | None
    max_redemptions_per_customer: int | None
    reservation_minutes: int | None
    uses: int
    customer_uses: int
    held_elsewhere: int


_TYPE = """
    t.id, t.status, t.code_type, t.valid_from, t.valid_to, t.max_redemptions, t.max_redemptions_per_customer,
    t.reservation_minutes
"""
_HELD = """
    CASE WHEN t.code_type = 'GENERIC' AND t.max_redemptions IS NOT NULL THEN (
        SELECT count(*) FROM coupon_reservations r WHERE r.tenant_id = t.tenant_id AND r.coupon_type_id = t.id
            AND r.state = 'HELD' AND r.reserved_until > $3::timestamptz AND r.transaction_id <> $5::varchar
    ) ELSE 0 END
"""


def _uses(customer: str) -> str:
    return f"""
    COALESCE((SELECT u.count FROM coupon_usage u WHERE u.tenant_id = t.tenant_id AND u.coupon_type_id = t.id
        AND u.customer_id = {customer}), 0)
    """  # noqa: S608 - our own text


_COUPON = f"""
    SELECT c.id, c.status, c.customer_id, c.valid_from, c.valid_until, c.reserved_until, c.reservation_ref,
        c.reserved_by_transaction_id, c.redeemed_transaction_id, {_TYPE}, {_uses("''")},
        CASE WHEN COALESCE($4::varchar, c.customer_id) IS NULL THEN 0
            ELSE {_uses("COALESCE($4::varchar, c.customer_id)")} END,
        {_HELD}
    FROM coupon_codes c JOIN coupon_types t ON t.tenant_id = c.tenant_id AND t.id = c.coupon_type_id
    WHERE c.tenant_id = $1::varchar AND c.code = $2::varchar
    UNION ALL
    SELECT NULL, 'ACTIVE', NULL, NULL, NULL, NULL, NULL, NULL, NULL, {_TYPE}, {_uses("''")},
        CASE WHEN $4::varchar IS NULL THEN 0 ELSE {_uses("$4::varchar")} END, {_HELD}
    FROM coupon_types t
    WHERE t.tenant_id = $1::varchar AND t.generic_code = $6::varchar AND t.code_type = 'GENERIC'
"""  # noqa: S608 - our own text


def _for_sqlite(text: str) -> str:
    return _PARAMETER.sub(r"?\1", text)


_COUPON_ON_SQLITE = _for_sqlite(_COUPON)


@hot_statement("coupon at the till", postgresql=_COUPON)
def _coupon(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, code, at, *others = params
    values = (tenant_id, code, to_microseconds(at), *others)
    return [
        (*row[:3], *map(maybe_moment, row[3:6]), *row[6:12], *map(maybe_moment, row[12:14]), *row[14:])
        for row in connection.execute(_COUPON_ON_SQLITE, values)
    ]


class ReservationRow(NamedTuple):
    """A row of "coupon reservation": a reservation, its code and its type.

    ``state`` None: the reservation is stored in its code's row. ``customer_id`` is the customer it was made for, else
    the owner of the code.
    """

    coupon_id: str | None
    status: str
    valid_from: datetime | None
    valid_until: datetime | None
    redeemed_transaction_id: str | None
    transaction_id: str | None
    reserved_until: datetime | None
    ended_at: datetime | None
    state: str | None
    customer_id: str | None
    coupon_type_id: str
    type_status: str
    code_type: str
    type_valid_from: datetime | None
    type_valid_to: datetime | None
    max_redemptions: int | None
    max_redemptions_per_customer: int | None
    reservation_minutes: int | None


# A code held by a store has no transaction: no till can do anything with the ID of its lease. The customer of an
# individual code's reservation is in the reservation's log, which has the same ID.
_RESERVATION = f"""
    SELECT c.id, c.status, c.valid_from, c.valid_until, c.redeemed_transaction_id, c.reserved_by_transaction_id,
        c.reserved_until, NULL, NULL, COALESCE(c.customer_id, (
            SELECT l.customer_id FROM redemption_logs l WHERE l.tenant_id = $1::varchar AND l.id = $2::varchar
        )), {_TYPE}
    FROM coupon_codes c JOIN coupon_types t ON t.tenant_id = c.tenant_id AND t.id = c.coupon_type_id
    WHERE c.tenant_id = $1::varchar AND c.reservation_ref = $2::varchar AND c.reserved_by_transaction_id IS NOT NULL
    UNION ALL
    SELECT r.coupon_code_id, COALESCE(c.status, 'ACTIVE'), c.valid_from, c.valid_until, NULL, r.transaction_id,
        r.reserved_until, r.ended_at, r.state, COALESCE(r.customer_id, c.customer_id), {_TYPE}
    FROM coupon_reservations r
        JOIN coupon_types t ON t.tenant_id = r.tenant_id AND t.id = r.coupon_type_id
        LEFT JOIN coupon_codes c ON c.tenant_id = r.tenant_id AND c.id = r.coupon_code_id
    WHERE r.tenant_id = $1::varchar AND r.id = $2::varchar
"""  # noqa: S608 - our own text
_RESERVATION_ON_SQLITE = _for_sqlite(_RESERVATION)


@hot_statement("coupon reservation", postgresql=_RESERVATION)
def _reservation(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return [
        (
            *row[:2],
            *map(maybe_moment, row[2:4]),
            *row[4:6],
            *map(maybe_moment, row[6:8]),
            *row[8:13],
            *map(maybe_moment, row[13:15]),
            *row[15:],
        )
        for row in connection.execute(_RESERVATION_ON_SQLITE, params)
    ]


class HeldRow(NamedTuple):
    """A row of "shared code held": the reservations of a shared code as seen by one transaction.

    ``elsewhere`` counts live reservations of its type by other transactions; ``reservation_id`` is this transaction's
    own live one of this code, ``is_spent`` whether it has spent the code already.
    """

    elsewhere: int
    reservation_id: str | None
    reserved_until: datetime | None
    is_spent: bool


_SHARED = """
    SELECT (
        SELECT count(*) FROM coupon_reservations r WHERE r.tenant_id = $1::varchar AND r.coupon_type_id = $2::varchar
            AND r.state = 'HELD' AND r.reserved_until > $4::timestamptz AND r.transaction_id <> $5::varchar
    ), own.id, own.reserved_until, EXISTS (
        SELECT 1 FROM coupon_claims k WHERE k.tenant_id = $1::varchar AND k.origin = $6::varchar
            AND k.transaction_id = $5::varchar AND k.coupon_code_id = COALESCE($3::varchar, $2::varchar)
    )
    FROM (SELECT 1) AS one LEFT JOIN (
        SELECT id, reserved_until FROM coupon_reservations
        WHERE tenant_id = $1::varchar AND coupon_type_id = $2::varchar AND state = 'HELD'
            AND reserved_until > $4::timestamptz AND transaction_id = $5::varchar
            AND coupon_code_id IS NOT DISTINCT FROM $3::varchar
        LIMIT 1
    ) AS own ON TRUE
"""
_SHARED_ON_SQLITE = _for_sqlite(_SHARED)


@hot_statement("shared code held", postgresql=_SHARED)
def _shared(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, type_id, coupon_id, at, *whose = params
    values = (tenant_id, type_id, coupon_id, to_microseconds(at), *whose)
    return [
        (held, own, maybe_moment(until), bool(spent))
        for held, own, until, spent in connection.execute(_SHARED_ON_SQLITE, values)
    ]


_RUNNING = """
    SELECT p.id FROM coupon_type_promotions l
        JOIN promotions p ON p.tenant_id = l.tenant_id AND p.id = l.promotion_id
    WHERE l.tenant_id = $1::varchar AND l.coupon_type_id = $2::varchar AND p.status IN ('ACTIVE', 'PILOT')
        AND (p.valid_from IS NULL OR p.valid_from <= $3::timestamptz)
        AND (p.valid_to IS NULL OR p.valid_to > $3::timestamptz)
    ORDER BY p.code, p.id LIMIT 1
"""
_RUNNING_ON_SQLITE = _for_sqlite(_RUNNING)


@hot_statement("running promotion of a coupon type", postgresql=_RUNNING)
def _running(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, type_id, at = params
    return connection.execute(_RUNNING_ON_SQLITE, (tenant_id, type_id, to_microseconds(at))).fetchall()
