"""No answer tells one tenant of another: whatever is asked, on both databases, and with the wall alone (S1 to S3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from promenade.model.declare import Service
from tests.kit.databases import Databases
from tests.reliability.tenants.asking import everything_else, of_service
from tests.reliability.tenants.conftest import asking, routes

WAYS = {
    "filter": ("sqlite", "tests.kit.without_worker"),
    "filter and wall": ("postgresql", "tests.kit.without_worker"),
    "wall alone": ("postgresql", "tests.reliability.tenants.without_filter"),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_another_tenant_is_told(databases: Databases, logs: Path, way: str) -> None:
    dialect, module = WAYS[way]
    questions = [*of_service(Service.PUBLIC), *of_service(Service.ADMIN), *everything_else(routes(databases))]
    with asking(databases, dialect, logs, module=module) as (asker, _):
        leaks = asker.ask(questions)
        assert not leaks, "\n".join(map(str, leaks[:5]))
        assert max(asker.statuses) < 500, asker.statuses
        assert asker.statuses[200] > len(questions) // 3, asker.statuses


def test_without_either_it_would_be_seen(databases: Databases, logs: Path) -> None:
    module = "tests.reliability.tenants.without_filter"
    with asking(databases, "postgresql", logs, module=module, as_superuser=True) as (asker, _):
        leaks = asker.ask([one for one in of_service(Service.PUBLIC) if "$count=true&$top" in one.path])
    told = {seen for leak in leaks for seen in leak.seen}
    assert {"ZQXJKV", "cafeba11"} <= told
    assert len(leaks) > 20
