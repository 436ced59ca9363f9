"""All tables: one per stored entity of the model, derived from its declaration, and the system tables.

- Every tenant table has the key (tenant_id, id), and every unique key and index starts with the tenant, so that no
  conflict can reveal another tenant's row; references contain the tenant and cannot cross it.
- The rows of a composition are deleted with their parent (ON DELETE CASCADE); other rows that are referred to cannot
  be deleted.
- ``version`` counts the writes of a row: it is its ETag and, for a promotion, the ``promotionVersion`` in logs.
- Code lists are checked on input, not here: they may grow without a migration.

``table.info["tenant_owned"]`` tells the tenant gate which tables to guard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from threading import RLock
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex
from sqlalchemy.sql.compiler import DDLCompiler
from sqlalchemy.types import TypeEngine

from promenade import model
from promenade.model.declare import EntityType, Field, Kind, Link
from promenade.store.driver import text_index
from promenade.store.driver.tables import drafts as draft_tables
from promenade.store.driver.tables import system as system_tables
from promenade.store.driver.types import ExactDecimal, Json, Timestamp, string

__all__ = ["column_type", "draft_table", "metadata", "table"]

_STAMPS = frozenset({"created_at", "modified_at"})
_NAME_LENGTH_MAX = 63  # PostgreSQL truncates longer names silently


def _name(kind: str, table_name: str, columns: Iterable[str]) -> str:
    """Return a stable name for a constraint or index, shortened with a digest if it is too long."""
    full = f"{kind}_{table_name}__{'_'.join(columns)}"
    if len(full) <= _NAME_LENGTH_MAX:
        return full
    digest = hashlib.sha256(full.encode()).hexdigest()[:8]
    return f"{full[: _NAME_LENGTH_MAX - 9]}_{digest}"


def column_type(field: Field) -> TypeEngine[Any]:
    """Return the column type of a declared field."""
    if field.precision is not None and field.scale is not None:
        stored = field.scale if field.stored_scale is None else field.stored_scale
        return ExactDecimal(field.precision + stored - field.scale, stored)
    simple: dict[Kind, TypeEngine[Any]] = {
        Kind.INTEGER: sa.Integer(),
        Kind.LONG: sa.BigInteger(),
        Kind.BOOLEAN: sa.Boolean(),
        Kind.TIMESTAMP: Timestamp(),
        Kind.DATE: sa.Date(),
        Kind.TIME: sa.Time(),
        Kind.TEXTS: Json(),
        Kind.BLOB: sa.LargeBinary(),
    }
    return simple.get(field.kind) or string(field.length)


def _now() -> datetime:
    return datetime.now(UTC)


def _column(field: Field) -> sa.Column[Any]:
    if field.name in _STAMPS:
        # Workflows set the time explicitly; this default serves writers that do not.
        return sa.Column(field.name, Timestamp(), nullable=False, default=_now, doc=field.doc)
    return sa.Column(
        field.name,
        column_type(field),
        nullable=field.nullable,
        default=field.default,
        doc=field.doc,
        info={"measure": field.measure, "kept_days": field.kept_days},
    )


def _link_column(link: Link) -> sa.Column[Any]:
    return sa.Column(link.column, string(36), nullable=link.nullable, doc=link.doc)


def _range_checks(table: sa.Table, entity: EntityType) -> None:
    for field in entity.fields:
        if field.virtual:
            continue
        column = table.c[field.name]
        for kind, bound in (("min", field.minimum), ("max", field.maximum)):
            if bound is not None:
                limit = sa.literal(bound if field.kind is Kind.DECIMAL else int(bound), column.type)
                condition = column >= limit if kind == "min" else column <= limit
                table.append_constraint(sa.CheckConstraint(condition, name=_name("ck", table.name, (field.name, kind))))


def _references(table: sa.Table, entity: EntityType) -> None:
    for link in entity.links:
        if not link.soft:
            target = model.entity(link.target).table
            table.append_constraint(
                sa.ForeignKeyConstraint(
                    ("tenant_id", link.column),
                    (f"{target}.tenant_id", f"{target}.id"),
                    name=_name("fk", table.name, (link.column,)),
                    ondelete="CASCADE" if link.owner else None,
                )
            )


def _keys_and_indexes(table: sa.Table, entity: EntityType) -> None:
    tenant = ("tenant_id",) if entity.tenant_owned else ()
    natural = (entity.natural_key,) if entity.natural_key else ()
    unique = [(*tenant, *columns) for columns in (*natural, *entity.unique)]
    for columns in unique:
        table.append_constraint(sa.UniqueConstraint(*columns, name=_name("uq", table.name, columns[len(tenant) :])))
    for columns in entity.unique_everywhere:
        table.append_constraint(sa.UniqueConstraint(*columns, name=_name("uq", table.name, columns)))
    wanted = [(*tenant, *columns) for columns in entity.indexes]
    covered = [*unique, *wanted]
    for link in entity.links:
        columns = (*tenant, link.column)
        if link.indexed and not any(key[: len(columns)] == columns for key in covered):
            wanted.append(columns)
    for columns in wanted:
        own = columns[len(tenant) :]
        elements: list[sa.ColumnElement[Any]] = [table.c[column] for column in columns]
        if own in entity.indexes and len(own) == 1 and _is_text_or_null(table.c[own[0]]):
            elements[-1] = elements[-1].nulls_first()
        sa.Index(_name("ix", table.name, own), *elements)


def _is_text_or_null(column: sa.Column[Any]) -> bool:
    return isinstance(column.type, sa.String) and bool(column.nullable)


@compiles(CreateIndex, "sqlite")
def _without_nulls_first(element: CreateIndex, compiler: DDLCompiler, **options: Any) -> str:
    """Lists are sorted by names and numbers, null first: so are SQLite's indexes, PostgreSQL's have to be told."""
    text: str = compiler.visit_create_index(element, **options)  # type: ignore[no-untyped-call]
    return text.replace(" NULLS FIRST", "")


def _derive(metadata: sa.MetaData, entity: EntityType) -> sa.Table:
    fields = [field for field in entity.fields if not field.virtual]
    tenant = [_column(field) for field in fields if field.name == "tenant_id" and entity.tenant_owned]
    others = [_column(field) for field in fields if field.name != "tenant_id" or not entity.tenant_owned]
    table = sa.Table(
        entity.table,
        metadata,
        *tenant,
        *others,
        *(_link_column(link) for link in entity.links),
        sa.Column("version", sa.Integer(), nullable=False, server_default="1", doc="Counts the writes of the row."),
        sa.PrimaryKeyConstraint(
            *(("tenant_id",) if entity.tenant_owned else ()), *entity.key, name=_name("pk", entity.table, ("key",))
        ),
        info={"entity": entity.set_name, "tenant_owned": entity.tenant_owned},
    )
    _range_checks(table, entity)
    _references(table, entity)
    _keys_and_indexes(table, entity)
    for name, condition in entity.invariants.items():
        table.append_constraint(sa.CheckConstraint(condition, name=_name("ck", table.name, (name,))))
    if entity.text_index:
        text_index.declare(table, [field.name for field in entity.fields if field.searchable])
    return table


# A table is built on first access: building all of them takes a tenth of a second, and tills need one in five.
_metadata = sa.MetaData()
_making = RLock()
_entities = {entity.set_name: entity for entity in model.entities() if entity.stored and not entity.packed}
_tables: dict[str, sa.Table] = system_tables.declare(_metadata)
_draft_tables: dict[str, sa.Table] = {}

if TYPE_CHECKING:
    metadata: sa.MetaData


def __getattr__(name: str) -> sa.MetaData:
    """Return ``metadata`` with all tables."""
    if name != "metadata":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    for set_name in _entities:
        table(set_name)
    _made_draft_tables()
    system_tables.set_index_conditions(_metadata)
    return _metadata


def table(name: str) -> sa.Table:
    """Return the table of an entity set (``Promotions``) or a system table (``iterations``). Raises KeyError."""
    found = _tables.get(name)
    if found is None:
        with _making:
            found = _tables.get(name)
            if found is None:
                found = _tables[name] = _derive(_metadata, _entities[name])
    return found


def draft_table(set_name: str) -> sa.Table:
    """The table of the edit drafts of an entity set, see `store.driver.tables.drafts`. Raises KeyError."""
    return _made_draft_tables()[set_name]


def _made_draft_tables() -> dict[str, sa.Table]:
    if not _draft_tables:
        with _making:
            if not _draft_tables:
                _draft_tables.update(draft_tables.declare(_metadata, column_type))
    return _draft_tables
