"""The figures of the database that every serving process shows with its metrics, read every few seconds at most."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime

from promenade import metrics
from promenade.errors import PromenadeError
from promenade.log import Logger
from promenade.metrics import show_figure
from promenade.store.clockwork.figures import Figures, read_figures
from promenade.workflows.clockwork.sheet import clock_sheet
from promenade.workflows.context import Context

KEPT_SECONDS = 15.0
READING_SECONDS_MAX = 5.0
_STATES = ("NEW", "RUNNING", "OK", "LATE", "STUCK", "FAILED", "TROUBLE")

_log = Logger(__name__)


class WatchedFigures:
    """Keeps `promenade.metrics` up to date when asked; however often it is asked, and by however many at a time.

    ``seconds`` is a monotonic clock.
    """

    def __init__(self, context: Context, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._context = context
        self._seconds = seconds
        self._asked_at = -KEPT_SECONDS
        self._reading = asyncio.Lock()

    async def refresh(self) -> None:
        """Read the figures if they are older than `KEPT_SECONDS`; never raises.

        If the database does not answer, the metrics say that they are unknown.
        """
        async with self._reading:
            if self._seconds() - self._asked_at < KEPT_SECONDS:
                return
            self._asked_at = self._seconds()
            database, at = self._context.database, self._context.clock()
            try:
                async with asyncio.timeout(READING_SECONDS_MAX):
                    figures = await database.read(lambda session: read_figures(session, at), system=True)
                    jobs = await clock_sheet(database, at)
            except (PromenadeError, OSError) as error:  # a timeout is an OSError
                _log.warning("metrics.figures_unknown", reason=str(error) or type(error).__name__)
                metrics.forget_figures()
                return
            _show(figures, Counter(str(job["state"]) for job in jobs), at)


def _show(figures: Figures, jobs: Counter[str], at: datetime) -> None:
    for name, (number, since) in figures.queues.items():
        show_figure(metrics.queue_length, number, name)
        age = 0.0 if since is None else max(0.0, (at - since).total_seconds())
        show_figure(metrics.queue_oldest, age, name)
    show_figure(metrics.side_effects_failed, figures.side_effects_failed)
    for name in _STATES:
        show_figure(metrics.clock_jobs, jobs[name], name.lower())
    for name, number in figures.stores.items():
        show_figure(metrics.stores, number, name)
    show_figure(metrics.stores_pending, figures.stores_pending)
    show_figure(metrics.pools_low, figures.pools_low)
    show_figure(metrics.pools_empty, figures.pools_empty)
    for name, number in figures.budgets.items():
        show_figure(metrics.budgets, number, name)
    show_figure(metrics.secrets_overdue, figures.secrets_overdue)
    show_figure(metrics.figures_known, 1)
