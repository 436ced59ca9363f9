"""Files that are sent while they are read: a chunk after the other, a few at a time for each tenant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.types import Message, Receive, Send

from promenade.errors import TooMany
from promenade.web.http.body import Disconnected

EXPORTS_MAX = 4
"""Exports of one tenant that one process sends at a time."""

RETRY_AFTER_SECONDS = 5
# A client that takes longer to read a chunk is treated as gone: it blocks exports of its tenant.
_SECONDS_MAX = 60.0


async def send_pieces(
    pieces: AsyncIterator[bytes], headers: list[tuple[bytes, bytes]], receive: Receive, send: Send
) -> None:
    """Send each chunk after the one before it, and stop reading when the client has gone.

    The first chunk is read before anything is sent, so that a failure to read can still be reported as an error.
    """
    first = await anext(pieces)
    gone = asyncio.ensure_future(receive())
    try:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _send_one(send, first, gone)
        async for piece in pieces:
            await _send_one(send, piece, gone)
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()


async def _send_one(send: Send, piece: bytes, gone: asyncio.Future[Message]) -> None:
    if gone.done():
        raise Disconnected
    try:
        async with asyncio.timeout(_SECONDS_MAX):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)  # let requests of tills run between two chunks
    except TimeoutError:
        raise Disconnected from None


@dataclass(slots=True)
class Places:
    """Number of exports in progress, by tenant."""

    _by_tenant: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def taken(self, tenant_id: str) -> Iterator[None]:
        """Hold a slot while an export is sent. Raises TooMany (TOO_MANY_EXPORTS)."""
        others = self._by_tenant.get(tenant_id, 0)
        if others >= EXPORTS_MAX:
            message = f"The tenant has {EXPORTS_MAX} exports running: wait until one of them has ended."
            raise TooMany("TOO_MANY_EXPORTS", message, RETRY_AFTER_SECONDS)
        self._by_tenant[tenant_id] = others + 1
        try:
            yield
        finally:
            self._by_tenant[tenant_id] -= 1
            if not self._by_tenant[tenant_id]:
                del self._by_tenant[tenant_id]
