"""Every command in the documentation exists, with its options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from promenade import cli

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/how-to").glob("*.md"))]
BLOCK = re.compile(r"^ *```\w*(?: title=.*?)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def typed(page: Path) -> list[list[str]]:
    """Return the words of every `promenade ...` in the page's code blocks, without explanations beside them."""
    found: list[list[str]] = []
    for block in BLOCK.findall(page.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.match(r"\s*promenade (.+)", line)
            if command is not None:
                found.append(shlex.split(re.split(r" {3,}|[|>]", command[1])[0]))
    return found


COMMANDS = [pytest.param(words, id=" ".join(words)) for page in PAGES for words in typed(page)]


@pytest.mark.parametrize("words", COMMANDS)
def test_each_documented_command_exists_with_its_options(words: list[str]) -> None:
    command: click.Command = cli.cli
    rest = list(words)
    while isinstance(command, click.Group):
        assert rest[0] in command.commands, f"promenade {' '.join(words)}"
        command = command.commands[rest.pop(0)]
    known = {name for one in command.params for name in one.opts}
    assert {word for word in rest if word.startswith("--")} <= known


def test_the_documentation_contains_commands() -> None:
    assert len(COMMANDS) > 10
