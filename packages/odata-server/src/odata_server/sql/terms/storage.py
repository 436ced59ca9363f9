"""The storage format of values in a column, if the database lacks a native type.

A column type declares it by a method ``odata_storage(dialect: str) -> Storage``; the default is `NATIVE`. Literals are
bound in the stored form, so that indexes can be used; arithmetic and functions work on it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["EPOCH_MICROSECONDS", "NATIVE", "ScaledInteger", "Storage", "storage_of"]


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage format of values in a column."""

    name: str


@dataclass(frozen=True, slots=True)
class ScaledInteger(Storage):
    """A decimal stored as an integer: the value times 10 to the power of ``scale``."""

    scale: int

    def __init__(self, scale: int) -> None:
        object.__setattr__(self, "name", "scaled integer")
        object.__setattr__(self, "scale", scale)


NATIVE = Storage("native")
"""As the database's own type for it; a Decimal on SQLite is then a floating-point number, a timestamp text."""

EPOCH_MICROSECONDS = Storage("epoch microseconds")
"""A moment as microseconds since 1970-01-01T00:00Z, a duration as microseconds."""


def storage_of(column_type: Any, dialect: str) -> Storage:
    """Return how a column of this type stores its values on ``sqlite`` or ``postgresql``."""
    tell = getattr(column_type, "odata_storage", None)
    return NATIVE if tell is None else tell(dialect)
