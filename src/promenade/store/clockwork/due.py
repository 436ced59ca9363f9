"""Finds rows of all tenants whose status has to change because a point in time has passed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import or_, select, tuple_

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session


@dataclass(frozen=True, slots=True)
class TimedMove:
    """A time-triggered status change of an entity set, for rows in ``sources`` whose time in ``column`` has passed.

    ``open_start``: rows without a time are due as well (null: no start date).
    """

    set_name: str
    verb: str
    sources: tuple[str, ...]
    column: str
    open_start: bool = False

    def is_due(self, moment: datetime | None, at: datetime) -> bool:
        """Return whether a row with this time is due; it is due at exactly that time."""
        return self.open_start if moment is None else moment <= at


@dataclass(frozen=True, slots=True, order=True)
class DueRow:
    """A due row and its tenant."""

    tenant_id: str
    id: str


async def find_due(session: Session, move: TimedMove, at: datetime, after: DueRow | None, limit: int) -> list[DueRow]:
    """Return the due rows after ``after``, ordered by tenant and ID; needs a system session."""
    values = {"at": at, "after_tenant": after.tenant_id if after else "", "after_id": after.id if after else ""}
    rows = await session.execute(statement_of(move, limit), values)
    return [DueRow(row.tenant_id, row.id) for row in rows]


@cache
def statement_of(move: TimedMove, limit: int) -> Kept:
    """Build the statement, which looks up the rows tenant by tenant, because every index begins with the tenant.

    It finds the rows before it sorts them: in key order, the database would scan all rows.
    """
    rows, tenants = table(move.set_name).c, table("Tenants")
    moment = rows[move.column]
    is_due = moment <= parameter("at", moment.type)
    # prevents use of an index: otherwise SQLite looks up the tenant of every row
    tenant = tenants.c.tenant_id.concat("")
    found = (
        select(rows.tenant_id, rows.id)
        .select_from(tenants.join(table(move.set_name), rows.tenant_id == tenant))
        .where(rows.status.in_(move.sources), or_(moment.is_(None), is_due) if move.open_start else is_due)
        .cte("found")
        .prefix_with("MATERIALIZED")
    )
    after = tuple_(parameter("after_tenant", rows.tenant_id.type), parameter("after_id", rows.id.type))
    later = select(found.c.tenant_id, found.c.id).where(tuple_(found.c.tenant_id, found.c.id) > after)
    return Kept(later.order_by(found.c.tenant_id, found.c.id).limit(limit))
