"""The receiver of the measured deliveries: `python -m benchmarks.receiver PORT`, a separate process.

It answers every POST with 204 and counts it; `GET /` returns how many arrived, and when the first and the last did.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import uvloop

from tests.kit.processes import free_port

__all__ = ["Receiving", "receiving"]


@dataclass(frozen=True, slots=True)
class Receiving:
    """A running receiver."""

    url: str

    def came(self) -> tuple[int, float, float]:
        """Return the number of deliveries so far, and the machine's clock at the first and the last."""
        with urllib.request.urlopen(self.url) as answer:
            count, first, last = json.load(answer)
        return int(count), float(first), float(last)

    def wait(self, count: int, seconds: float) -> tuple[float, float]:
        """Wait until so many have arrived; return when the first and the last did."""
        end = time.monotonic() + seconds
        while (came := self.came())[0] < count:
            if time.monotonic() > end:
                raise SystemExit(f"{came[0]} of {count} deliveries came within {seconds:.0f} s")
            time.sleep(0.1)
        return came[1:]


@contextmanager
def receiving() -> Iterator[Receiving]:
    """Run a receiver in a separate process."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.receiver", str(port)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield Receiving(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()


class _Count:
    count = 0
    first = 0.0
    last = 0.0


class _Connection(asyncio.Protocol):
    """Handles requests with a Content-Length, one after the other."""

    def __init__(self, count: _Count) -> None:
        self._count = count
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for responses."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer complete requests."""
        self._buffer += data
        while (head := self._buffer.find(b"\r\n\r\n")) >= 0:
            mark = self._buffer.lower().find(b"content-length:", 0, head)
            length = int(self._buffer[mark + 15 : self._buffer.find(b"\r", mark)]) if mark >= 0 else 0
            if len(self._buffer) < head + 4 + length:
                return
            answer = self._answer(self._buffer.startswith(b"GET"))
            del self._buffer[: head + 4 + length]
            assert self._transport is not None
            self._transport.write(answer)

    def _answer(self, is_question: bool) -> bytes:
        count = self._count
        if is_question:
            body = json.dumps([count.count, count.first, count.last]).encode()
            return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        count.last = time.time()
        count.first = count.first or count.last
        count.count += 1
        return b"HTTP/1.1 204 No Content\r\n\r\n"


async def _serve(port: int) -> None:
    count = _Count()
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(count), "127.0.0.1", port)
    print("listening", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
