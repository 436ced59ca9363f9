"""The data directory of a seeded demo, made once in a test run and copied: seeding prices a thousand sales."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

__all__ = ["copied_demo"]


def copied_demo(folders: pytest.TempPathFactory, make: Callable[[Path], object]) -> Path:
    """Return a copy of what ``make`` has put into an empty directory, in the first process of the run that asked."""
    base = folders.getbasetemp()  # an xdist process has its own directory below the run's
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "seeded-demo"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            shutil.rmtree(folder / "data", ignore_errors=True)
            (folder / "data").mkdir()
            make(folder / "data")
            (folder / "made").touch()
    copy = folders.mktemp("demo") / "data"
    shutil.copytree(folder / "data", copy)
    return copy
