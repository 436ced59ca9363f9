"""The listener for clients that show a certificate: beside the ordinary one, in the same process, with TLS of its own.

Each connection shakes hands by the TLS context of its moment, so that files replaced on disk count from the next one
on. Handshakes are bounded in number, in time and in how many begin in a second: what strangers do here must cost
neither the tills on the other listener, nor the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from email.utils import formatdate
from typing import Any

import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from promenade import metrics
from promenade.errors import Unavailable
from promenade.web.peer import PeerConnection
from promenade.web.tls_files import TlsMaterial

__all__ = ["bind", "listening"]

HANDSHAKE_SECONDS_MAX = 10.0
CONNECTIONS_MAX = 256  # in a process, with those that shake hands
CONNECTIONS_PER_ADDRESS_MAX = 64
_HANDSHAKES_PER_SECOND = 100
_BURST_SECONDS = 0.5
_SHUTDOWN_SECONDS_MAX = 5.0
# The ordinary listener has had its twenty seconds before this one ends; together they stay below thirty.
_GRACE_SECONDS = 8.0
_IDLE_SECONDS_MAX = 60
_WATCH_SECONDS = 1.0
_TOLD_SECONDS = 60.0
_HELD_BYTES_MAX = 1024 * 1024
_BACKLOG = 256
_log = structlog.get_logger("promenade.web")


def bind(host: str, port: int) -> socket.socket:
    """The socket to listen on, which the processes of a service share. Raises Unavailable (MTLS_ADDRESS)."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # there it would let two programs have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.set_inheritable(True)
    except OSError as error:
        listener.close()
        why = error.strerror or str(error)
        raise Unavailable(
            "MTLS_ADDRESS", f"--mtls-host and --mtls-port: {host}:{port} cannot be had: {why}."
        ) from error
    return listener


@contextlib.asynccontextmanager
async def listening(app: ASGIApp, listener: socket.socket, material: TlsMaterial) -> AsyncIterator[None]:
    """Serve ``app`` on the socket; at the end requests in flight are finished first."""
    served = _Listener(app, listener, material)
    await served.start()
    try:
        yield
    finally:
        await served.close()


class _Gate(asyncio.Protocol):
    """A connection until its handshake is done; holds what comes right behind that until requests can be read."""

    def __init__(self, listener: _Listener) -> None:
        self._listener = listener
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._connection: PeerConnection | None = None
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The listener's sockets make no other transports.
        self._listener.greet(transport, self)  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        self._held_bytes += len(data)
        if self._connection is not None:
            self._connection.data_received(data)
        elif self._held_bytes <= _HELD_BYTES_MAX:
            self._held.append(data)
        else:
            self.is_lost = True

    def eof_received(self) -> None:
        self.is_lost = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        if self._connection is not None:  # this was on its way when the connection was handed over
            self._connection.connection_lost(exc)

    def hand_over(self, transport: asyncio.Transport, connection: PeerConnection) -> None:
        """Let requests be read, those that are here already first."""
        self._connection = connection
        transport.set_protocol(connection)
        connection.connection_made(transport)
        for data in self._held:
            connection.data_received(data)
        self._held.clear()


class _Pace:
    """Lets so many handshakes begin in a second: each costs a millisecond that tills wait for."""

    def __init__(self) -> None:
        self._next = 0.0

    async def turn(self) -> None:
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now - _BURST_SECONDS) + 1 / _HANDSHAKES_PER_SECOND
        if self._next > now:
            await asyncio.sleep(self._next - now)


class _Failures:
    """Handshakes that came to nothing: counted, and now and then summed up in the log."""

    def __init__(self) -> None:
        self._count = 0
        self._last: tuple[str, str] = ("", "")
        self._told_at = float("-inf")

    def note(self, address: str, error: BaseException | None) -> None:
        why = getattr(error, "verify_message", None) or getattr(error, "reason", None) or type(error).__name__
        metrics.drfout_certificate_refused.labels("handshake").inc()
        self._count += 1
        self._last = (address, str(why))

    def tell(self, now: float) -> None:
        if self._count and now - self._told_at >= _TOLD_SECONDS:
            address, why = self._last
            _log.info("TLS handshakes failed", count=self._count, last_from=address, last_reason=why)
            self._count, self._told_at = 0, now


class _Listener:
    """The socket, its connections, and the watch over the files of TLS."""

    def __init__(self, app: ASGIApp, listener: socket.socket, material: TlsMaterial) -> None:
        self._config = uvicorn.Config(
            app,
            http=PeerConnection,
            ws="none",
            lifespan="off",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nothing stands between a client and its certificate
            log_config=None,
            timeout_keep_alive=_IDLE_SECONDS_MAX,
        )
        self._socket = listener
        self._material = material
        self._state = ServerState()
        self._pace = _Pace()
        self._failures = _Failures()
        self._greeted: dict[asyncio.Transport, tuple[str, asyncio.Task[None]]] = {}
        self._server: asyncio.Server | None = None
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._config.load()
        self._date()
        await asyncio.to_thread(self._material.refresh)
        await self._serve()
        self._watch = asyncio.create_task(self._watching(), name="files of TLS")

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        if self._server is not None:
            self._server.close()
        else:
            self._socket.close()
        if self._watch is not None:
            self._watch.cancel()
        tasks = [task for _, task in self._greeted.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._connections():
            connection.shutdown()
        latest = loop.time() + _GRACE_SECONDS
        # The server below tells nobody when it has come to rest.
        while (self._state.connections or self._state.tasks) and loop.time() < latest:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        for request in list(self._state.tasks):
            request.cancel()
        for connection in self._connections():
            connection.transport.abort()

    def greet(self, transport: asyncio.Transport, gate: _Gate) -> None:
        """Begin the handshake of a connection, unless there are too many."""
        address = _address(transport)
        from_there = sum(one == address for one, _ in self._greeted.values())
        from_there += sum((one.client or ("",))[0] == address for one in self._connections())
        total = len(self._greeted) + len(self._state.connections)
        if total >= CONNECTIONS_MAX or from_there >= CONNECTIONS_PER_ADDRESS_MAX:
            self._failures.note(address, ConnectionRefusedError())
            transport.abort()
            return
        transport.pause_reading()  # or what the client says first would be lost before it can be read
        task = asyncio.create_task(self._shake_hands(transport, gate, address), name="TLS handshake")
        self._greeted[transport] = (address, task)
        task.add_done_callback(lambda _: self._greeted.pop(transport, None))

    async def _shake_hands(self, transport: asyncio.Transport, gate: _Gate, address: str) -> None:
        loop = asyncio.get_running_loop()
        tls: asyncio.Transport | None = None
        error: Exception | None = None
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS_MAX):
                await self._pace.turn()
                context = self._material.context
                if context is None or transport.is_closing():
                    raise ConnectionAbortedError
                tls = await loop.start_tls(
                    transport,
                    gate,
                    context,
                    server_side=True,
                    ssl_handshake_timeout=HANDSHAKE_SECONDS_MAX,
                    ssl_shutdown_timeout=_SHUTDOWN_SECONDS_MAX,
                )
        except Exception as failed:  # whatever a stranger makes of a handshake, it has failed, and that is all
            error = failed
        # A connection that ends in the middle of its handshake may come out as if it had succeeded.
        if tls is None or tls.is_closing() or tls.get_extra_info("ssl_object") is None or gate.is_lost:
            self._failures.note(address, error or ConnectionResetError())
            transport.abort()
            return
        gate.hand_over(tls, self._connection(loop))

    def _connection(self, loop: asyncio.AbstractEventLoop) -> PeerConnection:
        return PeerConnection(config=self._config, server_state=self._state, app_state={}, _loop=loop)

    def _connections(self) -> list[Any]:
        return list(self._state.connections)

    async def _serve(self) -> None:
        """Listen, as soon as there is something to shake hands with."""
        if self._server is None and self._material.context is not None:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(lambda: _Gate(self), sock=self._socket, backlog=_BACKLOG)

    async def _watching(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            self._date()
            self._failures.tell(loop.time())
            try:
                await asyncio.to_thread(self._material.refresh)
                await self._serve()
            except Exception:  # the next second may be better, and connections are served by what there was
                _log.exception("the files of TLS could not be looked at")

    def _date(self) -> None:
        self._state.default_headers = [(b"date", formatdate(usegmt=True).encode("ascii"))]


def _address(transport: asyncio.Transport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple | list) and peer else ""
