"""Webhook subscriptions and their deliveries."""

from __future__ import annotations

from promenade.model.declare import (
    ADMIN,
    PLAIN,
    PUBLIC,
    REPORTING,
    RO,
    RW,
    Entity,
    back,
    boolean,
    choice,
    integer,
    text,
    texts,
    timestamp,
    to_one,
    uuid,
)
from promenade.model.ui.criticality import status_criticality

__all__ = ["NotificationLogs", "WebhookSubscriptions"]

_EVERYWHERE = frozenset({PUBLIC, ADMIN, REPORTING})


class WebhookSubscriptions(Entity, public=RW, admin=PLAIN):
    """A URL that receives events, signed as Standard Webhooks prescribes."""

    name = text(255, "What the subscription is called.", searchable=True)
    callback_url = text(2000, "Where events are sent: https, or what the operator allows.", required=True,
                        searchable=True)  # fmt: skip
    event_types = texts("Kinds of events to send, or `*` for all.", required=True)
    secret = text(255, "Signs what is sent: base64 of 16 to 64 bytes, `whsec_` before it or not. Null lets the server "
                  "make one, which that answer shows and no other.", write_only=True)  # fmt: skip
    is_active = boolean("Whether events are sent.", default=True)
    description = text(1000, "What the subscription is for.", searchable=True)
    previous_secret = text(255, "The secret before, which signs too for a while.", read_only=True,
                           hidden_from=_EVERYWHERE)  # fmt: skip
    previous_secret_until = timestamp("Until when the secret before the current one signs too; null: none does.",
                                      read_only=True)  # fmt: skip
    failure_count = integer("Deliveries given up since the last that succeeded.", default=0, read_only=True)
    disabled_at = timestamp("When it was switched off after too many failures.", read_only=True)
    notification_logs = back("NotificationLogs", "What was sent to it, and what became of that.", by="subscription")


class NotificationLogs(
    Entity,
    public=RO,
    admin=RO,
    unique=(("event_id", "subscription_id"),),
    # For operators: the latest deliveries, of all or by subscription, kind or state.
    indexes=(
        ("subscription_id", "created_at"),
        ("status", "created_at"),
        ("event_type", "created_at"),
        ("created_at",),
    ),
):
    """The delivery of one event to one subscription."""

    subscription = to_one("WebhookSubscriptions", "The subscription.", soft=True, read_only=True)
    event_id = uuid("The event; its webhook-id.", read_only=True)
    event_type = text(60, "Kind of the event.", required=True, read_only=True, searchable=True)
    callback_url = text(2000, "Where it was sent.", required=True, read_only=True)
    status = choice("PENDING", "DELIVERED", "RETRYING", "DEAD_LETTER", doc="Where the delivery stands.",
                    default="PENDING", read_only=True)  # fmt: skip
    status_criticality = status_criticality()
    attempts = integer("How often it was tried.", default=0, read_only=True)
    http_status = integer("The last answer's status.", read_only=True)
    last_error = text(1000, "Why the last attempt failed.", read_only=True)
    last_attempt_at = timestamp("When it was last tried.", read_only=True)
    next_attempt_at = timestamp("When it is tried again.", read_only=True)
    delivered_at = timestamp("When it was delivered.", read_only=True)
