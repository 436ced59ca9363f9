"""The cluster that Kafka's client brings for tests: real connections and the real protocol, in this process.

It stores and orders messages and knows idempotent producers. It has no access rights, no TLS and no disk.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, Message, Producer, TopicPartition

__all__ = ["MockKafka"]

ANSWER_SECONDS_MAX = 60


class MockKafka:
    """A cluster of one broker at ``server``; topics are created when they are first used, with 4 partitions."""

    def __init__(self) -> None:
        self._host = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 2})
        (broker,) = self._host.list_topics(timeout=ANSWER_SECONDS_MAX).brokers.values()
        self.server = f"{broker.host}:{broker.port}"

    def stored(self, topic: str = "promenade") -> dict[int, list[Message]]:
        """Return all messages of a topic by partition, in their order."""
        consumer = Consumer({"bootstrap.servers": self.server, "group.id": "tests", "log_level": 2})
        try:
            found: dict[int, list[Message]] = {}
            for partition in consumer.list_topics(topic, timeout=ANSWER_SECONDS_MAX).topics[topic].partitions:
                _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=ANSWER_SECONDS_MAX)
                consumer.assign([TopicPartition(topic, partition, 0)])
                found[partition] = consumer.consume(end, ANSWER_SECONDS_MAX) if end else []
            return found
        finally:
            consumer.close()

    def ids(self, topic: str = "promenade") -> list[str]:
        """Return the event-id of all messages, partition by partition."""
        return [headers_of(one)["event-id"] for part in self.stored(topic).values() for one in part]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._host  # ends the cluster


def headers_of(message: Message) -> dict[str, str]:
    """Return the headers of a message as text."""
    headers: Any = message.headers() or []
    return {name: value.decode() for name, value in headers}
