"""The admin service in this process, once per database; tests create their own rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.databases import DIALECTS, Databases
from tests.kit.moved_clock import MovedClock
from tests.web.drafts.desk import Desk, open_desk


@pytest.fixture(scope="package", params=DIALECTS)
def desk(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """See `tests.web.drafts.desk.Desk`."""
    clock = MovedClock(tmp_path_factory.mktemp("clock") / "clock")
    with open_desk(databases, request.param, clock) as opened:
        yield opened


@pytest.fixture(params=("plain", "multipart", "json"))
def form(request: pytest.FixtureRequest) -> str:
    """Return how requests are sent: one at a time, or in a batch of either format."""
    return str(request.param)
