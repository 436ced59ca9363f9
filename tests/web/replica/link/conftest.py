"""A cloud with a promotion, and a store that is not linked to it yet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.databases import Databases
from tests.web.replica.link.chain import Branch, Cloud, start_branch, start_cloud
from tests.web.replica.link.line import Line
from tests.web.replica.link.shelf import SHELF


@pytest.fixture(scope="package")
def clock_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the clock of the cloud and its stores."""
    return tmp_path_factory.mktemp("clock") / "clock"


@pytest.fixture(scope="package")
def cloud(databases: Databases, logs: Path, clock_file: Path) -> Iterator[Cloud]:
    """Start the cloud. The test of a week offline also has one on PostgreSQL."""
    url = databases.create("sqlite")
    started = start_cloud(url, clock_file, logs / f"cloud-{time.monotonic_ns()}.log", SHELF)
    yield started
    started.close()
    databases.drop(url)


@pytest.fixture(scope="package")
def line(cloud: Cloud) -> Iterator[Line]:
    """Return the line to the cloud."""
    with Line(cloud.service.port) as laid:
        yield laid


@pytest.fixture(scope="module")
def store(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory, logs: Path, clock_file: Path) -> Iterator[Branch]:
    """Start a store."""
    started = start_branch(tmp_path_factory.mktemp("store"), clock_file, logs / f"store-{time.monotonic_ns()}.log")
    yield started
    started.close()
