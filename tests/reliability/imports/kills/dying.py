"""Workers that die before a chosen statement: `python -m tests.reliability.imports.kills.dying VERB URL`.

For step 1, 2, 3 ... a tenant of its own, t001, t002, t003 ..., submits a job, and a forked process that works on it
exits before its n-th statement. The last process has no n-th statement and completes. Prints how many processes died.
VERB is the kind of job: see `JOBS`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from promenade.store.driver.session import open_database
from promenade.worker.pace import ImportPace
from promenade.workflows.imports.rows import importer_for
from promenade.workflows.imports.running import LEASE_SECONDS, ImportRun, claim_import
from tests.reliability.crashing import DyingDatabase, die_before_each_statement
from tests.workflows.imports.running.yard import Yard, open_yard

__all__ = ["JOBS", "ROWS", "WRONG", "opened_yard", "sent", "tenant"]

ROWS = 25
WRONG = 14  # the row that cannot be stored, if there is one

JOBS: dict[str, dict[str, Any]] = {
    "batch": {"source": "POS_BATCH", "continue_on_error": True},
    "whole": {"continue_on_error": False},
    "faulty": {"continue_on_error": False},
}
"""How each kind of job is sent: rows that count one by one, all at once, and all at once with one that is wrong."""


def tenant(step: int) -> str:
    return f"t{step:03}"


def sent(verb: str) -> list[dict[str, Any]]:
    """Return the rows of a job: a batch and a faulty job have one wrong row, and a batch has one duplicate."""
    rows = [{"articleNumber": f"A{number}", "name": f"Article {number}"} for number in range(1, ROWS + 1)]
    if verb != "whole":
        rows[WRONG - 1]["status"] = "SOUR"
    if verb == "batch":
        rows[ROWS - 1]["articleNumber"] = "A1"
    return rows


@asynccontextmanager
async def opened_yard(url: str, *, is_new: bool = False) -> AsyncIterator[Yard]:
    """Open the yard at ``url``, with the importers of the service."""
    database = await open_database(url)
    try:
        yield await open_yard(database, is_new=is_new)
    finally:
        await database.close()


async def import_and_die(verb: str, url: str, step: int) -> None:
    async with opened_yard(url) as yard:
        await yard.accept(sent(verb), tenant=tenant(step), **JOBS[verb])
        context = replace(yard.context, database=DyingDatabase(yard.context.database, step))
        held = await claim_import(context, after=tenant(step - 1))
        assert held is not None
        assert held.tenant_id == tenant(step)
        pace = ImportPace(context.tills)
        # However slow the machine is: the worker releases the job when its time slice is over, and no statement
        # follows.
        run = ImportRun(context, held, importer_for, pace, lambda: False, stretch_seconds=LEASE_SECONDS)
        await run.carry_out()


if __name__ == "__main__":
    of, at = sys.argv[1:]
    die_before_each_statement(lambda step: import_and_die(of, at, step))
