"""Slow work to do before a unit of work begins: units must be short, because others wait for what they hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from promenade.workflows.context import Context

T = TypeVar("T")

Prepared = dict[Hashable, Any]
"""What has been done for a unit, by what its handlers call it."""


class Unprepared(Exception):
    """Raised inside a unit that needs preparation: the unit is rolled back, ``prepare`` runs, the unit is retried.

    It is a control flow signal, not an error: handlers that report errors to callers do not catch it.
    """

    def __init__(self, key: Hashable, prepare: Callable[[Context], Awaitable[Any]]) -> None:
        super().__init__(key)
        self.key = key
        self.prepare = prepare


async def prepared_first(context: Context, run: Callable[[Prepared], Awaitable[T]]) -> T:
    """Run a unit, and retry it each time it raises `Unprepared`; each preparation runs once."""
    prepared: Prepared = {}
    while True:
        try:
            return await run(prepared)
        except Unprepared as missing:
            prepared[missing.key] = await missing.prepare(context)
