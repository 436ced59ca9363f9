"""Points of a confirmed sale, and those that its return lines bring back (pricing semantics, sections 6 and 11)."""

from __future__ import annotations

from promenade.events import LoyaltyPointsAwarded
from promenade.store.jobs import Claimed
from promenade.store.loyalty import add_points, insert_transaction
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.effects import Effects

__all__ = ["award_points"]


async def award_points(context: Context, session: Session, job: Claimed, effects: Effects) -> int:
    """Book all points of a job, customers in order, and return what the sale itself earned."""
    bookings: dict[str, list[tuple[str | None, int]]] = {}
    if effects.customer_id is not None:
        for entry in effects.points:
            bookings.setdefault(effects.customer_id, []).append((entry.promotion_id, entry.points))
    for back in effects.points_back:
        bookings.setdefault(back.customer_id, []).append((None, -back.points))
    earned = sum(entry.points for entry in effects.points) if effects.customer_id is not None else 0
    now = context.clock()
    for customer_id, entries in sorted(bookings.items()):
        balance = 0
        for promotion_id, points in entries:
            balance = await add_points(session, customer_id, points, now)
            await insert_transaction(
                session,
                transaction_row_id=context.new_id(),
                customer_id=customer_id,
                origin=job.origin,
                transaction_id=job.transaction_id,
                transaction_counter=job.transaction_counter,
                promotion_id=promotion_id,
                points=points,
                balance_after=balance,
                at=now,
            )
        if customer_id == effects.customer_id and earned > 0:
            awarded = LoyaltyPointsAwarded(
                customer_id=customer_id,
                transaction_id=job.transaction_id,
                transaction_counter=job.transaction_counter,
                points=earned,
                balance_after=balance,
            )
            await emit(session, awarded, event_id=context.new_id(), at=now)
    return earned
