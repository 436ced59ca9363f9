"""Imports: a loop of its own that carries out jobs, a stretch of one after a stretch of another tenant's.

A worker that fails tries again later; it never ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from promenade.errors import Unavailable
from promenade.store.import_work import ImportClaim
from promenade.worker.import_pace import ImportPace
from promenade.workflows.context import Context
from promenade.workflows.imports.importers import importer_for
from promenade.workflows.imports.running import LEASE_SECONDS, Importers, ImportRun, claim_import, return_claim

__all__ = ["Imports"]

POLL_SECONDS = 1.0  # how long a job that another process has accepted may wait
PAUSE_SECONDS = 2.0  # after the database could not be reached

_log = structlog.get_logger(__name__)


class Imports:
    """Runs until told to stop. Times are in seconds; ``importers`` gives the importer of an entity set."""

    def __init__(
        self,
        context: Context,
        *,
        importers: Importers = importer_for,
        poll_seconds: float = POLL_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
        lease_seconds: int = LEASE_SECONDS,
    ) -> None:
        self._context = context
        self._importers = importers
        self._poll_seconds = poll_seconds
        self._pause_seconds = pause_seconds
        self._lease_seconds = lease_seconds
        self._after = ""  # the tenant whose turn was last
        self._left: list[ImportClaim] = []  # claims that could not be given back
        self._paced: tuple[str, ImportPace] = "", ImportPace(context.tills)  # of the job that was worked on last

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set: the slice of rows under way is finished, rows that count all at once are not."""
        ready = self._context.imports_ready
        while not stop.is_set():
            ready.clear()
            try:
                worked = await self.run_once(stop.is_set)
            except Unavailable as error:
                _log.warning("imports.paused", reason=error.message)
                await _first_of(stop, timeout_seconds=self._pause_seconds)
            except Exception:  # whatever it is: the jobs of all tenants wait for this loop
                _log.exception("imports.paused")
                await _first_of(stop, timeout_seconds=self._pause_seconds)
            else:
                if not worked:
                    await _first_of(stop, ready, timeout_seconds=self._poll_seconds)

    async def run_once(self, stopping: Callable[[], bool] = lambda: False) -> bool:
        """Work on one job for a stretch; False: there is nothing to do. Raises Unavailable with the database away."""
        while self._left:
            await return_claim(self._context, self._left[-1])
            self._left.pop()
        held = await claim_import(self._context, self._after, self._lease_seconds)
        if held is None:
            return False
        self._after = held.tenant_id
        run = ImportRun(
            self._context, held, self._importers, self._pace(held), stopping, lease_seconds=self._lease_seconds
        )
        try:
            await run.carry_out()
        except Exception:
            self._left.append(held)  # nobody has to wait until the lease runs out
            raise
        return True

    def _pace(self, held: ImportClaim) -> ImportPace:
        """The pace of a job, which has learned how long its rows take; another's rows may take longer."""
        if self._paced[0] != held.job_id:
            self._paced = held.job_id, ImportPace(self._context.tills)
        return self._paced[1]


async def _first_of(*events: asyncio.Event, timeout_seconds: float) -> None:
    """Wait until one of the events is set, but no longer than the timeout."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
