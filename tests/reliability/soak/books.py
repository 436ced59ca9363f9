"""The final contents of the database, read once: rows of all tenants by table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import FromClause, Row, select

from promenade.store.driver.unit import Database, Session
from tests.kit.logged import rows_from
from tests.kit.receiver import Request
from tests.reliability.soak.history import History

__all__ = ["Books", "Key", "group"]

Key = tuple[str, ...]


@dataclass(slots=True)
class Books:
    """The database, the history of the answers, and the received webhooks; ``faults`` collects violations."""

    database: Database
    history: History
    received: Sequence[Request]
    faults: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    _kept: dict[tuple[str, ...], Sequence[Row[Any]]] = field(default_factory=dict)

    async def rows(self, name: str, *columns: str) -> Sequence[Row[Any]]:
        """Return the rows of a table, of all tenants; ``columns`` by their Python names, all by default."""
        return await self.rows_of(rows_from(name), *columns)

    async def rows_of(self, wanted: FromClause, *columns: str) -> Sequence[Row[Any]]:
        """Return the same for a table object."""
        key = (str(getattr(wanted, "name", "")), *columns)
        if key not in self._kept:
            statement = select(*(wanted.c[column] for column in columns)) if columns else select(wanted)

            async def work(session: Session) -> Sequence[Row[Any]]:
                return await session.execute(statement)

            self._kept[key] = await self.database.read(work, system=True)
        return self._kept[key]

    def expect(self, invariant: str, holds: bool, said: object) -> None:
        """Count one check of an invariant, and record a violation."""
        self.checked[invariant] += 1
        if not holds and len(self.faults) < 200:
            self.faults.append(f"{invariant}: {said}")


def group(rows: Iterable[Row[Any]], *columns: str) -> dict[Any, list[Row[Any]]]:
    """Group rows by columns: by the value of one, by a tuple of several."""
    found: dict[Any, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        key = tuple(getattr(row, column) for column in columns)
        found[key[0] if len(columns) == 1 else key].append(row)
    return found
