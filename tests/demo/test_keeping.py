"""A demo with a directory of its own is seeded once, and starts again with the same credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from promenade.demo import DemoTenant, seed_once
from promenade.demo.guide import DemoClient, Purchase
from promenade.errors import Conflict
from promenade.store.driver.unit import Database
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.context import Context
from tests.workflows.pricing.test_evaluate import NOW, a_context

CLIENT = DemoClient("till", "demo-till", "secret", ("svc.POSReader",))
DEMO = DemoTenant("demo", (CLIENT,), (Purchase("100078", "Coffee", 2, "24.49"),), ("p",), 1, 1_000)


class Maker:
    """Seeds the tenant and nothing else, and counts how often."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.times = 0

    async def __call__(self) -> DemoTenant:
        self.times += 1
        await create_tenant(self.context.database, "demo", settings={}, at=NOW, user="demo")
        return DEMO


def only_its_owner_may_read(path: Path) -> bool:
    return path.stat().st_mode & 0o077 == 0


@pytest.fixture
def maker(database: Database) -> Maker:
    return Maker(a_context(database))


async def test_an_empty_database_is_seeded_and_another_start_uses_what_is_there(maker: Maker, tmp_path: Path) -> None:
    assert await seed_once(maker.context, tmp_path, maker) == DEMO
    assert await seed_once(maker.context, tmp_path, maker) == DEMO
    assert maker.times == 1
    assert only_its_owner_may_read(tmp_path / "demo.json")  # it has secrets


async def test_a_database_with_anything_else_is_left_alone(maker: Maker, tmp_path: Path) -> None:
    await create_tenant(maker.context.database, "acme", settings={}, at=NOW, user="demo")
    with pytest.raises(Conflict, match="no demo"):
        await seed_once(maker.context, tmp_path, maker)
    assert maker.times == 0


async def test_a_demo_whose_database_was_deleted_is_seeded_anew(maker: Maker, tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text("{}")
    assert await seed_once(maker.context, tmp_path, maker) == DEMO
    assert await seed_once(maker.context, tmp_path, maker) == DEMO
    assert only_its_owner_may_read(tmp_path / "demo.json")
