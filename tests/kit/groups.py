"""The order in which files of tests are distributed: those that are expected to take longest go first.

xdist distributes whole files (`--dist loadfile`): tests of one file often share a service or a browser page, and some
files tell one story.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

__all__ = ["longest_first"]

SECONDS = {"test": 0.15, "check": 3.0, "soak": 30.0}
"""What a test is expected to take, by its tier: it decides about the order alone."""


def longest_first(items: list[pytest.Item]) -> None:
    """Order ``items`` by the expected time of their files; the tests of one file keep their order."""
    files: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        files[item.nodeid.partition("::")[0]].append(item)
    items[:] = [item for found in sorted(files.values(), key=_expected, reverse=True) for item in found]


def _expected(items: list[pytest.Item]) -> float:
    return sum(map(_seconds, items))


def _seconds(item: pytest.Item) -> float:
    return next((SECONDS[mark] for mark in ("soak", "check") if item.get_closest_marker(mark)), SECONDS["test"])
