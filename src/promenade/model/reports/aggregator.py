"""The runs of the aggregator, which maintains the aggregates behind reports."""

from __future__ import annotations

from promenade.model.declare import RO, Entity, choice, long_integer, text, timestamp

__all__ = ["AggregatorRuns"]


class AggregatorRuns(Entity, reporting=RO, indexes=(("started_at",), ("name", "started_at"))):
    """A run of one part of the aggregator that had work to do; kept for seven days."""

    name = text(50, "Name of the part, which says which aggregates it updated or computed.", required=True)
    started_at = timestamp("Time at which it started.", required=True)
    completed_at = timestamp("Time of its last write.")
    rows = long_integer("Number of aggregate rows written.", default=0)
    status = choice("COMPLETED", "FAILED", doc="Whether it completed all its work.", required=True)
