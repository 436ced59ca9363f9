"""Batches of coupon codes that are being made: which wait, and how far each is.

Codes are made in portions, one unit of work each, which holds the batch's row and counts its codes with them: whatever
kills a worker undoes the portion and lets go of the row, and the next one goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

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
    rows = await session.execute(
        select(_BATCHES.c.tenant_id, _BATCHES.c.id)
        .where(_BATCHES.c.status.in_(_UNFINISHED))
        .order_by(_BATCHES.c.modified_at, _BATCHES.c.id)
        .limit(limit)
    )
    return [(row.tenant_id, row.id) for row in rows]


async def hold(session: Session, batch_id: str) -> Batch | None:
    """The batch, held until the unit ends; None: it is finished or gone, or another worker is at it."""
    statement = select(
        _BATCHES.c.id,
        _BATCHES.c.coupon_type_id,
        _BATCHES.c.name,
        _BATCHES.c.quantity,
        _BATCHES.c.generated_count,
        _BATCHES.c.started_at,
        _BATCHES.c.created_by,
    ).where(_BATCHES.c.id == batch_id, _BATCHES.c.status.in_(_UNFINISHED))
    if session.dialect == "postgresql":
        statement = statement.with_for_update(skip_locked=True)
    rows = await session.execute(statement)
    return Batch(*tuple(rows[0])) if rows else None


async def advance(session: Session, batch: Batch, *, made: int, status: str, at: datetime) -> None:
    """Note of a batch that is held how many codes there are now, and where it stands."""
    await session.rowcount(
        update(_BATCHES)
        .where(_BATCHES.c.id == batch.id)
        .values(
            generated_count=made,
            status=status,
            started_at=batch.started_at or at,
            completed_at=None if status == "RUNNING" else at,
            modified_at=at,
            version=_BATCHES.c.version + 1,
        )
    )
