"""The clock of the service. Workflows receive the time as a parameter; only the code that composes them calls it."""

from __future__ import annotations

from datetime import UTC, datetime


def clock() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)
