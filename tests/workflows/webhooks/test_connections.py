"""Kept connections: few per address, reused while the receiver keeps them open, otherwise closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from promenade.workflows.authoring.allowed import Allowed
from promenade.workflows.webhooks import connections
from promenade.workflows.webhooks.sending import AttemptResult, Sender
from tests.workflows.webhooks.post import roots

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
WAIT_SECONDS_MAX = 60.0


@dataclass
class Counting:
    """A receiver that counts its connections, and answers once it has ``gathers`` requests.

    ``is_mute``: it sends nothing at all. ``leaves``: it closes each connection after its answer.
    """

    gathers: int = 1
    is_mute: bool = False
    leaves: bool = False
    port: int = 0
    opened: int = 0
    open: int = 0
    requests: list[bytes] = field(default_factory=list)
    _there: list[asyncio.StreamWriter] = field(default_factory=list)
    _change: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self.open += 1
        try:
            while data := await reader.read(65536):
                self.requests.append(data)
                if self.is_mute:
                    continue
                self._there.append(writer)
                if len(self._there) >= self.gathers:
                    for one in self._there:
                        one.write(ANSWER)
                        if self.leaves:
                            one.close()
                    self._there.clear()
        except ConnectionError:
            pass
        finally:
            writer.close()
            self.open -= 1
            async with self._change:
                self._change.notify_all()

    async def has_open(self, number: int) -> None:
        """Return once exactly this many connections are open."""
        async with asyncio.timeout(WAIT_SECONDS_MAX), self._change:
            await self._change.wait_for(lambda: self.open <= number)
        assert self.open == number


@asynccontextmanager
async def counting(gathers: int = 1, *, is_mute: bool = False, leaves: bool = False) -> AsyncIterator[Counting]:
    receiver = Counting(gathers, is_mute, leaves)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


@asynccontextmanager
async def sending(seconds_max: float = WAIT_SECONDS_MAX) -> AsyncIterator[Sender]:
    sender = Sender(Allowed(["127.0.0.1"]), roots(), seconds_max=seconds_max)
    try:
        yield sender
    finally:
        await sender.close()


async def send(sender: Sender, receiver: Counting, *, scheme: str = "http") -> AttemptResult:
    url = f"{scheme}://127.0.0.1:{receiver.port}/"
    return await sender.post(url, {"webhook-id": "1"}, b'{"a": 1}', at=NOW)


async def test_connections_used_in_parallel_are_reused() -> None:
    async with counting(gathers=4) as receiver, sending() as sender:
        for _ in range(3):
            await asyncio.gather(*(send(sender, receiver) for _ in range(4)))
        assert (receiver.opened, receiver.open) == (4, 4)


async def test_the_number_of_idle_connections_per_address_is_limited() -> None:
    number = connections.IDLE_PER_ORIGIN_MAX + 3
    async with counting(gathers=number) as receiver, sending() as sender:
        await asyncio.gather(*(send(sender, receiver) for _ in range(number)))
        await receiver.has_open(connections.IDLE_PER_ORIGIN_MAX)


async def test_the_total_number_of_idle_connections_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_MAX", 2)
    async with counting() as first, counting() as second, counting() as third, sending() as sender:
        for receiver in (first, second, third):
            await send(sender, receiver)
        await first.has_open(0)
        assert (second.open, third.open) == (1, 1)


async def test_an_idle_connection_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.05)
    async with counting() as receiver, sending() as sender:
        await send(sender, receiver)
        await receiver.has_open(0)


async def test_a_connection_closed_by_the_receiver_is_not_reused() -> None:
    async with counting(leaves=True) as receiver, sending() as sender:
        for number in range(1, 4):
            assert (await send(sender, receiver)).error is None
            await receiver.has_open(0)
            assert receiver.opened == number


async def test_closing_the_sender_closes_all_connections() -> None:
    async with counting() as receiver:
        async with sending() as sender:
            await send(sender, receiver)
        await receiver.has_open(0)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_hanging_connection_is_closed_after_its_timeout(scheme: str) -> None:
    """Also in the middle of a TLS handshake: otherwise each attempt would leak a connection."""
    async with counting(is_mute=True) as receiver, sending(seconds_max=0.3) as sender:
        attempted = await send(sender, receiver, scheme=scheme)
        assert attempted.error == "There was no answer within 0.3 seconds."
        assert receiver.opened == 1
        await receiver.has_open(0)


async def test_a_request_is_sent_in_one_piece() -> None:
    async with counting() as receiver, sending() as sender:
        await send(sender, receiver)
        (request,) = receiver.requests
        assert request.startswith(b"POST / HTTP/1.1\r\n")
        assert request.endswith(b'\r\n\r\n{"a": 1}')
