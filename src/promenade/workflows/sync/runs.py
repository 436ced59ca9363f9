"""Which run of the program speaks for a store: a second machine with its identity is noticed and fenced off.

Each start of the program is a run. A new run takes over, and the one before is never heard again. One that speaks a
second time after a newer one has begun runs on another machine; once may be a heartbeat that was under way meanwhile.
The newer ones are fenced off then (decision 34). Only the order of heartbeats counts, no clock.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum

import msgspec

KNOWN_MAX = 20
PROBATION = timedelta(minutes=10)
"""For so long a run that begins soon after a clone was noticed gets no shares: it may be the clone, started again."""
WATCHED = timedelta(days=1)
"""For so long after a clone was noticed new runs are on probation."""


class Standing(Enum):
    """Whether a run speaks for its store."""

    SPEAKS = 1
    CLONED = 2
    """It does, and others that spoke for it meanwhile have just been fenced off."""
    FENCED = 3


class Run(msgspec.Struct, array_like=True):
    """A run: the places of its first and last heartbeat in the order of changes."""

    id: str
    first: int
    last: int
    doubtful_until: int = 0
    """Seconds since 1970; it may be a clone that was started again."""
    is_late: bool = False
    """It has spoken once after a newer one had begun."""
    is_fenced: bool = False


class Runs(msgspec.Struct, array_like=True):
    """The runs of a store that are known; a run that only goes on speaking changes nothing."""

    count: int = 0
    known: list[Run] = []

    def speak(self, run_id: str, at: datetime, cloned_at: datetime | None = None) -> Standing:
        """Hear a run, and return whether it speaks for the store; ``cloned_at``: when a clone was last noticed."""
        run = self.find(run_id)
        if run is None:
            self.known = sorted(self.known, key=lambda one: one.last)[1 - KNOWN_MAX :]
            is_watched = cloned_at is not None and at - cloned_at < WATCHED
            until = int((at + PROBATION).timestamp()) if is_watched else 0
            self.known.append(Run(run_id, self._next(), self.count, until))
            return Standing.SPEAKS
        if run.is_fenced:
            return Standing.FENCED
        newer = [one for one in self.known if one.first > run.last]
        if newer and not run.is_late:
            run.is_late = True
            return Standing.SPEAKS
        if run.last != self.count:
            run.last = self._next()
        run.is_late = False
        for one in newer:
            one.is_fenced = True
        return Standing.CLONED if newer else Standing.SPEAKS

    def may_have_shares(self, run_id: str, at: datetime) -> bool:
        """Return whether a run gets shares of budgets, may give some back, and compare them.

        One that has not sent its first heartbeat yet may.
        """
        run = self.find(run_id)
        return run is None or not (run.is_fenced or at.timestamp() < run.doubtful_until)

    def find(self, run_id: str) -> Run | None:
        """Return the run with this ID."""
        return next((one for one in self.known if one.id == run_id), None)

    def _next(self) -> int:
        self.count += 1
        return self.count


def read_runs(stored: str | None) -> Runs:
    """Return what `write_runs` has written; None: no run was heard."""
    return Runs() if stored is None else msgspec.json.decode(stored, type=Runs)


def write_runs(runs: Runs) -> str:
    """Return the runs as text, of at most 2 000 characters."""
    return msgspec.json.encode(runs).decode("utf-8")
