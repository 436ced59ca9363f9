"""Timing and printing."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich import box
from rich.console import Console
from rich.table import Table

__all__ = ["Timing", "milliseconds", "percentile", "show", "time_each"]

T = TypeVar("T")
CONSOLE = Console(highlight=False, width=118)


@dataclass(frozen=True, slots=True)
class Timing:
    """Nanoseconds of single calls."""

    p50: int
    p99: int
    calls: int


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The value that ``percent`` % of the sorted, non-empty values do not exceed."""
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def time_each(work: Callable[[T], object], inputs: Sequence[T], seconds: float) -> Timing:
    """Call ``work`` on the inputs in turn for about ``seconds``, each at least twice, after one round unmeasured."""
    for one in inputs:
        work(one)
    gc.collect()
    gc.freeze()
    clock = time.perf_counter_ns
    taken: list[int] = []
    end = clock() + int(seconds * 1e9)
    while len(taken) < 2 * len(inputs) or clock() < end:
        for one in inputs:
            start = clock()
            work(one)
            taken.append(clock() - start)
    gc.unfreeze()
    taken.sort()
    return Timing(percentile(taken, 50), percentile(taken, 99), len(taken))


def milliseconds(nanoseconds: float) -> str:
    """With as many decimals as mean something."""
    value = nanoseconds / 1e6
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
    """Print a table: the first column left, numbers right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(str, row))
    CONSOLE.print(title, style="bold")
    CONSOLE.print(table)
    if note:
        CONSOLE.print(f"{note}\n", style="italic")
