"""The command `promenade` without its background work: `python -m tests.kit.without_worker serve ...`.

For tests of what clients do to rows that the worker would take up as soon as they are made.
"""

from __future__ import annotations

import asyncio

from promenade import app
from promenade.cli import main
from promenade.workflows.context import Context

__all__ = ["rest"]


async def rest(context: Context, stop: asyncio.Event) -> None:
    """In the worker's place: do nothing until the service ends."""
    await stop.wait()


if __name__ == "__main__":
    vars(app)["run_worker"] = rest
    main()
