"""The installation needs less than 150 MB on disk, including the package itself but not its installer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BLOCK = 4096
MOST = 150_000_000

pytestmark = pytest.mark.check


def locked() -> Iterator[tuple[str, bool]]:
    """Return the names in the lock, and whether a package is only for some platforms and versions of Python."""
    for line in (ROOT / "requirements/run.lock").read_text().splitlines():
        if found := re.match(r"([a-z0-9.-]+)==", line):
            yield found[1], ";" in line


def installed() -> Iterator[Path]:
    for name, only_somewhere in locked():
        try:
            for file in distribution(name).files or ():
                yield Path(str(file.locate()))
        except PackageNotFoundError:
            assert only_somewhere, f"{name} is locked and not installed"
    for sources in ("src", "packages/odata-server/src"):
        yield from (ROOT / sources).rglob("*")


def on_disk(files: Iterable[Path]) -> int:
    """Return the size in whole blocks. Missing bytecode is assumed to be as large as its source."""
    found = {file.resolve() for file in files if file.suffix != ".pyc" and file.is_file()}
    total = 0
    for file in found:
        sizes = [file.stat().st_size]
        if file.suffix == ".py":
            cached = Path(cache_from_source(str(file)))
            sizes.append(cached.stat().st_size if cached.exists() else sizes[0])
        total += sum(-(-size // BLOCK) * BLOCK for size in sizes)
    return total


def test_the_installation_stays_below_its_size_limit() -> None:
    assert on_disk(installed()) < MOST
