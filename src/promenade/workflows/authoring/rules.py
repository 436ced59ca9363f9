"""Rules that a declaration cannot express: a class per entity set, registered with ``@rules``.

Every hook gets all writes of its set in one call, so that a rule needs as many statements for a thousand rows as for
one. Faults are added to ``unit.faults``; an error that must stop the call at once is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from promenade.workflows.authoring.unit import Row, Unit, Write


class Rules:
    """Base class of the rules of one entity set; every hook is optional."""

    def admit(self, unit: Unit, row: Row, *, is_new: bool) -> None:
        """Check the row of a request before anything else; raise what no such request may do."""

    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        """Fill in derived values before the checks."""

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        """Check the writes; return further writes that follow from them."""
        return []

    async def store(self, unit: Unit, writes: Sequence[Write]) -> None:
        """Write additional data after the rows."""

    async def finish(self, unit: Unit) -> None:
        """Run the checks that need the end of the unit, and emit events."""


_RULES: dict[str, Rules] = {}

R = TypeVar("R", bound=type[Rules])


def rules(*set_names: str) -> Callable[[R], R]:
    """Register a class as the rules of entity sets."""

    def register(cls: R) -> R:
        for set_name in set_names:
            if set_name in _RULES:
                raise ValueError(f"{set_name} has two sets of rules")
            _RULES[set_name] = cls()
        return cls

    return register


def registered() -> Mapping[str, Rules]:
    """Return all rules by entity set."""
    return MappingProxyType(_RULES)
