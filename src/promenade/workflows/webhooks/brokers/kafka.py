"""Kafka: an idempotent producer, so that the messages of a key are stored in their order and once per session.

The client of Confluent works in threads of its own; here only its queue is filled and waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from promenade.settings import BrokerAddress
from promenade.workflows.webhooks.brokers import ANSWER_SECONDS, Broker, BrokerMessage, Stored, stored_until

_MARGIN_SECONDS = 2.0  # for reports to arrive after the last message was given up
_TOO_LARGE = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE)


class KafkaBroker(Broker):
    """Publishes to one topic; the key is tenant and subject."""

    def __init__(self, address: BrokerAddress) -> None:
        self._address = address
        self._producer: Producer | None = None
        self._trouble: str | None = None  # what the client said last of the way to the broker

    async def publish(self, messages: Sequence[BrokerMessage]) -> Stored:
        """Send a batch; receivers know those that they have seen by the header event-id."""
        refused: dict[str, str] = {}
        outcomes: list[str | None] = ["It was not answered."] * len(messages)
        try:
            producer = self._opened()
            for place, message in enumerate(messages):
                self._send(producer, message, place, outcomes, refused)
            await asyncio.to_thread(producer.flush, ANSWER_SECONDS + _MARGIN_SECONDS)
        except Exception as error:  # any error of a foreign server, or of the client's settings
            await self.close()
            return Stored(0, self._trouble or str(error))
        stored = stored_until(outcomes, messages, refused)
        if stored.error is None:
            self._trouble = None
            return stored
        await self.close()
        return Stored(stored.number, " ".join(filter(None, (stored.error, self._trouble))), stored.refused)

    def _send(
        self,
        producer: Producer,
        message: BrokerMessage,
        place: int,
        outcomes: list[str | None],
        refused: dict[str, str],
    ) -> None:
        def report(error: KafkaError | None, _: Message) -> None:
            outcomes[place] = None if error is None else error.str()
            if error is not None and error.code() in _TOO_LARGE:
                refused[message.id] = error.str()

        headers = {"event-id": message.id, "content-type": message.sent.content_type}
        headers |= {f"ce_{name}": value for name, value in (message.sent.attributes or {}).items()}
        encoded: list[tuple[str, str | bytes | None]] = [(name, value.encode()) for name, value in headers.items()]
        try:
            producer.produce(
                self._address.topic, message.sent.body, message.key.encode(), headers=encoded, on_delivery=report
            )
        except KafkaException as error:
            found: KafkaError = error.args[0]
            if found.code() not in _TOO_LARGE:
                raise
            refused[message.id] = found.str()

    def _opened(self) -> Producer:
        if self._producer is None:
            self._producer = Producer(settings_of(self._address) | {"error_cb": self._note})
        return self._producer

    def _note(self, error: KafkaError) -> None:
        self._trouble = error.str()

    async def close(self) -> None:
        """Drop what was not stored: it is sent again."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            await asyncio.to_thread(producer.flush, _MARGIN_SECONDS)


def settings_of(address: BrokerAddress) -> dict[str, Any]:
    """Return the settings of the producer for an address."""
    password = address.read_password()
    protocol = ("SASL_" if address.user is not None else "") + ("SSL" if address.uses_tls else "PLAINTEXT")
    settings: dict[str, Any] = {
        "bootstrap.servers": ",".join(address.servers),
        "client.id": "promenade",
        "security.protocol": protocol,
        "enable.idempotence": True,  # includes acks=all
        "partitioner": "murmur2_random",  # as clients in Java do: other topics by the same key can be joined
        "linger.ms": 5,
        "message.timeout.ms": int(ANSWER_SECONDS * 1000),
        "log_level": 2,  # trouble is told by `promenade clockwork`
    }
    if address.uses_tls and address.ca is not None:
        settings["ssl.ca.location"] = str(address.ca)
    if address.cert is not None:
        settings |= {"ssl.certificate.location": str(address.cert), "ssl.key.location": str(address.key)}
    if address.user is not None:
        settings |= {"sasl.mechanism": address.sasl, "sasl.username": address.user, "sasl.password": password or ""}
    return settings
