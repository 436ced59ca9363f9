"""The samples in the documentation are run in a real shell against a real demo.

A page's ``sh`` blocks run in one shell, in order. A ``json`` block after one shows its response: every member shown
must be in the response with that value; a string ``"…"`` stands for any value, and lists have as many entries as shown.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.docs.copied_demo import copied_demo
from tests.kit.processes import free_port
from tests.kit.service import COMMAND, Service

ROOT = Path(__file__).parent.parent.parent
ADDRESS = "http://127.0.0.1:8080"  # on the pages; the test's demo listens elsewhere
TOURS = (
    ROOT / "README.md",
    ROOT / "docs/how-to/first-evaluate.md",
    ROOT / "docs/how-to/public-api.md",
    ROOT / "docs/how-to/odata-clients.md",
    ROOT / "docs/how-to/show-prices.md",
    ROOT / "docs/how-to/coupons.md",
    ROOT / "docs/how-to/returns.md",
    ROOT / "docs/how-to/imports.md",
    ROOT / "docs/how-to/credentials-for-many-stores.md",
    ROOT / "docs/how-to/configuration-as-code.md",
    ROOT / "docs/how-to/back-office.md",
    ROOT / "docs/how-to/check-a-promotion.md",
    ROOT / "docs/how-to/forecast-a-promotion.md",
)

TOKENS = ("TOKEN=", "API_TOKEN=", "ADMIN_TOKEN=")
BLOCK = re.compile(r"^```(sh|json)(?: title=\"curl\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sample:
    """A block to run and its expected response, if the page shows one."""

    script: str
    answer: Any | None


def samples(page: str) -> list[Sample]:
    """Return the blocks of a page's tour; blocks that run `make` are left out."""
    found: list[Sample] = []
    for language, text in BLOCK.findall(page):
        if language == "sh" and not text.startswith("make "):
            found.append(Sample(text, None))
        elif language == "json":
            found[-1] = Sample(found[-1].script, json.loads(text))
    return found


@pytest.fixture(scope="module")
def demo(request: pytest.FixtureRequest, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Start `promenade demo`, in a directory that commands can read."""
    # Each module, in each parallel test process, has its own demo and reads its output. A process that is given tests
    # of a module twice starts it twice, so each start has its own log.
    port = free_port()

    def started(data: Path, what: str) -> Service:
        log = logs / f"docs-demo-{request.module.__name__}-{what}-{port}.log"
        return Service(log, "--data-dir", str(data), verb="demo", port=port).start()

    # The command seeds the first one itself; started again on a copy, it prints the same lines and credentials.
    service = started(copied_demo(tmp_path_factory, lambda data: started(data, "seeds").stop()), "serves")
    yield service
    service.kill()


def token_lines(demo: Service) -> str:
    """Return the lines that the demo asks to run first: the tokens of a till, of an ERP system and of a planner."""
    lines = [line for line in demo.output().splitlines() if line.startswith(TOKENS)]
    assert len(lines) == 3, demo.output()
    return "\n".join(lines)


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the samples use curl")
@pytest.mark.parametrize("page", TOURS, ids=lambda page: page.name)
def test_the_samples_do_what_the_page_says(page: Path, demo: Service, tmp_path: Path) -> None:
    steps = samples(page.read_text())
    assert steps, "the page has nothing to paste"
    (tmp_path / "demo-data").symlink_to(demo.options[1])
    outputs = paste([token_lines(demo), *(step.script for step in steps)], demo.url, tmp_path)
    for step, output in zip(steps, outputs[1:], strict=True):
        if step.answer is not None:
            assert_shows(step.answer, json.loads(output), step.script)


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the lines use curl")
def test_every_line_that_the_demo_prints_works_when_pasted(demo: Service, tmp_path: Path) -> None:
    lines = [line for line in demo.output().splitlines() if line.startswith((*TOKENS, "curl "))]
    outputs = paste(lines, demo.url, tmp_path)
    answers = [json.loads(output) for line, output in zip(lines, outputs, strict=True) if line.startswith("curl ")]
    assert len(answers) == 5
    priced, confirmed, effects, promotions, budgets = answers
    assert priced["lineItems"]
    assert confirmed["confirmed"]
    assert effects["status"]
    assert promotions["@count"] > len(promotions["value"]) == 3
    assert budgets["@odata.count"] >= len(budgets["value"]) > 0


def test_the_pages_that_the_demo_names_exist(demo: Service) -> None:
    addresses = re.findall(r"http://\S+/docs", demo.output())
    assert len(addresses) == 2
    for address in addresses:
        with urllib.request.urlopen(address) as answer:
            assert answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.skipif(shutil.which("node") is None, reason="the sample is for node")
@pytest.mark.parametrize("name", ["odata-clients", "returns"])
def test_the_javascript_does_what_the_page_says(name: str, demo: Service, tmp_path: Path) -> None:
    page = (ROOT / f"docs/how-to/{name}.md").read_text()
    (program,) = re.findall(r"^```js\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    _, _, printed = page.partition("It prints:\n\n```\n")
    (tmp_path / "sample.mjs").write_text(program)
    run = f"POS={demo.url} API={demo.url}/api/v1 TOKEN=$TOKEN API_TOKEN=$API_TOKEN node sample.mjs"
    _, output = paste([token_lines(demo), run], demo.url, tmp_path)
    assert output == printed.partition("```")[0]


def paste(scripts: list[str], url: str, directory: Path, seconds: float = 400) -> list[str]:
    """Run scripts in one shell and return the output of each; a failing script fails the test."""
    mark = "--- next ---"
    whole = f"\necho '{mark}'\n".join(script.replace(ADDRESS, url) for script in scripts)
    shims = directory / "bin"
    shims.mkdir()
    (shims / "python3").symlink_to(sys.executable)
    (shims / "promenade").symlink_to(COMMAND)
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=whole,
        capture_output=True,
        text=True,
        check=False,
        cwd=directory,
        env={"PATH": f"{shims}:/usr/local/bin:/usr/bin:/bin", "HOME": str(directory)},
        timeout=seconds,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout.split(f"{mark}\n")


def assert_shows(shown: Any, answered: Any, where: str) -> None:
    """Check that every member shown is in the response."""
    if shown == "…":
        return
    if isinstance(shown, dict):
        assert isinstance(answered, dict), f"{where}: {answered!r} is no object"
        for name, value in shown.items():
            assert name in answered, f"{where}: the answer has no {name}: {answered}"
            assert_shows(value, answered[name], f"{where} {name}")
    elif isinstance(shown, list):
        assert len(shown) == len(answered), f"{where}: {len(shown)} entries shown, answered: {answered}"
        for one, other in zip(shown, answered, strict=True):
            assert_shows(one, other, where)
    else:
        assert shown == answered, f"{where}: shown {shown!r}, answered {answered!r}"
