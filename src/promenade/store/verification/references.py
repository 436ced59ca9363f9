"""References that lead nowhere: a database whose rows were restored with its checks off may have some."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ForeignKeyConstraint, and_, func, not_, select

from promenade.store.driver.schema import metadata
from promenade.store.driver.unit import Session

__all__ = ["read_dangling"]


async def read_dangling(session: Session) -> tuple[int, Sequence[tuple[str, int]]]:
    """Return how many references the tables declare, and those with rows that lead nowhere, with their number.

    The session must see all tenants.
    """
    declared, found = 0, []
    for table in metadata.sorted_tables:
        for reference in table.constraints:
            if isinstance(reference, ForeignKeyConstraint):
                declared += 1
                count = await _count_dangling(session, reference)
                if count:
                    found.append((f"{table.name}.{reference.column_keys[-1]}", count))
    return declared, sorted(found)


async def _count_dangling(session: Session, reference: ForeignKeyConstraint) -> int:
    table = reference.table
    target = reference.elements[0].column.table.alias("referred")
    same = and_(*(one.parent == target.c[one.column.name] for one in reference.elements))
    given = and_(*(one.parent.is_not(None) for one in reference.elements))
    count = (
        select(func.count()).select_from(table).where(given, not_(select(1).select_from(target).where(same).exists()))
    )
    ((found,),) = await session.execute(count)
    return int(found)
