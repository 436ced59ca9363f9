"""The administration, served once per database; tests make rows of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drafts.desk import Desk, serve
from tests.kit.databases import DIALECTS, Databases


@pytest.fixture(scope="package", params=DIALECTS)
def desk(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Desk]:
    """See `tests.drafts.desk.Desk`."""
    with serve(databases, request.param, logs / f"drafts-{request.param}.log") as served:
        yield served


@pytest.fixture(params=("plain", "multipart", "json"))
def form(request: pytest.FixtureRequest) -> str:
    """How requests are sent: by themselves, or in a batch of either form."""
    return str(request.param)
