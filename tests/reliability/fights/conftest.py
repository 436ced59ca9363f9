"""Arenas, served once per kind of database; each test uses its own resources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.databases import Databases
from tests.reliability.fights.arena import ARENAS, Arena, opened_arena


@pytest.fixture(scope="package", params=ARENAS)
def arena(
    request: pytest.FixtureRequest, databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Arena]:
    """See `tests.reliability.fights.arena.Arena`: on SQLite, on PostgreSQL, and there with two processes."""
    directory = tmp_path_factory.mktemp("arena")
    with opened_arena(databases, request.param, logs, directory) as opened:
        yield opened
