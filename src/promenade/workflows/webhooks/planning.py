"""Planning: which events are delivered to which subscriptions (data-model.md, Events)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from promenade.store.driver.unit import Session
from promenade.store.webhooks import planning as store
from promenade.store.webhooks.planning import Delivery, Subscription, Waiting
from promenade.store.webhooks.publications import plan_publications
from promenade.workflows.context import Context

DELIVERIES_MAX = 500  # per unit of work: some 20 ms, for which tills wait on SQLite

_ByKind = dict[tuple[str, str], list[Subscription]]
"""Active subscriptions by tenant and kind."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The number of events processed and of deliveries planned."""

    events: int
    deliveries: int


async def plan_deliveries(context: Context, limit: int, deliveries_max: int = DELIVERIES_MAX) -> Planned:
    """Take up to ``limit`` events of the outbox, oldest first, and plan their deliveries, all in one transaction.

    Fewer events are taken if they have many subscribers, so that there are at most ``deliveries_max`` deliveries,
    unless the first event alone has more. An event is planned exactly once, however many workers run or crash. Events
    without a subscriber are only marked. With a broker, each event is also queued for it. Raises Unavailable.
    """
    at = context.clock()

    async def work(session: Session) -> Planned:
        events = await store.hold_waiting(session, limit=limit)
        if not events:
            return Planned(0, 0)
        subscriptions = await store.subscriptions_of(session, {event.tenant_id for event in events})
        wanted = _by_kind(subscriptions)
        taken, deliveries = 0, list[Delivery]()
        for event in events:
            more = _deliveries(event, wanted, context.new_id)
            if taken and len(deliveries) + len(more) > deliveries_max:
                break
            taken, deliveries = taken + 1, deliveries + more
        await store.mark_planned(session, events[:taken], at=at)
        await store.plan(session, deliveries, at=at)
        if context.events_to is not None:
            await plan_publications(session, events[:taken])
        return Planned(taken, len(deliveries))

    # Not durable: planning lost in a power failure is repeated, as the events themselves are durable.
    return await context.database.write(work, system=True, durable=False)


def _by_kind(subscriptions: Iterable[Subscription]) -> _ByKind:
    by_kind: _ByKind = defaultdict(list)
    for subscription in subscriptions:
        for kind in {"*"} if "*" in subscription.event_types else set(subscription.event_types):
            by_kind[subscription.tenant_id, kind].append(subscription)
    return by_kind


def _deliveries(event: Waiting, wanted: _ByKind, new_id: Callable[[], str]) -> list[Delivery]:
    """Return a delivery for each subscription to the event's kind or to all kinds, and one for its own callback."""
    subscribed = (*wanted.get((event.tenant_id, event.kind), ()), *wanted.get((event.tenant_id, "*"), ()))
    deliveries = [Delivery(new_id(), event, one.id, one.callback_url) for one in subscribed]
    if event.callback_url is not None:
        deliveries.append(Delivery(new_id(), event, None, event.callback_url))
    return deliveries
