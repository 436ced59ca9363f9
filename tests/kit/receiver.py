"""A receiver of webhooks: a real HTTP server in its own thread that records every request, byte for byte.

::

    with Receiver() as receiver:
        receiver.answers("/slow", Hang())              # whoever calls /slow gets no answer
        receiver.answers("/shop", Answer(500), Answer(200))  # first 500, from then on 200
        ...
        receiver.wait(3, path="/shop")                 # in async tests: await receiver.waited(3)
        first = receiver.requests("/shop")[0]
        Webhook(secret).verify(first.body, first.headers)
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tests.kit.processes import free_port

__all__ = ["Answer", "Behaviour", "Close", "Drip", "Flood", "Hang", "Receiver", "Redirect", "Request"]

WAIT_SECONDS_MAX = 90.0  # reached only on failure; leaves time for a busy machine


@dataclass(frozen=True, slots=True)
class Request:
    """A request: header names in lower case, the raw body, the time (monotonic), and the connection it came on."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    connection: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with a status, headers and a body."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def Redirect(location: str, status: int = 302) -> Answer:
    """Return an answer that redirects elsewhere."""
    return Answer(status, {"location": location})


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer; the connection stays open."""


@dataclass(frozen=True, slots=True)
class Drip:
    """An answer of 200 that never ends: a byte now and then, of the headers or (after them) of the body."""

    every_seconds: float = 0.2
    of: str = "headers"


@dataclass(frozen=True, slots=True)
class Flood:
    """Interim answers (100), as many and as fast as the client reads them, and never a final one."""


@dataclass(frozen=True, slots=True)
class Close:
    """The connection is closed without an answer."""


Behaviour = Answer | Hang | Drip | Flood | Close


class Receiver:
    """Listens on a free port of 127.0.0.1 (or ``host``) between `start` and `stop`; restarts keep the port.

    ``tls`` makes it an https server. `answers` sets the answers of a path; the default is an empty 200.
    """

    def __init__(self, host: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None) -> None:
        self.host = host
        self.port = 0
        self._tls = tls
        self._received: list[Request] = []
        self._scripts: dict[str, list[Behaviour]] = {}
        self._news = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections = 0
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._hanging: dict[str, int] = {}
        self.hanging_max: dict[str, int] = {}

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    def answers(self, path: str, *behaviours: Behaviour) -> None:
        """Answer requests to ``path`` with these, one after the other; the last one is repeated."""
        self._scripts[path] = list(behaviours)

    def requests(self, path: str | None = None) -> list[Request]:
        """Return the requests received so far, in order."""
        with self._news:
            return [one for one in self._received if path is None or one.path == path]

    def forget(self) -> None:
        """Forget the requests received so far."""
        with self._news:
            self._received.clear()

    def wait(self, count: int, *, path: str | None = None, seconds: float = WAIT_SECONDS_MAX) -> list[Request]:
        """Block until ``count`` requests have been received (at ``path``) and return them; fail on timeout."""
        deadline = time.monotonic() + seconds
        with self._news:
            while True:
                found = self._received if path is None else [one for one in self._received if one.path == path]
                if len(found) >= count:
                    return list(found)
                left = deadline - time.monotonic()
                assert left > 0, f"{len(found)} of {count} requests came in within {seconds:g} s"
                self._news.wait(left)

    async def waited(self, count: int, *, path: str | None = None, seconds: float = WAIT_SECONDS_MAX) -> list[Request]:
        """`wait` for tests with an event loop."""
        return await asyncio.to_thread(self.wait, count, path=path, seconds=seconds)

    def start(self) -> Self:
        """Start listening; return when it does."""
        self.port = self.port or free_port()
        loop = self._loop = asyncio.new_event_loop()
        listens = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(loop, listens), name="receiver", daemon=True)
        self._thread.start()
        assert listens.wait(WAIT_SECONDS_MAX), "the receiver does not listen"
        return self

    def stop(self) -> None:
        """Close every connection and stop listening; idempotent."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self, loop: asyncio.AbstractEventLoop, listens: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(asyncio.start_server(self._accept, self.host, self.port, ssl=self._tls))
        listens.set()
        loop.run_forever()
        for listening in server.sockets:
            loop.remove_reader(listening.fileno())  # a closed server loses connections that it has just accepted
        loop.run_until_complete(self._end())
        server.close()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._open[task] = writer
        task.add_done_callback(self._open.pop)

    async def _end(self) -> None:
        """Close every connection, including those just accepted, which reach `_accept` a few steps later."""
        steps_without_any = 0
        while steps_without_any < 5:
            found = dict(self._open)
            for task, writer in found.items():
                writer.transport.abort()  # a task that has not started yet never starts
                task.cancel()
            await asyncio.gather(*found, return_exceptions=True)
            await asyncio.sleep(0)
            steps_without_any = 0 if found else steps_without_any + 1

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number = self._connections
        try:
            while (request := await _read(reader, number)) is not None:
                script = self._scripts.get(request.path)
                behaviour = Answer() if not script else script.pop(0) if len(script) > 1 else script[0]
                with self._news:
                    self._received.append(request)
                    self._news.notify_all()
                if not await self._behave(behaviour, request, reader, writer):
                    return
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def _behave(
        self, behaviour: Behaviour, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Carry out a behaviour; return whether the connection stays open."""
        match behaviour:
            case Answer(status, headers, body):
                lines = [f"HTTP/1.1 {status} Answer", f"content-length: {len(body)}"]
                lines += [f"{name}: {value}" for name, value in headers.items()]
                writer.write("\r\n".join([*lines, "", ""]).encode() + body)
                await writer.drain()
                return True
            case Close():
                return False
            case Hang():
                at_once = self._hanging[request.path] = self._hanging.get(request.path, 0) + 1
                self.hanging_max[request.path] = max(at_once, self.hanging_max.get(request.path, 0))
                try:
                    await reader.read(1)  # until the client gives up
                finally:
                    self._hanging[request.path] -= 1
                return False
            case Flood():
                while True:
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
                    await writer.drain()
            case Drip(every_seconds, of):
                writer.write(b"HTTP/1.1 200 OK\r\n")
                writer.write(b"content-length: 1000000\r\n\r\n" if of == "body" else b"x-slow: ")
                while True:
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(every_seconds)


async def _read(reader: asyncio.StreamReader, connection: int) -> Request | None:
    """Return the next request of a connection, or None if the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body, time.monotonic(), connection)
