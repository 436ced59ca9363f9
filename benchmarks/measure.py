"""Timing and output of tables."""

from __future__ import annotations

import gc
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Timing", "milliseconds", "percentile", "show", "time_each"]

T = TypeVar("T")
WIDTH = 118


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations of single calls in nanoseconds."""

    p50: int
    p99: int
    calls: int


def percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the value that ``percent`` % of the sorted, non-empty values do not exceed."""
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def time_each(work: Callable[[T], object], inputs: Sequence[T], seconds: float) -> Timing:
    """Call ``work`` on the inputs in turn for about ``seconds``, at least twice each, after one unmeasured round."""
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
    """Format with only significant decimals."""
    value = nanoseconds / 1e6
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
    """Print a table: the first column left-aligned, numbers right-aligned."""
    lines = [tuple(columns), *(tuple(map(str, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(f"{title}\n")
    for line in lines:
        cells = [
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
        if line is lines[0]:
            print("-" * (sum(widths) + 2 * (len(widths) - 1)))
    print(f"\n{textwrap.fill(note, WIDTH)}\n" if note else "", flush=True)
