"""Kafka, against the test cluster of its client library: the real protocol on real connections, but no real broker."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promenade.settings import BrokerAddress, Settings
from promenade.workflows.webhooks import brokers
from promenade.workflows.webhooks.brokers import Broker, BrokerMessage, Stored, open_broker
from promenade.workflows.webhooks.brokers import kafka as adapter
from promenade.workflows.webhooks.envelopes import Enveloped
from tests.kit.kafka import MockKafka, headers_of
from tests.kit.processes import free_port


@pytest.fixture
def cluster() -> Iterator[MockKafka]:
    with MockKafka() as running:
        yield running


def address(url: str, **settings: Any) -> BrokerAddress:
    found = Settings(events_to=url, **settings).broker
    assert found is not None
    return found


@pytest.fixture
async def broker(cluster: MockKafka) -> AsyncIterator[Broker]:
    opened = open_broker(address(f"kafka://{cluster.server}/promenade"))
    yield opened
    await opened.close()


def a_message(name: str, **values: Any) -> BrokerMessage:
    sent = Enveloped(json.dumps({"name": name}).encode(), "application/cloudevents+json")
    return replace(BrokerMessage(name, "main", "CAMPAIGN_CREATED", "c1", sent), **values)


async def test_a_message_has_its_key_and_its_id(cluster: MockKafka, broker: Broker) -> None:
    binary = Enveloped(b"{}", "application/json", {"id": "2", "subject": "Bon 1ü"})
    assert await broker.publish([a_message("1"), a_message("2", subject="a/b", sent=binary)]) == Stored(2)
    found = {one.key(): one for part in cluster.stored().values() for one in part}
    first, second = found[b"main/c1"], found[b"main/a%2Fb"]
    assert first.value() == b'{"name": "1"}'
    assert headers_of(first) == {"event-id": "1", "content-type": "application/cloudevents+json"}
    assert headers_of(second) == {
        "event-id": "2", "content-type": "application/json", "ce_id": "2", "ce_subject": "Bon 1ü",
    }  # fmt: skip


async def test_what_is_about_the_same_stays_in_order(cluster: MockKafka, broker: Broker) -> None:
    batch = [a_message(str(number), subject=f"c{number % 7}") for number in range(500)]
    assert await broker.publish(batch[:250]) == Stored(250)
    assert await broker.publish(batch[250:]) == Stored(250)
    by_key: dict[Any, list[int]] = {}
    for part in cluster.stored().values():
        for one in part:
            by_key.setdefault(one.key(), []).append(int(headers_of(one)["event-id"]))
    assert len(by_key) == 7
    assert all(numbers == sorted(numbers) for numbers in by_key.values())
    assert sum(map(len, by_key.values())) == 500


async def test_a_message_that_is_too_large_holds_nothing_up(cluster: MockKafka, broker: Broker) -> None:
    large = a_message("2", sent=Enveloped(b"x" * 2_000_000))
    stored = await broker.publish([a_message("1"), large, a_message("3")])
    assert (stored.number, stored.error, set(stored.refused)) == (3, None, {"2"})
    assert sorted(cluster.ids()) == ["1", "3"]


async def test_an_outage_is_told_and_over_with_the_next_batch(
    cluster: MockKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "ANSWER_SECONDS", 1.0)
    away = open_broker(address(f"kafka://127.0.0.1:{free_port()}/promenade"))
    stored = await away.publish([a_message("1"), a_message("2")])
    await away.close()
    assert stored.number == 0
    assert stored.error is not None
    assert "timed out" in stored.error
    assert "Connect" in stored.error, "and why"


def test_settings_for_passwords_and_certificates(tmp_path: Path) -> None:
    """The test cluster knows neither: this only shows what the client is told."""
    secret = tmp_path / "file"
    secret.write_text("s3cret\n")
    plain = adapter.settings_of(address("kafka://a,b:9093/shop.events"))
    assert plain["bootstrap.servers"] == "a:9092,b:9093"
    assert (plain["security.protocol"], plain["enable.idempotence"]) == ("PLAINTEXT", True)
    url = "kafka+tls://promenade@a/shop.events?sasl=SCRAM-SHA-512"
    settings = adapter.settings_of(address(url, events_secret=secret, events_ca=secret))
    assert settings["security.protocol"] == "SASL_SSL"
    assert (settings["sasl.mechanism"], settings["sasl.username"], settings["sasl.password"]) == (
        "SCRAM-SHA-512", "promenade", "s3cret",
    )  # fmt: skip
    assert settings["ssl.ca.location"] == str(secret)
    certified = adapter.settings_of(address("kafka+tls://a", events_cert=secret, events_key=secret))
    assert (certified["security.protocol"], certified["ssl.certificate.location"]) == ("SSL", str(secret))
    assert certified["message.timeout.ms"] == brokers.ANSWER_SECONDS * 1000
