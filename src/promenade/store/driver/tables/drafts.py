"""The tables of edit drafts: ``drafts`` with one row per draft, and one table of draft rows per entity.

A draft contains complete rows: those copied when editing of an active entity began, and those added since. All columns
but keys are nullable and there are no foreign keys to other tables, because a draft may be incomplete; it is checked
on activation. Neither evaluation nor the public API reads these tables.

``changed`` lists the columns that the draft's author has written in a copied row, so that activation changes only these
and keeps what others have changed in the meantime; it is null in rows that the draft has added. ``removed`` marks
copied rows that activation deletes.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.types import TypeEngine

from promenade import model
from promenade.model.declare import DRAFT, DRAFT_NODE, EntityType, Field
from promenade.store.driver.types import Json, Timestamp, string


def declare(metadata: sa.MetaData, column_type: Callable[[Field], TypeEngine[object]]) -> dict[str, sa.Table]:
    """Add the tables to ``metadata`` and return them by entity set, including the table ``drafts``."""
    found = {"drafts": _drafts(metadata)}
    for entity in model.entities():
        if entity.admin in (DRAFT, DRAFT_NODE):
            found[entity.set_name] = _rows(metadata, entity, column_type)
    return found


def _drafts(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "drafts",
        metadata,
        sa.Column("tenant_id", string(36), nullable=False, doc="The tenant that owns the row."),
        sa.Column("draft_uuid", string(36), nullable=False, doc="Key of the draft."),
        sa.Column("set_name", string(60), nullable=False, doc="The entity set of its root."),
        sa.Column("root_id", string(36), nullable=False, doc="ID of its root, and of the active row if there is one."),
        sa.Column("created_at", Timestamp(), nullable=False, doc="When it was begun."),
        sa.Column("created_by", string(255), nullable=False, doc="Whose it is: nobody else sees or changes it."),
        sa.Column(
            "changed_at", Timestamp(), nullable=False, doc="When it was last changed; its lock counts from here."
        ),
        sa.PrimaryKeyConstraint("tenant_id", "draft_uuid", name="pk_drafts__key"),
        sa.UniqueConstraint("tenant_id", "set_name", "root_id", name="uq_drafts__root"),
        sa.Index("ix_drafts__changed_at", "tenant_id", "changed_at"),
        info={"doc": "One row for each edit draft.", "tenant_owned": True},
    )


def _rows(metadata: sa.MetaData, entity: EntityType, column_type: Callable[[Field], TypeEngine[object]]) -> sa.Table:
    name = f"{entity.table}_drafts"
    fields = [field for field in entity.fields if not field.virtual and field.name not in ("id", "tenant_id")]
    owner = entity.owner
    index = ("tenant_id", owner.column) if owner is not None else ("tenant_id", "draft_owner")
    return sa.Table(
        name,
        metadata,
        sa.Column("tenant_id", string(36), nullable=False, doc="The tenant that owns the row."),
        sa.Column("id", string(36), nullable=False, doc="Key; that of the active row if there is one."),
        *(sa.Column(field.name, column_type(field), nullable=True, doc=field.doc) for field in fields),
        *(sa.Column(link.column, string(36), nullable=True, doc=link.doc) for link in entity.links),
        sa.Column("version", sa.Integer(), nullable=False, server_default="1", doc="Counts the writes of the row."),
        sa.Column("draft_uuid", string(36), nullable=False, doc="The draft."),
        sa.Column("draft_owner", string(255), nullable=False, doc="Whose it is: `created_by` of the draft."),
        sa.Column("changed", Json(), nullable=True, doc="Of a copied row: the columns written since; else null."),
        sa.Column("removed", sa.Boolean(), nullable=False, server_default=sa.false(), doc="To be deleted."),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=_short(f"pk_{name}__key")),
        sa.ForeignKeyConstraint(
            ("tenant_id", "draft_uuid"),
            ("drafts.tenant_id", "drafts.draft_uuid"),
            name=_short(f"fk_{name}__draft"),
            ondelete="CASCADE",
        ),
        sa.Index(_short(f"ix_{name}__draft"), "tenant_id", "draft_uuid"),
        sa.Index(_short(f"ix_{name}__{'parent' if owner is not None else 'owner'}"), *index),
        info={"entity": entity.set_name, "tenant_owned": True},
    )


def _short(name: str) -> str:
    """Shorten a name to PostgreSQL's 63 characters, keeping its end so that it stays distinct."""
    if len(name) <= 63:
        return name
    kind, _, rest = name.partition("_")
    return f"{kind}_{rest[len(name) - 63 :]}"
