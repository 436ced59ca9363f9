"""How much a receiver may say: a connection that answers at length is closed before it costs anybody's time.

An answer may have any number of interim ones (100, 103) before it, each of a few bytes that take far longer to read
than to send. With a limit in time alone a receiver could keep the processor from all others for as long (X1).
"""

from __future__ import annotations

import ssl
from typing import Any

from httpcore2 import AsyncNetworkStream, ReadError

__all__ = ["RECEIVED_MAX", "BoundedStream"]

RECEIVED_MAX = 64 * 1024  # bytes of one answer: servers refuse headers of this size, and bodies are not kept
_READ_MAX = 4096  # at a time: then others have their turn


class BoundedStream(AsyncNetworkStream):
    """A connection that gives up, with ReadError, when more than `RECEIVED_MAX` bytes come in after what was sent."""

    def __init__(self, stream: AsyncNetworkStream) -> None:
        self._stream = stream
        self._received = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Raises ReadError."""
        if self._received >= RECEIVED_MAX:
            raise ReadError("the answer is too long")
        data = await self._stream.read(min(max_bytes, _READ_MAX), timeout)
        self._received += len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """What is sent is the beginning of another answer."""
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
        """The same bound, for what comes out of TLS."""
        return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows of itself."""
        return self._stream.get_extra_info(info)
