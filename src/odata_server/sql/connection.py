"""What reading needs of a database connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import Executable, Row

__all__ = ["SqlConnection"]


class SqlConnection(Protocol):
    """A connection inside a transaction."""

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        ...

    async def execute(self, statement: Executable) -> Sequence[Row[Any]]:
        """Run a statement and return its rows."""
        ...

    async def rowcount(self, statement: Executable) -> int:
        """Run an insert, update or delete and return how many rows it touched."""
        ...

    async def execute_many(self, statement: Executable, params: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement once for every parameter set."""
        ...
