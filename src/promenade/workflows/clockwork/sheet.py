"""The clock jobs' status for operators."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from promenade.store.clockwork.jobs import ClockRow, read_clock
from promenade.store.driver.unit import Database
from promenade.workflows.clockwork.jobs import ClockJob, clock_jobs

LATE = timedelta(minutes=1)


async def clock_sheet(database: Database, at: datetime) -> list[dict[str, Any]]:
    """List all jobs that this program or the database knows (the latter also from other versions), by name.

    ``every`` is in seconds; moments are UTC. ``state`` is NEW (never seen by a worker), RUNNING, STUCK (its worker
    died; another one takes over), FAILED (it is delayed), TROUBLE (it runs, but leaves something undone), LATE (due for
    more than a minute: is a worker running?), or OK.
    """
    rows = {row.name: row for row in await database.read(read_clock, system=True)}
    jobs = clock_jobs()
    return [_line(name, jobs.get(name), rows.get(name), at) for name in sorted(jobs.keys() | rows.keys())]


def _line(name: str, job: ClockJob | None, row: ClockRow | None, at: datetime) -> dict[str, Any]:
    return {
        "job": name,
        "state": "NEW" if row is None else _state(row, job, at),
        "every": None if job is None else int(job.every.total_seconds()),
        "dueAt": None if row is None else _shown(row.due_at),
        "lastRunAt": None if row is None else _shown(row.last_run_at),
        "heldBy": None if row is None else row.lease_owner,
        "lastError": None if row is None else row.last_error,
    }


def _state(row: ClockRow, job: ClockJob | None, at: datetime) -> str:
    if row.lease_until is not None:
        return "RUNNING" if row.lease_until > at else "STUCK"
    if row.last_error is not None:
        # A failed job is delayed beyond its regular next run.
        has_run = job is not None and row.last_run_at is not None and row.due_at <= row.last_run_at + job.every
        return "TROUBLE" if has_run else "FAILED"
    return "LATE" if job is not None and at - row.due_at > LATE else "OK"


def _shown(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"
