"""Limits of which stores get a part: how often a coupon type is spent, in how many sales a promotion applies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["Limit", "read_limit"]

_LIMITED = {
    "COUPON_TYPE": (table("CouponTypes"), "max_redemptions", frozenset({"ACTIVE"})),
    "PROMOTION": (table("Promotions"), "max_applications_total", frozenset({"ACTIVE", "PILOT"})),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit; ``most`` None: there is none."""

    most: int | None
    is_running: bool
    valid_to: datetime | None

    def runs_at(self, at: datetime) -> bool:
        """Whether uses can still come."""
        return self.is_running and (self.valid_to is None or at < self.valid_to)


async def read_limit(session: Session, kind: str, entity_id: str) -> Limit | None:
    """The limit of a coupon type or promotion; None: there is no such thing."""
    rows, column, running = _LIMITED[kind]
    found = await session.execute(select(rows.c[column], rows.c.status, rows.c.valid_to).where(rows.c.id == entity_id))
    return Limit(found[0][0], found[0].status in running, found[0].valid_to) if found else None
