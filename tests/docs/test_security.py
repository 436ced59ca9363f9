"""The list of security requirements is complete and true: each is there once, and each test that it names exists."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/security.md").read_text()
NUMBERS = (ROOT / "tests/docs/asvs-5.0.0-levels-1-and-2.txt").read_text().split()
"""The numbers of the requirements of levels 1 and 2 of OWASP ASVS 5.0.0, in its order."""

STATES = ("met", "operator", "not applicable", "not met")


class Line(NamedTuple):
    """What the page says about a requirement."""

    number: str
    state: str
    text: str
    shown: str

    @property
    def tests(self) -> list[str]:
        return re.findall(r"`(tests/[^`]+)`", self.shown)


LINES = [
    Line(*(cell.strip() for cell in row.strip().strip("|").split("|")))
    for row in PAGE.splitlines()
    if re.match(r"\| \d+\.\d+\.\d+ \|", row)
]


@cache
def functions(path: str) -> set[str]:
    """Return the tests that pytest collects from a file: functions of the module by their name."""
    tree = ast.parse((ROOT / path).read_text())
    found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {name for name in found if name.startswith("test_")}


def test_each_requirement_is_there_once_in_the_order_of_the_standard() -> None:
    assert len(set(NUMBERS)) == 253
    assert [one.number for one in LINES] == NUMBERS


def test_chapters_hold_their_own_requirements() -> None:
    for chapter, text in re.findall(r"^## Chapter (\d+): [^\n]*$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL):
        found = re.findall(r"^\| (\d+)\.\d+\.\d+ \|", text, re.MULTILINE)
        assert found, chapter
        assert set(found) == {chapter}


@pytest.mark.parametrize("line", LINES, ids=lambda one: str(one.number))
def test_a_line_says_what_we_do_and_where_it_shows(line: Line) -> None:
    assert line.state in STATES
    assert len(line.text) >= 4
    assert line.text.endswith(".")
    if line.state in {"met", "operator"}:
        assert line.tests or re.search(r"\[[^\]]+\]\([^)]+\)", line.shown), "neither a test nor a page shows it"
    if line.state in {"not applicable", "not met"}:
        assert len(line.text.split()) >= 3, "why not?"
    for one in line.tests:
        path, colons, name = one.partition("::")
        assert colons, one
        assert (ROOT / path).is_file(), one
        assert name in functions(path), one
    assert set(re.findall(r"`([^`]+)`", line.shown)) == set(line.tests), "only tests are named there"


def test_the_page_counts_its_lines() -> None:
    told = {state: int(count) for state, count in re.findall(r"^\| ([a-z ]+) \| (\d+) \|", PAGE, re.MULTILINE)}
    assert told == dict(Counter(one.state for one in LINES))
