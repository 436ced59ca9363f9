"""What the aggregator remembers of its own work; the aggregates are in the tables of the reports."""

from __future__ import annotations

from collections.abc import Iterator

from promenade.store.system_columns import Definition, count, identity, key, moment, text

__all__ = ["report_work"]


def report_work() -> Iterator[Definition]:
    """All of it."""
    yield (
        "report_state",
        "How far a tenant's reports are; whoever adds sales to its aggregates holds the row.",
        True,
        (
            count("portions", "Portions of sales that were counted.", big=True),
            count("refreshed_portions", "How many of them are in what is computed from aggregates.", big=True),
            moment("refreshed_at", "When that was last computed.", nullable=True),
            text("rebuild", 10, "EMPTYING or COUNTING while all is counted anew from the logs.", nullable=True),
            moment("cursor_at", "When the last sale that was counted anew was confirmed.", nullable=True),
            identity("cursor_id", "The calculation log of that sale.", nullable=True),
            key("report_state"),
        ),
    )
