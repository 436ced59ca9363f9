"""The samples in Python and TypeScript do what the page says, as those for curl: a program of each page's samples.

A comment behind a line tells what it prints; `…` stands for anything, also for no line or for several.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import MODULES
from tests.clients.python_sdk.conftest import environment
from tests.clients.typescript_sdk.conftest import installed, packed
from tests.docs.test_samples import ADDRESS, BLOCK, ROOT, demo, paste, token_lines
from tests.kit.service import Service

__all__ = ["demo"]

PAGES = [ROOT / f"docs/how-to/{name}.md" for name in ("first-evaluate", "show-prices", "coupons", "returns")]
# Each language has its own transactions and customers, so that a demo can serve both.
OWN = re.compile(r"\b(LOOK-AGAIN|MONDAY-|TILL-\d|C-100)")
STRICT = {"strict": True, "noUncheckedIndexedAccess": True, "target": "ES2022", "module": "NodeNext"}
PRINTS = {
    "py": re.compile(r"print\(.*\)  # (.+)$", re.MULTILINE),
    "ts": re.compile(r"log\(.*\); // (.+)$", re.MULTILINE),
}


def program(page: Path, language: str, url: str) -> str:
    """Return a page's samples in a language as one program."""
    blocks = re.findall(rf'^```{language} title="\w+"\n(.*?)^```$', page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 3
    return OWN.sub(rf"\1{language.upper()}-", "".join(blocks).replace(ADDRESS, url))


def assert_prints(printed: str, source: str, language: str) -> None:
    """Check that a program printed what its comments say, line by line."""
    said = PRINTS[language].findall(source)
    assert said
    lines = [r"(?:.*\n)*?" if one == "…" else f"{re.escape(one)}\n" for one in said]
    assert re.fullmatch("".join(lines), printed), f"{printed}\nis not\n{said}"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which TypeScript finds the package."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js")
    target = tmp_path_factory.mktemp("languages")
    archive = packed(target / "packed")
    folder = target / "project"
    installed(archive, folder)
    types = {"types": ["node"], "typeRoots": [str(MODULES / "@types")]}
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": STRICT | types, "include": ["*.ts"]}))
    return folder


def ran(command: list[str], folder: Path, secret: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment() | {"TILL_SECRET": secret},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def secret_of(demo: Service) -> str:
    (secret,) = re.findall(r"client id demo-till +secret (\S+)", demo.output())
    return str(secret)


@pytest.fixture(scope="module")
def prepared(demo: Service, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Run what the pages have done before their first sample in several languages."""
    for page in PAGES:
        before = page.read_text().partition("```py")[0]
        scripts = [text for kind, text in BLOCK.findall(before) if kind == "sh" and not text.startswith("make ")]
        paste([token_lines(demo), *scripts], demo.url, tmp_path_factory.mktemp("prepared"))
    return demo


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_samples_in_python_print_what_they_say(page: Path, prepared: Service, tmp_path: Path) -> None:
    source = program(page, "py", prepared.url)
    (tmp_path / "sample.py").write_text(source)
    printed = ran([sys.executable, "sample.py"], tmp_path, secret_of(prepared))
    assert_prints(printed, source, "py")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_samples_in_typescript_compile_strictly_and_print_what_they_say(
    page: Path, prepared: Service, project: Path
) -> None:
    source = program(page, "ts", prepared.url)
    (project / "sample.ts").write_text(source)
    ran(["node", str(MODULES / "typescript/bin/tsc"), "--project", "."], project, "")
    assert_prints(ran(["node", "sample.js"], project, secret_of(prepared)), source, "ts")
