"""How the figures of reports are aggregated, declared beside the column that holds them.

An aggregate is a table of sums. Its key columns are its *dimensions*, one of which may be a day or a month (its grain);
each *measure* says how the figure of new sales is merged with the existing one. Upserts, sums over a period and the
figures of a batch of sales all derive from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Merge(StrEnum):
    """How a new figure is merged with the existing one of the same key."""

    SUM = "sum"
    DISTINCT = "distinct"  # number of different values of the facts; a value occurs in one batch only
    LEAST = "least"
    GREATEST = "greatest"
    FIRST = "first"  # the existing value, unless it is null
    LAST = "last"  # the new value, unless it is null
    LATEST = "latest"  # the value of the row whose column `Measure.by` is later
    SAME = "same"  # null once two values differ
    SUM_WITHIN = "sum within"  # the sum; null once two values of the column `Measure.by`, such as the currency, differ


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of an aggregate that is not a dimension.

    ``of`` is the attribute of the facts that it is computed from; empty: the one with the column's name.
    """

    merge: Merge
    of: str = ""
    by: str = ""
