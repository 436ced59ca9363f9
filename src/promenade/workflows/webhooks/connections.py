"""Connections to receivers, kept for a while: few per address, and a limited number of idle ones in total.

A sender takes an idle connection to the same address or opens one; the cost of finding one does not depend on the
number of the others. The caller has to limit how many are in use at once.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpcore2

IDLE_MAX = 64  # idle connections in total; the longest unused are closed first
IDLE_PER_ORIGIN_MAX = 16
IDLE_SECONDS = 2.0  # shorter than servers' keep-alive, to avoid writing to a connection that is being closed

_Origin = tuple[bytes, bytes, int | None]


class Connections:
    """A connection pool, one per process and event loop; `close` it at the end.

    ``backend`` connects and checks addresses.
    """

    def __init__(self, tls: ssl.SSLContext, backend: httpcore2.AsyncNetworkBackend) -> None:
        self._tls = tls
        self._backend = backend
        self._idle: dict[_Origin, list[_Connection]] = {}  # by address; the most recently used is last
        self._kept: dict[_Connection, float] = {}  # all idle ones with their expiry, the next to expire first
        self._reaper: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Close all idle connections; those in use are closed by their users."""
        if self._reaper is not None:
            self._reaper.cancel()
        for connection in list(self._kept):
            self._drop(connection)
        await asyncio.gather(*self._closing, return_exceptions=True)

    @asynccontextmanager
    async def exchange(self, request: httpcore2.Request) -> AsyncIterator[httpcore2.Response]:
        """Send a request and yield the answer's head; its body must be read within the block.

        Raises what httpcore2 raises.
        """
        url = request.url
        origin = (url.scheme, url.host, url.port)
        connection = self._take_idle(origin) or _Connection(url.origin, self._tls, self._backend)
        try:
            response = await connection.http.handle_async_request(request)
            try:
                yield response
            finally:
                await response.aclose()
        finally:
            if connection.http.is_available():
                self._keep(origin, connection)
            elif not connection.is_closed:
                await connection.close()

    def _take_idle(self, origin: _Origin) -> _Connection | None:
        """Return an idle connection that the receiver has not closed, if there is one."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle[-1]
            is_late = self._kept[connection] < _now()
            if not is_late and not connection.http.has_expired():
                self._remove(connection)
                return connection
            self._drop(connection)
        return None

    def _keep(self, origin: _Origin, connection: _Connection) -> None:
        connection.origin = origin
        idle = self._idle.setdefault(origin, [])
        idle.append(connection)
        self._kept[connection] = _now() + IDLE_SECONDS
        if len(idle) > IDLE_PER_ORIGIN_MAX:
            self._drop(idle[0])
        elif len(self._kept) > IDLE_MAX:
            self._drop(next(iter(self._kept)))
        if self._reaper is None:
            self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._reap)

    def _reap(self) -> None:
        """Close the expired idle connections."""
        self._reaper = None
        now = _now()
        for connection in [one for one, ends in self._kept.items() if ends <= now]:
            self._drop(connection)
        if self._kept:
            rest = next(iter(self._kept.values())) - now
            self._reaper = asyncio.get_running_loop().call_later(max(rest, 0.1), self._reap)

    def _drop(self, connection: _Connection) -> None:
        self._remove(connection)
        task = asyncio.create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _remove(self, connection: _Connection) -> None:
        del self._kept[connection]
        idle = self._idle[connection.origin]
        idle.remove(connection)
        if not idle:
            del self._idle[connection.origin]


class _Connection:
    """A connection with its underlying stream, which the library leaves open when a TLS handshake is aborted."""

    __slots__ = ("_beneath", "http", "is_closed", "origin")

    def __init__(self, origin: httpcore2.Origin, tls: ssl.SSLContext, backend: httpcore2.AsyncNetworkBackend) -> None:
        self._beneath = _StreamKeeper(backend)
        self.http = httpcore2.AsyncHTTPConnection(origin, ssl_context=tls, network_backend=self._beneath)
        self.origin: _Origin = (origin.scheme, origin.host, origin.port)
        self.is_closed = False

    async def close(self) -> None:
        """Close it; idempotent."""
        if not self.is_closed:
            self.is_closed = True
            await self.http.aclose()
            if self._beneath.stream is not None:
                await self._beneath.stream.aclose()


class _StreamKeeper(httpcore2.AsyncNetworkBackend):
    """A backend that makes one connection by another backend and keeps its stream."""

    def __init__(self, backend: httpcore2.AsyncNetworkBackend) -> None:
        self._backend = backend
        self.stream: httpcore2.AsyncNetworkStream | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the name is the library's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the host."""
        self.stream = await self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return _BufferedWrites(self.stream)


class _BufferedWrites(httpcore2.AsyncNetworkStream):
    """A stream that buffers writes until the first read, so that head and body are sent in one go."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._written: list[bytes] = []

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Buffer the data until something is read."""
        self._written.append(buffer)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Read. Raises ReadError. A receiver that does not read the whole request may have answered it nevertheless."""
        if self._written:
            request = b"".join(self._written)
            self._written.clear()
            with suppress(httpcore2.WriteError):
                await self._stream.write(request, timeout)
        return await self._stream.read(max_bytes, timeout)

    async def aclose(self) -> None:
        """Close it."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        """Start TLS with the same buffering."""
        return _BufferedWrites(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Return extra information about the connection."""
        return self._stream.get_extra_info(info)


def _now() -> float:
    return asyncio.get_running_loop().time()
