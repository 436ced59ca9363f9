"""Top lists, days of a promotion and exports use indexes, without statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import create_engine

from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.store.driver.schema import metadata
from promenade.store.driver.tenancy import Scope, acting, admit, guard_dialect
from promenade.store.odata.services import reader_for
from promenade.store.reports import usage
from tests.kit.logged import add_functions

ID = "00000000-0000-4000-8000-000000000001"
SCOPE = Scope("t")
SORTED = "USE TEMP B-TREE FOR ORDER BY"
PLANS = [
    ("PromotionTopArticles", "$top=20", "ix_promotion_article_sums__of_promotion (tenant_id=?)"),
    ("PromotionTopArticles", "$orderby=rank&$top=20", "ix_promotion_article_sums__rank (tenant_id=?)"),
    (
        "PromotionTopPosGroups",
        f"$filter=promotionId eq {ID}&$orderby=totalDiscount desc",
        "ix_promotion_pos_group_sums__of_promotion (tenant_id=? AND promotion_id=?)",
    ),
    (
        "PromotionPostMortemTopStores",
        f"$filter=promotion_ID eq {ID}",
        "ix_promotion_pos_group_sums__of_promotion (tenant_id=? AND promotion_id=?)",
    ),
    ("PromotionUsageByDay", "$filter=day ge 2026-01-01&$top=20", "(tenant_id=? AND day>?)"),
    (
        "PromotionUsageByDay",
        f"$filter=promotionId eq {ID} and day ge 2026-01-01&$top=9",
        "(tenant_id=? AND promotion_id=? AND day>?)",
    ),
    (
        "PromotionUsageByDay",
        f"$filter=promotionId eq {ID}&$orderby=totalDiscount desc&$top=9",
        "(tenant_id=? AND promotion_id=?)",
    ),
    ("PromotionUsageByDay", "$orderby=totalDiscount desc&$top=9", "total_discount (tenant_id=?)"),
    ("PromotionHourOfDay", f"$filter=promotionId eq {ID}", "(tenant_id=? AND promotion_id=?)"),
]


class Explaining:
    """A session with one promotion to refresh; it records the plans of its statements."""

    dialect = "sqlite"

    def __init__(self) -> None:
        self.engine = create_engine("sqlite://")
        guard_dialect(self.engine.dialect)
        self._connection = self.engine.connect()
        metadata.create_all(self._connection)
        add_functions(self._connection)
        self.plans: list[str] = []

    async def execute(self, statement: Any, params: Any = None) -> Sequence[Any]:
        wanted, _ = admit(getattr(statement, "statement", statement), None, SCOPE)
        compiled: Any = wanted.compile(self.engine, compile_kwargs={"render_postcompile": True})  # type: ignore[attr-defined]
        bound = tuple(0 for _ in compiled.positiontup)
        self.plans += [row[3] for row in self._connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", bound)]
        return [SimpleNamespace(promotion_id=ID, fallen=True, candidates=5)] if "due" in str(compiled) else []

    async def rowcount(self, statement: Any, params: Any = None) -> int:
        await self.execute(statement)
        return 0


@pytest.fixture
def session() -> Iterator[Any]:
    explaining = Explaining()
    with acting(SCOPE):
        yield explaining
    explaining.engine.dispose()


@pytest.mark.parametrize(("path", "options", "expected"), PLANS, ids=[f"{path}?{one}" for path, one, _ in PLANS])
async def test_queries_of_reports_use_an_index(session: Any, path: str, options: str, expected: str) -> None:
    target = resolve(edm_for(Service.REPORTING), parse_path(path), {}).target
    assert target is not None
    query = Query(target=target, options=parse_options(options), now=datetime(2026, 1, 1, tzinfo=UTC))
    await reader_for(Service.REPORTING).read(session, query)
    assert expected in " | ".join(session.plans)
    assert SORTED not in session.plans or "filter=promotion" in options  # which leaves only a few rows


async def test_ranking_and_exporting_never_scan_all_rows_of_a_tenant(session: Any) -> None:
    assert await usage.give_places(session, 8) == 1
    own = [plan for plan in session.plans if "_sums" in plan]
    assert len(own) >= 6
    assert not [plan for plan in own if "promotion_id=?" not in plan]
    session.plans.clear()
    await usage.sums_of(session, datetime(2026, 1, 2, 3, tzinfo=UTC), datetime(2026, 4, 2, 3, tzinfo=UTC))
    # A virtual table is what is packed in one row.
    read = [plan for plan in session.plans if "VIRTUAL TABLE" not in plan]
    found = [plan for plan in read if plan.startswith(("SEARCH", "SCAN"))]
    assert len(found) >= 6
    assert not [plan for plan in found if plan.endswith("(tenant_id=?)") or plan.startswith("SCAN")]
