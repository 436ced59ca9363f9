"""Points of a confirmed sale, and those that its return lines bring back (pricing semantics, sections 6 and 11).

A return may take a balance below zero. Otherwise what a sale gave could not be taken back in full, and it does happen
for a moment: the points of a sale may be booked after those that its return brings back.
"""

from __future__ import annotations

from promenade.events import LoyaltyPointsAwarded
from promenade.store.jobs import Claimed
from promenade.store.loyalty import PointsRow, book_points
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.effects import Effects

__all__ = ["award_points"]


async def award_points(context: Context, session: Session, job: Claimed, effects: Effects) -> int:
    """Book all points of a job, customers in order, and return what the sale itself earned."""
    bookings: dict[str, list[PointsRow]] = {}
    if effects.customer_id is not None:
        for entry in effects.points:
            row = PointsRow(context.new_id(), entry.promotion_id, entry.points)
            bookings.setdefault(effects.customer_id, []).append(row)
    for back in effects.points_back:
        bookings.setdefault(back.customer_id, []).append(PointsRow(context.new_id(), None, -back.points))
    earned = sum(entry.points for entry in effects.points) if effects.customer_id is not None else 0
    now = context.clock()
    for customer_id, rows in sorted(bookings.items()):
        balance = await book_points(
            session,
            customer_id,
            rows,
            origin=job.origin,
            transaction_id=job.transaction_id,
            transaction_counter=job.transaction_counter,
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
