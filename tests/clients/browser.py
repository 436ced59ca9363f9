"""A real headless browser: Chromium, from any place that needs no system-wide installation.

PROMENADE_TEST_CHROMIUM names one; otherwise the first on PATH; otherwise the one that `make check` unpacks into
build/chromium.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.processes import dying_with_parent

__all__ = ["chromium", "environment", "open_page"]

UNPACKED = Path(__file__).parent.parent.parent / "build" / "chromium" / "chromium"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Only the page: no background network requests, and no process sandbox, which containers do not permit.
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-quic",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def chromium() -> str | None:
    """Return the program, None if there is none."""
    named = os.environ.get("PROMENADE_TEST_CHROMIUM")
    found = named or next((path for name in _NAMES if (path := shutil.which(name))), None)
    return found or (str(UNPACKED) if UNPACKED.exists() else None)


def environment(program: str) -> dict[str, str]:
    """Return the environment for the program: the unpacked one brings libraries that a machine may lack."""
    return os.environ | ({"LD_LIBRARY_PATH": str(UNPACKED.parent / "lib")} if program == str(UNPACKED) else {})


@contextmanager
def open_page(url: str, directory: Path, log: Path) -> Iterator[None]:
    """Show ``url`` in a browser within the block; its profile is kept in ``directory``, its output in ``log``."""
    program = chromium()
    assert program is not None
    with log.open("ab") as output:
        process = subprocess.Popen(
            dying_with_parent(
                signal.SIGTERM, program, *_OPTIONS, f"--user-data-dir={directory}", "--enable-logging=stderr", url
            ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its children can be ended with it
            env=environment(program),
        )
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)
