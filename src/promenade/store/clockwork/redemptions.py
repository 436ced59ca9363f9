"""Events of coupon codes that a tenant does not want to keep; see `workflows.clockwork.redemptions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, select

from promenade.store.coupons.transitions import REACTIVATE
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_LOGS = table("RedemptionLogs")
_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
LIVING = ("CREATED", "ACTIVE", "RESERVED")


@dataclass(frozen=True, slots=True)
class Look:
    """The IDs of events that may go, among some that were looked at; ``last`` None: there are no more."""

    due: Sequence[str]
    last: str | None


async def look(session: Session, after: str, until: datetime, limit: int) -> Look:
    """Look at the ``limit`` events that follow ``after`` by ID: an index over their time would cost every sale."""
    some = select(_LOGS.c.id).where(_LOGS.c.id > after).order_by(_LOGS.c.id).limit(limit)
    ids = [row.id for row in await session.execute(some)]
    if not ids:
        return Look((), None)
    among = select(_LOGS.c.id).where(_LOGS.c.id >= ids[0], _LOGS.c.id <= ids[-1], *_may_go(until))
    due = sorted(row.id for row in await session.execute(among))
    return Look(due, ids[-1] if len(ids) == limit else None)


async def drop(session: Session, ids: Sequence[str], until: datetime) -> int:
    """Delete those of these events that may still go; one that somebody is changing stays for now."""
    held = select(_LOGS.c.id).where(_LOGS.c.id.in_(ids)).order_by(_LOGS.c.id).with_for_update(skip_locked=True)
    free = [row.id for row in await session.execute(held)]
    return await session.rowcount(delete(_LOGS).where(_LOGS.c.id.in_(free), *_may_go(until)))


def _may_go(until: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that nothing needs an event: it happened, and was written, before ``until``, and

    - it is about a code of its own: how often a shared one was issued is counted by these events,
    - that code has ended: a store that sends the event once more is then refused as for any code that has,
    - it is not that a code became valid again, which a cancellation asks for.
    """
    lives = exists().where(
        _CODES.c.tenant_id == _LOGS.c.tenant_id, _CODES.c.id == _LOGS.c.coupon_code_id, _CODES.c.status.in_(LIVING)
    )
    is_shared = exists().where(
        _TYPES.c.tenant_id == _LOGS.c.tenant_id, _TYPES.c.id == _LOGS.c.coupon_type_id, _TYPES.c.code_type == "GENERIC"
    )
    return (
        _LOGS.c.occurred_at < until,
        _LOGS.c.created_at < until,
        _LOGS.c.action != REACTIVATE.log,
        _LOGS.c.coupon_code_id.is_not(None),
        ~lives,
        ~is_shared,
    )
