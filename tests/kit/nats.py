"""A real NATS server with JetStream from a Python package, started for one test and then deleted."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, StreamConfig
from nats.js.client import JetStreamContext

from tests.kit.processes import dying_with_parent, free_port

__all__ = ["NatsServer"]

START_SECONDS_MAX = 200.0
STREAM = "PROMENADE"


class NatsServer:
    """One server whose streams survive a restart; ``stop`` and ``start`` may alternate, the port stays the same.

    ``settings`` are further ones of its configuration; ``user`` is user:password of who looks into it.
    """

    def __init__(self, log: Path, settings: Mapping[str, Any] | None = None, *, user: str = "") -> None:
        self.log = log
        self.port = free_port()
        self.home = Path(tempfile.mkdtemp(prefix="promenade-nats-"))
        self._user = f"{user}@" if user else ""
        self._process: subprocess.Popen[bytes] | None = None
        config = {"listen": f"127.0.0.1:{self.port}", "jetstream": {"store_dir": str(self.home)}, **(settings or {})}
        (self.home / "server.conf").write_text(json.dumps(config))

    @property
    def server(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it greets."""
        program = Path(sysconfig.get_path("scripts")) / "nats-server"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                dying_with_parent(signal.SIGTERM, str(program), "-c", str(self.home / "server.conf")),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
            )
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._greets():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise RuntimeError(f"NATS did not start; its log is {self.log}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Kill the server: clients see an outage."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(START_SECONDS_MAX)
            self._process = None

    def close(self) -> None:
        """Stop the server for good."""
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    @asynccontextmanager
    async def looked_into(self, **settings: Any) -> AsyncIterator[JetStreamContext]:
        """Connect as whoever reads the streams."""
        client = await nats.connect(f"nats://{self._user}{self.server}", **settings)
        try:
            yield client.jetstream(timeout=60)
        finally:
            await client.close()

    async def make_stream(self, *, subjects: str = "promenade.>", window: float = 120, **settings: Any) -> None:
        """Have what is published stored; ``window`` is how long, in seconds, a message is known by its ID."""
        async with self.looked_into() as stream:
            await stream.add_stream(StreamConfig(name=STREAM, subjects=[subjects], duplicate_window=window, **settings))

    async def stored(self) -> list[Msg]:
        """Return all messages of the stream in their order."""
        async with self.looked_into() as stream:
            number = (await stream.stream_info(STREAM)).state.messages
            consumer = await stream.pull_subscribe("", stream=STREAM, config=ConsumerConfig(ack_policy=AckPolicy.NONE))
            found: list[Msg] = []
            while len(found) < number:
                found += await consumer.fetch(min(500, number - len(found)), timeout=60)
            return found

    async def count(self) -> int:
        """Return how many messages the stream has."""
        async with self.looked_into() as stream:
            return (await stream.stream_info(STREAM)).state.messages

    def _greets(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(4).startswith(b"INFO")
        except OSError:
            return False
