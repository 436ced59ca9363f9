"""The clockwork as operators look at it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from promenade.store.clockwork import ClockRow, read_clock
from promenade.store.unit import Database
from promenade.workflows.clockwork.jobs import clock_jobs

__all__ = ["clock_sheet"]


async def clock_sheet(database: Database, at: datetime) -> list[dict[str, Any]]:
    """All jobs that this program knows, and those of other versions that the database knows, by name.

    ``every`` is in seconds; ``state`` is RUNNING, STUCK (its worker's lease has run out), FAILED, LATE (due for more
    than a minute), or OK; moments are UTC.
    """
    rows = {row.name: row for row in await database.read(read_clock, system=True)}
    jobs = clock_jobs()
    return [
        {
            "job": name,
            "state": _state(rows.get(name), at),
            "every": int(jobs[name].every.total_seconds()) if name in jobs else None,
            "dueAt": _shown(row.due_at if (row := rows.get(name)) else None),
            "lastRunAt": _shown(row.last_run_at if row else None),
            "heldBy": row.lease_owner if row else None,
            "lastError": row.last_error if row else None,
        }
        for name in sorted(jobs.keys() | rows.keys())
    ]


def _state(row: ClockRow | None, at: datetime) -> str:
    if row is None:
        return "NEW"
    if row.lease_until is not None:
        return "RUNNING" if row.lease_until > at else "STUCK"
    if row.last_error is not None:
        return "FAILED"
    return "LATE" if (at - row.due_at).total_seconds() > _LATE_SECONDS else "OK"


_LATE_SECONDS = 60


def _shown(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
