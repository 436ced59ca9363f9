"""Jobs that the clock starts: one async function each, registered under ``@clock_job``.

A run does a portion, in short units of work, of all that is due at that moment; so a run that was missed is caught up
by the next. It takes about a second, not more: other jobs wait for it, and after 45 seconds it is cut off. Any number
of workers may look, one of them runs a job (see `workflows.clockwork.runs`): the context that a run gets has a database
in which it can write only while the job is its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from promenade.workflows.context import Context

__all__ = ["ClockJob", "Ran", "clock_job", "clock_jobs"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run came to. ``more``: the job is due again at once; ``cursor``: where a job that goes round goes on.

    ``trouble`` is shown to operators as the job's last error: what the run could not do, although it did the rest.
    A run that raises is put off and its cursor stays; one that has left its trouble behind goes on as usual.
    """

    done: int
    more: bool = False
    cursor: str | None = None
    trouble: str | None = None


Run = Callable[[Context, str | None], Awaitable[Ran]]
"""A run: the context, and the cursor that the run before left."""


@dataclass(frozen=True, slots=True)
class ClockJob:
    """``every``: how long after a run the next is due."""

    name: str
    every: timedelta
    run: Run


_REGISTRY: dict[str, ClockJob] = {}


def clock_job(name: str, *, every: timedelta) -> Callable[[Run], Run]:
    """Register an async function as the job ``name``. A name taken twice is refused."""

    def register(run: Run) -> Run:
        if name in _REGISTRY:
            raise ValueError(f"clock job {name} is defined twice")
        _REGISTRY[name] = ClockJob(name, every, run)
        return run

    return register


def clock_jobs() -> Mapping[str, ClockJob]:
    """All jobs by name."""
    return MappingProxyType(_REGISTRY)
