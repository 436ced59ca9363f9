"""Batches of coupon codes in production: which are waiting, and how far each has got.

Codes are created in portions, one unit of work each, which locks the batch's row and updates its count with the codes.
If a worker is killed, the portion is rolled back, the lock is released, and another worker continues from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import select, update

from odata_server.sql.connection import Kept
from promenade.store.driver.each_tenant import each_tenant
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_BATCHES = table("CouponCodeBatches")
_UNFINISHED = ("QUEUED", "RUNNING")


@dataclass(frozen=True, slots=True)
class Batch:
    """An order of ``quantity`` codes, of which ``made`` exist; ``user`` ordered it."""

    id: str
    coupon_type_id: str
    name: str | None
    quantity: int
    made: int
    started_at: datetime | None
    user: str | None


async def waiting(session: Session, limit: int) -> list[tuple[str, str]]:
    """Return (tenant, ID) of unfinished batches of all tenants, the least recently processed first.

    Needs a system session.
    """
    tenants = each_tenant(_BATCHES)
    # Tenant by tenant, in index order: most batches are finished.
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
    """Lock and return the batch; None: it is finished or deleted, or another worker has it."""
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
    """Update the code count and the status of a batch that is locked."""
    given = {
        "batch_id": batch.id,
        "new_generated_count": made,
        "new_status": status,
        "new_started_at": batch.started_at or at,
        "new_completed_at": None if status == "RUNNING" else at,
        "new_modified_at": at,
    }
    await session.rowcount(_ADVANCE, given)
