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
        self._greeted: dict[asyncio.Task[None], str] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._config.load()
        self._date()
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

    async def _accepting(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, address = await loop.sock_accept(self._socket)
            except OSError as error:  # such as too many files being open, which others may close
                _log.error("clients with certificates cannot be accepted", error=str(error))
                await asyncio.sleep(_WATCH_SECONDS)
                continue
            self._greet(client, str(address[0]))

    def _greet(self, client: socket.socket, address: str) -> None:
        """Begin the handshake of a connection, unless there are too many."""
        from_there = sum(one == address for one in self._greeted.values())
        from_there += sum((one.client or ("",))[0] == address for one in self._connections())
        total = len(self._greeted) + len(self._state.connections)
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
                if context is None:  # none of the files could be read yet
                    raise ConnectionAbortedError
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                taken = True  # from here on the loop closes it
                await loop.connect_accepted_socket(
                    lambda: PeerConnection(config=self._config, server_state=self._state, app_state={}, _loop=loop),
                    client,
                    ssl=context,
                    ssl_handshake_timeout=HANDSHAKE_SECONDS_MAX,
                    ssl_shutdown_timeout=_SHUTDOWN_SECONDS_MAX,
                )
        except Exception as failed:  # whatever a stranger makes of a handshake, it has failed, and that is all
            self._failures.note(address, failed)
        finally:
            if not taken:
                client.close()

    def _connections(self) -> list[Any]:
        return list(self._state.connections)

    async def _watching(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            self._date()
            self._failures.tell(loop.time())
            try:
                await asyncio.to_thread(self._material.refresh)
            except Exception:  # the next second may be better, and connections are served by what there was
                _log.exception("the files of TLS could not be looked at")

    def _date(self) -> None:
        self._state.default_headers = [(b"date", formatdate(usegmt=True).encode("ascii"))]
