"""Work that a unit needs done before it begins: a unit of work is short, and holds what others wait for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from promenade.workflows.context import Context

__all__ = ["Prepared", "Unprepared", "prepared_first"]

T = TypeVar("T")

Prepared = dict[Hashable, Any]
"""What has been done for a unit, by what its handlers call it."""


class Unprepared(Exception):
    """Raised inside a unit by what needs something done first: the unit is undone, ``prepare`` runs, the unit again.

    No error: it goes past all who tell callers of errors.
    """

    def __init__(self, key: Hashable, prepare: Callable[[Context], Awaitable[Any]]) -> None:
        super().__init__(key)
        self.key = key
        self.prepare = prepare


async def prepared_first(context: Context, run: Callable[[Prepared], Awaitable[T]]) -> T:
    """Run a unit, as often as something in it turns out to be unprepared; each thing is prepared once."""
    prepared: Prepared = {}
    while True:
        try:
            return await run(prepared)
        except Unprepared as missing:
            prepared[missing.key] = await missing.prepare(context)
