"""NATS JetStream, against a real server: every event once and in order, whatever happens to the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promenade.settings import BrokerAddress, Settings
from promenade.workflows.webhooks.brokers import Broker, BrokerMessage, Stored, open_broker
from promenade.workflows.webhooks.envelopes import Enveloped
from tests.kit.nats import NatsServer
from tests.kit.processes import free_port
from tests.workflows.webhooks.test_sending import certified


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    running = NatsServer(tmp_path / "nats.log")
    running.start()
    yield running
    running.close()


def address(server: NatsServer, scheme: str = "nats", user: str = "", **settings: Any) -> BrokerAddress:
    found = Settings(events_to=f"{scheme}://{user}{server.server}", **settings).broker
    assert found is not None
    return found


@pytest.fixture
async def broker(server: NatsServer) -> AsyncIterator[Broker]:
    opened = open_broker(address(server))
    yield opened
    await opened.close()


def a_message(name: str, **values: Any) -> BrokerMessage:
    sent = Enveloped(json.dumps({"name": name}).encode(), "application/cloudevents+json")
    return replace(BrokerMessage(name, "main", "CAMPAIGN_CREATED", "c1", sent), **values)


async def test_a_batch_is_stored_in_its_order_under_subjects_of_tenant_and_kind(
    server: NatsServer, broker: Broker
) -> None:
    await server.make_stream()
    binary = Enveloped(b"{}", "application/json", {"id": "3", "subject": "Bon 1ü"})
    batch = [a_message("1"), a_message("2", tenant_id="a.b *", kind="ImportJobs.Failed"), a_message("3", sent=binary)]
    assert await broker.publish(batch) == Stored(3)
    first, second, third = await server.stored()
    assert (first.subject, first.data) == ("promenade.main.CAMPAIGN_CREATED", b'{"name": "1"}')
    assert first.headers == {"Nats-Msg-Id": "1", "Content-Type": "application/cloudevents+json"}
    assert second.subject == "promenade.a%2Eb%20%2A.ImportJobs.Failed"
    assert third.headers is not None
    assert (third.headers["ce-id"], third.headers["ce-subject"]) == ("3", "Bon%201%C3%BC")


async def test_what_is_published_again_is_stored_once(server: NatsServer, broker: Broker) -> None:
    await server.make_stream()
    batch = [a_message(str(number)) for number in range(50)]
    assert await broker.publish(batch[:30]) == Stored(30)
    assert await broker.publish(batch) == Stored(50)
    assert [one.headers["Nats-Msg-Id"] for one in await server.stored() if one.headers] == [one.id for one in batch]


async def test_without_a_stream_nothing_is_lost_and_the_reason_is_told(server: NatsServer, broker: Broker) -> None:
    stored = await broker.publish([a_message("1"), a_message("2")])
    assert (stored.number, stored.refused) == (0, {})
    assert stored.error is not None
    assert "No stream stores" in stored.error
    await server.make_stream()
    assert await broker.publish([a_message("1"), a_message("2")]) == Stored(2)


async def test_a_full_stream_takes_the_beginning_of_a_batch(server: NatsServer, broker: Broker) -> None:
    await server.make_stream(max_msgs=2, discard="new")
    stored = await broker.publish([a_message(str(number)) for number in range(4)])
    assert (stored.number, stored.error) == (2, "maximum messages exceeded")


@pytest.mark.parametrize("limit", ["server", "stream"])
async def test_a_message_that_is_too_large_holds_nothing_up(server: NatsServer, broker: Broker, limit: str) -> None:
    await server.make_stream(max_msg_size=1000 if limit == "stream" else -1)
    large = a_message("2", sent=Enveloped(b"x" * (5000 if limit == "stream" else 2_000_000)))
    stored = await broker.publish([a_message("1"), large, a_message("3")])
    assert (stored.number, stored.error, set(stored.refused)) == (3, None, {"2"})
    assert await server.count() == 2


async def test_an_outage_is_told_and_over_with_the_next_batch(server: NatsServer, broker: Broker) -> None:
    await server.make_stream()
    assert await broker.publish([a_message("1")]) == Stored(1)
    server.stop()
    errors = [(await broker.publish([a_message("2")])).error for _ in range(2)]
    assert errors[0] is not None
    assert errors[1] is not None
    assert "Connect call failed" in errors[1]
    server.start()
    assert await broker.publish([a_message("2"), a_message("3")]) == Stored(2)
    assert await server.count() == 3


async def test_a_connection_that_breaks_during_a_batch_ends_it_at_once(server: NatsServer, broker: Broker) -> None:
    """The server is stopped while answers are outstanding; nobody waits until the time for them is over."""
    await server.make_stream()
    await broker.publish([a_message("0")])
    batch = [a_message(str(number)) for number in range(1, 5000)]
    publishing = asyncio.ensure_future(broker.publish(batch))
    while await server.count() < 10:
        pass
    server.stop()
    stored = await publishing
    server.start()
    if stored.error is None:  # the machine was faster than we were
        assert stored.number == 4999
    while (again := await broker.publish(batch)).error is not None:  # a worker sends it again, too
        pass
    assert again == Stored(4999)
    found = [one.headers["Nats-Msg-Id"] for one in await server.stored() if one.headers]
    assert found == [str(number) for number in range(5000)], "in order, each once"


async def test_a_user_with_a_password_from_a_file_that_may_be_replaced(tmp_path: Path) -> None:
    users = {"authorization": {"users": [{"user": "promenade", "password": "s3cret"}]}}
    server = NatsServer(tmp_path / "nats.log", users, user="promenade:s3cret")
    server.start()
    secret = tmp_path / "password"
    secret.write_text("wrong")
    broker = open_broker(address(server, user="promenade@", events_secret=secret))
    try:
        await server.make_stream()
        said = ""
        while "Authorization Violation" not in said:  # the connection may be reset before the reason was read
            refused = await broker.publish([a_message("1")])
            assert refused.error is not None
            said = refused.error
        secret.write_text("s3cret\n")
        assert await broker.publish([a_message("1")]) == Stored(1)
    finally:
        await broker.close()
        server.close()


async def test_a_token(tmp_path: Path) -> None:
    server = NatsServer(tmp_path / "nats.log", {"authorization": {"token": "t0ken"}}, user="t0ken")
    server.start()
    broker = open_broker(address(server, user="t0ken@"))
    try:
        await server.make_stream()
        assert await broker.publish([a_message("1")]) == Stored(1)
    finally:
        await broker.close()
        server.close()


async def test_tls_with_a_client_certificate(tmp_path: Path) -> None:
    certified(tmp_path)
    files = {"cert_file": str(tmp_path / "trusted.pem"), "key_file": str(tmp_path / "key.pem")}
    tls = {"tls": {**files, "ca_file": files["cert_file"], "verify": True}}
    server = NatsServer(tmp_path / "nats.log", tls)
    server.start()
    own: dict[str, Any] = {
        "events_ca": tmp_path / "trusted.pem",
        "events_cert": tmp_path / "trusted.pem",
        "events_key": tmp_path / "key.pem",
    }
    broker = open_broker(address(server, "nats+tls", **own))
    stranger = open_broker(address(server, "nats+tls"))
    try:
        assert "certificate" in ((await stranger.publish([a_message("1")])).error or ""), "it trusts another authority"
        stored = await broker.publish([a_message("1")])
        assert stored.error is not None
        assert "No stream" in stored.error, "it is connected"
    finally:
        await broker.close()
        await stranger.close()
        server.close()


async def test_a_password_is_not_told_to_a_server_without_tls() -> None:
    """Somebody on the way who leaves out that TLS is required gets neither the password nor an event."""
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"x","version":"2.10.0","max_payload":1048576,"headers":true}\r\n')
        while line := await reader.readline():
            heard.extend(line)
            writer.write(b"PONG\r\n" if line.startswith(b"PING") else b"")
        writer.close()

    for user in ("promenade:s3cret@", ""):
        serving = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = serving.sockets[0].getsockname()[1]
        found = Settings(events_to=f"nats+tls://{user}127.0.0.1:{port}").broker
        assert found is not None
        broker = open_broker(found)
        stored = await broker.publish([a_message("1")])
        await broker.close()
        serving.close()
        await serving.wait_closed()
        assert stored.error is not None
        assert "no TLS" in stored.error
    assert b"s3cret" not in heard
    assert b"PUB" not in heard


async def test_a_server_that_is_away_is_passed_over(server: NatsServer) -> None:
    await server.make_stream()
    found = Settings(events_to=f"nats://127.0.0.1:{free_port()},{server.server}").broker
    assert found is not None
    broker = open_broker(found)
    assert await broker.publish([a_message("1")]) == Stored(1)
    await broker.close()
