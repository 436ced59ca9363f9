"""Where entities with edit drafts are read in administration: their active rows, the caller's drafts, who edits what.

Of an active row everybody is told that somebody has a draft of it; the draft itself is read by its owner alone, who is
the session's user (`store.tenancy`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from odata_server.draft import DRAFT_UUID, HAS_ACTIVE, HAS_DRAFT
from odata_server.sql.model import Column, EntityMap
from promenade.model.declare import EntityType
from promenade.store.schema import draft_table, table
from promenade.store.tenancy import SESSION_MOMENT, SESSION_USER
from promenade.store.types import Timestamp

__all__ = ["LOCK_MINUTES", "administrative_map", "with_drafts"]

LOCK_MINUTES = 15
"""How long after its last change a draft keeps others from what it is a draft of."""


def with_drafts(entity: EntityType, columns: Mapping[str, Column]) -> EntityMap:
    """The map of an entity with drafts, made of the columns that its active rows and its drafts have alike."""
    active, drafts = table(entity.set_name), draft_table(entity.set_name)
    own = sa.select(drafts).where(drafts.c.draft_owner == SESSION_USER, *_kept(entity, drafts))

    def of_same_key(source: sa.FromClause) -> tuple[sa.FromClause, list[sa.ColumnElement[bool]]]:
        # Those that are removed from it too: nobody but its user is to see what a draft will change.
        there = drafts.alias()
        return there, [there.c.id == source.c.id]

    def has_draft(source: sa.FromClause) -> sa.ColumnElement[Any]:
        there, conditions = of_same_key(source)
        return sa.exists(sa.select(1).select_from(there).where(*conditions).correlate_except(there))

    def draft_uuid(source: sa.FromClause) -> sa.ColumnElement[Any]:
        there, conditions = of_same_key(source)
        return sa.select(there.c.draft_uuid).where(*conditions).correlate_except(there).scalar_subquery()

    def has_active(source: sa.FromClause) -> sa.ColumnElement[Any]:
        # PostgreSQL would put all keys into a table of its own, were this an EXISTS: for the few drafts of one user.
        there = active.alias()
        found = sa.select(sa.true()).select_from(there).where(there.c.id == source.c.id).correlate_except(there)
        return sa.func.coalesce(found.scalar_subquery(), sa.false())

    return EntityMap(
        active,
        {**columns, HAS_DRAFT: has_draft, DRAFT_UUID: draft_uuid},
        etag="version",
        drafts=EntityMap(own.subquery(), {**columns, HAS_ACTIVE: has_active, DRAFT_UUID: "draft_uuid"}, etag="version"),
    )


def _kept(entity: EntityType, drafts: sa.FromClause) -> list[sa.ColumnElement[bool]]:
    """That a part of a draft has not been removed from it; of the root it never is."""
    return [] if entity.owner is None else [sa.not_(drafts.c.removed)]


# ---- who edits what -----------------------------------------------------------------------------------------------


def administrative_map() -> EntityMap:
    """The drafts of everybody in the tenant: who is editing since when, and not what."""
    columns: dict[str, Column] = {
        DRAFT_UUID: "draft_uuid",
        "CreationDateTime": "created_at",
        "CreatedByUser": "created_by",
        "DraftIsCreatedByMe": _is_mine,
        "LastChangeDateTime": "changed_at",
        "LastChangedByUser": "created_by",
        "InProcessByUser": lambda drafts: sa.case((_is_locked(drafts), drafts.c.created_by), else_=sa.literal("")),
        "DraftIsProcessedByMe": lambda drafts: sa.and_(_is_mine(drafts), _is_locked(drafts)),
    }
    return EntityMap(draft_table("drafts"), columns)


def _is_mine(drafts: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.func.coalesce(drafts.c.created_by == SESSION_USER, sa.false())


def _is_locked(drafts: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.func.coalesce(_LockEnd(drafts.c.changed_at) > SESSION_MOMENT, sa.false())


class _LockEnd(FunctionElement[Any]):
    """When the lock of a draft that was last changed at a moment runs out."""

    type = Timestamp()
    inherit_cache = True


@compiles(_LockEnd)
def _microseconds(element: _LockEnd, compiler: SQLCompiler, **kw: Any) -> str:
    return f"({compiler.process(element.clauses, **kw)} + {LOCK_MINUTES * 60_000_000})"


@compiles(_LockEnd, "postgresql")
def _interval(element: _LockEnd, compiler: SQLCompiler, **kw: Any) -> str:
    return f"({compiler.process(element.clauses, **kw)} + INTERVAL '{LOCK_MINUTES} minutes')"
