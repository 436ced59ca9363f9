"""The service as its users run it: the installed command, in its own process on its own port."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import httpx2

from tests.kit.processes import dying_with_parent, free_port
from tests.kit.profile import made

__all__ = ["COMMAND", "Running", "Service", "promenade"]

COMMAND = str(Path(sys.executable).with_name("promenade"))
# reached only if it hangs: seeding the demo takes half a minute of processor time on a shared machine
START_SECONDS_MAX = 200.0
STOP_SECONDS_MAX = 20.0


def promenade(*arguments: str, env: Mapping[str, str] | None = None, stdin: str = "") -> str:
    """Run one `promenade` command to its end and return its output; a failure raises an error with the output."""
    done = subprocess.run(
        [COMMAND, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=400, env=_env(env)
    )
    if done.returncode != 0:
        raise AssertionError(f"promenade {' '.join(arguments)} exited {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Running(Protocol):
    """A service that clients call, in its own process or in the test process."""

    @property
    def url(self) -> str: ...

    def client(self, **how: Any) -> httpx2.Client:
        """Return a client that calls it from this machine."""


class Service:
    """A running `promenade serve` (or another serving command) that can be started, called, killed and restarted.

    ``start`` returns once /health answers. Restarts keep the port and the options.
    """

    def __init__(
        self,
        log: Path,
        *options: str,
        verb: str = "serve",
        env: Mapping[str, str] | None = None,
        ready_path: str | None = "/health",
        port: int | None = None,
        command: Sequence[str] = (COMMAND,),
    ) -> None:
        self.log = log
        self._command = command
        self.port = port or free_port()
        self.options: Sequence[str] = options
        self.verb = verb
        self._env = env
        self._ready_path = ready_path
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the service is not running"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Service:
        """Start the process and wait until it is ready; raise with the end of its log when it is not."""
        made("services")
        listen = ("--host", "127.0.0.1", "--port", str(self.port)) if self._ready_path else ()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                dying_with_parent(signal.SIGTERM, *self._command, self.verb, *listen, *self.options),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that `kill` reaches its children too
                env=_env(self._env),
            )
        deadline = time.monotonic() + START_SECONDS_MAX
        while self._ready_path is not None and not self._ready():
            if not self.running or time.monotonic() > deadline:
                code = self._process.poll()
                self.kill()
                raise AssertionError(f"promenade {self.verb} is not ready (exit code {code}):\n{self.output()[-4000:]}")
            time.sleep(0.02)
        return self

    def stop(self) -> int:
        """Stop the process (SIGTERM) and return its exit code; fail if it does not end."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"promenade {self.verb} did not end when asked:\n{self.output()[-4000:]}") from None

    def kill(self) -> None:
        """Send SIGKILL to the process and its children, so that nothing can clean up."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(STOP_SECONDS_MAX)

    def client(self, **how: Any) -> httpx2.Client:
        """Return a client that calls it from this machine."""
        return httpx2.Client(base_url=self.url, **{"timeout": 30, **how})

    def restart(self) -> Service:
        """Start again after `stop` or `kill`, with the same port and database."""
        assert not self.running
        return self.start()

    def output(self) -> str:
        """Return everything it has printed so far."""
        return self.log.read_text(errors="replace")

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
        """GET ``path``; return status and decoded JSON (text if it is not JSON). For more, use a real client."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers=dict(headers or {}))
            response = connection.getresponse()
            body = response.read().decode()
        finally:
            connection.close()
        try:
            return response.status, json.loads(body)
        except ValueError:
            return response.status, body

    def _ready(self) -> bool:
        assert self._ready_path is not None
        try:
            status, _ = self.get(self._ready_path)
        except (OSError, http.client.HTTPException):
            return False
        return status == 200


def _env(extra: Mapping[str, str] | None) -> dict[str, str]:
    """Return this environment without settings that a developer may have exported for another service."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PROMENADE_")}
    return inherited | dict(extra or {})
