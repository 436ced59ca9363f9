"""A store's replica of the pages it receives, in plain dictionaries; and the expected rows from the cloud's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from promenade.model.sync_sets import ROOTS, SETS, Root, columns_of, values_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session

__all__ = ["Replica", "held_by_stores", "rows_by_id"]

Row = dict[str, Any]
Rows = dict[str, dict[str, Row]]
"""Rows by set and ID; the tenant's settings have the ID ``""``."""


@dataclass
class Replica:
    """A store's rows as received, and the pages they came in."""

    rows: Rows = field(default_factory=lambda: {name: {} for name in SETS})
    cursor: str | None = None
    fulls: int = 0
    deleted: set[tuple[str, str]] = field(default_factory=set)

    def take(self, page: Mapping[str, Any]) -> None:
        """Apply a page as specified; a malformed page fails the test."""
        if page["full"]:
            self.fulls += 1
            self.rows = {name: {} for name in SETS}
        for root in ROOTS:
            self._take(root, page["upserts"], page["deletes"].get(root.set_name, []))
        assert set(page["upserts"]) <= set(SETS)
        assert set(page["deletes"]) <= {root.set_name for root in ROOTS}
        self.cursor = page["cursor"]
        assert len(page["cursor"]) <= 200

    def _take(self, root: Root, upserts: Mapping[str, list[Row]], deletes: list[str]) -> None:
        come = rows_by_id(upserts.get(root.set_name, []))
        assert len(come) == len(upserts.get(root.set_name, [])), f"{root.set_name} twice on a page"
        assert come.keys().isdisjoint(deletes)
        assert len(set(deletes)) == len(deletes)
        for gone in [*deletes, *come]:
            self._drop(root, gone)
        self.deleted |= {(root.set_name, gone) for gone in deletes}
        self.rows[root.set_name] |= come
        whole: dict[str, set[str]] = {root.set_name: set(come)}
        for part in root.parts:
            of_part = rows_by_id(upserts.get(part.set_name, []))
            assert len(of_part) == len(upserts.get(part.set_name, [])), f"{part.set_name} twice on a page"
            wire = next(one.wire for one in columns_of(part.set_name) if one.name == part.column)
            assert {row[wire] for row in of_part.values()} <= whole[part.owner], f"{part.set_name} of nobody"
            whole[part.set_name] = set(of_part)
            self.rows[part.set_name] |= of_part

    def _drop(self, root: Root, row_id: str) -> None:
        self.rows[root.set_name].pop(row_id, None)
        gone: dict[str, set[str]] = {root.set_name: {row_id}}
        for part in root.parts:
            wire = next(one.wire for one in columns_of(part.set_name) if one.name == part.column)
            held = self.rows[part.set_name]
            gone[part.set_name] = {key for key, row in held.items() if row[wire] in gone[part.owner]}
            for key in gone[part.set_name]:
                del held[key]

    @property
    def values(self) -> Rows:
        """Return the rows by columns, as a store keeps them."""
        return {
            name: {key: values_of(name, row) for key, row in rows.items()} for name, rows in self.rows.items() if rows
        }


def rows_by_id(rows: Iterable[Row]) -> dict[str, Row]:
    """Return the rows by their ID."""
    return {row.get("ID", ""): row for row in rows}


async def held_by_stores(database: Database, tenant: str) -> Rows:
    """Return what a store of the tenant should hold, read from the tables without the feed."""

    async def work(session: Session) -> Rows:
        found: Rows = {}
        for name in SETS:
            wanted = [column.name for column in columns_of(name)]
            rows = table(name)
            reading = select(rows) if name != "Tenants" else select(rows).where(rows.c.tenant_id == tenant)
            every = [row._mapping for row in await session.execute(reading)]
            found[name] = {row.get("id", ""): {column: row[column] for column in wanted} for row in every}
        return found

    found = await database.read(work, tenant=tenant)
    found["Promotions"] = {key: row for key, row in found["Promotions"].items() if row["status"] in ("ACTIVE", "PILOT")}
    for row in found["Budgets"].values():
        row["status"] = row["status"].replace("EXHAUSTED", "ACTIVE")
    for root in ROOTS:
        for part in root.parts:
            owners = found[part.owner]
            found[part.set_name] = {key: row for key, row in found[part.set_name].items() if row[part.column] in owners}
    return {name: rows for name, rows in found.items() if rows}
