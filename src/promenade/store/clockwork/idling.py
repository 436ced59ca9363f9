"""Customers of whom nothing was heard for long; see `workflows.clockwork.idling`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, exists, select

from promenade.store.clockwork.erasing import CLAIMS, CODES, LOGS, POINTS, REDEMPTIONS, RESERVATIONS
from promenade.store.clockwork.redemptions import LIVING
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_TENANTS = table("Tenants")
_BALANCES = table("loyalty_balances")
_UPLOADS = table("sync_uploads")

# What is heard of a customer, the commonest first: when it happened and, as a till's clock may be wrong, was written.
_HEARD = (
    (LOGS, "confirmed_at"),
    (LOGS, "created_at"),
    (POINTS, "awarded_at"),
    (POINTS, "created_at"),
    (CLAIMS, "claimed_at"),
    (CODES, "issued_at"),
    (CODES, "created_at"),
    (REDEMPTIONS, "occurred_at"),
    (REDEMPTIONS, "created_at"),
    (RESERVATIONS, "reserved_at"),
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
    kept = [
        *(select(rows.c.customer_id).where(rows.c[moment] >= since) for rows, moment in _HEARD),
        select(CODES.c.customer_id).where(CODES.c.status.in_(LIVING)),
    ]
    if not points_lapse:
        kept.append(select(_BALANCES.c.customer_id).where(_BALANCES.c.points != 0))
    left = set(customer_ids)
    for wanted in kept:
        if left:
            left -= await _named(session, wanted, left)
    return sorted(left)


async def _named(session: Session, wanted: Select[tuple[str]], customer_ids: Collection[str]) -> set[str]:
    (customer,) = wanted.selected_columns
    rows = await session.execute(wanted.where(customer.in_(sorted(customer_ids))).distinct())
    return {row.customer_id for row in rows}


async def has_come_back(session: Session, customer_id: str, since: datetime) -> bool:
    """Return whether something was heard of a customer since then."""
    return not await idle_among(session, [customer_id], since, points_lapse=True)


async def has_to_send(session: Session, before: datetime) -> bool:
    """Return whether a store has yet to send something that happened before then."""
    waits = (_UPLOADS.c.payload.is_not(None), _UPLOADS.c.rejected_at.is_(None), _UPLOADS.c.happened_at < before)
    return bool((await session.execute(select(exists().where(*waits))))[0][0])
