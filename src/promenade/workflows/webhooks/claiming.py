"""Claiming and releasing due deliveries: what a worker may lease, and for how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from promenade import metrics
from promenade.store.driver.leases import DELIVERIES
from promenade.store.driver.unit import Session
from promenade.store.webhooks import queue
from promenade.store.webhooks.messages import Message, messages
from promenade.store.webhooks.planning import has_waiting
from promenade.store.webhooks.queue import Claim
from promenade.workflows.context import Context

__all__ = ["LEASE", "Claim", "Message", "claim_messages", "clear_orphaned", "release", "repair_dates", "waiting"]

LEASE = timedelta(seconds=DELIVERIES.lease_seconds)
"""How long a delivery is held; an attempt takes a quarter of it at most, the rest is for waiting one's turn."""
PORTION = 500  # deliveries that one unit of work dead-letters or reschedules

_SUBSCRIPTION_GONE = "The subscription is inactive or was deleted."
_NOT_KEPT = "The event is no longer kept."


class Waiting:
    """Waiting work: ``events`` to plan, and ``lanes`` with due deliveries and the time since, oldest first."""

    __slots__ = ("events", "lanes")

    def __init__(self, events: bool, lanes: Sequence[tuple[str, datetime]]) -> None:
        self.events = events
        self.lanes = lanes


async def waiting(context: Context) -> Waiting:
    """Look for work without claiming it; costs one index look-up per lane. Raises Unavailable."""
    at = context.clock()

    async def work(session: Session) -> Waiting:
        return Waiting(await has_waiting(session), await queue.due_lanes(session, at=at))

    return await context.database.read(work, system=True)


async def claim_messages(context: Context, lanes: Mapping[str, int], persistent: Iterable[str]) -> list[Message]:
    """Claim due deliveries of these lanes, up to the number given for each, and read what is to be sent.

    In ``persistent`` lanes, those with the most attempts come first. Deliveries that are no longer wanted become dead
    letters. Raises Unavailable.
    """
    at = context.clock()

    async def work(session: Session) -> tuple[list[Message], list[str]]:
        claims = await queue.claim(
            session, lanes, persistent=persistent, lease_owner=context.new_id(), at=at, until=at + LEASE
        )
        found = await messages(session, claims, at=at)
        unwanted = [one.claim.key for one in found if not one.is_wanted]
        forgotten = [one.claim.key for one in found if one.is_wanted and one.payload is None]
        known = {one.claim.key for one in found}
        await queue.dead_letter(session, unwanted, _SUBSCRIPTION_GONE, at=at)
        await queue.dead_letter(session, forgotten, _NOT_KEPT, at=at)
        await queue.dead_letter(session, [one.key for one in claims if one.key not in known], _NOT_KEPT, at=at)
        return (
            [one for one in found if one.is_wanted and one.payload is not None],
            [tenant for tenant, _ in (*unwanted, *forgotten)],
        )

    # Not durable: if the claim is lost in a power failure, the deliveries are due at once.
    claimed, dead = await context.database.write(work, system=True, durable=False)
    _count_dead(dead)
    return claimed


async def release(context: Context, claims: Sequence[Claim]) -> None:
    """Release claims that were not attempted. Raises Unavailable."""
    if claims:
        await context.database.write(lambda session: queue.release(session, claims), system=True, durable=False)


async def clear_orphaned(context: Context) -> int:
    """Dead-letter a portion of the deliveries for subscriptions that are inactive or deleted; return their number.

    Raises Unavailable.
    """
    at = context.clock()
    lanes = await context.database.read(queue.orphaned_lanes, system=True)
    if not lanes:
        return 0

    async def work(session: Session) -> list[str]:
        dead: list[str] = []
        for lane in lanes:
            if len(dead) >= PORTION:
                break
            dead += await queue.dead_letter_lane(session, lane, _SUBSCRIPTION_GONE, at=at, limit=PORTION - len(dead))
        return dead

    dead = await context.database.write(work, system=True, durable=False)
    _count_dead(dead)
    return len(dead)


async def repair_dates(context: Context) -> int:
    """Make due the deliveries whose due time can only stem from a clock that was set back since; return their number.

    Raises Unavailable.
    """
    at = context.clock()

    async def find(session: Session) -> list[queue.Key]:
        return await queue.find_misdated(session, at=at, lease=LEASE, limit=PORTION)

    keys = await context.database.read(find, system=True)
    if keys:
        await context.database.write(lambda session: queue.make_due(session, keys, at=at), system=True, durable=False)
    return len(keys)


def _count_dead(tenants: Iterable[str]) -> None:
    for tenant, number in Counter(tenants).items():
        metrics.webhook_dead_letters.labels(tenant).inc(number)
