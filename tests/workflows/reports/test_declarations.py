"""Each column of an aggregate declares how sales are counted in it: none is missing, and no table is emptied twice."""

from __future__ import annotations

from collections import Counter

import pytest

from promenade import model
from promenade.model.declare import NONE
from promenade.model.measures import Merge
from promenade.store.driver.schema import metadata
from promenade.workflows.reports import exports, folds

AGGREGATES = sorted(
    (one for one in metadata.tables.values() if any(column.info.get("measure") for column in one.c)),
    key=lambda one: one.name,
)
NOT_OF_SALES = {"advice_shown", "aggregator_runs", "coupon_type_counts"}
"""Counted from evaluations, runs and codes: they stay when sales are counted anew."""

# Columns that refreshers write beside the sums; null, or the default, until then.
COMPUTED = {"budget_totals": {"daily_burn", "reckoned_at"}, "arm_days": {"extra_revenue"}}


def test_a_recount_empties_every_aggregate_of_sales_once() -> None:
    by_table = {entity.set_name: entity.table for entity in model.entities()}
    emptied = Counter(by_table.get(name, name) for one in folds().values() for name in one.tables)
    assert {one.name for one in AGGREGATES} - set(emptied) == NOT_OF_SALES
    assert set(emptied.values()) == {1}


@pytest.mark.parametrize("name", [one.name for one in AGGREGATES])
def test_each_column_is_a_dimension_or_a_measure(name: str) -> None:
    rows = metadata.tables[name]
    dimensions = {column.name for column in rows.primary_key.columns}
    measures = {column.name: column.info["measure"] for column in rows.c if column.info.get("measure")}
    assert not dimensions & set(measures)
    others = {column.name for column in rows.c} - dimensions - set(measures) - {"version"}
    assert others == COMPUTED.get(name, set())
    latest = [one for one in measures.values() if one.merge is Merge.LATEST]
    assert all(measures[one.by].merge is Merge.GREATEST for one in latest), "later by what is not the latest"


def test_exported_columns_are_fields_of_reports() -> None:
    shown = {field.wire for one in model.entities() if one.reporting is not NONE for field in one.fields}
    assert all(set(one.columns) <= shown for one in exports().values())
