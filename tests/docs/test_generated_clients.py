"""The page about generating clients: each generator's client compiles with strict types and prices in a demo.

`make check` installs the generators by their lock files, into build/generators and build/clients; the environment
variables name other places. What could not be fetched, or has no Java here, is skipped with a message.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.clients.conftest import MODULES
from tests.docs.test_samples import ROOT, assert_shows, demo, paste, samples, token_lines
from tests.kit.service import Service

__all__ = ["demo"]

PAGE = ROOT / "docs/how-to/generate-a-client.md"
GENERATORS = Path(os.environ.get("PROMENADE_TEST_GENERATORS") or ROOT / "build" / "generators")
SECTIONS: Mapping[str, Sequence[str]] = {
    "Python": ("openapi-python-client", "mypy", "python"),
    "TypeScript: types for fetch": ("openapi-typescript", "tsc", "node"),
    "TypeScript: a client of classes": ("openapi-generator-cli", "java", "tsc", "node"),
    "Java": ("openapi-generator-cli", "java", "javac"),
}
"""Heading -> the programs that its samples use."""
# The jar of the generator has Jackson inside; these annotations are the rest of what its code needs to compile.
_ANNOTATIONS = {
    "Generated": 'String[] value(); String date() default ""; String comments() default "";',
    "Nonnull": "",
    "Nullable": "",
}


def _section(heading: str) -> str:
    page = PAGE.read_text()
    return page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def _program(name: str) -> Path | None:
    """Return a program that make has installed, or one of the machine's."""
    for folder in (GENERATORS / "bin", MODULES / ".bin"):
        if (folder / name).exists():
            return folder / name
    found = shutil.which(name) if name in ("node", "java", "javac") else None
    return None if found is None else Path(found)


def _jars(directory: Path) -> str:
    """Return the class path of the generated Java code."""
    (jar,) = GENERATORS.glob("lib/python*/site-packages/openapi_generator_cli/*.jar")
    sources = directory / "annotations/jakarta/annotation"
    sources.mkdir(parents=True)
    for name, members in _ANNOTATIONS.items():
        (sources / f"{name}.java").write_text(f"package jakarta.annotation; public @interface {name} {{ {members} }}")
    compiled = directory / "annotations-compiled"
    command = [_program("javac"), "-d", compiled, *sorted(sources.iterdir())]
    subprocess.run([str(word) for word in command], check=True)
    return f"{jar}:{compiled}"


def test_the_page_has_a_section_for_each_generator() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE)
    assert [one for one in headings if samples(_section(one))] == ["Which document", *SECTIONS]


@pytest.mark.timeout(600)
@pytest.mark.sampled(test=2, check=2)  # each takes half a minute
@pytest.mark.parametrize("heading", SECTIONS)
def test_a_generated_client_compiles_strictly_and_prices(heading: str, demo: Service, tmp_path: Path) -> None:
    needed = {name: _program(name) for name in SECTIONS[heading]}
    if missing := [name for name, found in needed.items() if found is None]:
        pytest.skip(f"no {' and no '.join(missing)}: `make check` fetches generators where pip and npm can; not Java")
    (tmp_path / "node_modules").symlink_to(MODULES)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, found in needed.items():
        # An interpreter finds its packages by the path that it is called by.
        (tools / name).write_text(f'#!/bin/sh\nexec {shlex.quote(str(found))} "$@"\n')
        (tools / name).chmod(0o755)
    first = [token_lines(demo), f'PATH={shlex.quote(str(tools))}:"$PATH"']
    if "javac" in needed:
        first.append(f"JARS={shlex.quote(_jars(tmp_path))}")
    (address,) = samples(_section("Which document"))
    steps = samples(_section(heading))
    scripts = ["\n".join(first), address.script, *(step.script for step in steps)]
    for step, output in zip(steps, paste(scripts, demo.url, tmp_path)[2:], strict=True):
        assert step.answer is not None
        assert_shows(step.answer, json.loads(output.strip().splitlines()[-1]), step.script)
