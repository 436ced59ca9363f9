"""Outcomes of delivery attempts: log, queue, subscription health and dead-letter event, in one unit of work.

Only the worker that still holds a delivery writes its outcome. Needs a system session: outcomes span tenants.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Row, bindparam, delete, func, insert, literal, or_, select, update

from promenade.events import WebhookDeliveryDeadLetter
from promenade.store.authoring.trail import Subject, trail_entry
from promenade.store.driver.leases import DELIVERIES
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.webhooks.messages import Message
from promenade.store.webhooks.outbox import emit_for
from promenade.store.webhooks.queue import Key, among

FAILURES_MAX = 5  # consecutive deliveries given up, after which a subscription is disabled

_AUDIT = table("AuditLogs")
_LOGS = table("NotificationLogs")
_QUEUE = table("webhook_queue")
_SUBSCRIPTIONS = table("WebhookSubscriptions")
_QUEUE_KEY = (_QUEUE.c.tenant_id, _QUEUE.c.delivery_id)
_LOG_KEY = (_LOGS.c.tenant_id, _LOGS.c.id)
_SUBSCRIPTION_KEY = (_SUBSCRIPTIONS.c.tenant_id, _SUBSCRIPTIONS.c.id)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt, made ``at``; ``next_at`` is set if the delivery will be retried.

    ``ends`` True: the receiver wants no more deliveries, and its subscription is disabled.
    """

    message: Message
    status: Literal["DELIVERED", "RETRYING", "DEAD_LETTER"]
    at: datetime
    http_status: int | None = None
    error: str | None = None
    next_at: datetime | None = None
    ends: bool = False
    response_body: str | None = None
    duration_in_ms: int | None = None

    @property
    def attempts(self) -> int:
        """The number of attempts of the delivery, including this one."""
        return self.message.claim.attempts + 1

    @property
    def is_dead(self) -> bool:
        """Whether the final attempt has failed."""
        return self.status == "DEAD_LETTER"

    @property
    def subscription(self) -> Key | None:
        """(tenant, ID) of the subscription whose health it tells about; tests tell nothing about any."""
        one = self.message.subscription_id
        return None if one is None or self.message.is_test else (self.message.claim.tenant_id, one)


async def write_outcomes(
    session: Session, outcomes: Sequence[Outcome], *, at: datetime, new_id: Callable[[], str]
) -> list[Outcome]:
    """Write the outcomes of deliveries that are still held, in their order; return those outcomes."""
    if session.dialect == "postgresql":
        # A plan cached while the log was short would scan all of the tenant's log.
        await session.execute(select(func.set_config("plan_cache_mode", "force_custom_plan", True)))
    held = await _lock_held(session, outcomes)
    if not held:
        return []
    await _write_queue(session, held)
    await session.execute_many(_LOG_UPDATE, [_log_values(outcome, at) for outcome in held])
    switching = await _update_health(session, held, at, new_id)
    events = [
        (outcome.message.claim.tenant_id, _dead_letter(outcome, outcome.message.claim.key in switching))
        for outcome in held
        # INVARIANT (W5): a dead letter about a dead letter is never sent.
        if outcome.is_dead
        and outcome.message.event_type != WebhookDeliveryDeadLetter.kind
        and not outcome.message.is_test
    ]
    await emit_for(session, events, new_id=new_id, at=at)
    return held


async def _lock_held(session: Session, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Lock and return the deliveries whose lease nobody else has taken over."""
    if not outcomes:
        return []
    keys = [outcome.message.claim.key for outcome in outcomes]
    statement = select(*_QUEUE_KEY, _QUEUE.c.lease_owner).where(among(*_QUEUE_KEY, keys))
    if session.dialect == "postgresql":
        await _lock_first(session, outcomes, keys)
        statement = statement.order_by(*_QUEUE_KEY).with_for_update()
    owners = {(row.tenant_id, row.delivery_id): row.lease_owner for row in await session.execute(statement)}
    return [one for one in outcomes if owners.get(one.message.claim.key) == one.message.claim.lease_owner]


async def _lock_first(session: Session, outcomes: Sequence[Outcome], keys: Sequence[Key]) -> None:
    """Lock what precedes the queue in the common lock order: subscriptions whose health may change, then logs."""
    told = {one.subscription for one in outcomes if one.subscription and one.status != "RETRYING"}
    if told:
        any_fails = any(outcome.is_dead for outcome in outcomes)
        changing = or_(_SUBSCRIPTIONS.c.failure_count != 0, literal(any_fails))
        subscriptions = select(_SUBSCRIPTIONS.c.id).where(among(*_SUBSCRIPTION_KEY, sorted(told)), changing)
        await session.execute(subscriptions.order_by(*_SUBSCRIPTION_KEY).with_for_update())
    logs = select(_LOGS.c.id).where(among(*_LOG_KEY, keys))
    await session.execute(logs.order_by(*_LOG_KEY).with_for_update())


async def _write_queue(session: Session, held: Sequence[Outcome]) -> None:
    done = [outcome.message.claim.key for outcome in held if outcome.next_at is None]
    if done:
        await session.rowcount(delete(_QUEUE).where(among(*_QUEUE_KEY, done)))
    again = [(one.message.claim, {"attempts": one.attempts, "due_at": one.next_at}) for one in held if one.next_at]
    await DELIVERIES.release_all(session, again)


def _log_values(outcome: Outcome, at: datetime) -> dict[str, Any]:
    return {
        "of_tenant": outcome.message.claim.tenant_id,
        "of_id": outcome.message.claim.delivery_id,
        "status": outcome.status,
        "callback_url": outcome.message.callback_url,
        "attempts": outcome.attempts,
        "http_status": outcome.http_status,
        "last_error": outcome.error,
        "response_body": outcome.response_body,
        "duration_in_ms": outcome.duration_in_ms,
        "last_attempt_at": outcome.at,
        "next_attempt_at": outcome.next_at,
        "delivered_at": outcome.at if outcome.status == "DELIVERED" else None,
        "modified_at": at,
        "modified_by": "system",
    }


def _dead_letter(outcome: Outcome, switches_off: bool) -> WebhookDeliveryDeadLetter:
    return WebhookDeliveryDeadLetter(
        subscription_id=outcome.message.subscription_id,
        event_id=outcome.message.claim.event_id,
        event_type=outcome.message.event_type,
        callback_url=outcome.message.callback_url,
        attempts=outcome.attempts,
        last_error=outcome.error or "",
        subscription_disabled=switches_off,
    )


# --- the health of subscriptions --------------------------------------------------------------------------------------


async def _update_health(
    session: Session, held: Sequence[Outcome], at: datetime, new_id: Callable[[], str]
) -> set[Key]:
    """Count consecutive failures, disable subscriptions that keep failing; return the deliveries that caused it."""
    by_subscription: dict[Key, list[Outcome]] = defaultdict(list)
    for outcome in held:
        if outcome.subscription is not None and outcome.status != "RETRYING":
            by_subscription[outcome.subscription].append(outcome)
    failing = {key for key, outcomes in by_subscription.items() if any(one.is_dead for one in outcomes)}
    well = sorted(by_subscription.keys() - failing)
    if well:
        recovered = update(_SUBSCRIPTIONS).where(among(*_SUBSCRIPTION_KEY, well), _SUBSCRIPTIONS.c.failure_count != 0)
        await session.rowcount(recovered.values(failure_count=0, **_modified(at)))
    return await _count_failures(session, {key: by_subscription[key] for key in sorted(failing)}, at, new_id)


async def _count_failures(
    session: Session, failing: Mapping[Key, Sequence[Outcome]], at: datetime, new_id: Callable[[], str]
) -> set[Key]:
    if not failing:
        return set()
    statement = select(_SUBSCRIPTIONS).where(among(*_SUBSCRIPTION_KEY, list(failing)))
    if session.dialect == "postgresql":
        statement = statement.order_by(_SUBSCRIPTIONS.c.tenant_id, _SUBSCRIPTIONS.c.id).with_for_update()
    switching: set[Key] = set()
    audit: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    for row in await session.execute(statement):
        count, last = _counted(row, failing[row.tenant_id, row.id])
        change = {"of_tenant": row.tenant_id, "of_id": row.id, "failure_count": count}
        change |= {"is_active": row.is_active, "disabled_at": row.disabled_at}
        if last is not None:
            switching.add(last.message.claim.key)
            change |= {"is_active": False, "disabled_at": at}
            audit.append(_audit_row(row, last, at, new_id))
        changes.append(change)
    await session.execute_many(_HEALTH.values(**_modified(at)), changes)
    await session.execute_many(insert(_AUDIT), audit)
    return switching


def _counted(row: Row[Any], outcomes: Iterable[Outcome]) -> tuple[int, Outcome | None]:
    """Return the new count of consecutive failures, and the outcome that disables an active subscription."""
    count = row.failure_count
    for outcome in outcomes:
        count = count + 1 if outcome.is_dead else 0
        if row.is_active and (outcome.ends or count >= FAILURES_MAX):
            return count, outcome
    return count, None


def _audit_row(row: Row[Any], outcome: Outcome, at: datetime, new_id: Callable[[], str]) -> dict[str, Any]:
    why = "the receiver answered 410" if outcome.ends else f"{FAILURES_MAX} deliveries in a row were given up"
    subject = Subject("WebhookSubscriptions", row.id, row.name or row.id)
    entry = trail_entry(new_id(), at, "system", "DEACTIVATE", subject, note=f"Switched off: {why}.")
    return {"tenant_id": row.tenant_id, **entry}


def _modified(at: datetime) -> dict[str, Any]:
    return {"modified_at": at, "modified_by": "system", "version": _SUBSCRIPTIONS.c.version + 1}


_LOG_UPDATE = (
    update(_LOGS)
    .where(_LOGS.c.tenant_id == bindparam("of_tenant"), _LOGS.c.id == bindparam("of_id"))
    .values(
        version=_LOGS.c.version + 1,
        **{
            name: bindparam(name)
            for name in (
                *("status", "callback_url", "attempts", "http_status", "last_error", "last_attempt_at"),
                *("next_attempt_at", "delivered_at", "modified_at", "modified_by", "response_body", "duration_in_ms"),
            )
        },
    )
)
_HEALTH = (
    update(_SUBSCRIPTIONS)
    .where(_SUBSCRIPTIONS.c.tenant_id == bindparam("of_tenant"), _SUBSCRIPTIONS.c.id == bindparam("of_id"))
    .values({name: bindparam(name) for name in ("failure_count", "is_active", "disabled_at")})
)
