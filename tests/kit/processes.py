"""Child processes that never outlive the test session, and ports for them."""

from __future__ import annotations

import fcntl
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


def until(holds: Callable[[], bool]) -> None:
    """Ask again until it holds, as what another process does takes a time; the test's own timeout is the bound."""
    while not holds():
        pass


# Below the range from which the kernel assigns ephemeral ports: it could assign one before the intended server starts,
# or between two of its starts.
_PORTS = range(10_000, 32_768)


def free_port() -> int:
    """Return a TCP port of the loopback interface that nobody uses and no other test gets while this process lives.

    It may be used much later and repeatedly.
    """
    while True:
        port = random.SystemRandom().choice(_PORTS)
        if _reservations.take(port) and _is_free(port):
            return port


class _Reservations:
    """Ports taken by test processes, each a byte of one file that is locked until its process ends."""

    def __init__(self) -> None:
        self._mine: set[int] = set()
        self._lock = threading.Lock()
        self._file: int | None = None  # stays open: closing it would release all locks

    def take(self, port: int) -> bool:
        with self._lock:
            if port in self._mine:
                return False
            if self._file is None:
                path = Path(tempfile.gettempdir(), f"promenade-test-ports-{os.getuid()}")
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            except OSError:
                return False
            self._mine.add(port)
            return True


_reservations = _Reservations()


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def dying_with_parent(how: signal.Signals, *command: str) -> list[str]:
    """Return the command so changed that the kernel signals it when this process ends, even by kill -9 (Linux).

    A program does it, not a function between fork and exec: with other threads around, such a function may wait for a
    lock for ever, and so would the test.
    """
    if not sys.platform.startswith("linux"):
        return [*command]
    program = shutil.which("setpriv")
    if program is not None:
        return [program, "--pdeathsig", how.name.removeprefix("SIG"), "--", *command]
    return [sys.executable, "-I", "-S", "-c", _PREPARE, str(int(how)), *command]


_PREPARE = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, int(sys.argv[1])); os.execvp(sys.argv[2], sys.argv[2:])"


@dataclass(frozen=True, slots=True)
class Account:
    """An unprivileged system account."""

    uid: int
    gid: int


def unprivileged_account() -> Account | None:
    """Return the account for servers that refuse root: `nobody` if the tests run as root, else None (ourselves)."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_uid, entry.pw_gid)


START_SECONDS_MAX = 200.0


class OwnServer(ABC):
    """A real server in a folder of its own, deleted with it.

    ``stop`` and ``start`` may alternate (an outage in a test): the port stays the same.
    """

    name: str

    def __init__(self, log: Path) -> None:
        self.log = log
        self.port = free_port()
        self.home = Path(tempfile.mkdtemp(prefix=f"promenade-{self.name.lower()}-"))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                dying_with_parent(signal.SIGTERM, *self._command()),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
            )
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise RuntimeError(f"{self.name} did not start; its log is {self.log}")
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

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """Return the program and its options."""

    @abstractmethod
    def _greets(self, connection: socket.socket) -> bool:
        """Return whether the server is ready."""

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return self._greets(connection)
        except OSError:
            return False
