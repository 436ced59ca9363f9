"""Entries of the audit trail that a tenant does not want to keep; see `workflows.clockwork.trimming`."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, exists, or_, select

from promenade.store.authoring.trail import STATES
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_AUDIT = table("AuditLogs")
_PROMOTIONS = table("Promotions")
_IS_MOVE = and_(_AUDIT.c.entity_type == "Promotions", _AUDIT.c.action.in_(tuple(STATES)))
_IS_THERE = exists().where(_PROMOTIONS.c.tenant_id == _AUDIT.c.tenant_id, _PROMOTIONS.c.id == _AUDIT.c.entity_id)


async def first_entry(session: Session, since: datetime | None) -> datetime | None:
    """Return the time of the first entry from ``since`` on (None: of all); None: there is none."""
    first = select(_AUDIT.c.timestamp).order_by(_AUDIT.c.timestamp).limit(1)
    rows = await session.execute(first if since is None else first.where(_AUDIT.c.timestamp >= since))
    return rows[0].timestamp if rows else None


async def is_due(session: Session, since: datetime, until: datetime) -> bool:
    """Return whether an entry of this time may go."""
    return bool(await session.execute(select(_AUDIT.c.id).where(*_due(since, until)).limit(1)))


async def drop_entries(session: Session, since: datetime, until: datetime, limit: int) -> int:
    """Delete the first ``limit`` entries of this time that may go, and return how many were deleted.

    With the entry that a promotion was deleted go those that said when it ran, which are older. An entry that somebody
    is changing stays for now.
    """
    columns = select(_AUDIT.c.id, _AUDIT.c.entity_type, _AUDIT.c.entity_id, _AUDIT.c.action)
    few = columns.where(*_due(since, until)).order_by(_AUDIT.c.timestamp, _AUDIT.c.id).limit(limit)
    due = await session.execute(few.with_for_update(skip_locked=True))
    if not due:
        return 0
    ended = [row.entity_id for row in due if row.entity_type == "Promotions" and row.action == "DELETE"]
    gone = await session.rowcount(delete(_AUDIT).where(_AUDIT.c.id.in_([row.id for row in due])))
    if ended:
        of_ended = _AUDIT.c.entity_type == "Promotions", _AUDIT.c.entity_id.in_(ended), _AUDIT.c.timestamp < until
        gone += await session.rowcount(delete(_AUDIT).where(*of_ended, _IS_MOVE, ~_IS_THERE))
    return gone


def _due(since: datetime, until: datetime) -> tuple[ColumnElement[bool], ...]:
    return _AUDIT.c.timestamp >= since, _AUDIT.c.timestamp < until, or_(~_IS_MOVE, ~_IS_THERE)
