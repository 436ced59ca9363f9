"""How long work keeps a processor busy, without what it waits for.

Beside tills a slice of rows takes longer by the clock, because they have their turns meanwhile, and the longer the more
there are of them. What it takes from them is its own processor time alone.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, Generic, TypeVar

__all__ = ["Busy"]

T = TypeVar("T")


class Busy(Generic[T]):
    """``await Busy(work)`` gives what ``work`` gives; ``seconds`` of processor time it took in this thread."""

    __slots__ = ("_work", "seconds")

    def __init__(self, work: Awaitable[T]) -> None:
        self._work = work
        self.seconds = 0.0

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._work.__await__()
        go_on: Callable[[], Any] = partial(next, steps)
        while True:
            began = time.thread_time()
            try:
                waited_for = go_on()
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            finally:
                self.seconds += time.thread_time() - began
            try:
                yield waited_for
            except BaseException as error:  # a cancellation, which the work may have to tidy up after
                go_on = partial(steps.throw, error)
            else:
                go_on = partial(next, steps)
