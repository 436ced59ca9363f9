"""A real NATS server with JetStream from a Python package, started for one test and then deleted."""

from __future__ import annotations

import json
import socket
import sysconfig
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, StreamConfig
from nats.js.client import JetStreamContext

from tests.kit.processes import OwnServer

__all__ = ["NatsServer"]

STREAM = "PROMENADE"


class NatsServer(OwnServer):
    """One server whose streams survive a restart.

    ``settings`` are further ones of its configuration; ``user`` is user:password of who looks into it.
    """

    name = "NATS"

    def __init__(self, log: Path, settings: Mapping[str, Any] | None = None, *, user: str = "") -> None:
        super().__init__(log)
        self._user = f"{user}@" if user else ""
        config = {"listen": f"127.0.0.1:{self.port}", "jetstream": {"store_dir": str(self.home)}, **(settings or {})}
        (self.home / "server.conf").write_text(json.dumps(config))

    @property
    def server(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _command(self) -> Sequence[str]:
        return [str(Path(sysconfig.get_path("scripts")) / "nats-server"), "-c", str(self.home / "server.conf")]

    def _greets(self, connection: socket.socket) -> bool:
        return connection.recv(4).startswith(b"INFO")

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
