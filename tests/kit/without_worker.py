"""The command `promenade` without its background work: `python -m tests.kit.without_worker serve ...`.

For tests of what clients do to rows that the worker would take up as soon as they are made. Their queries have the time
that a busy machine takes: none of these tests is about how long a query may run.
"""

from __future__ import annotations

import asyncio

from promenade import app
from promenade.cli import main
from promenade.web import odata
from promenade.workflows.context import Context

__all__ = ["rest"]

_QUERY_SECONDS = 60.0


async def rest(context: Context, stop: asyncio.Event) -> None:
    """In the worker's place: do nothing until the service ends."""
    await stop.wait()


if __name__ == "__main__":
    vars(app)["run_worker"] = rest
    vars(odata)["QUERY_SECONDS"] = _QUERY_SECONDS
    main()
