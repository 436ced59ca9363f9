"""Batches of coupon codes that are being made: which wait, and how far each is.

Codes are made in portions, one unit of work each, which holds the batch's row and counts its codes with them: whatever
kills a worker undoes the portion and lets go of the row, and the next one goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import select, update

from odata_server.sql.connection import Kept
from promenade.store.each_tenant import each_tenant
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["Batch", "advance", "hold", "waiting"]

_BATCHES = table("CouponCodeBatches")
_UNFINISHED = ("QUEUED", "RUNNING")


@dataclass(frozen=True, slots=True)
class Batch:
    """An order of ``quantity`` codes, of which ``made`` are there; ``user`` ordered it."""

    id: str
    coupon_type_id: str
    name: str | None
    quantity: int
    made: int
    started_at: datetime | None
    user: str | None


async def waiting(session: Session, limit: int) -> list[tuple[str, str]]:
    """(tenant, ID) of unfinished batches of all tenants, those first that were left alone longest.

    Needs a system session.
    """
    tenants = each_tenant(_BATCHES)
    # Tenant by tenant, as the index has them: finished batches are many more.
    rows = await session.execute(
        select(_BATCHES.c.tenant_id, _BATCHES.c.id)
        .join_from(tenants, _BATCHES, _BATCHES.c.tenant_id == tenants.c.tenant_id)
        .where(_BATCHES.c.status.in_(_UNFINISHED))
        .order_by(_BATCHES.c.modified_at, _BATCHES.c.id)
        .limit(limit)
    )
    return [(row.tenant_id, row.id) for row in rows]


_BATCH_ID = parameter("batch_id", _BATCHES.c.id.type)


@cache
def _holding(dialect: str) -> Kept:
    statement = select(
        _BATCHES.c.id,
        _BATCHES.c.coupon_type_id,
        _BATCHES.c.name,
        _BATCHES.c.quantity,
        _BATCHES.c.generated_count,
        _BATCHES.c.started_at,
        _BATCHES.c.created_by,
    ).where(_BATCHES.c.id == _BATCH_ID, _BATCHES.c.status.in_(_UNFINISHED))
    return Kept(statement.with_for_update(skip_locked=True) if dialect == "postgresql" else statement)


async def hold(session: Session, batch_id: str) -> Batch | None:
    """The batch, held until the unit ends; None: it is finished or gone, or another worker is at it."""
    rows = await session.execute(_holding(session.dialect), {"batch_id": batch_id})
    return Batch(*tuple(rows[0])) if rows else None


_ADVANCED = ("generated_count", "status", "started_at", "completed_at", "modified_at")
_ADVANCE = Kept(
    update(_BATCHES)
    .where(_BATCHES.c.id == _BATCH_ID)
    .values(
        {name: parameter(f"new_{name}", _BATCHES.c[name].type) for name in _ADVANCED}
        | {"version": _BATCHES.c.version + 1}
    )
)


async def advance(session: Session, batch: Batch, *, made: int, status: str, at: datetime) -> None:
    """Note of a batch that is held how many codes there are now, and where it stands."""
    given = {
        "batch_id": batch.id,
        "new_generated_count": made,
        "new_status": status,
        "new_started_at": batch.started_at or at,
        "new_completed_at": None if status == "RUNNING" else at,
        "new_modified_at": at,
    }
    await session.rowcount(_ADVANCE, given)
