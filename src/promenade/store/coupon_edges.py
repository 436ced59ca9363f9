"""The two edges that every till with a coupon takes, each one statement with all that it writes beside the code.

A statement is a transaction of its own: what counts the type is let go of with its commit, so that tills of one coupon
type wait for each other as shortly as can be. Each part is written once: on PostgreSQL they are one statement, a part
that reads another runs after it; on SQLite they run one after the other.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from promenade.store.hot import hot_statement
from promenade.store.types import maybe_moment, to_microseconds

__all__ = ["HOLD", "MINUTES_DEFAULT", "MINUTES_MAX", "REDEEM", "TAKE", "for_sqlite", "named_values"]

TAKE = "take a free code"
HOLD = "hold a code"
REDEEM = "redeem a code"
MINUTES_DEFAULT = 15  # how long a reservation lasts whose type does not say
MINUTES_MAX = 10 * 366 * 24 * 60  # keeps the end of a reservation inside the range of what can be reckoned with

_PARAMETER = re.compile(r"\$(\d+)::\w+")


def for_sqlite(text: str) -> str:
    """A statement for PostgreSQL as SQLite takes it, its parameters named p1, p2 ... and without casts."""
    return _PARAMETER.sub(r":p\1", text)


def named_values(params: tuple[Any, ...]) -> Mapping[str, Any]:
    """The parameters by those names, moments as SQLite has them."""
    return {
        f"p{at}": to_microseconds(one) if isinstance(one, datetime) else one for at, one in enumerate(params, start=1)
    }


def _runs(rows: str, until: str, at: str) -> str:
    return f"""
    ({rows}.valid_from IS NULL OR {rows}.valid_from <= {at}) AND ({rows}.{until} IS NULL OR {rows}.{until} > {at})
    """


def _status(column: str) -> str:
    """A status that no index is used for: a table that was never analyzed looks as if few rows had it."""
    return f"COALESCE({column}, '')"


_CODE_RUNS = _runs("coupon_codes", "valid_until", "$1::timestamptz")
_TYPE_RUNS = f"""
    EXISTS (SELECT 1 FROM coupon_types t WHERE t.tenant_id = $2::varchar AND t.id = $4::varchar
        AND t.status = 'ACTIVE' AND {_runs("t", "valid_to", "$1::timestamptz")})
"""  # noqa: S608 - our own text


def _log(action: str, log_id: str, customer_id: str, after: str) -> str:
    return f"""
    INSERT INTO redemption_logs (tenant_id, id, coupon_code_id, coupon_type_id, action, transaction_id, customer_id,
        occurred_at, created_at, modified_at)
    SELECT $2::varchar, {log_id}, $3::varchar, $4::varchar, '{action}', $5::varchar, {customer_id},
        $1::timestamptz, $1::timestamptz, $1::timestamptz {after}
    """


# ---- reserve ------------------------------------------------------------------------------------------------------

# $1 at, $2 tenant, $3 code, $4 type, $5 transaction, $6 customer, $7 reservation, $8 until, $9 reservation seen before
_HOLD = f"""
    UPDATE coupon_codes SET status = 'RESERVED', reservation_ref = $7::varchar, reserved_until = $8::timestamptz,
        reserved_by_transaction_id = $5::varchar, version = version + 1, modified_at = $1::timestamptz
    WHERE tenant_id = $2::varchar AND id = $3::varchar AND redeemed_transaction_id IS NULL
        AND reservation_ref IS NOT DISTINCT FROM $9::varchar
        AND (status = 'ACTIVE'
            OR (status = 'RESERVED' AND (reserved_until IS NULL OR reserved_until <= $1::timestamptz)))
        AND {_CODE_RUNS} AND {_TYPE_RUNS}
    RETURNING id
"""  # noqa: S608 - our own text
_HOLD_LOG = ("RESERVED", "$7::varchar", "$6::varchar")
_HOLD_ON_SQLITE = for_sqlite(_HOLD), for_sqlite(_log(*_HOLD_LOG, ""))


@hot_statement(
    HOLD,
    tenant=2,
    postgresql=f"WITH held AS ({_HOLD}), logged AS ({_log(*_HOLD_LOG, 'FROM held')}) SELECT id FROM held",  # noqa: S608
)
def _hold(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = named_values(params)
    hold, log = _HOLD_ON_SQLITE
    held = connection.execute(hold, values).fetchall()
    if held:
        connection.execute(log, values)
    return held


# $1 at, $2 tenant, $3 code as it was presented, $4 transaction, $5 customer, $6 reservation
_USES = """
    COALESCE((SELECT u.count FROM coupon_usage u WHERE u.tenant_id = t.tenant_id AND u.coupon_type_id = t.id
        AND u.customer_id = {0}), 0)
"""
_MAY_BE_TAKEN = f"""
    c.tenant_id = $2::varchar AND c.code = $3::varchar AND {_status("c.status")} = 'ACTIVE'
        AND c.redeemed_transaction_id IS NULL
        AND ($5::varchar IS NULL OR c.customer_id IS NULL OR c.customer_id = $5::varchar)
        AND {_runs("c", "valid_until", "$1::timestamptz")}
        AND t.tenant_id = c.tenant_id AND t.id = c.coupon_type_id AND t.status = 'ACTIVE' AND t.code_type <> 'GENERIC'
        AND {_runs("t", "valid_to", "$1::timestamptz")}
        AND (t.max_redemptions IS NULL OR {_USES.format("''")} < t.max_redemptions)
        AND (t.max_redemptions_per_customer IS NULL
            OR {_USES.format("COALESCE($5::varchar, c.customer_id)")} < t.max_redemptions_per_customer)
"""
_MINUTES = f"min(COALESCE(NULLIF(t.reservation_minutes, 0), {MINUTES_DEFAULT}), {MINUTES_MAX})"
_END = f"""
    date_trunc('milliseconds', LEAST($1::timestamptz
        + make_interval(mins => {_MINUTES.replace("min(", "LEAST(")}), c.valid_until, t.valid_to))
"""
_END_ON_SQLITE = f"""
    min(:p1 + {_MINUTES} * 60000000, COALESCE(c.valid_until, {2**62}), COALESCE(t.valid_to, {2**62})) / 1000 * 1000
"""
_TAKE = """
    UPDATE coupon_codes AS c SET status = 'RESERVED', reservation_ref = $6::varchar, reserved_until = {until},
        reserved_by_transaction_id = $4::varchar, version = c.version + 1, modified_at = $1::timestamptz
    {where}
"""
_TAKEN_LOG = """
    INSERT INTO redemption_logs (tenant_id, id, coupon_code_id, coupon_type_id, action, transaction_id, customer_id,
        occurred_at, created_at, modified_at)
    SELECT $2::varchar, $6::varchar, {code}, {kind}, 'RESERVED', $4::varchar, {customer}, $1::timestamptz,
        $1::timestamptz, $1::timestamptz {after}
"""
_FREE_ON_SQLITE, _TAKE_ON_SQLITE, _TAKEN_LOG_ON_SQLITE = (
    for_sqlite(text)
    for text in (
        f"""SELECT c.id, t.id, COALESCE($5::varchar, c.customer_id), {_END_ON_SQLITE}
        FROM coupon_codes c, coupon_types t WHERE {_MAY_BE_TAKEN}""",  # noqa: S608 - our own text
        _TAKE.format(until=":until", where="WHERE c.tenant_id = $2::varchar AND c.id = :code"),
        _TAKEN_LOG.format(code=":code", kind=":kind", customer=":customer", after=""),
    )
)


@hot_statement(
    TAKE,
    tenant=2,
    postgresql=f"""
    WITH held AS (
        {_TAKE.format(until=_END, where=f"FROM coupon_types t WHERE {_MAY_BE_TAKEN}")}
        RETURNING c.id, c.coupon_type_id, COALESCE($5::varchar, c.customer_id) AS customer_id, c.reserved_until
    ), logged AS (
        {_TAKEN_LOG.format(code="id", kind="coupon_type_id", customer="customer_id", after="FROM held")}
    )
    SELECT reserved_until FROM held
    """,  # noqa: S608 - our own text
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

# $1 at, $2 tenant, $3 code, $4 type, $5 transaction, $6 customer, $7 reservation, $8 limit of all, $9 limit of each
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
_IS_HELD = f"""
    tenant_id = $2::varchar AND id = $3::varchar AND reservation_ref = $7::varchar AND {_status("status")} = 'RESERVED'
        AND reserved_by_transaction_id = $5::varchar AND redeemed_transaction_id IS NULL
        AND reserved_until > $1::timestamptz AND {_CODE_RUNS} AND {_TYPE_RUNS}
"""
_SPEND = f"""
    UPDATE coupon_codes SET status = 'REDEEMED', redeemed_at = $1::timestamptz, redeemed_transaction_id = $5::varchar,
        redemption_count = redemption_count + 1, version = version + 1, modified_at = $1::timestamptz {{after}}
    WHERE {_IS_HELD} {{condition}}
    RETURNING id
"""  # noqa: S608 - our own text
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
_SPEND_LOG = ("REDEEMED", "$11::varchar", "$6::varchar")
_ROOM_ON_SQLITE = for_sqlite(f"SELECT 1 WHERE {_HAS_ROOM}")
_SPEND_ON_SQLITE = for_sqlite(_SPEND.format(after="", condition=""))
_COUNTS_ON_SQLITE = tuple(for_sqlite(_COUNT.format(after="", condition="TRUE", **of)) for of in (_ALL, _OWN))
_SPENT_ON_SQLITE = tuple(for_sqlite(text) for text in (_CLAIM, _log(*_SPEND_LOG, ""), _EVENT))


# INVARIANT: what was counted is undone when the code then turns out not to be there, as it is when somebody else was
# quicker while this one waited for the counts: division by zero, see `Undone`. Whatever is known before is looked at
# before anything is counted.
@hot_statement(
    REDEEM,
    tenant=2,
    postgresql=f"""
    WITH held AS (SELECT id FROM coupon_codes WHERE {_IS_HELD}),
        used AS ({_COUNT.format(after="FROM held", condition=_HAS_ROOM, **_ALL)}),
        own AS ({_COUNT.format(after="FROM used", condition="$6::varchar IS NOT NULL", **_OWN)}),
        spent AS ({
        _SPEND.format(after="FROM used", condition="AND ($6::varchar IS NULL OR EXISTS (SELECT 1 FROM own))")
    }),
        claimed AS ({_CLAIM} FROM spent),
        logged AS ({_log(*_SPEND_LOG, "FROM spent")}),
        told AS ({_EVENT} FROM spent)
    SELECT CASE WHEN EXISTS (SELECT 1 FROM used) THEN 1 / (SELECT count(*) FROM spent) = 1 ELSE FALSE END,
        EXISTS (SELECT 1 FROM held)
    """,  # noqa: S608 - our own text
)
def _redeem(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = named_values(params)
    if (params[7] is not None or params[8] is not None) and not connection.execute(_ROOM_ON_SQLITE, values).fetchall():
        return [(False, True)]
    if not connection.execute(_SPEND_ON_SQLITE, values).fetchall():
        return [(False, False)]
    count_all, count_own = _COUNTS_ON_SQLITE
    connection.execute(count_all, values).fetchall()
    if params[5] is not None:
        connection.execute(count_own, values).fetchall()
    for text in _SPENT_ON_SQLITE:
        connection.execute(text, values)
    return [(True, True)]
