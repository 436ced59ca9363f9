"""Planning: which subscriptions are told of which events (data-model.md, Events)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from promenade.store import webhook_planning as store
from promenade.store.unit import Session
from promenade.store.webhook_planning import Delivery, Subscription, Waiting
from promenade.workflows.context import Context

__all__ = ["Planned", "plan_deliveries"]


@dataclass(frozen=True, slots=True)
class Planned:
    """How many events were taken, and how many deliveries that makes."""

    events: int
    deliveries: int


async def plan_deliveries(context: Context, limit: int) -> Planned:
    """Take up to ``limit`` events of the outbox, oldest first, and plan their deliveries, all in one transaction.

    An event is planned exactly once, however many workers there are and whatever kills them. What nobody has
    subscribed to is only marked. Raises Unavailable.
    """
    at = context.clock()

    async def work(session: Session) -> Planned:
        events = await store.take(session, at=at, limit=limit)
        if not events:
            return Planned(0, 0)
        subscriptions = await store.subscriptions_of(session, {event.tenant_id for event in events})
        deliveries = list(_deliveries(events, subscriptions, context.new_id))
        await store.plan(session, deliveries, at=at)
        return Planned(len(events), len(deliveries))

    # Lost with the power, it is planned again: the events are not.
    return await context.database.write(work, system=True, durable=False)


def _deliveries(
    events: Iterable[Waiting], subscriptions: Iterable[Subscription], new_id: Callable[[], str]
) -> Iterator[Delivery]:
    """One delivery for each subscription to the kind of an event, or to all kinds, and one for its own callback."""
    by_kind: dict[tuple[str, str], list[Subscription]] = defaultdict(list)
    for subscription in subscriptions:
        for kind in {"*"} if "*" in subscription.event_types else set(subscription.event_types):
            by_kind[subscription.tenant_id, kind].append(subscription)
    for event in events:
        wanted = (*by_kind.get((event.tenant_id, event.kind), ()), *by_kind.get((event.tenant_id, "*"), ()))
        for subscription in wanted:
            yield Delivery(new_id(), event, subscription.id, subscription.callback_url)
        if event.callback_url is not None:
            yield Delivery(new_id(), event, None, event.callback_url)
