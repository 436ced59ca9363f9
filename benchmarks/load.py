"""The load generator: a separate process with keep-alive connections that records every latency exactly.

It reads one JSON object a line from standard input ({"host", "port", "clients", "seconds", "requests": [text, ...],
"limit"}), sends the given raw HTTP requests in turn on every connection, each as soon as the last was answered, and
writes one JSON object to the file "answer": count, failures, seconds, p50, p99 and max in nanoseconds, and the bodies
if requested ("keep": true). Then it prints a line.
``limit`` ends the run after so many responses; 0 means that only time ends it. With "follow", a list as long as the
requests, each request is followed by another on the same connection, in which `RESERVATION` is replaced by the
reservationId of the previous response; the two count as one. "expect" is text that the last response must contain,
otherwise it is a failure. "until" is a path: the run ends when a file of that name exists.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import uvloop

__all__ = ["RESERVATION", "get", "post"]

RESERVATION = "00000000-0000-4000-8000-000000000000"
"""As long as what takes its place, so that the Content-Length stays right."""
_MARK = b'"reservationId":"'


def get(path: str, headers: dict[str, str], host: str = "127.0.0.1") -> str:
    """Return a raw keep-alive GET; ``path`` is percent-encoded."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""])


def post(path: str, body: bytes, headers: dict[str, str], host: str = "127.0.0.1") -> str:
    """Return a raw keep-alive POST of JSON."""
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}", "", body.decode()]
    return "\r\n".join(lines)


@dataclass(slots=True)
class Run:
    """The state shared by all connections of one run."""

    requests: list[bytes]
    limit: int
    keep: bool
    follow: list[bytes] = field(default_factory=list)
    expect: bytes = b""
    sent: int = 0
    end: float = 0.0
    latencies: list[int] = field(default_factory=list)
    failures: int = 0
    first_failure: str = ""
    bodies: list[str] = field(default_factory=list)
    ended: bool = False

    def next(self) -> int | None:
        """Return the number of the next request, None when the run is over."""
        if self.ended or (self.limit and self.sent >= self.limit) or (self.end and time.perf_counter() > self.end):
            return None
        self.sent += 1
        return (self.sent - 1) % len(self.requests)


class Client(asyncio.Protocol):
    """One connection: send a request, wait for the whole response, repeat."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._buffer = bytearray()
        self._sent_at = 0
        self._number = 0
        self._follows = False
        self._transport: asyncio.Transport | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self._transport = cast("asyncio.Transport", transport)  # compatible, but not a subclass
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Collect the response; a benchmark only needs HTTP/1.1 with a Content-Length."""
        buffer = self._buffer
        buffer += data
        head = buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        mark = buffer.lower().find(b"content-length:", 0, head)
        length = int(buffer[mark + 15 : buffer.find(b"\r", mark)])
        if len(buffer) < head + 4 + length:
            return
        run = self._run
        if run.follow and not self._follows and buffer[9:10] == b"2":
            self._follow(bytes(buffer))
            return
        self._follows = False
        run.latencies.append(time.perf_counter_ns() - self._sent_at)
        if buffer[9:10] != b"2" or run.expect not in buffer:
            run.failures += 1
            run.first_failure = run.first_failure or buffer[:600].decode(errors="replace")
        elif run.keep:
            run.bodies.append(buffer[head + 4 :].decode())
        buffer.clear()
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the connection, by the server or by us."""
        if not self.done.done():
            self._run.failures += 1
            self._run.first_failure = self._run.first_failure or f"connection lost: {exc}"
            self.done.set_result(None)

    def _ask(self) -> None:
        assert self._transport is not None
        number = self._run.next()
        if number is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._number = number
        self._sent_at = time.perf_counter_ns()
        self._transport.write(self._run.requests[number])

    def _follow(self, answer: bytes) -> None:
        """Send the follow-up request of a response."""
        assert self._transport is not None
        mark = answer.find(_MARK) + len(_MARK)
        given = answer[mark : mark + len(RESERVATION)] if mark >= len(_MARK) else RESERVATION.encode()
        self._follows = True
        self._buffer.clear()
        self._transport.write(self._run.follow[self._number].replace(RESERVATION.encode(), given))


async def _run(job: dict[str, Any]) -> dict[str, Any]:
    run = Run(
        [request.encode() for request in job["requests"]],
        job.get("limit", 0),
        job.get("keep", False),
        [request.encode() for request in job.get("follow", ())],
        job.get("expect", "").encode(),
    )
    loop = asyncio.get_running_loop()
    start = time.perf_counter()
    run.end = start + job["seconds"] if job["seconds"] else 0.0
    made = [await loop.create_connection(lambda: Client(run), job["host"], job["port"]) for _ in range(job["clients"])]
    if job.get("until"):
        _watch(run, Path(job["until"]))
    await asyncio.gather(*(client.done for _, client in made))
    seconds = time.perf_counter() - start
    ordered = sorted(run.latencies) or [0]
    return {
        "count": len(run.latencies),
        "failures": run.failures,
        "first_failure": run.first_failure,
        "seconds": seconds,
        "p50": ordered[len(ordered) * 50 // 100],
        "p99": ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
        "max": ordered[-1],
        "bodies": run.bodies,
    }


def _watch(run: Run, file: Path) -> None:
    """Poll for the file a hundred times a second, until it exists or the run has ended."""
    run.ended = file.exists()
    if not run.ended:
        asyncio.get_running_loop().call_later(0.01, _watch, run, file)


def main() -> None:
    """Run the jobs on standard input, one after the other, each in a new event loop."""
    for line in sys.stdin:
        job = json.loads(line)
        Path(job["answer"]).write_text(json.dumps(uvloop.run(_run(job))))
        gc.collect()  # here, and not within the next job
        print("done", flush=True)


if __name__ == "__main__":
    main()
