"""Values that are computed on reading: SQL over the rows they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from odata_server.sql.model import Column
from promenade.store.types import ExactDecimal

__all__ = ["COMPUTED"]


def _remaining(source: sa.FromClause) -> sa.ColumnElement[Any]:
    rest = source.c.total_amount - source.c.consumed_amount - source.c.reserved_amount
    return sa.type_coerce(rest, ExactDecimal(18, 3))


COMPUTED: Mapping[tuple[str, str], Column] = {("Budgets", "remaining_amount"): _remaining}
"""For an entity set and the name of a virtual field: its value over the rows that an entity is read of."""
