"""An event sent to one more address after it has happened: the callbackUrl of a job that has already ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec
from sqlalchemy import select

from promenade.events import Event
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import keep, outbox_row
from promenade.store.webhooks.planning import Delivery, Waiting, plan
from promenade.store.webhooks.replay import hold_events

_EVENTS = table("outbox_events")


class _Kept(msgspec.Struct):
    data: msgspec.Raw


_DECODER = msgspec.json.Decoder(_Kept)


async def send_to(
    session: Session, event: Event, callback_url: str, *, happened_at: datetime, at: datetime, new_id: Callable[[], str]
) -> None:
    """Queue a delivery of an event of the session's tenant that happened before to ``callback_url``, due at once.

    While the event is kept, the same bytes are sent under the same webhook-id as to others; later it is written anew,
    for this address alone.
    """
    row = outbox_row(session.tenant or "", event, event_id=new_id(), at=happened_at)
    data = bytes(_DECODER.decode(row.payload).data)
    same = select(_EVENTS.c.id, _EVENTS.c.payload).where(
        _EVENTS.c.created_at == happened_at, _EVENTS.c.kind == event.kind
    )
    kept = [one.id for one in await session.execute(same) if bytes(_DECODER.decode(one.payload).data) == data]
    held = await hold_events(session, kept)
    event_id = min(held, default=row.id)
    if not held:
        await keep(session, row, happened_at=happened_at, at=at)
    waiting = Waiting(session.tenant or "", event_id, event.kind, None, at)
    await plan(session, [Delivery(new_id(), waiting, None, callback_url)], at=at)
