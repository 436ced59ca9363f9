"""Every part of `make bench` runs to its end at a tiny scale. The figures are ignored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import PARTS

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("part", PARTS)
def test_a_part_runs(part: str) -> None:
    """Runs in a separate process like `make bench`, and prints the tables of its measurements."""
    command = [sys.executable, "-m", "benchmarks", "--tiny", part]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert len(done.stdout.splitlines()) > 2, done.stdout
