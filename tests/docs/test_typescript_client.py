"""The page about selling from TypeScript: its programs are run against a demo, and print what it says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.clients.typescript_sdk.conftest import installed, packed
from tests.docs.test_samples import ROOT, assert_shows, demo, paste, samples
from tests.kit.service import Service

__all__ = ["demo"]

PAGE = ROOT / "docs/how-to/typescript-client.md"


def test_the_programs_do_what_the_page_says(demo: Service, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("no Node.js")
    (secret,) = re.findall(r"client id demo-till +secret (\S+)", demo.output())
    installed(packed(tmp_path / "packed"), tmp_path)  # replaces `npm install`
    steps = samples(PAGE.read_text())
    outputs = paste([f"TILL_SECRET={secret}", *(step.script for step in steps)], demo.url, tmp_path)[1:]
    answers = [(step, output) for step, output in zip(steps, outputs, strict=True) if step.answer is not None]
    assert len(answers) == 2
    for step, output in answers:
        assert_shows(step.answer, json.loads(output), step.script)


def test_the_page_names_the_archive_that_is_built() -> None:
    package = json.loads((ROOT / "clients/typescript/package.json").read_text())
    for page in (PAGE, ROOT / "clients/typescript/README.md"):
        assert f"build/{package['name']}-{package['version']}.tgz" in page.read_text()
