"""The commands and link targets on the pages about deployment exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.deploy.options import commands

ROOT = Path(__file__).parent.parent.parent
PAGES = [
    ROOT / "deploy/README.md",
    *(ROOT / f"docs/how-to/{name}.md" for name in (
        "alerts", "first-cloud-tenant", "kubernetes", "scaling-out", "backup-and-restore", "upgrade-without-downtime",
        "sap-replication",
    )),
]  # fmt: skip
TYPED = re.compile(r"(?:^run|promenade-entrypoint|/bin/promenade|^ *promenade) ([a-z].*)$", re.MULTILINE)
BLOCK = re.compile(r"^ *```\w*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_documented_commands_and_options_exist(page: Path) -> None:
    known = dict(commands())
    for block in BLOCK.findall(page.read_text()):
        for line in TYPED.findall(block.replace("\\\n", " ")):
            words = shlex.split(line.split(">")[0].replace("&", ""))
            path = next((tuple(words[:length]) for length in (2, 1) if tuple(words[:length]) in known), None)
            assert path is not None, line
            options = {name for one in known[path].params for name in one.opts}
            assert {word for word in words if word.startswith("--")} <= options, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_have_existing_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_file_of_the_directory_is_explained() -> None:
    page = (ROOT / "deploy/README.md").read_text()
    for one in sorted((ROOT / "deploy").iterdir()):
        assert one.name in page or one.name in {"README.md", "secrets"}, one.name
