"""Publishing: the events of the outbox go to the operator's broker, in order and at least once (reliability W6).

A publication is planned with the deliveries of its event and stays queued until the broker has stored it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promenade import metrics
from promenade.log import Logger
from promenade.store.driver.unit import Session
from promenade.store.webhooks import publications as store
from promenade.store.webhooks.publications import Publication
from promenade.workflows.context import Context
from promenade.workflows.webhooks.brokers import Broker, BrokerMessage, Stored
from promenade.workflows.webhooks.envelopes import enveloped, subject_of

_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class Portion:
    """What came of a portion: how many left the queue, whether there may be more, why not all did (None: all did)."""

    number: int
    more: bool
    error: str | None = None


async def publish_portion(context: Context, broker: Broker, envelope: str, limit: int) -> Portion:
    """Publish up to ``limit`` of the events that wait, oldest first; only the holder of the lease may.

    ``context`` has the database of the lease: it takes nothing out of the queue once the lease is lost. Raises
    Unavailable and LeaseLost; then what was published is published once more.
    """
    queued = await context.database.read(lambda session: store.first_publications(session, limit=limit), system=True)
    messages = [_message(one, envelope) for one in queued if one.payload is not None]
    stored = await broker.publish(messages) if messages else Stored(0)
    done = _dealt_with(queued, stored.number)
    if done:
        await _finish(context, done)
    _tell(queued, messages, stored)
    await _note_lag(context)
    return Portion(len(done), len(queued) == limit, stored.error)


def _message(event: Publication, envelope: str) -> BrokerMessage:
    payload = event.payload or b""
    return BrokerMessage(
        event.id, event.tenant_id, event.kind or "", subject_of(payload), enveloped(envelope, event.id, payload)
    )


def _dealt_with(queued: Sequence[Publication], stored: int) -> list[Publication]:
    """Return what is before the first event that was not stored; events that are no longer kept are passed over."""
    done: list[Publication] = []
    for event in queued:
        if event.payload is not None:
            if not stored:
                break
            stored -= 1
        done.append(event)
    return done


async def _finish(context: Context, done: Sequence[Publication]) -> None:
    async def work(session: Session) -> None:
        await store.finish_publications(session, [one.key for one in done])

    # Not durable: what a power failure brings back is published once more.
    await context.database.write(work, system=True, durable=False)


def _tell(queued: Sequence[Publication], messages: Sequence[BrokerMessage], stored: Stored) -> None:
    for message in messages[: stored.number]:
        why = stored.refused.get(message.id)
        metrics.events_published.labels(message.tenant_id, "published" if why is None else "refused").inc()
        if why is not None:
            _log.error("publication.refused", id=message.id, kind=message.kind, tenant=message.tenant_id, why=why)
    if stored.error is not None:
        metrics.events_publish_failures.inc()
    for event in queued:
        if event.payload is None:
            _log.error("publication.not_kept", id=event.id, tenant=event.tenant_id)


async def _note_lag(context: Context) -> None:
    oldest = await context.database.read(store.oldest_unpublished, system=True)
    lag = 0.0 if oldest is None else (context.clock() - oldest).total_seconds()
    metrics.events_publish_lag.set(max(0.0, lag))
