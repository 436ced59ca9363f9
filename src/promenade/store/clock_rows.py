"""What the clock has to move: rows of all tenants whose moment has come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import or_, select, tuple_

from odata_server.sql.connection import Kept
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["DueRow", "Passage", "find_due", "statement_of"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A move that time brings to rows of an entity set: those in ``sources`` whose moment ``column`` has passed.

    ``open_start``: those without a moment as well, which stands for ever since.
    """

    set_name: str
    verb: str
    sources: tuple[str, ...]
    column: str
    open_start: bool = False

    def has_come(self, moment: datetime | None, at: datetime) -> bool:
        """Whether a row with this moment is due: at the very moment it is."""
        return self.open_start if moment is None else moment <= at


@dataclass(frozen=True, slots=True, order=True)
class DueRow:
    """A row that is due, and whose it is."""

    tenant_id: str
    id: str


async def find_due(session: Session, passage: Passage, at: datetime, after: DueRow | None, limit: int) -> list[DueRow]:
    """The rows that are due after one of them, by tenant and ID; needs a system session."""
    values = {"at": at, "after_tenant": after.tenant_id if after else "", "after_id": after.id if after else ""}
    rows = await session.execute(statement_of(passage, limit), values)
    return [DueRow(row.tenant_id, row.id) for row in rows]


@cache
def statement_of(passage: Passage, limit: int) -> Kept:
    """Every index of theirs begins with the tenant: so each tenant's share is looked up by itself.

    They are found before they are put in order: in the order of their keys one would walk through all the rows.
    """
    rows, tenants = table(passage.set_name).c, table("Tenants")
    moment = rows[passage.column]
    has_come = moment <= parameter("at", moment.type)
    tenant = tenants.c.tenant_id.concat("")  # by no index: or SQLite looks up the tenant of every row there is
    found = (
        select(rows.tenant_id, rows.id)
        .select_from(tenants.join(table(passage.set_name), rows.tenant_id == tenant))
        .where(rows.status.in_(passage.sources), or_(moment.is_(None), has_come) if passage.open_start else has_come)
        .cte("found")
        .prefix_with("MATERIALIZED")
    )
    after = tuple_(parameter("after_tenant", rows.tenant_id.type), parameter("after_id", rows.id.type))
    later = select(found.c.tenant_id, found.c.id).where(tuple_(found.c.tenant_id, found.c.id) > after)
    return Kept(later.order_by(found.c.tenant_id, found.c.id).limit(limit))
