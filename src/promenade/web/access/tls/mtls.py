"""The listener for clients with certificates: next to the ordinary one, in the same process, with its own TLS.

Each connection uses the TLS context that is current at its handshake, so that files replaced on disk apply from the
next connection on. Handshakes are limited in number, duration and rate: what strangers do here must affect neither the
tills on the other listener nor the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator

import uvicorn
from starlette.types import ASGIApp

from promenade import metrics
from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.web.access.tls.files import TlsMaterial
from promenade.web.access.tls.peer import PeerConnection
from promenade.web.http.connection import Connections

HANDSHAKE_SECONDS_MAX = 10.0
CONNECTIONS_MAX = 256  # per process, including those in the handshake
CONNECTIONS_PER_ADDRESS_MAX = 64
_HANDSHAKES_PER_SECOND = 100
_BURST_SECONDS = 0.5
_SHUTDOWN_SECONDS_MAX = 5.0
# The ordinary listener takes up to twenty seconds before this one ends; together they stay below thirty.
_GRACE_SECONDS = 8.0
_IDLE_SECONDS_MAX = 60
_WATCH_SECONDS = 1.0
_TOLD_SECONDS = 60.0
_BACKLOG = 256
_log = Logger("promenade.web")


def bind(host: str, port: int) -> socket.socket:
    """Return the socket to listen on, shared by the processes of a service. Raises Unavailable (MTLS_ADDRESS)."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # on Windows it would let two programs use the same port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.set_inheritable(True)
    except OSError as error:
        listener.close()
        why = error.strerror or str(error)
        raise Unavailable(
            "MTLS_ADDRESS", f"--mtls-host and --mtls-port: cannot listen on {host}:{port}: {why}."
        ) from error
    return listener


@contextlib.asynccontextmanager
async def listening(app: ASGIApp, listener: socket.socket, material: TlsMaterial) -> AsyncIterator[None]:
    """Serve ``app`` on the socket; at the end requests in flight are completed first."""
    served = _Listener(app, listener, material)
    await served.start()
    try:
        yield
    finally:
        await served.close()


class _Pace:
    """A limit on the handshakes started per second: each costs a millisecond for which tills wait."""

    def __init__(self) -> None:
        self._next = 0.0

    async def turn(self) -> None:
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now - _BURST_SECONDS) + 1 / _HANDSHAKES_PER_SECOND
        if self._next > now:
            await asyncio.sleep(self._next - now)


class _Failures:
    """Failed handshakes: counted, and summarized in the log from time to time."""

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
    """The socket, its connections, and the watcher of the TLS files."""

    def __init__(self, app: ASGIApp, listener: socket.socket, material: TlsMaterial) -> None:
        self._config = uvicorn.Config(
            app,
            http=PeerConnection,
            ws="none",
            lifespan="off",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # there is no proxy between a client and this listener
            log_config=None,
            timeout_keep_alive=_IDLE_SECONDS_MAX,
        )
        self._socket = listener
        self._material = material
        self._connections = Connections(self._config, PeerConnection)
        self._pace = _Pace()
        self._failures = _Failures()
        self._greeted: dict[asyncio.Task[None], str] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._config.load()
        self._connections.date()
        await asyncio.to_thread(self._material.refresh)
        self._socket.setblocking(False)
        self._socket.listen(_BACKLOG)
        self._tasks = [
            asyncio.create_task(self._watching(), name="files of TLS"),
            asyncio.create_task(self._accepting(), name="clients with certificates"),
        ]

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        ending = [*self._tasks, *self._greeted]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        self._socket.close()
        self._connections.finish()
        latest = loop.time() + _GRACE_SECONDS
        # uvicorn does not notify anybody when its connections are finished.
        while not self._connections.is_idle and loop.time() < latest:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        self._connections.abort()

    async def _accepting(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, address = await loop.sock_accept(self._socket)
            except OSError as error:  # such as too many open files, which may be temporary
                _log.error("clients with certificates cannot be accepted", error=str(error))
                await asyncio.sleep(_WATCH_SECONDS)
                continue
            self._greet(client, str(address[0]))

    def _greet(self, client: socket.socket, address: str) -> None:
        """Start the handshake of a connection, unless there are too many."""
        from_there = sum(one == address for one in self._greeted.values())
        from_there += self._connections.addresses.count(address)
        total = len(self._greeted) + len(self._connections)
        if total >= CONNECTIONS_MAX or from_there >= CONNECTIONS_PER_ADDRESS_MAX:
            self._failures.note(address, ConnectionRefusedError())
            client.close()
            return
        task = asyncio.create_task(self._shake_hands(client, address), name="TLS handshake")
        self._greeted[task] = address
        task.add_done_callback(lambda done: self._greeted.pop(done, None))

    async def _shake_hands(self, client: socket.socket, address: str) -> None:
        loop = asyncio.get_running_loop()
        taken = False
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS_MAX):
                await self._pace.turn()
                context = self._material.context
                if context is None:  # the files could not be read yet
                    raise ConnectionAbortedError
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                taken = True  # from here on the event loop closes it
                await loop.connect_accepted_socket(
                    lambda: self._connections.make(loop),
                    client,
                    ssl=context,
                    ssl_handshake_timeout=HANDSHAKE_SECONDS_MAX,
                    ssl_shutdown_timeout=_SHUTDOWN_SECONDS_MAX,
                )
        except Exception as failed:  # any error is just a failed handshake
            self._failures.note(address, failed)
        finally:
            if not taken:
                client.close()

    async def _watching(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            self._connections.date()
            self._failures.tell(loop.time())
            try:
                await asyncio.to_thread(self._material.refresh)
            except Exception:  # retried in a second; until then the previous context is used
                _log.exception("the files of TLS could not be looked at")
