"""From sales to reports: folds add sales to their aggregates, refreshers compute reports from aggregates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from promenade.store.driver.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reports.sales import LoggedSale

Write = Callable[[Session], Awaitable[int]]
"""Write to the aggregates what sales came to; the answer is how many rows were written.

Only one worker at a time writes to a tenant's aggregates: what it reads of them stays as it is until the commit.
"""

Add = Callable[[Session, Sequence[LoggedSale], datetime, int], Awaitable[Write]]
"""Add up sales of the session's tenant, ``at`` a moment; the answer writes the sums.

The last argument is the sign: 1, or -1 for sales that were added before and have been cancelled since: what they added
to sums is taken out again. Both run within the unit of work that marks the sales as counted, which may be repeated:
they await the session alone, read and write sets of rows at once, in the order of keys, and keep nothing in memory.
Workers add up at the same time, so this reads nothing of the aggregates and writes nothing to them.
"""


@dataclass(frozen=True, slots=True)
class Fold:
    """A registered fold: ``name`` as in AggregatorRuns; ``tables`` hold all its data and are emptied by a rebuild."""

    name: str
    tables: tuple[str, ...]
    add: Add


_REGISTRY: dict[str, Fold] = {}


def fold(name: str, *, tables: Sequence[str]) -> Callable[[Add], Add]:
    """Register an async function as the fold ``name``. Raises ValueError for a duplicate name."""

    def register(add: Add) -> Add:
        if name in _REGISTRY:
            raise ValueError(f"fold {name} is defined twice")
        _REGISTRY[name] = Fold(name, tuple(tables), add)
        return add

    return register


def folds() -> Mapping[str, Fold]:
    """Return all folds by name, in execution order."""
    return MappingProxyType(_REGISTRY)


Refresh = Callable[[Context, str, datetime], Awaitable[int]]
"""Compute anew, for a tenant, what is derived from aggregates, ``at`` a moment; the answer is how many rows changed.

It runs in units of work of its own, after sales were counted and once at the beginning of each UTC day, and may be cut
off and begun again: what it writes is right whatever was written before.
"""


@dataclass(frozen=True, slots=True)
class Refresher:
    """A registered refresher: ``name`` as in AggregatorRuns."""

    name: str
    refresh: Refresh


_REFRESHERS: dict[str, Refresher] = {}


def refresher(name: str) -> Callable[[Refresh], Refresh]:
    """Register an async function as the refresher ``name``. Raises ValueError if a refresher or a fold has that
    name.
    """

    def register(refresh: Refresh) -> Refresh:
        if name in _REFRESHERS or name in _REGISTRY:
            raise ValueError(f"refresher {name} is defined twice")
        _REFRESHERS[name] = Refresher(name, refresh)
        return refresh

    return register


def refreshers() -> Mapping[str, Refresher]:
    """Return all refreshers by name, in execution order."""
    return MappingProxyType(_REFRESHERS)
