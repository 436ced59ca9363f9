"""What a delivery sends: the event's bytes, the current address, and the signing secrets.

Needs a system session: claims span tenants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, select

from promenade.events import WebhookTest
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.webhooks.queue import Claim, among

_EVENTS = table("outbox_events")
_LOGS = table("NotificationLogs")
_SUBSCRIPTIONS = table("WebhookSubscriptions")


@dataclass(frozen=True, slots=True)
class Message:
    """A claimed delivery. ``is_wanted``: its subscription is active, or it is a test, or to a callback URL of its own.

    ``payload`` None: the event has been deleted. ``secret`` None: sent without a signature.
    ``envelope`` is that of the subscription; None: it has none. ``traceparent``: the recorded trace that caused it.
    """

    claim: Claim
    event_type: str
    callback_url: str
    subscription_id: str | None
    is_wanted: bool
    payload: bytes | None
    secret: str | None
    previous_secret: str | None
    envelope: str | None = None
    traceparent: str | None = None

    @property
    def is_test(self) -> bool:
        """Whether somebody sent it to try the subscription out."""
        return self.event_type == WebhookTest.kind


async def messages(session: Session, claims: Sequence[Claim], *, at: datetime) -> list[Message]:
    """Return the message of each claim, in their order, without claims whose log has been deleted."""
    if not claims:
        return []
    rows = await session.execute(
        select(
            _LOGS.c.tenant_id,
            _LOGS.c.id,
            _LOGS.c.event_type,
            _LOGS.c.subscription_id,
            _LOGS.c.callback_url,
            _SUBSCRIPTIONS.c.callback_url.label("current_url"),
            _SUBSCRIPTIONS.c.is_active,
            _SUBSCRIPTIONS.c.secret,
            _SUBSCRIPTIONS.c.previous_secret,
            _SUBSCRIPTIONS.c.previous_secret_until,
            _SUBSCRIPTIONS.c.envelope,
            _EVENTS.c.payload,
            _EVENTS.c.traceparent,
        )
        .select_from(_LOGS)
        .outerjoin(
            _SUBSCRIPTIONS,
            and_(_SUBSCRIPTIONS.c.tenant_id == _LOGS.c.tenant_id, _SUBSCRIPTIONS.c.id == _LOGS.c.subscription_id),
        )
        .outerjoin(_EVENTS, and_(_EVENTS.c.tenant_id == _LOGS.c.tenant_id, _EVENTS.c.id == _LOGS.c.event_id))
        .where(among(_LOGS.c.tenant_id, _LOGS.c.id, [claim.key for claim in claims]))
    )
    found = {(row.tenant_id, row.id): row for row in rows}
    signers = await _signers(session, (row for row in rows if row.subscription_id is None))
    return [_message(claim, found[claim.key], signers, at) for claim in claims if claim.key in found]


async def _signers(session: Session, rows: Iterable[Row[Any]]) -> dict[tuple[str, str], Row[Any]]:
    """Return by tenant and address the subscription whose secret signs deliveries without one; active ones win."""
    addresses = sorted({(row.tenant_id, row.callback_url) for row in rows})
    if not addresses:
        return {}
    found = await session.execute(
        select(
            _SUBSCRIPTIONS.c.tenant_id,
            _SUBSCRIPTIONS.c.callback_url,
            _SUBSCRIPTIONS.c.secret,
            _SUBSCRIPTIONS.c.previous_secret,
            _SUBSCRIPTIONS.c.previous_secret_until,
        )
        .where(among(_SUBSCRIPTIONS.c.tenant_id, _SUBSCRIPTIONS.c.callback_url, addresses))
        .order_by(_SUBSCRIPTIONS.c.is_active, _SUBSCRIPTIONS.c.created_at.desc(), _SUBSCRIPTIONS.c.id)
    )
    return {(row.tenant_id, row.callback_url): row for row in found}


def _message(claim: Claim, row: Row[Any], signers: dict[tuple[str, str], Row[Any]], at: datetime) -> Message:
    is_subscribed = row.subscription_id is not None
    signer = row if is_subscribed else signers.get((row.tenant_id, row.callback_url))
    signs_still = signer is not None and signer.previous_secret_until is not None and signer.previous_secret_until > at
    return Message(
        claim=claim,
        event_type=row.event_type,
        callback_url=row.current_url or row.callback_url,
        subscription_id=row.subscription_id,
        is_wanted=_is_wanted(row),
        payload=row.payload,
        secret=None if signer is None else signer.secret,
        previous_secret=signer.previous_secret if signer is not None and signs_still else None,
        envelope=row.envelope,
        traceparent=row.traceparent,
    )


def _is_wanted(row: Row[Any]) -> bool:
    if row.subscription_id is None or row.is_active:
        return True
    is_there = row.is_active is not None
    return is_there and row.event_type == WebhookTest.kind
