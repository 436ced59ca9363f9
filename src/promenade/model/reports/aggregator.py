"""The runs of the aggregator, which maintains the aggregates behind reports."""

from __future__ import annotations

from promenade.model.declare import RO, Entity, choice, long_integer, text, timestamp

__all__ = ["AggregatorRuns"]


class AggregatorRuns(Entity, reporting=RO, managed=False, indexes=(("started_at",), ("name", "started_at"))):
    """A run of one part of the aggregator that had work to do; kept for seven days."""

    name = text(50, "The part: which aggregates it added sales to, or what it computed from them.", required=True,
                read_only=True)  # fmt: skip
    started_at = timestamp("When it began.", required=True, read_only=True)
    completed_at = timestamp("When it last wrote.", read_only=True)
    rows = long_integer("Rows of aggregates that it wrote.", default=0, read_only=True)
    status = choice("COMPLETED", "FAILED", doc="Whether it did all that it set out to do.", required=True,
                    read_only=True)  # fmt: skip
