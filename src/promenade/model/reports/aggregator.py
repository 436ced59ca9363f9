"""The runs of the aggregator, which maintains the aggregates behind reports."""

from __future__ import annotations

from promenade.model.declare import RO, Entity, choice, long_integer, text, timestamp
from promenade.model.measures import Merge
from promenade.model.shape import kept, measured

__all__ = ["AggregatorRuns"]


class AggregatorRuns(Entity, reporting=RO, indexes=(("started_at",), ("name", "started_at"))):
    """A run of one part of the aggregator that had work to do; kept for seven days."""

    name = measured(
        Merge.FIRST, text(50, "Name of the part, which says which aggregates it updated or computed.", required=True)
    )
    started_at = kept(7, measured(Merge.FIRST, timestamp("Time at which it started.", required=True)))
    completed_at = measured(Merge.LAST, timestamp("Time of its last write."))
    rows = measured(Merge.SUM, long_integer("Number of aggregate rows written.", default=0))
    # The greatest: a run that has FAILED once stays so.
    status = measured(
        Merge.GREATEST, choice("COMPLETED", "FAILED", doc="Whether it completed all its work.", required=True)
    )
