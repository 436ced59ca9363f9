"""The runs of the aggregator, which maintains the aggregates behind reports."""

from __future__ import annotations

from promenade.model.declare import RO, Entity, choice, long_integer, text, timestamp

__all__ = ["AggregatorRuns"]


class AggregatorRuns(Entity, reporting=RO, managed=False, indexes=(("started_at",), ("name", "started_at"))):
    """A run of one part of the aggregator that had work to do; kept for seven days."""

    name = text(50, "Name of the part, which says which aggregates it updated or computed.", required=True,
                read_only=True)  # fmt: skip
    started_at = timestamp("Time at which it started.", required=True, read_only=True)
    completed_at = timestamp("Time of its last write.", read_only=True)
    rows = long_integer("Number of aggregate rows written.", default=0, read_only=True)
    status = choice("COMPLETED", "FAILED", doc="Whether it completed all its work.", required=True,
                    read_only=True)  # fmt: skip
