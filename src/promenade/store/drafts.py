"""Edit drafts as such: whose they are and since when, how they begin and go. Their rows are in `store.draft_rows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, insert, select, tuple_, update

from promenade.store.schema import draft_table
from promenade.store.unit import Session

__all__ = [
    "PURGED_MAX",
    "Draft",
    "begin_draft",
    "delete_draft",
    "find_draft",
    "find_draft_of_part",
    "purge_drafts",
    "touch_draft",
]

PURGED_MAX = 100  # drafts of one round: what goes with them is deleted in the same transaction


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft; ``user`` is whose it is, ``changed_at`` when its lock began to count."""

    uuid: str
    set_name: str
    root_id: str
    user: str
    changed_at: datetime


async def find_draft(session: Session, set_name: str, root_id: str, *, hold: bool = False) -> Draft | None:
    """The draft of a root, whoever's; ``hold`` keeps it for this unit, and waits until no other has it."""
    drafts = draft_table("drafts")
    return await _one(session, select(drafts).where(drafts.c.set_name == set_name, drafts.c.root_id == root_id), hold)


async def find_draft_of_part(session: Session, set_name: str, row_id: str, *, hold: bool = False) -> Draft | None:
    """The draft that a row of ``set_name`` is part of, see `find_draft`; rows that it will remove are still part."""
    drafts, rows = draft_table("drafts"), draft_table(set_name)
    joined = drafts.join(rows, drafts.c.draft_uuid == rows.c.draft_uuid)
    return await _one(session, select(drafts).select_from(joined).where(rows.c.id == row_id), hold)


async def _one(session: Session, statement: Select[Any], hold: bool) -> Draft | None:
    if hold and session.dialect == "postgresql":
        statement = statement.with_for_update(of=draft_table("drafts"))
    found = await session.execute(statement)
    if not found:
        return None
    row = found[0]
    return Draft(row.draft_uuid, row.set_name, row.root_id, row.created_by, row.changed_at)


async def begin_draft(session: Session, draft: Draft) -> None:
    """Add a draft; that there is one of this root already breaks a constraint of ``drafts``."""
    row: Mapping[str, Any] = {
        "draft_uuid": draft.uuid,
        "set_name": draft.set_name,
        "root_id": draft.root_id,
        "created_at": draft.changed_at,
        "created_by": draft.user,
        "changed_at": draft.changed_at,
    }
    await session.execute_many(insert(draft_table("drafts")), [row])


async def touch_draft(session: Session, draft: Draft, at: datetime) -> None:
    """Let the draft's lock count from ``at``."""
    drafts = draft_table("drafts")
    await session.rowcount(update(drafts).where(drafts.c.draft_uuid == draft.uuid).values(changed_at=at))


async def delete_draft(session: Session, draft: Draft) -> None:
    """Delete a draft with all its rows."""
    drafts = draft_table("drafts")
    await session.rowcount(delete(drafts).where(drafts.c.draft_uuid == draft.uuid))


async def purge_drafts(session: Session, before: datetime) -> int:
    """Delete drafts last changed before a moment, the oldest `PURGED_MAX` of them; how many there were.

    Those of the session's tenant, of a system session those of all. What somebody is at is left alone.
    """
    drafts = draft_table("drafts")
    old = select(drafts.c.tenant_id, drafts.c.draft_uuid).where(drafts.c.changed_at < before)
    old = old.order_by(drafts.c.changed_at).limit(PURGED_MAX)
    if session.dialect == "postgresql":
        old = old.with_for_update(skip_locked=True)
    keys = [(row.tenant_id, row.draft_uuid) for row in await session.execute(old)]
    if not keys:
        return 0
    return await session.rowcount(delete(drafts).where(tuple_(drafts.c.tenant_id, drafts.c.draft_uuid).in_(keys)))
