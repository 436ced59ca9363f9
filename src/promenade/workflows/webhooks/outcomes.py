"""Delivery attempts: sending, the decision by the retry schedule, and recording (data-model.md, NotificationLogs)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from standardwebhooks import Webhook

from promenade import metrics, tracing
from promenade.store.driver.unit import Session
from promenade.store.webhooks.messages import Message
from promenade.store.webhooks.outcomes import Outcome, write_outcomes
from promenade.workflows.context import Context
from promenade.workflows.webhooks.envelopes import enveloped
from promenade.workflows.webhooks.sending import AttemptResult, Sender

__all__ = ["Draw", "Outcome", "attempt", "record_outcomes", "sign"]

Draw = Callable[[int], int]
"""A random whole number from 0 up to, but not including, the one given."""

JITTER_PERCENT = 10


async def attempt(context: Context, sender: Sender, message: Message, draw: Draw) -> Outcome:
    """Sign and send a delivery once; raises nothing except when it is cancelled."""
    at, loop = context.clock(), asyncio.get_running_loop()
    began = loop.time()
    sent = enveloped(message.envelope, message.claim.event_id, message.payload or b"")
    try:
        headers = sign(message.secret, message.previous_secret, message.claim.event_id, at, sent.body)
    except UnreadableSecret:
        attempted = AttemptResult(error="The subscription's secret cannot be read: it must be base64.")
    else:
        headers |= {"content-type": sent.content_type, **sent.headers("ce-")}
        with tracing.resume("webhook", message.traceparent, tracing.Kind.CLIENT):
            headers |= tracing.headers()
            attempted = await sender.post(message.callback_url, headers, sent.body, at=at)
            tracing.note_outcome(attempted.http_status)
    outcome = outcome_of(
        message, attempted, at=at, ended_at=context.clock(), schedule=context.webhook_retry_schedule, draw=draw
    )
    return replace(outcome, response_body=attempted.body, duration_in_ms=round((loop.time() - began) * 1000))


def outcome_of(
    message: Message, attempted: AttemptResult, *, at: datetime, ended_at: datetime, schedule: Sequence[int], draw: Draw
) -> Outcome:
    """Return the outcome of an attempt made ``at`` and ended ``ended_at``.

    ``schedule`` are the seconds from each failed attempt to the next; each has a jitter of up to 10 % either way, so
    that deliveries that failed together are not retried together. A receiver's request for a longer wait (Retry-After)
    is honoured.
    """
    status, error = attempted.http_status, attempted.error
    if error is None:
        return Outcome(message, "DELIVERED", at, status)
    attempts = message.claim.attempts
    if attempted.is_gone or attempts >= len(schedule):
        # 410 ends the subscription; without one there is nothing to deactivate.
        return Outcome(message, "DEAD_LETTER", at, status, error, ends=attempted.is_gone)
    spread = schedule[attempts] * 10 * JITTER_PERCENT  # milliseconds
    wait = timedelta(milliseconds=schedule[attempts] * 1000 - spread + draw(2 * spread + 1))
    if attempted.retry_after is not None:
        wait = max(wait, attempted.retry_after)
    return Outcome(message, "RETRYING", at, status, error, next_at=ended_at + wait)


async def record_outcomes(context: Context, outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes of attempts in one transaction, then count them.

    Deliveries that another worker took over are skipped. Raises Unavailable: nothing was written, and the call may be
    repeated.
    """
    at = context.clock()

    async def work(session: Session) -> list[Outcome]:
        return await write_outcomes(session, outcomes, at=at, new_id=context.new_id)

    # A success lost in a power failure is sent once more; a final failure is published to others, so it must be
    # durable.
    is_final = any(outcome.is_dead for outcome in outcomes)
    for outcome in await context.database.write(work, system=True, durable=is_final):
        tenant = outcome.message.claim.tenant_id
        status = "delivered" if outcome.status == "DELIVERED" else "failed"
        metrics.webhook_deliveries.labels(tenant, status).inc()
        if outcome.is_dead:
            metrics.webhook_dead_letters.labels(tenant).inc()


# --- signatures -------------------------------------------------------------------------------------------------------


class UnreadableSecret(Exception):
    """A secret is empty or not base64 with an optional `whsec_` prefix."""


def sign(secret: str | None, previous_secret: str | None, webhook_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers webhook-id, webhook-timestamp and webhook-signature of an attempt made ``at`` (aware).

    During a secret's rotation the previous one signs too: two signatures, separated by a space. Without a ``secret``
    there is no signature. Raises UnreadableSecret.
    """
    headers = {"webhook-id": webhook_id, "webhook-timestamp": str(int(at.timestamp()))}
    text = body.decode()
    signatures = [_signature(one, webhook_id, at, text) for one in (secret, previous_secret) if one]
    return headers | {"webhook-signature": " ".join(signatures)} if signatures else headers


def _signature(secret: str, webhook_id: str, at: datetime, text: str) -> str:
    try:
        return Webhook(secret).sign(webhook_id, at, text)
    except Exception as error:  # the library has no common exception for invalid secrets
        raise UnreadableSecret("the secret is not base64") from error
