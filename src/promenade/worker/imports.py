"""Imports: a loop of its own that runs import jobs, one stretch at a time, alternating between tenants.

A worker that fails tries again later; it never ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from promenade.store.imports.work import ImportClaim
from promenade.worker.loop import PAUSE_SECONDS, keep_going, wait
from promenade.worker.pace import ImportPace
from promenade.workflows.context import Context
from promenade.workflows.imports.rows import importer_for
from promenade.workflows.imports.running import LEASE_SECONDS, Importers, ImportRun, claim_import, return_claim

POLL_SECONDS = 1.0  # how long a job that another process accepted may wait


class Imports:
    """Runs imports until stopped. Times are in seconds; ``importers`` returns the importer of an entity set."""

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
        self._after = ""  # the tenant that had the last turn
        self._left: list[ImportClaim] = []  # claims that could not be released
        self._paced: tuple[str, ImportPace] = "", ImportPace(context.tills)  # of the job processed last

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set: the current slice is finished; rows that only count all together are
        abandoned.
        """
        ready = self._context.imports_ready

        async def work() -> None:
            ready.clear()
            if not await self.run_once(stop.is_set):
                await wait(self._poll_seconds, stop, ready)

        await keep_going("imports", stop, work, pause_seconds=self._pause_seconds)

    async def run_once(self, stopping: Callable[[], bool] = lambda: False) -> bool:
        """Work on one job for a stretch; False: nothing to do. Raises Unavailable if the database is unreachable."""
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
            self._left.append(held)  # release it, so that nobody waits for the lease to expire
            raise
        return True

    def _pace(self, held: ImportClaim) -> ImportPace:
        """Return the pace of a job, which is kept while the job lasts; another job's rows may take longer."""
        if self._paced[0] != held.job_id:
            self._paced = held.job_id, ImportPace(self._context.tills)
        return self._paced[1]
