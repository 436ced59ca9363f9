"""The command `promenade` without its background work: `python -m tests.kit.without_worker serve ...`.

For tests of client operations on rows that the worker would otherwise process immediately.
"""

from __future__ import annotations

import asyncio

from promenade import app
from promenade.cli import main
from promenade.workflows.context import Context

__all__ = ["rest"]


async def rest(context: Context, stop: asyncio.Event) -> None:
    """Replace the worker: do nothing until the service ends."""
    await stop.wait()


if __name__ == "__main__":
    vars(app)["run_worker"] = rest
    main()
