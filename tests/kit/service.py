"""The service as its users run it: the installed command, in a process of its own, on a port of its own."""

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
from typing import Any

from tests.kit.processes import die_with_parent, free_port

__all__ = ["COMMAND", "Service", "promenade"]

COMMAND = str(Path(sys.executable).with_name("promenade"))
START_SECONDS_MAX = 200.0  # ends what hangs: a demo seeds for half a minute of a processor that others want too
STOP_SECONDS_MAX = 20.0


def promenade(*arguments: str, env: Mapping[str, str] | None = None, stdin: str = "") -> str:
    """Run one `promenade` command to its end and return what it printed; a failure raises with its words."""
    done = subprocess.run(
        [COMMAND, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=400, env=_env(env)
    )
    if done.returncode != 0:
        raise AssertionError(f"promenade {' '.join(arguments)} exited {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Service:
    """A running `promenade serve` (or another serving command); start it, talk to it, kill it, start it again.

    ``start`` returns once /health answers. The port and the options stay the same over restarts.
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
        listen = ("--host", "127.0.0.1", "--port", str(self.port)) if self._ready_path else ()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._command, self.verb, *listen, *self.options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that `kill` reaches its children too
                preexec_fn=die_with_parent(signal.SIGTERM),
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
        """Ask it to end (SIGTERM) and return its exit code; a service that does not end is a failure."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"promenade {self.verb} did not end when asked:\n{self.output()[-4000:]}") from None

    def kill(self) -> None:
        """kill -9 the process and its children: nothing of it gets to tidy up."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(STOP_SECONDS_MAX)

    def restart(self) -> Service:
        """Start again after `stop` or `kill`, same port, same database."""
        assert not self.running
        return self.start()

    def output(self) -> str:
        """Everything it printed so far."""
        return self.log.read_text(errors="replace")

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
        """GET ``path``: status and decoded JSON (text when it is not JSON). For more, use a real client."""
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
    """This environment without settings that a developer may have exported for a service of their own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PROMENADE_")}
    return inherited | dict(extra or {})
