"""Brokers that events are published to: what each does with a batch; the queue is `workflows.webhooks.publishing`.

The packages of a broker are imported when it is used: they are optional.
"""

# ruff: noqa: PLC0415 -- see above

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from promenade.settings import BrokerAddress
from promenade.workflows.webhooks.envelopes import Enveloped

__all__ = ["ANSWER_SECONDS", "Broker", "BrokerMessage", "Stored", "open_broker"]

ANSWER_SECONDS = 10.0  # how long a broker may take to store a batch


@dataclass(frozen=True, slots=True)
class BrokerMessage:
    """An event on its way to a broker; the broker keeps the order of messages with the same ``subject``."""

    id: str
    tenant_id: str
    kind: str
    subject: str | None
    sent: Enveloped

    @property
    def key(self) -> str:
        """Tenant and subject, percent-encoded: messages with the same key are in order."""
        return f"{quote(self.tenant_id, safe='')}/{quote(self.subject or self.kind, safe='')}"


@dataclass(frozen=True, slots=True)
class Stored:
    """How many of a batch, from its beginning, are dealt with, and why no more are (None: all are).

    ``refused``: those of them, by ID with the reason, that the broker never takes, such as one that is too large.
    """

    number: int
    error: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)


class Broker(ABC):
    """A connection to a broker, made when it is needed; after an error the next batch makes a new one."""

    @abstractmethod
    async def publish(self, messages: Sequence[BrokerMessage]) -> Stored:
        """Send a batch in its order and wait until it is stored; raises nothing except when it is cancelled.

        What follows the first failure may be stored too: it is sent again, under the same IDs.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close the connection."""


def open_broker(address: BrokerAddress) -> Broker:
    """Return the broker at an address; nothing is connected yet."""
    if address.kind == "nats":
        from promenade.workflows.webhooks.brokers.nats import NatsBroker

        return NatsBroker(address)
    from promenade.workflows.webhooks.brokers.kafka import KafkaBroker

    return KafkaBroker(address)


def stored_until(
    outcomes: Sequence[str | None], messages: Sequence[BrokerMessage], refused: Mapping[str, str]
) -> Stored:
    """Return what came of a batch; an outcome is None (stored) or why the message was not; refused ones are passed."""
    for place, (error, message) in enumerate(zip(outcomes, messages, strict=True)):
        if error is not None and message.id not in refused:
            before = {one.id for one in messages[:place]}
            return Stored(place, error, {id_: why for id_, why in refused.items() if id_ in before})
    return Stored(len(messages), None, refused)
