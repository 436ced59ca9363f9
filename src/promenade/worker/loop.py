"""The common loop of worker tasks: errors of a round are logged, and the loop continues after a pause.

Times are in seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from promenade.errors import Unavailable
from promenade.log import Logger

PAUSE_SECONDS = 2.0  # when the database cannot be reached

_log = Logger(__name__)


async def wait(seconds: float, *events: asyncio.Event) -> None:
    """Wait until one of the events is set, but at most ``seconds``."""
    if len(events) == 1:
        with suppress(TimeoutError):
            await asyncio.wait_for(events[0].wait(), seconds)
        return
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def keep_going(
    name: str, stop: asyncio.Event, work: Callable[[], Awaitable[None]], *, pause_seconds: float | None = None
) -> None:
    """Repeat ``work``, a round with its rest, until ``stop`` is set; ``name`` identifies the loop in the log.

    ``pause_seconds`` None: `PAUSE_SECONDS`.
    """
    while not stop.is_set():
        try:
            await work()
            continue
        except Unavailable as error:
            _log.warning(f"{name}.paused", reason=error.message)
        except Exception:  # no error may end this loop: other work depends on it
            _log.exception(f"{name}.paused")
        await wait(PAUSE_SECONDS if pause_seconds is None else pause_seconds, stop)
