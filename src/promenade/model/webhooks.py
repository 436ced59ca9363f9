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
_BUT_ADMIN = _EVERYWHERE - {ADMIN}


class WebhookSubscriptions(Entity, public=RW, admin=PLAIN):
    """A URL that receives events, signed as Standard Webhooks prescribes."""

    name = text(255, "Name of the subscription.", searchable=True)
    callback_url = text(2000, "URL to send events to: https, or another URL that the operator allows.", required=True,
                        searchable=True)  # fmt: skip
    event_types = texts("Kinds of events to send, or `*` for all.", required=True)
    secret = text(255, "The secret that signs events: base64 of 16 to 64 bytes, with or without the prefix `whsec_`. "
                  "If null, the server generates one and returns it only in that response.",
                  write_only=True)  # fmt: skip
    is_active = boolean("Whether events are sent.", default=True)
    envelope = choice(
        "STANDARD", "CLOUDEVENTS", "CLOUDEVENTS_BINARY",
        doc="What the body is: the event as Standard Webhooks recommends, a CloudEvent 1.0 in structured mode, or only "
            "the data of one, in binary mode, with its attributes as headers.",
        default="STANDARD",
    )  # fmt: skip
    description = text(1000, "Description of the subscription.", searchable=True)
    previous_secret = text(255, "The previous secret, which is also used for signing for a while.", read_only=True,
                           hidden_from=_EVERYWHERE)  # fmt: skip
    previous_secret_until = timestamp("End of the time in which the previous secret signs, too; null: not used.",
                                      read_only=True)  # fmt: skip
    failure_count = integer("Number of deliveries given up since the last successful one.", default=0, read_only=True)
    disabled_at = timestamp("Time at which it was disabled after too many failures.", read_only=True)
    notification_logs = back("NotificationLogs", "Deliveries to it and their results.", by="subscription")


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
    event_id = uuid("ID of the event, sent as webhook-id.", read_only=True)
    event_type = text(60, "Kind of the event.", required=True, read_only=True, searchable=True)
    callback_url = text(2000, "URL the event was sent to.", required=True, read_only=True)
    status = choice("PENDING", "DELIVERED", "RETRYING", "DEAD_LETTER", doc="Status of the delivery.",
                    default="PENDING", read_only=True)  # fmt: skip
    status_criticality = status_criticality()
    attempts = integer("Number of attempts.", default=0, read_only=True)
    http_status = integer("HTTP status of the last response.", read_only=True)
    last_error = text(1000, "Reason why the last attempt failed.", read_only=True)
    response_body = text(1000, "Beginning of the body of the last response, as text.", read_only=True,
                         hidden_from=_BUT_ADMIN)  # fmt: skip
    duration_in_ms = integer("Duration of the last attempt in milliseconds.", read_only=True, hidden_from=_BUT_ADMIN)
    last_attempt_at = timestamp("Time of the last attempt.", read_only=True)
    next_attempt_at = timestamp("Time of the next attempt.", read_only=True)
    delivered_at = timestamp("Time of the delivery.", read_only=True)
