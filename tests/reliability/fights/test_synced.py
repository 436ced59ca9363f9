"""T3: a reservation and a redemption are on disk before they are acknowledged (reliability.md, Transactions)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.databases import Databases

CODES = 20


def test_t3_each_reservation_and_each_redemption_on_sqlite_is_synced(databases: Databases, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    url = databases.create("sqlite")
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-e", "trace=fsync,fdatasync,write", "-s", "8", "-o", str(trace), sys.executable,
               "-m", "tests.reliability.fights.syncing", url, str(CODES)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    if "PTRACE" in done.stderr:
        pytest.skip("processes may not be traced here")
    assert done.returncode == 0, done.stderr[-4000:]
    _, began, after = trace.read_text().partition('"begin')
    assert began
    synced = [line for line in after.splitlines() if "sync(" in line]
    assert len(synced) >= 2 * CODES, "an edge of a coupon was acknowledged before it was on the disk"
    databases.drop(url)
