"""A shop with imports: jobs are accepted unchecked, and a minimal importer stores the rows."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, insert, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.imports.parts import NumberedRow, Part, pack
from promenade.worker.imports import Imports
from promenade.workflows.context import Context
from promenade.workflows.imports.accepting import ImportOrder, accept_import
from promenade.workflows.imports.importing import Portion, RowFault, RowImporter, Stored
from tests.workflows.shop import TENANT, Shop, open_shop

__all__ = ["Goods", "Yard", "good", "open_yard", "parts_of"]

_ARTICLES = table("Articles")


def good(number: int | str, **members: Any) -> dict[str, Any]:
    """Return a row that is stored as an article, unless ``bad`` names its error."""
    return {"articleNumber": f"A{number}", "name": f"Article {number}", **members}


def parts_of(rows: Iterable[dict[str, Any]], size: int) -> list[Part]:
    """Return parts of ``size`` rows each."""
    found: list[Part] = []
    listed = list(rows)
    for start in range(0, len(listed), size):
        few = listed[start : start + size]
        numbers = range(start + 1, start + 1 + len(few))
        (part,) = pack([json.dumps(row).encode() for row in few], numbers)
        found.append(Part(len(found), start + 1, len(few), None, part.rows))
    return found


@dataclass
class Goods(RowImporter):
    """Stores rows as articles, with two statements per slice; ``before`` is called with each slice."""

    user: str
    before: Callable[[Sequence[NumberedRow]], None] = lambda rows: None

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        self.before(rows)
        read = [(row.number, json.loads(row.text)) for row in rows]
        wanted = [row["articleNumber"] for _, row in read]
        there: Select[Any] = select(_ARTICLES.c.article_number, _ARTICLES.c.id)
        found = await session.execute(there.where(_ARTICLES.c.article_number.in_(wanted)))
        known = {row.article_number: row.id for row in found}
        stored, faults, new = [], [], []
        for number, row in read:
            name = row["articleNumber"]
            faults += [
                RowFault(number, target, "WRONG", f"{name} is wrong.", json.dumps(row), name)
                for target in row.get("bad", ())
            ]
            if row.get("bad"):
                continue
            is_new = name not in known
            stored.append(Stored(number, known.setdefault(name, str(uuid.uuid4())), is_new, name))
            if is_new:
                new.append({"id": known[name], "article_number": name, "name": row["name"], "created_at": at,
                            "modified_at": at, "created_by": self.user})  # fmt: skip
        if faults and not keep_good:
            return Portion(faults=tuple(faults))
        await session.execute_many(insert(_ARTICLES), new)
        changed = update(_ARTICLES).where(_ARTICLES.c.id.in_([one.id for one in stored if not one.is_new]))
        await session.rowcount(changed.values(version=_ARTICLES.c.version + 1))
        return Portion(tuple(stored), tuple(faults))


@dataclass
class Yard:
    """A shop with a worker for imports."""

    shop: Shop
    before: Callable[[Sequence[NumberedRow]], None] = lambda rows: None
    orders: list[dict[str, str]] = field(default_factory=list)

    @property
    def context(self) -> Context:
        return self.shop.context

    def importers(self, entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter:
        self.orders.append({"entity": entity, "tenant_id": tenant_id, "user": user, "source": source})
        return Goods(user, self.before)

    def worker(self, context: Context | None = None, **options: Any) -> Imports:
        return Imports(context or self.context, importers=self.importers, **options)

    async def accept(
        self,
        rows: Iterable[dict[str, Any]],
        *,
        continue_on_error: bool = True,
        tenant: str = TENANT,
        part_rows: int = 10,
        source: str = "BULK_IMPORT",
        **order: Any,
    ) -> str:
        """Accept a job; return its ID."""
        made = ImportOrder(order.pop("entity", "Articles"), source, "buyer", continue_on_error, **order)

        async def also(session: Session, job_id: str) -> None:
            row = {"id": job_id, "name": "Delivery", "total_articles": 0, "created_at": self.shop.now[0],
                   "modified_at": self.shop.now[0]}  # fmt: skip
            await session.rowcount(insert(table("ArticleImportJobs")), row)

        accepted = await accept_import(
            self.context, tenant, made, parts_of(rows, part_rows), also if source == "POS_BATCH" else None
        )
        return accepted.job_id

    async def work(self, worker: Imports | None = None) -> int:
        """Let a worker do everything that is due; return the number of work units."""
        chosen = worker or self.worker()
        done = 0
        while await chosen.run_once():
            done += 1
        return done

    async def job(self, job_id: str) -> Row[Any]:
        (found,) = await self.every("ImportJobs", id=job_id)
        return found

    async def every(self, name: str, **where: Any) -> Sequence[Row[Any]]:
        """Return rows of all tenants."""
        rows = table(name)
        statement: Select[Any] = select(rows)
        for column, value in where.items():
            statement = statement.where(rows.c[column] == value)

        async def work(session: Session) -> Sequence[Row[Any]]:
            return await session.execute(statement)

        return await self.context.database.read(work, system=True)

    async def numbers(self) -> list[str]:
        """Return the numbers of all articles."""
        return sorted(row.article_number for row in await self.every("Articles"))

    async def events(self) -> list[dict[str, Any]]:
        """Return the written events, with their kind and destination in ``kind`` and ``callback_url``."""
        rows = await self.every("outbox_events")
        return [
            {"kind": row.kind, "callback_url": row.callback_url, **json.loads(row.payload)["data"]}
            for row in sorted(rows, key=lambda row: row.kind)
        ]


async def open_yard(database: Any, *, is_new: bool = True) -> Yard:
    """Open a yard on a migrated database."""
    return Yard(await open_shop(database, is_new=is_new))
