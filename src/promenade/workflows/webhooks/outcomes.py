"""Attempts: made, judged by the schedule, and recorded (data-model.md, NotificationLogs)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from promenade import metrics
from promenade.store.unit import Session
from promenade.store.webhook_messages import Message
from promenade.store.webhook_outcomes import Outcome, write_outcomes
from promenade.workflows.context import Context
from promenade.workflows.webhooks.sending import Attempted, Sender
from promenade.workflows.webhooks.signing import UnreadableSecret, sign

__all__ = ["Draw", "Outcome", "attempt", "judge", "record_outcomes"]

Draw = Callable[[int], int]
"""A random whole number from 0 up to, but not including, the one given."""

JITTER_PERCENT = 10


async def attempt(context: Context, sender: Sender, message: Message, draw: Draw) -> Outcome:
    """Sign and send a delivery once; never raises but when it is cancelled."""
    at = context.clock()
    payload = message.payload or b""
    try:
        headers = sign(message.secret, message.previous_secret, message.claim.event_id, at, payload)
    except UnreadableSecret:
        attempted = Attempted(error="The subscription's secret cannot be read: it must be base64.")
    else:
        attempted = await sender.post(message.callback_url, headers, payload, at=at)
    return judge(
        message, attempted, at=at, ended_at=context.clock(), schedule=context.webhook_retry_schedule, draw=draw
    )


def judge(
    message: Message, attempted: Attempted, *, at: datetime, ended_at: datetime, schedule: Sequence[int], draw: Draw
) -> Outcome:
    """What follows from an attempt made ``at`` and ended ``ended_at``.

    ``schedule`` are the seconds from each failed attempt to the next; each is drawn up to 10 % longer or shorter, so
    that what failed together does not come back together. A receiver that asks for more time is given it.
    """
    status, error = attempted.http_status, attempted.error
    if error is None:
        return Outcome(message, "DELIVERED", at, status)
    attempts = message.claim.attempts
    if attempted.is_gone or attempts >= len(schedule):
        # 410 speaks for the subscription; without one there is nothing to switch off.
        return Outcome(message, "DEAD_LETTER", at, status, error, ends=attempted.is_gone)
    spread = schedule[attempts] * 10 * JITTER_PERCENT  # in milliseconds
    wait = timedelta(milliseconds=schedule[attempts] * 1000 - spread + draw(2 * spread + 1))
    if attempted.retry_after is not None:
        wait = max(wait, attempted.retry_after)
    return Outcome(message, "RETRYING", at, status, error, next_at=ended_at + wait)


async def record_outcomes(context: Context, outcomes: Sequence[Outcome]) -> None:
    """Write what came of attempts in one transaction, then count it; what another has taken over is left to it.

    Raises Unavailable: nothing was written, and may be written later.
    """
    at = context.clock()

    async def work(session: Session) -> list[Outcome]:
        return await write_outcomes(session, outcomes, at=at, new_id=context.new_id)

    # A delivery that is lost with the power is sent once more; that one is given up is told to others.
    is_final = any(outcome.is_given_up for outcome in outcomes)
    for outcome in await context.database.write(work, system=True, durable=is_final):
        tenant = outcome.message.claim.tenant_id
        status = "delivered" if outcome.status == "DELIVERED" else "failed"
        metrics.webhook_deliveries.labels(tenant, status).inc()
        if outcome.is_given_up:
            metrics.webhook_dead_letters.labels(tenant).inc()
