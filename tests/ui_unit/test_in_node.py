"""The back office's pure modules, tested with `node --test`; without Node.js the tests are skipped with a message."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.engine.scenario_kit import FOLDER, read_yaml

HERE = Path(__file__).parent
TESTS = sorted(HERE.glob("*.test.mjs"))
ENVIRONMENT = os.environ | {"TZ": "America/New_York"}  # where no store of these tests is
SECONDS_MAX = 120
"""Ends what hangs; each file takes about a tenth of a second."""


def run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=SECONDS_MAX, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_unit_tests_in_javascript_exist() -> None:
    assert TESTS


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name.partition(".")[0])
def test_each_javascript_test_file_passes(node: str, path: Path) -> None:
    run(node, "--test", "--test-reporter=spec", str(path))


def _json(value: Any) -> Any:
    """Convert a value as JSON would, with text keys."""
    return json.loads(json.dumps(value))


def test_scenarios_are_read_as_by_the_engine(node: str) -> None:
    files = sorted(str(path) for path in FOLDER.rglob("*.yaml"))
    assert len(files) > 300

    read = json.loads(run(node, str(HERE / "read_scenarios.mjs"), *files))

    different = [
        path
        for path, entries in zip(files, read, strict=True)
        if entries != _json(read_yaml(Path(path).read_text("utf-8")))
    ]
    assert different == []
