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
    own = sa.select(drafts).where(drafts.c.draft_owner == SESSION_USER)
    if entity.owner is not None:  # a root is never removed from its draft
        own = own.where(sa.not_(drafts.c.removed))
    own_columns = {
        HAS_ACTIVE: _exists(active),
        DRAFT_UUID: "draft_uuid",
    }
    drafted: dict[str, Column] = {
        HAS_DRAFT: _exists(drafts),
        DRAFT_UUID: _draft_uuid(drafts),
    }
    return EntityMap(
        active,
        {**columns, **drafted},
        etag="version",
        drafts=EntityMap(own.subquery(), {**columns, **own_columns}, etag="version"),
    )


def _same(there: sa.FromClause, here: sa.FromClause) -> list[sa.ColumnElement[bool]]:
    """The row of the same key, as far as it is there for somebody."""
    found: list[sa.ColumnElement[bool]] = [there.c.id == here.c.id]
    return [*found, sa.not_(there.c.removed)] if "removed" in there.c else found


def _exists(other: sa.Table) -> Column:
    def found(source: sa.FromClause) -> sa.ColumnElement[Any]:
        there = other.alias()
        return sa.exists(sa.select(1).select_from(there).where(*_same(there, source)).correlate_except(there))

    return found


def _draft_uuid(drafts: sa.Table) -> Column:
    def found(source: sa.FromClause) -> sa.ColumnElement[Any]:
        there = drafts.alias()
        query = sa.select(there.c.draft_uuid).where(*_same(there, source)).correlate_except(there)
        return query.scalar_subquery()

    return found


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
