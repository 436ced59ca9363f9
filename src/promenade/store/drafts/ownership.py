"""Edit drafts as such: whose they are and since when, how they begin and go. Their rows are in `store.drafts.rows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, delete, insert, select, update

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import one_of, parameter
from promenade.store.driver.schema import draft_table
from promenade.store.driver.unit import Session

PURGED_MAX = 5  # drafts deleted per transaction; at their maximum size this takes a quarter of a second


@dataclass(frozen=True, slots=True)
class Draft:
    """An edit draft; ``user`` is its owner, ``changed_at`` the start of its lock."""

    uuid: str
    set_name: str
    root_id: str
    user: str
    changed_at: datetime


async def find_draft(session: Session, set_name: str, root_id: str, *, hold: bool = False) -> Draft | None:
    """Return the draft of a root, whoever owns it; ``hold`` locks it for this unit of work, waiting if necessary."""
    return await _one(session, _of_root(_held(session, hold)), {"set_name": set_name, "root_id": root_id})


@cache
def _of_root(is_held: bool) -> Kept:
    drafts = draft_table("drafts")
    same = [drafts.c[name] == parameter(name, drafts.c[name].type) for name in ("set_name", "root_id")]
    return _finding(select(drafts).where(*same), is_held)


async def find_draft_of_part(session: Session, set_name: str, row_id: str, *, hold: bool = False) -> Draft | None:
    """Return the draft that contains a row of ``set_name``, including removed rows; see `find_draft`."""
    return await _one(session, _of_part(set_name, _held(session, hold)), {"row_id": row_id})


@cache
def _of_part(set_name: str, is_held: bool) -> Kept:
    drafts, rows = draft_table("drafts"), draft_table(set_name)
    joined = drafts.join(rows, drafts.c.draft_uuid == rows.c.draft_uuid)
    return _finding(select(drafts).select_from(joined).where(rows.c.id == parameter("row_id", rows.c.id.type)), is_held)


def _held(session: Session, hold: bool) -> bool:
    """Return whether to lock rows: SQLite has one writer at a time, so there is nothing to lock."""
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
    """Insert a draft; if this root already has one, a constraint of ``drafts`` is violated."""
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
    """Restart the draft's lock at ``at``."""
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
    """Delete the oldest drafts last changed before ``before``, at most `PURGED_MAX`, and return how many.

    Covers the session's tenant, or all tenants in a system session. Drafts in use are skipped.
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
