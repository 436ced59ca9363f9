"""Private parts of uvicorn that our connection code uses: after an upgrade, these tests name the part that changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from promenade.web.http.connection import Connection, Connections


@contextmanager
def using(part: str) -> Iterator[None]:
    """Name the part that has changed if anything inside the block fails."""
    try:
        yield
    except Exception as error:
        pytest.fail(
            f"uvicorn {uvicorn.__version__} has changed {part} ({error!r}): adapt promenade/web/http/connection.py"
        )


class Wire(asyncio.Transport):
    """A transport that records what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_closed = False
        self.is_answered = asyncio.Event()

    def write(self, data: Any) -> None:
        self.written += data
        if b"\r\n\r\n" in self.written:
            self.is_answered.set()

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def abort(self) -> None:
        self.is_closed = True


async def answer(scope: Any, receive: Any, send: Any) -> None:
    while (await receive())["more_body"]:
        pass
    headers = [(b"x-said", str(scope.get("said")).encode())]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body"})


class Saying(Connection):
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.say("said", "hello")


def listener(kind: type[Connection]) -> Connections:
    config = uvicorn.Config(answer, http=kind, ws="none", lifespan="off", log_config=None)
    config.load()
    return Connections(config, kind)


async def test_our_connection_class_serves_a_request() -> None:
    connections, wire = listener(Saying), Wire()
    with using("HttpToolsProtocol.__init__"):
        connection = connections.make(asyncio.get_running_loop())
        connection.connection_made(wire)
    with using("ServerState.connections"):
        assert (len(connections), len(connections.addresses)) == (1, 1)
    with using("ServerState.default_headers"):
        connections.date()
    with using("HttpToolsProtocol and its parser"):
        connection.data_received(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx")
        assert not connections.is_idle
        async with asyncio.timeout(30):
            await wire.is_answered.wait()
    head = wire.written.lower()
    with using("the scope of a request"):
        assert b"x-said: hello" in head
    with using("the headers of answers"):
        assert b"date: " in head
    with using("HttpToolsProtocol.shutdown"):
        connections.finish()
        assert wire.is_closed
    with using("ServerState.connections and its tasks"):
        connection.connection_lost(None)
        connections.abort()
        assert len(connections) == 0


async def test_a_malformed_request_gets_our_own_error() -> None:
    connection, wire = listener(Connection).make(asyncio.get_running_loop()), Wire()
    connection.connection_made(wire)
    with using("the parser's errors, or STATUS_LINE"):
        connection.data_received(b"\x16\x03\x01 no HTTP\r\n\r\n")
        assert wire.written.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert wire.is_closed
    connection.connection_lost(None)
