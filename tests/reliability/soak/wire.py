"""A minimal HTTP client like a till's: kept connections, every call timed, broken and unsent requests distinguished.

A client library would use more processor time than the service; the load and the service share the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BrokenError", "NotSentError", "Reply", "Wire", "pause"]

_HEAD_MAX = 1 << 16
_BODY_MAX = 1 << 26
PATIENCE_SECONDS = 60.0


class NotSentError(Exception):
    """Nobody listened: the request was not sent."""


class BrokenError(Exception):
    """The connection broke before the answer: the outcome is unknown."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the decoded body; an empty one is an empty object."""
        return json.loads(self.body) if self.body else {}


@dataclass(slots=True)
class Wire:
    """One connection to one local port, opened on demand; one request at a time."""

    port: int
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def request(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Reply:
        """Send a request; raise NotSentError or BrokenError."""
        async with self._turn:
            await self._connect()
            try:
                return await asyncio.wait_for(self._exchange(method, path, headers, body), PATIENCE_SECONDS)
            except (OSError, EOFError, ValueError, TimeoutError) as error:
                self.close()
                raise BrokenError(repr(error)) from None

    def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self._writer.transport.abort()
        self._reader = self._writer = None

    async def _connect(self) -> None:
        if self._reader is not None and self._reader.at_eof():  # the service has closed an idle connection
            self.close()
        if self._writer is not None:
            return
        try:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port, limit=_HEAD_MAX)
        except OSError as error:
            raise NotSentError(str(error)) from None

    async def _exchange(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Reply:
        assert self._reader is not None
        assert self._writer is not None
        lines = [f"{method} {path} HTTP/1.1", f"host: 127.0.0.1:{self.port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body is not None:
            lines.append(f"content-length: {len(body)}")
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + (body or b""))
        await self._writer.drain()
        head = await self._reader.readuntil(b"\r\n\r\n")
        status, given = _head(head)
        reply = Reply(status, given, await self._body(status, given))
        if given.get("connection", "").lower() == "close":
            self.close()
        return reply

    async def _body(self, status: int, given: dict[str, str]) -> bytes:
        assert self._reader is not None
        if given.get("transfer-encoding", "").lower() == "chunked":
            chunks = []
            while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
                chunks.append((await self._reader.readexactly(size + 2))[:-2])
            await self._reader.readuntil(b"\r\n")
            return b"".join(chunks)
        length = 0 if status in (204, 304) else int(given.get("content-length", "0"))
        assert length < _BODY_MAX
        return await self._reader.readexactly(length)


def _head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    fields = (line.partition(":") for line in lines)
    return int(first.split(" ", 2)[1]), {name.strip().lower(): value.strip() for name, _, value in fields}


async def pause(seconds: float) -> None:
    """Wait before an unanswered request is repeated; no event announces that the service is back."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), seconds)
