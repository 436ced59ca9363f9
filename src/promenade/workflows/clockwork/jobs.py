"""Scheduled jobs: one async function each, registered with ``@clock_job``.

A run does a portion, in short units of work, of everything that is due; so the next run makes up for a missed one. It
takes about a second, not more: other jobs wait for it, and after 45 seconds it is cancelled. Any number of workers may
check for due jobs, and one of them runs a job (see `workflows.clockwork.runs`): the run's context contains a database
that it can write to only while it holds the job.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from promenade.workflows.context import Context


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a run. ``more``: the job is due again at once; ``cursor``: where the next run continues.

    ``trouble`` is shown to operators as the job's last error: what the run could not do while doing the rest. A run
    that raises is postponed and its cursor is kept; one that returns trouble continues as usual.
    """

    done: int
    more: bool = False
    cursor: str | None = None
    trouble: str | None = None


Run = Callable[[Context, str | None], Awaitable[JobResult]]
"""A run: the context, and the cursor that the run before left."""


@dataclass(frozen=True, slots=True)
class ClockJob:
    """A scheduled job. ``every``: the time from one run to the next."""

    name: str
    every: timedelta
    run: Run


_REGISTRY: dict[str, ClockJob] = {}


def clock_job(name: str, *, every: timedelta) -> Callable[[Run], Run]:
    """Register an async function as the job ``name``. Duplicate names are refused."""

    def register(run: Run) -> Run:
        if name in _REGISTRY:
            raise ValueError(f"clock job {name} is defined twice")
        _REGISTRY[name] = ClockJob(name, every, run)
        return run

    return register


def clock_jobs() -> Mapping[str, ClockJob]:
    """Return all jobs by name."""
    return MappingProxyType(_REGISTRY)
