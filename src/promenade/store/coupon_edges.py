"""The two edges that every till with a coupon takes, each one statement with all that it writes beside the code.

What counts the type is held last and let go of with the commit, so that tills of one coupon type wait for each other
as shortly as can be. Each part is written once: on PostgreSQL they are one statement, a part that reads another runs
after it; on SQLite they run one after the other.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from promenade.store.hot import hot_statement
from promenade.store.types import to_microseconds

__all__ = ["HOLD", "REDEEM"]

HOLD = "hold a code"
REDEEM = "redeem a code"

_PARAMETER = re.compile(r"\$(\d+)::\w+")


def _for_sqlite(text: str) -> str:
    return _PARAMETER.sub(r":p\1", text)


def _values(params: tuple[Any, ...]) -> Mapping[str, Any]:
    return {
        f"p{at}": to_microseconds(one) if isinstance(one, datetime) else one for at, one in enumerate(params, start=1)
    }


def _runs(rows: str, until: str, at: str) -> str:
    return f"""
    ({rows}.valid_from IS NULL OR {rows}.valid_from <= {at}) AND ({rows}.{until} IS NULL OR {rows}.{until} > {at})
    """


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
_HOLD_ON_SQLITE = _for_sqlite(_HOLD), _for_sqlite(_log(*_HOLD_LOG, ""))


@hot_statement(
    HOLD,
    postgresql=f"WITH held AS ({_HOLD}), logged AS ({_log(*_HOLD_LOG, 'FROM held')}) SELECT id FROM held",  # noqa: S608
)
def _hold(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = _values(params)
    hold, log = _HOLD_ON_SQLITE
    held = connection.execute(hold, values).fetchall()
    if held:
        connection.execute(log, values)
    return held


# ---- redeem -------------------------------------------------------------------------------------------------------

# $1 at, $2 tenant, $3 code, $4 type, $5 transaction, $6 customer, $7 reservation, $8 limit of all, $9 limit of each
# customer, $10 origin, $11 log
_COUNT = """
    INSERT INTO coupon_usage AS u (tenant_id, coupon_type_id, customer_id, count)
    SELECT $2::varchar, $4::varchar, {customer}, 1 {after} WHERE {condition} AND COALESCE({limit}, 1) > 0
    ON CONFLICT (tenant_id, coupon_type_id, customer_id) DO UPDATE SET count = u.count + 1
        WHERE u.count < COALESCE({limit}, 2147483647)
    RETURNING count
"""
_ALL = {"customer": "''", "condition": "TRUE", "limit": "$8::int"}
_OWN = {"customer": "$6::varchar", "condition": "$6::varchar IS NOT NULL", "limit": "$9::int"}
_SPEND = f"""
    UPDATE coupon_codes SET status = 'REDEEMED', redeemed_at = $1::timestamptz, redeemed_transaction_id = $5::varchar,
        redemption_count = redemption_count + 1, version = version + 1, modified_at = $1::timestamptz {{after}}
    WHERE tenant_id = $2::varchar AND id = $3::varchar AND reservation_ref = $7::varchar AND status = 'RESERVED'
        AND reserved_by_transaction_id = $5::varchar AND redeemed_transaction_id IS NULL
        AND reserved_until > $1::timestamptz AND {_CODE_RUNS} AND {_TYPE_RUNS} {{condition}}
    RETURNING id
"""  # noqa: S608 - our own text
_CLAIM = """
    INSERT INTO coupon_claims (tenant_id, coupon_code_id, slot, coupon_type_id, origin, transaction_id, customer_id,
        claimed_at, redeemed_at)
    SELECT $2::varchar, $3::varchar, 0, $4::varchar, $10::varchar, $5::varchar, $6::varchar, $1::timestamptz,
        $1::timestamptz
"""
_SPEND_LOG = ("REDEEMED", "$11::varchar", "$6::varchar")
_WHERE_COUNTED = "AND ($6::varchar IS NULL OR EXISTS (SELECT 1 FROM own))"
_SPENT_ON_SQLITE = tuple(
    _for_sqlite(text)
    for text in (
        _COUNT.format(after="", **_ALL),
        _COUNT.format(after="", **_OWN),
        _SPEND.format(after="", condition=""),
        _CLAIM,
        _log(*_SPEND_LOG, ""),
    )
)


@hot_statement(
    REDEEM,
    postgresql=f"""
    WITH used AS ({_COUNT.format(after="", **_ALL)}),
        own AS ({_COUNT.format(after="FROM used", **_OWN)}),
        spent AS ({_SPEND.format(after="FROM used", condition=_WHERE_COUNTED)}),
        claimed AS ({_CLAIM} FROM spent),
        logged AS ({_log(*_SPEND_LOG, "FROM spent")})
    SELECT EXISTS (SELECT 1 FROM used) AND ($6::varchar IS NULL OR EXISTS (SELECT 1 FROM own)),
        EXISTS (SELECT 1 FROM spent)
    """,  # noqa: S608 - our own text
)
def _redeem(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = _values(params)
    count_all, count_own, spend, claim, log = _SPENT_ON_SQLITE
    if not connection.execute(count_all, values).fetchall():
        return [(False, False)]
    if values["p6"] is not None and not connection.execute(count_own, values).fetchall():
        return [(False, False)]
    if not connection.execute(spend, values).fetchall():
        return [(True, False)]
    connection.execute(claim, values)
    connection.execute(log, values)
    return [(True, True)]
