"""The documentation page about a first store: its tour is run against a separate store."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.test_samples import ROOT, assert_shows, paste, samples
from tests.kit.processes import free_port

PAGE = ROOT / "docs/how-to/first-store.md"


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the samples use curl")
def test_the_tour_works_as_documented(tmp_path: Path) -> None:
    text = PAGE.read_text()
    for port in ("8080", "8090"):
        assert f"--port {port}" in text
        text = text.replace(port, str(free_port()))
    steps = samples(text)
    # The command of the test environment replaces an installed one; the store stops whatever happens to the tour.
    command = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH\ntrap 'kill $(jobs -p) 2>&-; wait' EXIT"
    outputs = paste([command, *(step.script for step in steps)], "http://127.0.0.1:8080", tmp_path)[1:]
    for step, output in zip(steps, outputs, strict=True):
        if step.answer is not None:
            # A command may print before the response.
            assert_shows(step.answer, json.loads(output.strip().splitlines()[-1]), step.script)
    log = (tmp_path / "store.log").read_text()
    assert "setup_is_open" in log
    assert "Traceback" not in log
