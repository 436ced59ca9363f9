"""What the cloud tells its stores of erased customers: the tenant's key, and digests by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, func, or_, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_ERASURES = table("customer_erasures")
_KEYS = table("customer_erasure_keys")
_IS_TOLD = _ERASURES.c.idle_since.is_(None)  # a store forgets idle customers by itself


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in the order in which erasures are told: an erasure that begins anew is told once more."""

    requested_at: datetime
    digest: str


async def read_key(session: Session) -> bytes | None:
    """Return the key of the tenant's digests; None: nobody was erased yet."""
    rows = await session.execute(select(_KEYS.c.secret))
    return bytes(rows[0].secret) if rows else None


async def read_after(session: Session, after: Place | None, limit: int) -> Sequence[Place]:
    """Return up to ``limit`` erasures after a place, in order; None: from the first one on."""
    at, digest = _ERASURES.c.requested_at, _ERASURES.c.digest
    listed = select(at, digest).where(_IS_TOLD).order_by(at, digest).limit(limit)
    if after is not None:
        later = or_(at > after.requested_at, and_(at == after.requested_at, digest > after.digest))
        listed = listed.where(at >= after.requested_at, later)
    return [Place(row.requested_at, row.digest) for row in await session.execute(listed)]


async def count_erasures(session: Session) -> int:
    """Return how many erasures the tenant has."""
    rows = await session.execute(select(func.count()).select_from(_ERASURES).where(_IS_TOLD))
    return int(rows[0][0])
