"""Large request bodies: written to an unnamed file while they arrive, and read from there without a copy.

Up to 1 MiB stays in memory. A larger body uses disk and one chunk of memory, however many arrive at once; the event
loop never waits for the disk.
"""

from __future__ import annotations

import asyncio
import mmap
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, Self

from starlette.types import Receive, Scope

from promenade.errors import Invalid, TooLarge, Unavailable
from promenade.web.http.body import Disconnected, header

SPOOLED_BYTES_MAX = 64 * 2**20
MEMORY_BYTES_MAX = 2**20
# A little less than the connection's timeout for a complete request, so that the sender gets an error response.
_SECONDS_MAX = 55.0
# A body somewhat over the limit is read to its end, so that the client gets the answer instead of a connection reset.
_DRAINED_BYTES_MAX = 2 * SPOOLED_BYTES_MAX

Room = Callable[[], Awaitable[None]]
"""Asked once, when a body turns out to be a large one; raises what speaks against it."""


class SpooledBody:
    """The body of one request. Inside the ``with`` block ``text`` is all of it; afterwards it is deleted."""

    def __init__(self) -> None:
        self.text = memoryview(b"")
        self._file: IO[bytes] | None = None
        self._map: mmap.mmap | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(BufferError):  # a traceback may still refer to a chunk, which is then freed with it
            self.text.release()
            if self._map is not None:
                self._map.close()
        if self._file is not None:
            self._file.close()

    async def read(self, scope: Scope, receive: Receive, room: Room) -> None:
        """Read the whole body, at most 64 MiB.

        Raises TooLarge (BODY_TOO_LARGE), Invalid (BODY_TOO_SLOW) when it takes more than 55 s to arrive, Unavailable
        (NO_DISK_SPACE), `Disconnected`, and whatever ``room`` raises.
        """
        declared = header(scope, b"content-length")
        if declared is not None and int(declared) > _DRAINED_BYTES_MAX:
            raise _too_large()
        try:
            async with asyncio.timeout(_SECONDS_MAX):
                if declared is not None and MEMORY_BYTES_MAX < int(declared) <= SPOOLED_BYTES_MAX:
                    await room()
                    self._file = await _new_file()
                await self._collect(receive, room)
        except TimeoutError:
            raise Invalid("BODY_TOO_SLOW", f"The body did not arrive within {_SECONDS_MAX:.0f} s.") from None
        except OSError as error:
            raise Unavailable(
                "NO_DISK_SPACE", "The server has no space for the body at the moment; try again later."
            ) from error

    async def _collect(self, receive: Receive, room: Room) -> None:
        waiting = bytearray()
        total = 0
        more = True
        while more and total <= _DRAINED_BYTES_MAX:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            part: bytes = message.get("body", b"")
            more = message.get("more_body", False)
            total += len(part)
            if total > SPOOLED_BYTES_MAX:
                waiting.clear()
                continue
            waiting += part
            if len(waiting) > MEMORY_BYTES_MAX:
                if self._file is None:
                    await room()
                    self._file = await _new_file()
                await asyncio.to_thread(self._file.write, waiting)
                waiting = bytearray()
        if total > SPOOLED_BYTES_MAX:
            raise _too_large()
        if self._file is None:
            self.text = memoryview(bytes(waiting))
        else:
            self._map = await asyncio.to_thread(_mapped, self._file, waiting)
            self.text = memoryview(self._map)

    def forget(self, until: int) -> None:
        """Release the memory of everything before ``until``; it can still be read from the file."""
        if self._map is not None:
            pages = until - until % mmap.PAGESIZE
            if pages:
                self._map.madvise(mmap.MADV_DONTNEED, 0, pages)


async def _new_file() -> IO[bytes]:
    """Make an unnamed file. If the time is up meanwhile, the thread goes on, and what it makes is closed."""
    making = asyncio.ensure_future(asyncio.to_thread(tempfile.TemporaryFile))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(_close)
        raise


def _close(made: asyncio.Future[Any]) -> None:
    if not made.cancelled() and made.exception() is None:
        made.result().close()


def _mapped(file: IO[bytes], rest: bytearray) -> mmap.mmap:
    file.write(rest)
    file.flush()
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _too_large() -> TooLarge:
    return TooLarge("BODY_TOO_LARGE", f"The body exceeds {SPOOLED_BYTES_MAX // 2**20} MiB.")
