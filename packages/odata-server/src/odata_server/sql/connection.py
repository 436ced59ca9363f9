"""The database connection that reading needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy import Executable, Row

__all__ = ["Keeping", "Kept", "SqlConnection"]


@dataclass(slots=True, eq=False)
class Kept:
    """A statement that is executed repeatedly; ``made`` holds what a connection has prepared for it.

    It is a SELECT or a statement that writes. Only its named parameters vary; all other values are fixed.
    """

    statement: Any
    made: dict[Any, Any] = field(default_factory=dict)


class SqlConnection(Protocol):
    """A connection with an open transaction."""

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        ...

    async def execute(self, statement: Executable) -> Sequence[Row[Any]]:
        """Run a statement and return its rows."""
        ...

    async def rowcount(self, statement: Executable) -> int:
        """Run an insert, update or delete and return the number of affected rows."""
        ...

    async def execute_many(self, statement: Executable, params: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement once for every parameter set."""
        ...


class Keeping(Protocol):
    """A connection that can execute a statement repeatedly without recompiling it."""

    async def run_kept(self, kept: Kept, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Run a statement with these values of its named parameters and return its rows."""
        ...
