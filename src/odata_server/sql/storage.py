"""In what form a column holds its values, where the database has no type of that kind.

A column type tells it by a method ``odata_storage(dialect: str) -> Storage``; without one it is `NATIVE`. Literals are
bound in the stored form, so that indexes serve; arithmetic and functions work on it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["EPOCH_MICROSECONDS", "NATIVE", "ScaledInteger", "Storage", "storage_of"]


@dataclass(frozen=True, slots=True)
class Storage:
    """A form of values in a column."""

    name: str


@dataclass(frozen=True, slots=True)
class ScaledInteger(Storage):
    """A decimal as a whole number: the value times 10 to the power of ``scale``."""

    scale: int

    def __init__(self, scale: int) -> None:
        object.__setattr__(self, "name", "scaled integer")
        object.__setattr__(self, "scale", scale)


NATIVE = Storage("native")
"""As the database's own type for it; a Decimal on SQLite is then a floating-point number, a timestamp text."""

EPOCH_MICROSECONDS = Storage("epoch microseconds")
"""A moment as microseconds since 1970-01-01T00:00Z, a duration as microseconds."""


def storage_of(column_type: Any, dialect: str) -> Storage:
    """How a column of this type holds its values on ``sqlite`` or ``postgresql``."""
    tell = getattr(column_type, "odata_storage", None)
    return NATIVE if tell is None else tell(dialect)
