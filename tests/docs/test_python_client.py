"""The page about selling from Python: its programs are run against a demo, and print what it says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import httpx2

import promenade_client
from tests.docs.test_samples import ROOT, assert_shows, demo, paste, samples
from tests.kit.service import Service

__all__ = ["demo"]

PAGE = ROOT / "docs/how-to/python-client.md"


def test_the_programs_do_what_the_page_says(demo: Service, tmp_path: Path) -> None:
    (secret,) = re.findall(r"client id demo-till +secret (\S+)", demo.output())
    # Replaces `pip install`: the shell uses the tests' Python.
    installed = ":".join(str(Path(file).parent.parent) for file in (promenade_client.__file__, httpx2.__file__))
    given = f"export PYTHONPATH={shlex.quote(installed)}\nTILL_SECRET={secret}"
    steps = samples(PAGE.read_text())
    outputs = paste([given, *(step.script for step in steps)], demo.url, tmp_path)[1:]
    answers = [(step, output) for step, output in zip(steps, outputs, strict=True) if step.answer is not None]
    assert len(answers) == 2
    for step, output in answers:
        assert_shows(step.answer, json.loads(output), step.script)
