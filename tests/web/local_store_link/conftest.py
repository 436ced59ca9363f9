"""A cloud with a promotion, and a store that is not linked to it yet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.databases import Databases
from tests.web.local_store_link.chain import Branch, Cloud, start_branch, start_cloud
from tests.web.local_store_link.line import Line
from tests.web.local_store_link.shelf import SHELF


@pytest.fixture(scope="package")
def clock_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clock of the cloud and of its stores."""
    return tmp_path_factory.mktemp("clock") / "clock"


@pytest.fixture(scope="package")
def cloud(databases: Databases, logs: Path, clock_file: Path) -> Iterator[Cloud]:
    """The cloud. A week offline has one on PostgreSQL as well."""
    url = databases.create("sqlite")
    started = start_cloud(url, clock_file, logs / f"cloud-{time.monotonic_ns()}.log", SHELF)
    yield started
    started.close()
    databases.drop(url)


@pytest.fixture(scope="package")
def line(cloud: Cloud) -> Iterator[Line]:
    """The line to it."""
    with Line(cloud.service.port) as laid:
        yield laid


@pytest.fixture(scope="module")
def store(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory, logs: Path, clock_file: Path) -> Iterator[Branch]:
    """A store of its own."""
    started = start_branch(tmp_path_factory.mktemp("store"), clock_file, logs / f"store-{time.monotonic_ns()}.log")
    yield started
    started.close()
