"""Exports find what a period needs by indexes, without statistics, however much there is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import create_engine

from promenade.store import money_report_cohorts as cohorts
from promenade.store import money_report_coupons as coupons
from promenade.store import money_report_periods as periods
from promenade.store import money_report_sums as sums
from promenade.store.schema import metadata
from promenade.store.tenancy import Scope, acting, guard_dialect

SINCE, UNTIL = datetime(2026, 1, 1, 9, tzinfo=UTC), datetime(2026, 2, 1, 9, tzinfo=UTC)


class Explaining:
    """A session that finds nothing, and keeps how each of its statements would be carried out."""

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


async def test_no_statement_goes_through_all_of_a_tenant() -> None:
    session: Any = Explaining()
    stretch = periods.Stretch.of(SINCE, UNTIL)
    assert len(stretch.edges) == 2
    with acting(Scope("t")):
        for promotion in (None, "p"):
            await periods.sum_edges(session, stretch, promotion)
            await periods.add_days(session, ["a", "b"], stretch, promotion)
        await periods.contributions(session, ["a", "b"], SINCE, UNTIL)
        await cohorts.issued_between(session, ["a", "b"], ["a"], SINCE, UNTIL)
        await cohorts.used_between(session, ["a", "b"], SINCE, UNTIL)
        await coupons.read_codes(session, ["a", "b"], examine=False)
        await coupons.read_shared(session, ["a", "b"], SINCE)
        await sums.charged_by(session, "cloud", ["a", "b"])
        await sums.consumed_since(session, ["a", "b"], SINCE.date())
    assert len(session.plans) > 20
    assert not [plan for plan in session.plans if plan.endswith("(tenant_id=?)") or plan.startswith("SCAN")]
