"""Every part of `make bench` runs to its end at a tiny scale, on one database. The figures are ignored."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.__main__ import PARTS
from benchmarks.databases import KINDS
from tests.conftest import SEED

ROOT = Path(__file__).parent.parent.parent
RUN_SECONDS_MAX = 1_500  # of all parts, where others want the processors too

pytestmark = pytest.mark.timeout(RUN_SECONDS_MAX + 60)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run printed: by part, in the order of the parts that began."""

    exit_code: int
    printed: dict[str, str]
    errors: str


@pytest.fixture(scope="module")
def run(pytestconfig: pytest.Config) -> Run:
    """Run all parts in a separate process, like `make bench`; in another session on the other database."""
    command = [sys.executable, "-m", "benchmarks", "--tiny", "--database", KINDS[pytestconfig.stash[SEED] % 2]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=RUN_SECONDS_MAX, check=False)
    _, *parts = re.split(r"^# (\S+)$", done.stdout, flags=re.MULTILINE)
    return Run(done.returncode, dict(zip(parts[::2], parts[1::2], strict=True)), done.stderr[-4000:])


@pytest.mark.parametrize("part", PARTS)
def test_a_part_runs(run: Run, part: str) -> None:
    """Prints the tables of its measurements."""
    assert part in run.printed, f"the run ended before it: {run.errors}"
    assert run.exit_code == 0 or part != list(run.printed)[-1], run.errors
    assert run.printed[part].strip()
