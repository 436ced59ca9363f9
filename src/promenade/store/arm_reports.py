"""Reports that are read of other tables, and values of reports that are computed on reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlalchemy as sa

from odata_server.sql.model import Column

__all__ = ["COMPUTED", "QUERIES"]

QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {}
"""By entity set, of one that is not stored: the query that stands in for its table."""

COMPUTED: Mapping[tuple[str, str], Column] = {}
"""By entity set and name of a virtual field: its value over the rows that the entity is read of."""
