"""The two edges that every till with a coupon takes, each one statement with all that it writes beside the code.

A statement is a transaction of its own: its commit releases the row that counts the type, so that tills of one coupon
type wait for each other as shortly as can be. Conditions, values and logs come from `store.coupons.transitions`; the
parts are put together here: on PostgreSQL they are one statement, and a part that reads another runs after it; on
SQLite they run one after the other.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from promenade.store.coupons import transitions
from promenade.store.coupons.transitions import Transition
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.types import maybe_moment, to_microseconds

TAKE = "take a free code"
HOLD = "hold a code"
REDEEM = "redeem a code"
MINUTES_DEFAULT = 15  # duration of a reservation if the type does not define one
MINUTES_MAX = 10 * 366 * 24 * 60  # keeps the end of a reservation within the range of valid dates

_PARAMETER = re.compile(r"\$(\d+)::\w+")


def for_sqlite(text: str) -> str:
    """Convert a PostgreSQL statement to SQLite, with parameters named p1, p2 ... and without casts."""
    return _PARAMETER.sub(r":p\1", text)


def named_values(params: tuple[Any, ...]) -> Mapping[str, Any]:
    """Return the parameters by those names, with times in SQLite's format."""
    return {
        f"p{at}": to_microseconds(one) if isinstance(one, datetime) else one for at, one in enumerate(params, start=1)
    }


def _log(
    transition: Transition, log_id: str, transaction: str, customer: str, after: str, *, code: str, kind: str
) -> str:
    return f"""
    INSERT INTO redemption_logs (tenant_id, id, coupon_code_id, coupon_type_id, action, transaction_id, customer_id,
        occurred_at, created_at, modified_at)
    SELECT $2::varchar, {log_id}, {code}, {kind}, '{transition.log}', {transaction}, {customer}, $1::timestamptz,
        $1::timestamptz, $1::timestamptz {after}
    """


# ---- reserve ------------------------------------------------------------------------------------------------------

# $1 at, $2 tenant, $3 code, $4 type, $5 transaction, $6 customer, $7 reservation, $8 until, $9 reservation seen before
_HOLD_PLACES = {
    "at": 1,
    "tenant": 2,
    "type": 4,
    "transaction": 5,
    "customer": 6,
    "reservation": 7,
    "until": 8,
    "seen": 9,
}


def _holding(dialect: str) -> str:
    return f"""
    UPDATE coupon_codes SET {transitions.HOLD.set_text(dialect, _HOLD_PLACES)}
    WHERE coupon_codes.tenant_id = $2::varchar AND coupon_codes.id = $3::varchar
        AND {transitions.HOLD.where_text(dialect, _HOLD_PLACES)}
    RETURNING id
    """  # noqa: S608 - our own text


_HOLD_ON_SQLITE = for_sqlite(_holding("sqlite"))


def _hold_log(after: str) -> str:
    values = {"code": "$3::varchar", "kind": "$4::varchar"}
    return _log(transitions.HOLD, "$7::varchar", "$5::varchar", "$6::varchar", after, **values)


_HOLD_LOG_ON_SQLITE = for_sqlite(_hold_log(""))


@hot_statement(
    HOLD,
    tenant=2,
    postgresql=lambda: (
        f"WITH held AS ({_holding('postgresql')}), logged AS ({_hold_log('FROM held')}) SELECT id FROM held"  # noqa: S608
    ),
)
def _hold(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = named_values(params)
    held = connection.execute(_HOLD_ON_SQLITE, values).fetchall()
    if held:
        connection.execute(_HOLD_LOG_ON_SQLITE, values)
    return held


# $1 at, $2 tenant, $3 code as presented, $4 transaction, $5 customer, $6 reservation
_TAKE_PLACES = {"at": 1, "tenant": 2, "transaction": 4, "customer": 5, "reservation": 6}


def _takeable(dialect: str) -> str:
    return f"""
    coupon_codes.tenant_id = $2::varchar AND coupon_codes.code = $3::varchar
        AND coupon_types.tenant_id = coupon_codes.tenant_id AND coupon_types.id = coupon_codes.coupon_type_id
        AND {transitions.TAKE.where_text(dialect, _TAKE_PLACES)}
    """


_MINUTES = f"min(COALESCE(NULLIF(coupon_types.reservation_minutes, 0), {MINUTES_DEFAULT}), {MINUTES_MAX})"
_END = f"""
    date_trunc('milliseconds', LEAST($1::timestamptz
        + make_interval(mins => {_MINUTES.replace("min(", "LEAST(")}), coupon_codes.valid_until, coupon_types.valid_to))
"""
_END_ON_SQLITE = f"""
    min(:p1 + {_MINUTES} * 60000000, COALESCE(coupon_codes.valid_until, {2**62}),
        COALESCE(coupon_types.valid_to, {2**62})) / 1000 * 1000
"""


def _taken_log(code: str, kind: str, customer: str, after: str) -> str:
    return _log(transitions.TAKE, "$6::varchar", "$4::varchar", customer, after, code=code, kind=kind)


_FREE_ON_SQLITE, _TAKE_ON_SQLITE, _TAKEN_LOG_ON_SQLITE = (
    for_sqlite(text)
    for text in (
        f"""SELECT coupon_codes.id, coupon_types.id, COALESCE($5::varchar, coupon_codes.customer_id), {_END_ON_SQLITE}
        FROM coupon_codes, coupon_types WHERE {_takeable("sqlite")}""",  # noqa: S608 - our own text
        f"""UPDATE coupon_codes SET {transitions.TAKE.set_text("sqlite", _TAKE_PLACES, reserved_until=":until")}
        WHERE tenant_id = $2::varchar AND id = :code""",  # noqa: S608 - our own text
        _taken_log(":code", ":kind", ":customer", ""),
    )
)


@hot_statement(
    TAKE,
    tenant=2,
    postgresql=lambda: (
        f"""
    WITH held AS (
        UPDATE coupon_codes SET {transitions.TAKE.set_text("postgresql", _TAKE_PLACES, reserved_until=_END)}
        FROM coupon_types WHERE {_takeable("postgresql")}
        RETURNING coupon_codes.id, coupon_codes.coupon_type_id,
            COALESCE($5::varchar, coupon_codes.customer_id) AS customer_id, coupon_codes.reserved_until
    ), logged AS (
        {_taken_log("id", "coupon_type_id", "customer_id", "FROM held")}
    )
    SELECT reserved_until FROM held
    """  # noqa: S608 - our own text
    ),
)
def _take(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = named_values(params)
    for code, kind, customer, until in connection.execute(_FREE_ON_SQLITE, values).fetchall():
        found = {**values, "code": code, "kind": kind, "customer": customer, "until": until}
        connection.execute(_TAKE_ON_SQLITE, found)
        connection.execute(_TAKEN_LOG_ON_SQLITE, found)
        return [(maybe_moment(until),)]
    return []


# ---- redeem -------------------------------------------------------------------------------------------------------

# $1 at, $2 tenant, $3 code, $4 type, $5 transaction, $6 customer, $7 reservation, $8 total limit, $9 limit per
# customer, $10 origin, $11 log, $12 event, $13 its kind, $14 its body
_ROOM = """
    COALESCE((SELECT u.count FROM coupon_usage u WHERE u.tenant_id = $2::varchar AND u.coupon_type_id = $4::varchar
        AND u.customer_id = {customer}), 0) < {limit}
"""
_COUNT = """
    INSERT INTO coupon_usage AS u (tenant_id, coupon_type_id, customer_id, count)
    SELECT $2::varchar, $4::varchar, {customer}, 1 {after} WHERE {condition}
    ON CONFLICT (tenant_id, coupon_type_id, customer_id) DO UPDATE SET count = u.count + 1
        WHERE u.count < {limit}
    RETURNING count
"""
_ALL = {"customer": "''", "limit": "COALESCE($8::int, 2147483647)"}
_OWN = {"customer": "$6::varchar", "limit": "COALESCE($9::int, 2147483647)"}
_HAS_ROOM = f"({_ROOM.format(**_ALL)}) AND ($6::varchar IS NULL OR {_ROOM.format(**_OWN)})"
_REDEEM_PLACES = {"at": 1, "tenant": 2, "type": 4, "transaction": 5, "customer": 6, "reservation": 7}


def _is_held(dialect: str) -> str:
    return f"""
    coupon_codes.tenant_id = $2::varchar AND coupon_codes.id = $3::varchar
        AND {transitions.REDEEM.where_text(dialect, _REDEEM_PLACES)}
    """


def _spending(dialect: str) -> str:
    return f"UPDATE coupon_codes SET {transitions.REDEEM.set_text(dialect, _REDEEM_PLACES)}"  # noqa: S608


_CLAIM = """
    INSERT INTO coupon_claims (tenant_id, coupon_code_id, slot, coupon_type_id, origin, transaction_id, customer_id,
        claimed_at, redeemed_at)
    SELECT $2::varchar, $3::varchar, 0, $4::varchar, $10::varchar, $5::varchar, $6::varchar, $1::timestamptz,
        $1::timestamptz
"""
_EVENT = """
    INSERT INTO outbox_events (tenant_id, id, kind, payload, created_at)
    SELECT $2::varchar, $12::varchar, $13::varchar, $14::bytea, $1::timestamptz
"""


def _spend_log(after: str) -> str:
    values = {"code": "$3::varchar", "kind": "$4::varchar"}
    return _log(transitions.REDEEM, "$11::varchar", "$5::varchar", "$6::varchar", after, **values)


_ROOM_ON_SQLITE = for_sqlite(f"SELECT 1 WHERE {_HAS_ROOM}")
_COUNTS_ON_SQLITE = tuple(for_sqlite(_COUNT.format(after="", condition="TRUE", **of)) for of in (_ALL, _OWN))
_SPENT_NOW_ON_SQLITE = for_sqlite(f"{_spending('sqlite')} WHERE {_is_held('sqlite')} RETURNING id")
_SPENT_ON_SQLITE = tuple(for_sqlite(text) for text in (_CLAIM, _spend_log(""), _EVENT))


# INVARIANT: counts are rolled back if the code then turns out not to be available, because another transaction took it
# while this one waited for the counters: division by zero, see `RolledBack`. All that can be checked beforehand is
# checked before anything is counted.
@hot_statement(
    REDEEM,
    tenant=2,
    postgresql=lambda: (
        f"""
    WITH held AS (SELECT id FROM coupon_codes WHERE {_is_held("postgresql")}),
        used AS ({_COUNT.format(after="FROM held", condition=_HAS_ROOM, **_ALL)}),
        own AS ({_COUNT.format(after="FROM used", condition="$6::varchar IS NOT NULL", **_OWN)}),
        spent AS (
            {_spending("postgresql")} FROM used
            WHERE {_is_held("postgresql")} AND ($6::varchar IS NULL OR EXISTS (SELECT 1 FROM own))
            RETURNING coupon_codes.id
        ),
        claimed AS ({_CLAIM} FROM spent),
        logged AS ({_spend_log("FROM spent")}),
        told AS ({_EVENT} FROM spent)
    SELECT CASE WHEN EXISTS (SELECT 1 FROM used) THEN 1 / (SELECT count(*) FROM spent) = 1 ELSE FALSE END,
        EXISTS (SELECT 1 FROM held)
    """  # noqa: S608 - our own text
    ),
)
def _redeem(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = named_values(params)
    if (params[7] is not None or params[8] is not None) and not connection.execute(_ROOM_ON_SQLITE, values).fetchall():
        return [(False, True)]
    if not connection.execute(_SPENT_NOW_ON_SQLITE, values).fetchall():
        return [(False, False)]
    count_all, count_own = _COUNTS_ON_SQLITE
    connection.execute(count_all, values).fetchall()
    if params[5] is not None:
        connection.execute(count_own, values).fetchall()
    for text in _SPENT_ON_SQLITE:
        connection.execute(text, values)
    return [(True, True)]
