"""Issues a coupon in two statements: one takes or creates the code, the other writes its log and event."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from promenade.store.coupons.edges import for_sqlite, named_values
from promenade.store.coupons.pool import Issue, IssuedCode
from promenade.store.coupons.shared_codes import shared_form
from promenade.store.coupons.transitions import ISSUE
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.types import maybe_moment
from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import OutboxRow

# $1 tenant, $2 type, $3 at, $4 customer, $5 status, $6 promotion, $7 transaction, $8 channel, $9 reason, $10 metadata,
# $11 valid until, $12 user, $13 ID of a new code, $14 the new code, $15 as a shared code
_PLACES = {
    "at": 3,
    "customer": 4,
    "status": 5,
    "promotion": 6,
    "issued_under": 7,
    "channel": 8,
    "reason": 9,
    "metadata": 10,
    "ends": 11,
    "user": 12,
}


def _pooled(dialect: str) -> str:
    # ORDER BY does not change the result (issued_at is null in all rows), but makes the planner use the index that ends
    # with that column, on a table without statistics too.
    return f"""
    SELECT id FROM coupon_codes WHERE tenant_id = $1::varchar AND coupon_type_id = $2::varchar
        AND {ISSUE.where_text(dialect, _PLACES, "ACTIVE")}
    ORDER BY issued_at LIMIT 1
    """  # noqa: S608 - our own text


def _take(dialect: str, where: str, code: str) -> str:
    return f"""
    UPDATE coupon_codes SET {ISSUE.set_text(dialect, _PLACES)}
    {where} coupon_codes.tenant_id = $1::varchar AND coupon_codes.id = {code}
    RETURNING coupon_codes.id, coupon_codes.code, coupon_codes.valid_until
    """  # noqa: S608 - our own text


_MAKE = """
    INSERT INTO coupon_codes (tenant_id, id, code, coupon_type_id, status, customer_id, source, issued_at,
        issuing_promotion_id, issuing_transaction_id, issuance_channel, issue_reason, issue_metadata, valid_until,
        redemption_count, created_at, created_by, modified_at, modified_by)
    SELECT $1::varchar, $13::varchar, $14::varchar, $2::varchar, $5::varchar, $4::varchar, 'MANUAL', $3::timestamptz,
        $6::varchar, $7::varchar, $8::varchar, $9::varchar, $10::text, $11::timestamptz, 0, $3::timestamptz,
        $12::varchar, $3::timestamptz, $12::varchar
    WHERE NOT EXISTS (SELECT 1 FROM coupon_types WHERE tenant_id = $1::varchar AND generic_code = $15::varchar) {only}
    ON CONFLICT (tenant_id, code) DO NOTHING
    RETURNING id, code, valid_until
"""
_COLUMNS = "id, code, valid_until"
_POOLED_ON_SQLITE = for_sqlite(_pooled("sqlite"))
_TAKE_ON_SQLITE = for_sqlite(_take("sqlite", "WHERE", ":pooled"))
_MAKE_ON_SQLITE = for_sqlite(_MAKE.format(only=""))


@hot_statement(
    "take or make a code",
    postgresql=lambda: (
        f"""
    WITH pooled AS ({_pooled("postgresql")} FOR UPDATE SKIP LOCKED),
        taken AS ({_take("postgresql", "FROM pooled WHERE", "pooled.id")}),
        made AS ({_MAKE.format(only="AND NOT EXISTS (SELECT 1 FROM pooled)")})
    SELECT {_COLUMNS} FROM taken UNION ALL SELECT {_COLUMNS} FROM made
    """  # noqa: S608 - our own text
    ),
)
def _take_or_make(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    values = named_values(params)
    pooled = connection.execute(_POOLED_ON_SQLITE, values).fetchall()
    if pooled:
        rows = connection.execute(_TAKE_ON_SQLITE, {**values, "pooled": pooled[0][0]}).fetchall()
    else:
        rows = connection.execute(_MAKE_ON_SQLITE, values).fetchall()
    return [(code_id, code, maybe_moment(until)) for code_id, code, until in rows]


async def take_or_make(
    session: Session, issue: Issue, customer_id: str | None, *, code_id: str, code: str
) -> IssuedCode | None:
    """Issue an unissued code of the type, else ``code`` as a new one; None: the pool is empty and ``code`` is taken."""
    values = (issue.status, issue.promotion_id, issue.key, issue.channel, issue.reason, issue.metadata)
    given = (session.tenant, issue.coupon_type_id, issue.issued_at, customer_id, *values, issue.valid_until, issue.user)
    rows = await session.hot("take or make a code", (*given, code_id, code, shared_form(code)))
    return IssuedCode(*rows[0]) if rows else None


# ---- what is told -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IssueRecord:
    """An issued coupon, for its log row and the outbox; ``coupon_id`` None: the shared code of a type."""

    log_id: str
    coupon_id: str | None
    customer_id: str | None
    event: OutboxRow


# $1 tenant, $2 type, $3 at, $4 promotion, $5 transaction, $6 user, $7 kind of the events; lists: $8 logs, $9 codes,
# $10 customers, $11 events, $12 their bodies
_LOG = """
    INSERT INTO redemption_logs (tenant_id, id, coupon_code_id, coupon_type_id, promotion_id, action, transaction_id,
        customer_id, occurred_at, created_at, created_by, modified_at, modified_by)
    SELECT $1::varchar, {log}, {code}, $2::varchar, $4::varchar, '{action}', $5::varchar, {customer}, $3::timestamptz,
        $3::timestamptz, $6::varchar, $3::timestamptz, $6::varchar
"""
_EVENT = """
    INSERT INTO outbox_events (tenant_id, id, kind, payload, created_at)
    SELECT $1::varchar, {event}, $7::varchar, {body}, $3::timestamptz
"""
_LOG_ON_SQLITE = for_sqlite(_LOG.format(log=":log", code=":code", customer=":customer", action=ISSUE.log))
_EVENT_ON_SQLITE = for_sqlite(_EVENT.format(event=":event", body=":body"))


@hot_statement(
    "tell of issued coupons",
    postgresql=f"""
    WITH logged AS ({_LOG.format(log="l.id", code="l.code", customer="l.customer", action=ISSUE.log)}
        FROM unnest($8::varchar[], $9::varchar[], $10::varchar[]) AS l (id, code, customer))
    {_EVENT.format(event="e.id", body="e.body")} FROM unnest($11::varchar[], $12::bytea[]) AS e (id, body)
    """,
)
def _record_issue(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    shared = named_values(params[:7])
    each = [
        {**shared, "log": log, "code": code, "customer": customer, "event": event, "body": body}
        for log, code, customer, event, body in zip(*params[7:], strict=True)
    ]
    connection.executemany(_LOG_ON_SQLITE, each)
    connection.executemany(_EVENT_ON_SQLITE, each)
    return []


async def record_issue(session: Session, issue: Issue, records: Sequence[IssueRecord]) -> None:
    """Insert the log rows and the events of coupons issued together; the events are of one kind."""
    if not records:
        return
    shared = (session.tenant, issue.coupon_type_id, issue.issued_at, issue.promotion_id, issue.transaction_id)
    each = [(one.log_id, one.coupon_id, one.customer_id, one.event.id, one.event.payload) for one in records]
    lists = [list(column) for column in zip(*each, strict=True)]
    await session.hot("tell of issued coupons", (*shared, issue.user, records[0].event.kind, *lists))
