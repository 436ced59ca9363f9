"""Rules that a declaration cannot say: one class for each entity set that has some, registered under ``@rules``.

Every hook gets all writes of its set in one call, so that a rule costs as many statements for a thousand rows as for
one. Faults are added to ``unit.faults``; what must not go on at all is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from promenade.workflows.authoring.unit import Row, Unit, Write

__all__ = ["Rules", "registered", "rules"]


class Rules:
    """Base of the rules of one entity set; each hook may be left out."""

    def admit(self, unit: Unit, row: Row, *, is_new: bool) -> None:
        """Look at the row of a request before anything else; raise what no such request may do."""

    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        """Fill in what follows from the request, before it is checked."""

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        """Check the writes; the answer is further writes that follow from them."""
        return []

    async def store(self, unit: Unit, writes: Sequence[Write]) -> None:
        """Write what goes along with the rows, after them."""

    async def finish(self, unit: Unit) -> None:
        """Check what only the end of the unit can tell, and tell others."""


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
    """All rules by entity set."""
    return MappingProxyType(_RULES)
