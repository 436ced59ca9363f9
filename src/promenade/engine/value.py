"""Frozen values that are created many times for every basket.

A dataclass with ``frozen=True`` sets each field through ``object.__setattr__``: a line of the outcome then takes eight
times as long to create, and the lines of a basket as long as all the rest of pricing it when nothing matches. The type
checker enforces that these values are frozen; at run time they are plain slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

__all__ = ["value"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:

    def value(*, frozen: bool, slots: bool):
        """Like ``dataclass(frozen=True, slots=True)`` but without the run-time guard; equality and hashing are the
        same.
        """
        return dataclass(slots=slots, unsafe_hash=frozen)
