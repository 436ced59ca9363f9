"""The line between a store and its cloud: a real TCP proxy that tests can cut, restore, or make lose responses.

::

    with Line(cloud.port) as line:
        ...  # the store's link leads to line.url
        line.cut()
"""

from __future__ import annotations

import asyncio
import random
import threading
from types import TracebackType
from typing import Self

__all__ = ["Line"]

PORTION = 64 * 1024
TURN_SECONDS = 0.02
"""How often a line that ends drops what has come meanwhile."""


class Line:
    """Forwards connections from a local port to the cloud's port.

    ``lost`` is the fraction of responses that it drops: the cloud has handled the request, and the store gets no
    response.
    """

    def __init__(self, far_port: int, *, seed: int = 0) -> None:
        self.far_port = far_port
        self.port = 0
        self.lost = 0.0
        self.answers_lost = 0
        self._draw = random.Random(seed)
        self._is_up = True
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="line", daemon=True)
        self._listens = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Block all traffic from now on and break open connections."""
        self._is_up = False
        self._loop.call_soon_threadsafe(self._drop)

    def mend(self) -> None:
        """Let all traffic through again."""
        self._is_up = True

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._listens.wait(30), "the line does not listen"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._listens.set()
        self._loop.run_forever()
        self._is_up = False
        # Nothing is cancelled, and the server closes last: else nobody closes a connection that is just being accepted.
        while tasks := asyncio.all_tasks(self._loop):
            self._drop()
            self._loop.run_until_complete(asyncio.wait(tasks, timeout=TURN_SECONDS))
        server.close()
        self._loop.run_until_complete(asyncio.sleep(0))  # what was aborted last is closed a turn later
        self._loop.close()

    def _drop(self) -> None:
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = {writer}
        self._writers |= ends
        try:
            if self._is_up:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.far_port)
                ends.add(far_writer)
                self._writers |= ends
                await asyncio.gather(self._lead(reader, far_writer), self._lead(far_reader, writer, is_answer=True))
        except OSError:  # nobody is there, or it was cut
            pass
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    async def _lead(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool = False
    ) -> None:
        while data := await reader.read(PORTION):
            if is_answer and self._draw.random() < self.lost:
                self.answers_lost += 1
                break
            writer.write(data)
            await writer.drain()
        writer.transport.abort()
