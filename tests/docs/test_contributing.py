"""The examples of docs/contributing work: each change still applies, and does what its page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs/contributing"
BARE = ["-c", os.devnull, "--noconftest"]  # without the fixtures of servers and databases: starts in half the time
CHECKS = {
    "add-a-condition": [
        *BARE,
        "tests/engine/test_scenarios.py",
        "tests/engine/test_reference.py::test_the_reference_knows_every_rule_type",
        "tests/model/test_codes_of_the_engine.py",
        *("-k", "currency or CURRENCY or knows or types_are"),
    ],
    "add-a-benefit": [
        *BARE,
        "tests/engine/test_scenarios.py",
        "tests/engine/test_reference.py::test_the_reference_knows_every_rule_type",
        "tests/model/test_codes_of_the_engine.py",
        *("-k", "remaining_receipt or REMAINING_RECEIPT or knows or types_are"),
    ],
    "add-an-event": [*BARE, "tests/model/test_events.py", "-k", "every_kind or newer"],
    "add-an-entity": [
        "tests/contract/test_writing.py",
        "tests/model/test_declarations.py",
        "tests/model/test_edm.py",
        "tests/ui/test_texts.py",
        "tests/ui/test_words.py",
        *("-k", "not postgresql and (SalesChannels or specification or its_mode or roots or catalogue or word)"),
    ],
}
BEFORE = {"add-an-entity": ["promenade.store.driver.migrations.baseline"]}
"""What is run in the copy before its tests, of the commands that the page names."""


def diff_of(page: str) -> str:
    (diff,) = re.findall(r"^```diff\n(.*?)^```$", (PAGES / f"{page}.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return str(diff)


def copied(target: Path) -> None:
    """Copy the code and its tests, without the libraries of the back office."""
    shutil.copytree(
        ROOT / "src/promenade", target / "src/promenade", ignore=shutil.ignore_patterns("framework", "__pycache__")
    )
    shutil.copytree(ROOT / "tests", target / "tests", ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    shutil.copy(ROOT / "pyproject.toml", target)


def run_in(target: Path, module: str, *options: str) -> str:
    """Run a module on the copied code and return what it says; fail with it if the module fails."""
    paths = os.pathsep.join(
        [str(target / "src"), str(target), str(ROOT / "src"), str(ROOT / "packages/odata-server/src")]
    )
    run = subprocess.run(
        [sys.executable, "-m", module, *options],
        check=False, text=True, capture_output=True, cwd=target, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_every_page_is_checked() -> None:
    assert {path.stem for path in PAGES.glob("add-a*.md")} >= set(CHECKS)


@pytest.mark.parametrize("page", CHECKS)
def test_the_example_of_a_page_works(page: str, tmp_path: Path) -> None:
    copied(tmp_path)
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    applied = subprocess.run(
        ["git", "apply", "-"],
        check=False, input=diff_of(page), text=True, capture_output=True, cwd=tmp_path, env=outside,
    )  # fmt: skip
    assert applied.returncode == 0, f"renew the example: {applied.stderr}"

    for module in BEFORE.get(page, []):
        run_in(tmp_path, module)
    own = ["--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "scratch")]  # nobody else cleans up there
    said = run_in(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", *own, *CHECKS[page])
    assert " passed" in said
