"""Sets of whole numbers as spans: disjoint, ascending, both ends included."""

from __future__ import annotations

from collections.abc import Iterable

Spans = tuple[tuple[int, int], ...]

LOWEST = -(1 << 80)
HIGHEST = 1 << 80
ANY: Spans = ((LOWEST, HIGHEST),)


def spans_of(pairs: Iterable[tuple[int | None, int | None]]) -> Spans:
    """The union of ranges, None meaning open; a range whose low end is above its high end is empty."""
    closed = [(LOWEST if low is None else low, HIGHEST if high is None else high) for low, high in pairs]
    merged: list[tuple[int, int]] = []
    for low, high in sorted([pair for pair in closed if pair[0] <= pair[1]]):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def at_least(low: int) -> Spans:
    """All numbers from ``low`` on."""
    return ((low, HIGHEST),)


def both(left: Spans, right: Spans) -> Spans:
    """The intersection."""
    found: list[tuple[int, int]] = []
    place = other = 0
    while place < len(left) and other < len(right):
        low = max(left[place][0], right[other][0])
        high = min(left[place][1], right[other][1])
        if low <= high:
            found.append((low, high))
        if left[place][1] < right[other][1]:
            place += 1
        else:
            other += 1
    return tuple(found)


def outside(spans: Spans) -> Spans:
    """The complement."""
    found: list[tuple[int, int]] = []
    start = LOWEST
    for low, high in spans:
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= HIGHEST:
        found.append((start, HIGHEST))
    return tuple(found)
