"""Exports find the rows of a period by indexes, without statistics, however much is stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import create_engine

from promenade.store.driver.schema import metadata
from promenade.store.driver.tenancy import Scope, acting, guard_dialect
from promenade.store.reports import budgets, coupons
from promenade.store.reports.periods import Stretch

SINCE, UNTIL = datetime(2026, 1, 1, 9, tzinfo=UTC), datetime(2026, 2, 1, 9, tzinfo=UTC)


class Explaining:
    """A session that returns no rows, and records the plan of each of its statements."""

    dialect = "sqlite"

    def __init__(self) -> None:
        self._engine = create_engine("sqlite://")
        guard_dialect(self._engine.dialect)
        self._connection = self._engine.connect()
        metadata.create_all(self._connection)
        self.plans: list[str] = []

    async def execute(self, statement: Any, params: Any = None) -> Sequence[Any]:
        wanted = getattr(statement, "statement", statement)
        compiled = wanted.compile(self._engine, compile_kwargs={"render_postcompile": True})
        bound = tuple(0 for _ in compiled.positiontup)
        rows = self._connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", bound)
        self.plans += [row[3] for row in rows if row[3].startswith(("SEARCH", "SCAN"))]
        return ()


async def test_no_export_scans_all_rows_of_a_tenant() -> None:
    session: Any = Explaining()
    stretch = Stretch.of(SINCE, UNTIL)
    assert len(stretch.edges) == 2
    with acting(Scope("t")):
        for promotion in (None, "p"):
            await budgets.sum_edges(session, stretch, promotion)
            await budgets.add_days(session, ["a", "b"], stretch, promotion)
        await budgets.contributions(session, ["a", "b"], SINCE, UNTIL)
        await coupons.issued_between(session, ["a", "b"], ["a"], SINCE, UNTIL)
        await coupons.used_between(session, ["a", "b"], SINCE, UNTIL, UNTIL)
        await coupons.read_codes(session, ["a", "b"], examine=False)
        await coupons.read_shared(session, ["a", "b"], SINCE)
        await budgets.charged_by(session, "cloud", ["a", "b"])
        await budgets.consumed_since(session, ["a", "b"], SINCE.date())
    assert len(session.plans) > 20
    assert not [plan for plan in session.plans if plan.endswith("(tenant_id=?)") or plan.startswith("SCAN")]
