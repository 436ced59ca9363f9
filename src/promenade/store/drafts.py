"""Edit drafts as such: whose they are and since when, how they begin and go. Their rows are in `store.draft_rows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, delete, insert, select, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import one_of, parameter
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

PURGED_MAX = 5  # drafts of one round, deleted in one transaction: with all the rows they can have a quarter of a second


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
    return await _one(session, _of_root(_held(session, hold)), {"set_name": set_name, "root_id": root_id})


@cache
def _of_root(is_held: bool) -> Kept:
    drafts = draft_table("drafts")
    same = [drafts.c[name] == parameter(name, drafts.c[name].type) for name in ("set_name", "root_id")]
    return _finding(select(drafts).where(*same), is_held)


async def find_draft_of_part(session: Session, set_name: str, row_id: str, *, hold: bool = False) -> Draft | None:
    """The draft that a row of ``set_name`` is part of, see `find_draft`; rows that it will remove are still part."""
    return await _one(session, _of_part(set_name, _held(session, hold)), {"row_id": row_id})


@cache
def _of_part(set_name: str, is_held: bool) -> Kept:
    drafts, rows = draft_table("drafts"), draft_table(set_name)
    joined = drafts.join(rows, drafts.c.draft_uuid == rows.c.draft_uuid)
    return _finding(select(drafts).select_from(joined).where(rows.c.id == parameter("row_id", rows.c.id.type)), is_held)


def _held(session: Session, hold: bool) -> bool:
    """SQLite has one writer at a time; there is nothing to lock."""
    return hold and session.dialect == "postgresql"


def _finding(statement: Select[Any], is_held: bool) -> Kept:
    return Kept(statement.with_for_update(of=draft_table("drafts")) if is_held else statement)


async def _one(session: Session, kept: Kept, values: Mapping[str, Any]) -> Draft | None:
    found = await session.execute(kept, values)
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
    await session.rowcount(_touching(), {"key": draft.uuid, "at": at})


@cache
def _touching() -> Kept:
    drafts = draft_table("drafts")
    touching = update(drafts).where(drafts.c.draft_uuid == parameter("key", drafts.c.draft_uuid.type))
    return Kept(touching.values(changed_at=parameter("at", drafts.c.changed_at.type)))


async def delete_draft(session: Session, draft: Draft) -> None:
    """Delete a draft with all its rows."""
    await session.rowcount(_deleting(), {"key": draft.uuid})


@cache
def _deleting() -> Kept:
    drafts = draft_table("drafts")
    return Kept(delete(drafts).where(drafts.c.draft_uuid == parameter("key", drafts.c.draft_uuid.type)))


async def purge_drafts(session: Session, before: datetime) -> int:
    """Delete drafts last changed before a moment, the oldest `PURGED_MAX` of them; how many there were.

    Those of the session's tenant, of a system session those of all. What somebody is at is left alone.
    """
    old = await session.execute(_left(session.dialect == "postgresql"), {"before": before})
    keys = [(row.tenant_id, row.draft_uuid) for row in old]
    if not keys:
        return 0
    drafts = draft_table("drafts")
    return await session.rowcount(delete(drafts).where(one_of((drafts.c.tenant_id, drafts.c.draft_uuid), keys)))


@cache
def _left(is_held: bool) -> Kept:
    drafts = draft_table("drafts")
    old = select(drafts.c.tenant_id, drafts.c.draft_uuid)
    old = old.where(drafts.c.changed_at < parameter("before", drafts.c.changed_at.type))
    old = old.order_by(drafts.c.changed_at).limit(PURGED_MAX)
    return Kept(old.with_for_update(skip_locked=True) if is_held else old)
