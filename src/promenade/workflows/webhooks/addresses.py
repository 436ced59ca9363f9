"""The addresses to which deliveries may go: public ones, and those that the operator allows (reliability W4).

The check is part of connecting: a name is resolved once, its addresses are checked, and the connection goes to the very
address that was checked, so that DNS rebinding has no effect.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from httpcore2 import AnyIOBackend, AsyncNetworkStream, ConnectError, ConnectTimeout, ReadError

from promenade.workflows.authoring.allowed import Address, Allowed, is_public

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, in the order to try them; raises OSError for a name that leads nowhere."""

ADDRESSES_MAX = 4  # tried per host
CONNECT_SECONDS = 5.0  # per address, except for the last one
LOOK_UPS_MAX = 64  # concurrent look-ups that are less than a second old
SLOW_SECONDS = 1.0


class NotPublic(Exception):
    """The host has no address that deliveries may go to."""


class Unresolved(Exception):
    """The host's name cannot be resolved."""


class GuardedBackend(AnyIOBackend):
    """A network backend that connects only to public addresses and to those ``allowed``; one per process."""

    def __init__(self, allowed: Allowed, resolve: Resolve | None = None) -> None:
        self._allowed = allowed
        self._resolve = resolve or look_up
        self._places = asyncio.Semaphore(LOOK_UPS_MAX)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the name is the library's
        local_address: str | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> AsyncNetworkStream:
        """Connect to one of the host's allowed addresses. Raises NotPublic, Unresolved, ConnectError."""
        addresses = [one for one in await self._addresses(host, port) if self._is_open(host, port, one)]
        if not addresses:
            raise NotPublic(host)
        *others, last = addresses[:ADDRESSES_MAX]
        for address in others:
            with suppress(ConnectError, ConnectTimeout):
                return BoundedStream(await super().connect_tcp(str(address), port, CONNECT_SECONDS))
        return BoundedStream(await super().connect_tcp(str(last), port, timeout))

    async def connect_unix_socket(self, *_: object, **__: object) -> AsyncNetworkStream:
        """Refuse the connection: Unix sockets are not allowed."""
        raise NotPublic("a socket of this machine")

    def _is_open(self, host: str, port: int, address: Address) -> bool:
        return is_public(address) or self._allowed.opens(host, port, address)

    async def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        try:
            found = await self._look_up(host, port)
            addresses = [ip_address(one) for one in dict.fromkeys(found)]
        except (OSError, ValueError) as error:  # ValueError: an invalid name, such as one with a label that is too long
            raise Unresolved(host) from error
        if not addresses:
            raise Unresolved(host)
        return addresses

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        """Resolve a host's addresses. A slow look-up gives up its slot, so that hanging names do not block the
        others.
        """
        await self._places.acquire()
        has_left = False

        def leave() -> None:
            nonlocal has_left
            if not has_left:
                has_left = True
                self._places.release()

        timer = asyncio.get_running_loop().call_later(SLOW_SECONDS, leave)
        try:
            return await self._resolve(host, port)
        finally:
            timer.cancel()
            leave()


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses that the system resolver returns for a host, including numbers in unusual notations."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str], error: Exception | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(found)
        else:
            answer.set_exception(error)

    def ask() -> None:
        found: list[str] = []
        fault: Exception | None = None
        try:
            found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        except (OSError, ValueError) as error:
            fault = error
        with suppress(RuntimeError):  # the loop is closed: nobody is waiting any more
            loop.call_soon_threadsafe(settle, found, fault)

    # A daemon thread per look-up, which does not delay the process's exit. In a thread pool, one name server that hangs
    # would occupy all threads and block everybody's look-ups.
    threading.Thread(target=ask, name="look-up", daemon=True).start()
    return await answer


# --- how much a receiver may say --------------------------------------------------------------------------------------

# A connection that answers at length is closed before it costs anybody's time. An answer may have any number of
# interim ones (100, 103) before it, each of a few bytes that take far longer to read than to send. With a limit in time
# alone a receiver could keep the processor from all others for as long (X1).

RECEIVED_MAX = 64 * 1024  # bytes of one answer: servers refuse headers of this size, and bodies are discarded
_READ_MAX = 4096  # bytes per read, so that other tasks get their turn


class BoundedStream(AsyncNetworkStream):
    """A stream that fails with ReadError when more than `RECEIVED_MAX` bytes are received after the last write."""

    def __init__(self, stream: AsyncNetworkStream) -> None:
        self._stream = stream
        self._received = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Read up to ``max_bytes``. Raises ReadError."""
        if self._received >= RECEIVED_MAX:
            raise ReadError("the answer is too long")
        data = await self._stream.read(min(max_bytes, _READ_MAX), timeout)
        self._received += len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Write; the count of received bytes restarts."""
        self._received = 0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        """Start TLS; the same limit applies to the decrypted bytes."""
        return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Return extra information about the connection."""
        return self._stream.get_extra_info(info)
