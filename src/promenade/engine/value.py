"""Frozen values that are made by the dozen for every basket.

A dataclass with ``frozen=True`` sets each field through ``object.__setattr__``: a line of the outcome then takes eight
times as long to make, and the lines of a basket as long as all the rest of pricing it when nothing matches. These
values are frozen where it is checked, by the type checker, and plain slots at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

__all__ = ["value"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:

    def value(*, frozen: bool, slots: bool):
        """As ``dataclass(frozen=True, slots=True)``, without the guard at run time; equal and hashable alike."""
        return dataclass(slots=slots, unsafe_hash=frozen)
