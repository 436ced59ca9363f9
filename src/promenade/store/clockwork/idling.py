"""Customers of whom nothing was heard for long; see `workflows.clockwork.idling`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, Table, and_, column, exists, not_, select, values

from promenade.store.clockwork.erasing import (
    CLAIMS,
    CODES,
    LOGS,
    POINTS,
    REDEMPTIONS,
    RESERVATIONS,
    delivered,
    pick,
    settled,
)
from promenade.store.clockwork.redemptions import LIVING
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.replica.uploads import COUPON, SALE

_TENANTS = table("Tenants")
_BALANCES = table("loyalty_balances")
_UPLOADS = table("sync_uploads")

# What is heard of a customer, the commonest first, that an index leads to.
_HEARD = ((LOGS, "confirmed_at"), (POINTS, "awarded_at"), (REDEMPTIONS, "occurred_at"))
# And what none leads to; also when it was written, as a till's clock may be wrong.
_HEARD_TOO = (
    (CODES, "issued_at"),
    (CODES, "created_at"),
    (CLAIMS, "claimed_at"),
    (RESERVATIONS, "reserved_at"),
    (POINTS, "created_at"),
    (REDEMPTIONS, "created_at"),
    (LOGS, "created_at"),
)


@dataclass(frozen=True, slots=True)
class Term:
    """What a tenant has set: after how many ``days`` a customer is idle, and whether points lapse then."""

    days: int
    points_lapse: bool


async def read_term(session: Session) -> Term | None:
    """Return what the session's tenant has set; None: nobody is forgotten."""
    columns = select(_TENANTS.c.idle_customer_days, _TENANTS.c.idle_points_lapse)
    rows = await session.execute(columns.where(_TENANTS.c.tenant_id == session.tenant))
    if not rows or rows[0].idle_customer_days is None:
        return None
    return Term(rows[0].idle_customer_days, bool(rows[0].idle_points_lapse))


async def idle_among(
    session: Session, customer_ids: Collection[str], since: datetime, *, points_lapse: bool
) -> list[str]:
    """Return those of these customers of whom nothing was heard since then, in order.

    Left out are those with a coupon that may still be redeemed, and, unless ``points_lapse``, those with points.
    """
    left = await _not_heard(session, customer_ids, (*_HEARD, *_HEARD_TOO), since)
    left -= await _with(session, left, CODES, CODES.c.status.in_(LIVING))
    if not points_lapse:
        left -= await _with(session, left, _BALANCES, _BALANCES.c.points != 0)
    return sorted(left)


async def has_come_back(session: Session, customer_id: str, since: datetime, *, at_a_glance: bool = False) -> bool:
    """Return whether something was heard of a customer since then.

    ``at_a_glance``: or nothing that an index leads to; then it costs the same however many rows the customer has.
    """
    if at_a_glance:
        return not await _not_heard(session, [customer_id], _HEARD, since)
    return not await idle_among(session, [customer_id], since, points_lapse=True)


async def _not_heard(
    session: Session, customer_ids: Collection[str], places: Sequence[tuple[Table, str]], since: datetime
) -> set[str]:
    left = set(customer_ids)
    for rows, moment in places:
        left -= await _with(session, left, rows, rows.c[moment] >= since)
    return left


async def _with(
    session: Session, customer_ids: Collection[str], rows: Table, condition: ColumnElement[bool]
) -> set[str]:
    """Return those of the customers who have such a row; the first one of each is enough."""
    if not customer_ids:
        return set()
    return {row.id for row in await session.execute(having(customer_ids, rows, condition))}


def having(customer_ids: Collection[str], rows: Table, condition: ColumnElement[bool]) -> Select[tuple[str]]:
    """Select those of the customers who have such a row."""
    ids = values(column("id", rows.c.customer_id.type)).data([(one,) for one in sorted(customer_ids)]).cte("asked")
    return select(ids.c.id).where(exists().where(rows.c.customer_id == ids.c.id, condition))


async def has_to_settle(session: Session, customer_id: str, before: datetime, *, is_store: bool) -> bool:
    """Return whether somebody is still at work on something of a customer; in a store also, has yet to send it."""
    waiting = [
        (LOGS, not_(and_(settled(before), delivered(LOGS, "created_at", "modified_at")))),
        (POINTS, not_(delivered(POINTS, "created_at"))),
        (REDEMPTIONS, not_(delivered(REDEMPTIONS, "created_at"))),
    ]
    if is_store:
        waiting += [(LOGS, _is_unsent(SALE, LOGS)), (REDEMPTIONS, _is_unsent(COUPON, REDEMPTIONS))]
    for rows, condition in waiting:
        if await pick(session, rows, customer_id, 1, condition):
            return True
    return False


def _is_unsent(kind: str, rows: Table) -> ColumnElement[bool]:
    """Return the condition that the cloud does not have a row; it may have refused it."""
    return exists().where(
        _UPLOADS.c.tenant_id == rows.c.tenant_id,
        _UPLOADS.c.kind == kind,
        _UPLOADS.c.subject_id == rows.c.id,
        _UPLOADS.c.payload.is_not(None),
    )


async def has_to_send(session: Session, before: datetime) -> bool:
    """Return whether a store has yet to send something that happened before then."""
    waits = (_UPLOADS.c.payload.is_not(None), _UPLOADS.c.rejected_at.is_(None), _UPLOADS.c.happened_at < before)
    return bool((await session.execute(select(exists().where(*waits))))[0][0])
